// What keys of a vault do: sign and verify digests, encrypt, decrypt, wrap and unwrap, by the algorithm names of JSON Web Algorithms.
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  privateDecrypt,
  privateEncrypt,
  publicDecrypt,
  publicEncrypt,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { signDigest, verifyDigest } from './curves.ts';
import { badParameter } from './errors.ts';
import type { VersionBody } from './objects.ts';

interface Signing {
  readonly kty: 'RSA' | 'EC';
  readonly digest: string;
  readonly bytes: number;
  readonly padding?: 'pkcs1' | 'pss';
  readonly crv?: string;
}

const signings: { readonly [alg: string]: Signing } = {
  RS256: { kty: 'RSA', digest: 'sha256', bytes: 32, padding: 'pkcs1' },
  RS384: { kty: 'RSA', digest: 'sha384', bytes: 48, padding: 'pkcs1' },
  RS512: { kty: 'RSA', digest: 'sha512', bytes: 64, padding: 'pkcs1' },
  PS256: { kty: 'RSA', digest: 'sha256', bytes: 32, padding: 'pss' },
  PS384: { kty: 'RSA', digest: 'sha384', bytes: 48, padding: 'pss' },
  PS512: { kty: 'RSA', digest: 'sha512', bytes: 64, padding: 'pss' },
  ES256: { kty: 'EC', digest: 'sha256', bytes: 32, crv: 'P-256' },
  ES256K: { kty: 'EC', digest: 'sha256', bytes: 32, crv: 'P-256K' },
  ES384: { kty: 'EC', digest: 'sha384', bytes: 48, crv: 'P-384' },
  ES512: { kty: 'EC', digest: 'sha512', bytes: 64, crv: 'P-521' },
};

/** What stands before a digest in a signature of PKCS #1, by its length. */
const digestInfo: { readonly [bytes: number]: Buffer } = {
  32: Buffer.from('3031300d060960864801650304020105000420', 'hex'),
  48: Buffer.from('3041300d060960864801650304020205000430', 'hex'),
  64: Buffer.from('3051300d060960864801650304020305000440', 'hex'),
};

const paddings: { readonly [alg: string]: { readonly padding: number; readonly oaepHash?: string } } = {
  RSA1_5: { padding: constants.RSA_PKCS1_PADDING },
  'RSA-OAEP': { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' },
  'RSA-OAEP-256': { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
};

interface Symmetric {
  readonly cipher: string;
  readonly keyBytes: number;
  readonly mode: 'gcm' | 'cbc' | 'cbcpad' | 'kw';
}

const symmetrics: { readonly [alg: string]: Symmetric } = Object.fromEntries(
  [128, 192, 256].flatMap((bits) => [
    [`A${bits}GCM`, { cipher: `aes-${bits}-gcm`, keyBytes: bits / 8, mode: 'gcm' }],
    [`A${bits}CBC`, { cipher: `aes-${bits}-cbc`, keyBytes: bits / 8, mode: 'cbc' }],
    [`A${bits}CBCPAD`, { cipher: `aes-${bits}-cbc`, keyBytes: bits / 8, mode: 'cbcpad' }],
    [`A${bits}KW`, { cipher: `aes${bits}-wrap`, keyBytes: bits / 8, mode: 'kw' }],
  ]),
);

function kindOf({ jwk }: VersionBody): string {
  return String(jwk?.kty ?? '').replace(/-HSM$/, '');
}

function privateKey({ value }: VersionBody): KeyObject {
  return createPrivateKey(value?.reveal() ?? '');
}

/** From the public members alone. */
function publicKey(version: VersionBody): KeyObject {
  const { n, e, x, y, crv } = (version.jwk ?? {}) as { readonly [member: string]: string };
  const key =
    kindOf(version) === 'RSA' ? { kty: 'RSA', n, e } : { kty: 'EC', crv: crv === 'P-256K' ? 'secp256k1' : crv, x, y };
  return createPublicKey({ key: key as Record<string, string>, format: 'jwk' });
}

function signing(version: VersionBody, alg: string, digest: Buffer): Signing {
  const found = Object.hasOwn(signings, alg) ? signings[alg] : undefined;
  if (found === undefined) throw notSupported(alg);
  if (found.kty !== kindOf(version) || (found.crv !== undefined && found.crv !== version.jwk?.crv))
    throw notSupported(alg);
  if (digest.length !== found.bytes)
    throw badParameter(`Invalid length of digest: ${digest.length}, expected ${found.bytes} for algorithm ${alg}.`);
  return found;
}

function notSupported(alg: string) {
  return badParameter(
    `Key and signing or encryption algorithm are incompatible, or the algorithm is not known: ${alg.slice(0, 64)}`,
  );
}

export function sign(version: VersionBody, alg: string, digest: Buffer): Buffer {
  const how = signing(version, alg, digest);
  const key = privateKey(version);
  if (how.crv !== undefined) return signDigest(key, how.crv, digest);
  if (how.padding === 'pkcs1') {
    const info = Buffer.concat([digestInfo[how.bytes] ?? Buffer.alloc(0), digest]);
    return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, info);
  }
  return privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, pssEncode(how, digest, modulusBits(key)));
}

export function verify(version: VersionBody, alg: string, digest: Buffer, signature: Buffer): boolean {
  const how = signing(version, alg, digest);
  if (how.crv !== undefined)
    return verifyDigest(version.jwk as unknown as { x: string; y: string }, how.crv, digest, signature);
  const key = publicKey(version);
  try {
    if (how.padding === 'pkcs1') {
      const expected = Buffer.concat([digestInfo[how.bytes] ?? Buffer.alloc(0), digest]);
      const found = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
      return found.length === expected.length && timingSafeEqual(found, expected);
    }
    const encoded = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
    return pssVerify(how, digest, encoded, modulusBits(key));
  } catch {
    // A signature of the wrong length or form is simply not valid.
    return false;
  }
}

function modulusBits(key: KeyObject): number {
  return key.asymmetricKeyDetails?.modulusLength ?? 0;
}

/** RFC 8017, 9.1.1; the salt is as long as the digest. */
function pssEncode({ digest: hash, bytes }: Signing, digest: Buffer, bits: number): Buffer {
  const length = Math.ceil((bits - 1) / 8);
  const salt = randomBytes(bytes);
  const inner = createHash(hash).update(Buffer.alloc(8)).update(digest).update(salt).digest();
  const block = Buffer.concat([Buffer.alloc(length - 2 * bytes - 2), Buffer.from([1]), salt]);
  const masked = xor(block, maskOf(hash, inner, block.length));
  masked[0] = (masked[0] ?? 0) & (0xff >> (8 * length - (bits - 1)));
  return Buffer.concat([Buffer.alloc(Math.ceil(bits / 8) - length), masked, inner, Buffer.from([0xbc])]);
}

function pssVerify({ digest: hash, bytes }: Signing, digest: Buffer, whole: Buffer, bits: number): boolean {
  const length = Math.ceil((bits - 1) / 8);
  const encoded = whole.subarray(whole.length - length);
  if (encoded.at(-1) !== 0xbc) return false;
  const masked = encoded.subarray(0, length - bytes - 1);
  const inner = encoded.subarray(masked.length, masked.length + bytes);
  const block = xor(masked, maskOf(hash, inner, masked.length));
  block[0] = (block[0] ?? 0) & (0xff >> (8 * length - (bits - 1)));
  const salt = block.subarray(block.length - bytes);
  const zeros = block.subarray(0, block.length - bytes - 1);
  if (zeros.some((byte) => byte !== 0) || block[zeros.length] !== 1) return false;
  const again = createHash(hash).update(Buffer.alloc(8)).update(digest).update(salt).digest();
  return timingSafeEqual(again, inner);
}

function maskOf(hash: string, seed: Buffer, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let counter = 0, have = 0; have < length; counter++) {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const block = createHash(hash).update(seed).update(count).digest();
    blocks.push(block);
    have += block.length;
  }
  return Buffer.concat(blocks).subarray(0, length);
}

function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));
}

export interface Sealed {
  readonly value: Buffer;
  readonly iv?: Buffer;
  readonly tag?: Buffer;
  readonly aad?: Buffer;
}

/** Encrypting and wrapping. Throws BadParameter for what the key cannot take. */
export function encrypt(version: VersionBody, alg: string, { value, iv, aad }: Sealed): Sealed {
  const padding = Object.hasOwn(paddings, alg) ? paddings[alg] : undefined;
  if (padding !== undefined && kindOf(version) === 'RSA') {
    return attempt(() => ({ value: publicEncrypt({ key: publicKey(version), ...padding }, value) }));
  }
  const { how, key } = symmetric(version, alg);
  return attempt(() => {
    if (how.mode === 'kw') return { value: run(createCipheriv(how.cipher, key, wrapIv), value) };
    if (how.mode === 'gcm') {
      const used = randomBytes(12);
      const cipher = createCipheriv(how.cipher as 'aes-256-gcm', key, used);
      if (aad !== undefined) cipher.setAAD(aad);
      const sealed = run(cipher, value);
      return { value: sealed, iv: used, tag: cipher.getAuthTag(), ...(aad === undefined ? {} : { aad }) };
    }
    const used = iv ?? randomBytes(16);
    const cipher = createCipheriv(how.cipher, key, used);
    cipher.setAutoPadding(how.mode === 'cbcpad');
    return { value: run(cipher, value), iv: used };
  });
}

/** Decrypting and unwrapping. */
export function decrypt(version: VersionBody, alg: string, { value, iv, tag, aad }: Sealed): Buffer {
  const padding = Object.hasOwn(paddings, alg) ? paddings[alg] : undefined;
  if (padding !== undefined && kindOf(version) === 'RSA') {
    return attempt(() => privateDecrypt({ key: privateKey(version), ...padding }, value));
  }
  const { how, key } = symmetric(version, alg);
  return attempt(() => {
    if (how.mode === 'kw') return run(createDecipheriv(how.cipher, key, wrapIv), value);
    if (how.mode === 'gcm') {
      const decipher = createDecipheriv(how.cipher as 'aes-256-gcm', key, iv ?? Buffer.alloc(0), { authTagLength: 16 });
      decipher.setAuthTag(tag ?? Buffer.alloc(0));
      if (aad !== undefined) decipher.setAAD(aad);
      return run(decipher, value);
    }
    const decipher = createDecipheriv(how.cipher, key, iv ?? Buffer.alloc(0));
    decipher.setAutoPadding(how.mode === 'cbcpad');
    return run(decipher, value);
  });
}

/** RFC 3394's initial value. */
const wrapIv = Buffer.alloc(8, 0xa6);

function symmetric(version: VersionBody, alg: string): { readonly how: Symmetric; readonly key: Buffer } {
  const how = Object.hasOwn(symmetrics, alg) ? symmetrics[alg] : undefined;
  const key = Buffer.from(version.value?.reveal() ?? '', 'base64url');
  if (how === undefined || kindOf(version) !== 'oct' || key.length !== how.keyBytes) throw notSupported(alg);
  return { how, key };
}

function run(cipher: { update(data: Buffer): Buffer; final(): Buffer }, value: Buffer): Buffer {
  return Buffer.concat([cipher.update(value), cipher.final()]);
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw badParameter(
      'The value could not be processed with this key and algorithm: its length or content does not fit.',
    );
  }
}
