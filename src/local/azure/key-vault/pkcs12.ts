// PKCS #12: certificates and a private key in one container, as vaults hand them out and take them in.
import {
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  type KeyObject,
  pbkdf2,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import {
  contentOf,
  DerError,
  type DerNode,
  parts,
  readAll,
  readInteger,
  readOid,
  readOne,
  tags,
  write,
  writeInteger,
  writeOid,
} from './der.ts';

export interface KeyAndCertificates {
  readonly key?: KeyObject;
  /** DER; the leaf first. */
  readonly certificates: readonly Buffer[];
}

/** Says why a container cannot be read; never quotes it. */
export class Pkcs12Error extends Error {}

const oids = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  keyBag: '1.2.840.113549.1.12.10.1.1',
  shroudedKeyBag: '1.2.840.113549.1.12.10.1.2',
  certificateBag: '1.2.840.113549.1.12.10.1.3',
  x509: '1.2.840.113549.1.9.22.1',
  localKeyId: '1.2.840.113549.1.9.21',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  pbes2: '1.2.840.113549.1.5.13',
  pbkdf2: '1.2.840.113549.1.5.12',
  sha1TripleDes: '1.2.840.113549.1.12.1.3',
} as const;

const digests: { readonly [oid: string]: string } = {
  [oids.sha1]: 'sha1',
  [oids.sha256]: 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const macs: { readonly [oid: string]: string } = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};
const ciphers: { readonly [oid: string]: { readonly name: string; readonly keyBytes: number } } = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyBytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyBytes: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyBytes: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', keyBytes: 24 },
};

/** Rounds beyond these are refused: they are the reader's work, chosen by the writer. */
const maxRounds = 1_000_000;
const maxOwnRounds = 100_000;
const derive = promisify(pbkdf2);

/** A container without password, as every vault's secret of a certificate is. */
export function writePkcs12({ key, certificates }: KeyAndCertificates): Buffer {
  const keyId = createHash('sha1')
    .update(certificates[0] ?? '')
    .digest();
  const attributes = write(
    tags.set,
    write(tags.sequence, writeOid(oids.localKeyId), write(tags.set, write(tags.octets, keyId))),
  );
  const bag = (oid: string, value: Buffer, isKeyed: boolean): Buffer =>
    write(tags.sequence, writeOid(oid), write(tags.context0, value), ...(isKeyed ? [attributes] : []));
  const certificateBags = certificates.map((der, at) =>
    bag(
      oids.certificateBag,
      write(tags.sequence, writeOid(oids.x509), write(tags.context0, write(tags.octets, der))),
      at === 0 && key !== undefined,
    ),
  );
  const keyBags =
    key === undefined
      ? []
      : [
          bag(
            oids.shroudedKeyBag,
            key.export({ type: 'pkcs8', format: 'der', cipher: 'aes-256-cbc', passphrase: '' }),
            true,
          ),
        ];
  const safes = write(
    tags.sequence,
    ...[certificateBags, keyBags]
      .filter(({ length }) => length > 0)
      .map((bags) => dataInfo(write(tags.sequence, ...bags))),
  );
  const salt = randomBytes(16);
  const rounds = 2048;
  const mac = createHmac('sha256', ownKey('sha256', 3, '', salt, rounds, 32))
    .update(safes)
    .digest();
  const macData = write(
    tags.sequence,
    write(tags.sequence, write(tags.sequence, writeOid(oids.sha256), write(tags.null)), write(tags.octets, mac)),
    write(tags.octets, salt),
    writeInteger(rounds),
  );
  return write(tags.sequence, writeInteger(3), dataInfo(safes), macData);
}

function dataInfo(content: Buffer): Buffer {
  return write(tags.sequence, writeOid(oids.data), write(tags.context0, write(tags.octets, content)));
}

/** Throws {@link Pkcs12Error}. */
export async function readPkcs12(bytes: Buffer, password: string): Promise<KeyAndCertificates> {
  try {
    const [version, info, macData] = parts(readOne(bytes), tags.sequence);
    if (readInteger(version) !== 3) throw new Pkcs12Error('it is not version 3');
    const safes = dataOf(info);
    if (macData !== undefined) checkMac(macData, safes, password);
    const found: { key?: KeyObject; certificates: Buffer[] } = { certificates: [] };
    for (const safe of parts(readOne(safes), tags.sequence)) {
      const content = await contentOfSafe(safe, password);
      for (const bag of parts(readOne(content), tags.sequence)) takeBag(bag, password, found);
    }
    return found;
  } catch (error) {
    if (error instanceof DerError) throw new Pkcs12Error('it is damaged, or no PKCS #12 container');
    throw error;
  }
}

function dataOf(info: DerNode | undefined): Buffer {
  const [kind, content] = parts(info, tags.sequence);
  if (readOid(kind) !== oids.data) throw new Pkcs12Error('it is protected by a signature, not by a password');
  return contentOf(readOne(contentOf(content, tags.context0)), tags.octets);
}

function checkMac(macData: DerNode, safes: Buffer, password: string): void {
  const [info, saltNode, roundsNode] = parts(macData, tags.sequence);
  const [algorithm, digestNode] = parts(info, tags.sequence);
  const digest = digests[readOid(parts(algorithm, tags.sequence)[0])];
  if (digest === undefined) throw new Pkcs12Error('its integrity check uses an algorithm that is not supported');
  const salt = contentOf(saltNode, tags.octets);
  const expected = contentOf(digestNode, tags.octets);
  const rounds = roundsNode === undefined ? 1 : bounded(readInteger(roundsNode), maxOwnRounds);
  const key = ownKey(digest, 3, password, salt, rounds, expected.length);
  const mac = createHmac(digest, key).update(safes).digest();
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) throw new Pkcs12Error('the password is wrong');
}

function bounded(rounds: number, most: number): number {
  if (rounds >= 1 && rounds <= most) return rounds;
  throw new Pkcs12Error(`it asks for more than ${most} rounds`);
}

async function contentOfSafe(safe: DerNode, password: string): Promise<Buffer> {
  const [kind, content] = parts(safe, tags.sequence);
  if (readOid(kind) === oids.data) return dataOf(safe);
  if (readOid(kind) !== oids.encryptedData) throw new Pkcs12Error('a part of it is for a public key');
  const [, encrypted] = parts(readOne(contentOf(content, tags.context0)), tags.sequence);
  const [, algorithm, sealed] = parts(encrypted, tags.sequence);
  if (sealed === undefined) throw new Pkcs12Error('a part of it is missing');
  return decrypt(algorithm, sealed.content, password);
}

async function decrypt(algorithm: DerNode | undefined, sealed: Buffer, password: string): Promise<Buffer> {
  const [kind, parameters] = parts(algorithm, tags.sequence);
  const oid = readOid(kind);
  if (oid === oids.sha1TripleDes) {
    const [salt, rounds] = parts(parameters, tags.sequence);
    const count = bounded(readInteger(rounds), maxOwnRounds);
    const saltBytes = contentOf(salt, tags.octets);
    const key = ownKey('sha1', 1, password, saltBytes, count, 24);
    return opened('des-ede3-cbc', key, ownKey('sha1', 2, password, saltBytes, count, 8), sealed);
  }
  if (oid !== oids.pbes2)
    throw new Pkcs12Error('its certificates are encrypted with an outdated algorithm; use AES or triple DES');
  const [derivation, scheme] = parts(parameters, tags.sequence);
  const [derivationKind, derivationParameters] = parts(derivation, tags.sequence);
  if (readOid(derivationKind) !== oids.pbkdf2) throw new Pkcs12Error('its key derivation is not supported');
  const [salt, rounds, ...more] = parts(derivationParameters, tags.sequence);
  const mac = more.find(({ tag }) => tag === tags.sequence);
  const digest = mac === undefined ? 'sha1' : macs[readOid(parts(mac, tags.sequence)[0])];
  const [cipherKind, iv] = parts(scheme, tags.sequence);
  const cipher = ciphers[readOid(cipherKind)];
  if (digest === undefined || cipher === undefined) throw new Pkcs12Error('its encryption is not supported');
  const count = bounded(readInteger(rounds), maxRounds);
  const key = await derive(password, contentOf(salt, tags.octets), count, cipher.keyBytes, digest);
  return opened(cipher.name, key, contentOf(iv, tags.octets), sealed);
}

function opened(cipher: string, key: Buffer, iv: Buffer, sealed: Buffer): Buffer {
  try {
    const decipher = createDecipheriv(cipher, key, iv);
    return Buffer.concat([decipher.update(sealed), decipher.final()]);
  } catch {
    throw new Pkcs12Error('the password is wrong');
  }
}

function takeBag(bag: DerNode, password: string, found: { key?: KeyObject; certificates: Buffer[] }): void {
  const [kind, value] = parts(bag, tags.sequence);
  const content = contentOf(value, tags.context0);
  const oid = readOid(kind);
  if (oid === oids.certificateBag) {
    const [, der] = parts(readOne(content), tags.sequence);
    found.certificates.push(contentOf(readAll(contentOf(der, tags.context0))[0], tags.octets));
  } else if (oid === oids.keyBag || oid === oids.shroudedKeyBag) {
    try {
      found.key = createPrivateKey({ key: content, format: 'der', type: 'pkcs8', passphrase: password });
    } catch {
      throw new Pkcs12Error('the password is wrong, or the private key is not supported');
    }
  }
}

/** The key derivation of PKCS #12 itself (RFC 7292, appendix B). Purposes: 1 key, 2 initial vector, 3 integrity. */
function ownKey(
  digest: string,
  purpose: number,
  password: string,
  salt: Buffer,
  rounds: number,
  length: number,
): Buffer {
  const block = digest === 'sha384' || digest === 'sha512' ? 128 : 64;
  const text = Buffer.from(`${password}\0`, 'utf16le').swap16();
  const fill = (bytes: Buffer): Buffer => {
    const size = block * Math.ceil(bytes.length / block);
    return Buffer.alloc(size, bytes.length === 0 ? 0 : bytes);
  };
  const diversifier = Buffer.alloc(block, purpose);
  const input = Buffer.concat([fill(salt), fill(text)]);
  const pieces: Buffer[] = [];
  let have = 0;
  while (have < length) {
    let piece = createHash(digest).update(diversifier).update(input).digest();
    for (let round = 1; round < rounds; round++) piece = createHash(digest).update(piece).digest();
    pieces.push(piece);
    have += piece.length;
    const addend = Buffer.alloc(block, piece);
    for (let at = 0; at < input.length; at += block) {
      let carry = 1;
      for (let index = block - 1; index >= 0; index--) {
        const sum = (input[at + index] ?? 0) + (addend[index] ?? 0) + carry;
        input[at + index] = sum & 0xff;
        carry = sum >> 8;
      }
    }
  }
  return Buffer.concat(pieces).subarray(0, length);
}
