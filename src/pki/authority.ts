// A small certificate authority: a root that signs leaves and nothing else (path length 0).
import 'reflect-metadata';
import { createPublicKey, type KeyObject, randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { checkAuthority, checkValidAt, type KeyedCertificate, notAfter, notBefore, pair } from './certificate.ts';
import { PkiError } from './errors.ts';
import { allowedKeys, generateKey, type KeyType, signingAlgorithm, webKey } from './keys.ts';
import { alternativeNames, subjectName } from './name-encoding.ts';
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
}

const daySeconds = 86_400;
const authorityLifeSeconds = 10 * 365 * daySeconds;
const leafLifeSeconds = 90 * daySeconds;

/** Certificates start this long ago, so that a peer whose clock is behind accepts them at once. */
const skewSeconds = 300;

const extendedUsage: Readonly<Record<Usage, x509.ExtendedKeyUsage>> = {
  server: x509.ExtendedKeyUsage.serverAuth,
  client: x509.ExtendedKeyUsage.clientAuth,
};

/** Makes a self-signed authority of this name. */
export async function createAuthority(options: LifeOptions & { readonly name: string }): Promise<KeyedCertificate> {
  const names = checkNames({ ...noNames, commonName: options.name });
  if (names.commonName === '') throw new PkiError('bad-name', 'an authority needs a name');
  const key = await generateKey(options.keyType ?? 'P-256');
  const now = options.now ?? new Date();
  const publicKey = spki(key);
  const identifier = await x509.SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto);
  const pem = await signCertificate({
    subject: names,
    issuer: subjectName(names),
    publicKey,
    signingKey: key,
    from: new Date(now.getTime() - skewSeconds * 1000),
    until: endOfLife(now, options.lifeSeconds ?? authorityLifeSeconds),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      identifier,
      new x509.AuthorityKeyIdentifierExtension(identifier.keyId),
    ],
  });
  return pair(pem, key, `the authority ${options.name}`);
}

/** Issues a certificate with a key made for it. A server certificate needs a DNS name or an address. */
export async function issueCertificate(authority: KeyedCertificate, request: LeafRequest): Promise<KeyedCertificate> {
  const key = await generateKey(request.keyType ?? 'P-256');
  const pem = await certify(authority, { ...request, publicKey: spki(key) });
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
  const now = request.now ?? new Date();
  const origin = 'the certificate of the authority';
  checkAuthority(authority.certificate, origin);
  checkValidAt(authority.certificate, now, origin);
  const names = checkNames({ ...noNames, ...request });
  if (request.usages.includes('server') && names.dnsNames.length + names.ipAddresses.length === 0) {
    throw new PkiError('bad-name', 'a server certificate needs at least one DNS name or IP address');
  }
  const alternatives = alternativeNames(names);
  if (names.commonName === '' && alternatives.length === 0) {
    throw new PkiError('bad-name', 'a certificate needs a common name or another name');
  }
  const publicKey = createPublicKey({ key: Buffer.from(request.publicKey), format: 'der', type: 'spki' });
  if (!signingAlgorithm(publicKey)) throw new PkiError('refused', `the key is not one of: ${allowedKeys}`);
  const issuer = new x509.X509Certificate(authority.certificate.raw);
  const encipher = publicKey.asymmetricKeyType === 'rsa' ? x509.KeyUsageFlags.keyEncipherment : 0;
  const start = Math.max(now.getTime() - skewSeconds * 1000, notBefore(authority.certificate).getTime());
  const end = Math.min(
    endOfLife(now, request.lifeSeconds ?? leafLifeSeconds).getTime(),
    notAfter(authority.certificate).getTime(),
  );
  return signCertificate({
    subject: names,
    issuer: issuer.subjectName,
    publicKey: request.publicKey,
    signingKey: authority.key,
    from: new Date(start),
    until: new Date(end),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | encipher, true),
      new x509.ExtendedKeyUsageExtension([...new Set(request.usages)].map((usage) => extendedUsage[usage])),
      await x509.SubjectKeyIdentifierExtension.create(request.publicKey, false, webcrypto),
      await authorityIdentifier(issuer),
      // Without a subject the alternative names are the only identity, and RFC 5280 wants them critical.
      ...(alternatives.length > 0
        ? [new x509.SubjectAlternativeNameExtension(alternatives, subjectName(names).toJSON().length === 0)]
        : []),
    ],
  });
}

const noNames: CertificateNames = { commonName: '', organizations: [], dnsNames: [], ipAddresses: [], uris: [] };

interface Unsigned {
  readonly subject: CertificateNames;
  readonly issuer: x509.Name;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly signingKey: KeyObject;
  readonly from: Date;
  readonly until: Date;
  readonly extensions: x509.Extension[];
}

async function signCertificate(unsigned: Unsigned): Promise<string> {
  const algorithm = signingAlgorithm(unsigned.signingKey);
  if (!algorithm) throw new PkiError('not-an-authority', `the key of an authority is one of: ${allowedKeys}`);
  const made = await x509.X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(),
      subject: subjectName(unsigned.subject),
      issuer: unsigned.issuer,
      notBefore: wholeSeconds(unsigned.from),
      notAfter: wholeSeconds(unsigned.until),
      publicKey: unsigned.publicKey,
      signingKey: await webKey(unsigned.signingKey, algorithm),
      signingAlgorithm: algorithm,
      extensions: unsigned.extensions,
    },
    webcrypto,
  );
  return `${made.toString('pem')}\n`;
}

/** 128 random bits, so that a serial tells nothing and never comes twice. */
function serialNumber(): string {
  return randomBytes(16).toString('hex');
}

/** The authority's own subject key identifier, whatever way it was computed by who made that certificate. */
async function authorityIdentifier(issuer: x509.X509Certificate): Promise<x509.AuthorityKeyIdentifierExtension> {
  const own = issuer.getExtension(x509.SubjectKeyIdentifierExtension);
  if (own) return new x509.AuthorityKeyIdentifierExtension(own.keyId);
  return x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, webcrypto);
}

function endOfLife(now: Date, lifeSeconds: number): Date {
  if (!(lifeSeconds > 0)) throw new RangeError(`a life of ${lifeSeconds} seconds is not a life`);
  return new Date(now.getTime() + lifeSeconds * 1000);
}

/** X.509 times have no fraction. */
function wholeSeconds(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}

function spki(key: KeyObject): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createPublicKey(key).export({ type: 'spki', format: 'der' }));
}
