// A small certificate authority: a root that signs leaves and nothing else (path length 0).
import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { checkAuthority, checkValidAt, type KeyedCertificate, notAfter, notBefore, pair } from './certificate.ts';
import {
  authorityExtensions,
  encodeName,
  issuerOf,
  keyIdentifierOf,
  leafExtensions,
  signedCertificate,
  type UnsignedCertificate,
} from './certificate-encoding.ts';
import { PkiError } from './errors.ts';
import { allowedKeys, generatePair, type KeyPair, type KeyType, signingAlgorithm } from './keys.ts';
import { type CertificateNames, checkNames, subjectLength } from './names.ts';

/** What a leaf may be used for in TLS. */
export type Usage = 'server' | 'client';

/** Options that every certificate takes. */
export interface LifeOptions {
  /** How long it is valid from now on. A leaf is cut to the end of its authority's life. */
  readonly lifeSeconds?: number;
  /** P-256 when left out. */
  readonly keyType?: KeyType;
  /** The clock, for tests. */
  readonly now?: Date;
}

export interface LeafRequest extends LifeOptions, Partial<CertificateNames> {
  readonly usages: readonly [Usage, ...Usage[]];
  /** A key that is there already, by {@link generatePair}; one is made when left out. */
  readonly pair?: KeyPair;
}

const daySeconds = 86_400;
const authorityLifeSeconds = 10 * 365 * daySeconds;
const leafLifeSeconds = 90 * daySeconds;

/** Certificates start this long ago, so that a peer whose clock is behind accepts them at once. */
const skewSeconds = 300;

/** Makes a self-signed authority of this name. */
export async function createAuthority(options: LifeOptions & { readonly name: string }): Promise<KeyedCertificate> {
  const names = checkNames({ ...noNames, commonName: options.name });
  if (names.commonName === '') throw new PkiError('bad-name', 'an authority needs a name');
  const { key, publicKey } = await generatePair(options.keyType ?? 'P-256');
  const now = options.now ?? new Date();
  const subject = encodeName(names);
  const pem = signCertificate(key, {
    subject,
    issuer: subject,
    publicKey,
    from: new Date(now.getTime() - skewSeconds * 1000),
    until: endOfLife(now, options.lifeSeconds ?? authorityLifeSeconds),
    extensions: authorityExtensions(keyIdentifierOf(publicKey)),
  });
  return pair(pem, key, `the authority ${options.name}`);
}

/** Issues a certificate with a key made for it. A server certificate needs a DNS name or an address. */
export async function issueCertificate(authority: KeyedCertificate, request: LeafRequest): Promise<KeyedCertificate> {
  const { key, publicKey } = request.pair ?? (await generatePair(request.keyType ?? 'P-256'));
  const pem = signLeaf(authority, { ...request, publicKey }, key.asymmetricKeyType === 'rsa' ? 'rsa' : 'ec');
  return pair(pem, key, 'the new certificate');
}

/** A certificate to serve TLS with. The common name is for people to read: the first name when left out and short enough. */
export async function issueServerCertificate(
  authority: KeyedCertificate,
  request: Omit<LeafRequest, 'usages'>,
): Promise<KeyedCertificate> {
  const first = request.dnsNames?.[0] ?? request.ipAddresses?.[0] ?? '';
  const commonName = request.commonName ?? (first.length <= subjectLength ? first : '');
  return issueCertificate(authority, { ...request, commonName, usages: ['server'] });
}

/** A certificate to be known by: the common name is the identity, organizations are its groups. */
export async function issueClientCertificate(
  authority: KeyedCertificate,
  request: Omit<LeafRequest, 'usages'> & { readonly commonName: string },
): Promise<KeyedCertificate> {
  return issueCertificate(authority, { ...request, usages: ['client'] });
}

/**
 * Signs a leaf for a public key (DER, SubjectPublicKeyInfo) that someone else holds the private half of, and returns it
 * in PEM. The names are checked; whether the holder may have them is the caller's to decide.
 */
export async function certify(
  authority: KeyedCertificate,
  request: LeafRequest & { readonly publicKey: Uint8Array<ArrayBuffer> },
): Promise<string> {
  const publicKey = createPublicKey({ key: Buffer.from(request.publicKey), format: 'der', type: 'spki' });
  if (!signingAlgorithm(publicKey)) throw new PkiError('refused', `the key is not one of: ${allowedKeys}`);
  return signLeaf(authority, request, publicKey.asymmetricKeyType === 'rsa' ? 'rsa' : 'ec');
}

function signLeaf(
  authority: KeyedCertificate,
  request: LeafRequest & { readonly publicKey: Uint8Array<ArrayBuffer> },
  keyType: 'ec' | 'rsa',
): string {
  const now = request.now ?? new Date();
  const origin = 'the certificate of the authority';
  checkAuthority(authority.certificate, origin);
  checkValidAt(authority.certificate, now, origin);
  const names = checkNames({ ...noNames, ...request });
  if (request.usages.includes('server') && names.dnsNames.length + names.ipAddresses.length === 0) {
    throw new PkiError('bad-name', 'a server certificate needs at least one DNS name or IP address');
  }
  const named = [names.commonName, ...names.dnsNames, ...names.ipAddresses, ...names.uris];
  if (named.every((name) => name === '')) {
    throw new PkiError('bad-name', 'a certificate needs a common name or another name');
  }
  const issuer = issuerOf(authority.certificate.raw);
  const start = Math.max(now.getTime() - skewSeconds * 1000, notBefore(authority.certificate).getTime());
  const end = Math.min(
    endOfLife(now, request.lifeSeconds ?? leafLifeSeconds).getTime(),
    notAfter(authority.certificate).getTime(),
  );
  return signCertificate(authority.key, {
    subject: encodeName(names),
    issuer: issuer.subject,
    publicKey: request.publicKey,
    from: new Date(start),
    until: new Date(end),
    extensions: leafExtensions({
      names,
      usages: request.usages,
      keyType,
      keyIdentifier: keyIdentifierOf(request.publicKey),
      issuerKeyIdentifier: issuer.keyIdentifier,
    }),
  });
}

const noNames: CertificateNames = { commonName: '', organizations: [], dnsNames: [], ipAddresses: [], uris: [] };

function signCertificate(key: KeyObject, unsigned: Omit<UnsignedCertificate, 'serialNumber'>): string {
  const algorithm = signingAlgorithm(key);
  if (!algorithm) throw new PkiError('not-an-authority', `the key of an authority is one of: ${allowedKeys}`);
  // 128 random bits, so that a serial tells nothing and never comes twice.
  return signedCertificate({ ...unsigned, serialNumber: randomBytes(16) }, key, algorithm.hash);
}

function endOfLife(now: Date, lifeSeconds: number): Date {
  if (!(lifeSeconds > 0)) throw new RangeError(`a life of ${lifeSeconds} seconds is not a life`);
  return new Date(now.getTime() + lifeSeconds * 1000);
}
