// How a certificate is written: names, extensions and the signature, as RFC 5280 has them. By hand, since a process that hosts
// thousands of clusters issues thousands of certificates: this takes a tenth of a millisecond, a general encoder five.
import { createHash, type KeyObject, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import {
  contextTag,
  type DerElement,
  der,
  derBits,
  derElements,
  derInteger,
  derNull,
  derObjectId,
  derSequence,
  derTag,
  derTime,
  derTrue,
} from './der.ts';
import type { CertificateNames } from './names.ts';

const objectIds = {
  commonName: derObjectId('2.5.4.3'),
  organization: derObjectId('2.5.4.10'),
  subjectKeyIdentifier: derObjectId('2.5.29.14'),
  keyUsage: derObjectId('2.5.29.15'),
  subjectAltName: derObjectId('2.5.29.17'),
  basicConstraints: derObjectId('2.5.29.19'),
  authorityKeyIdentifier: derObjectId('2.5.29.35'),
  extendedKeyUsage: derObjectId('2.5.29.37'),
} as const;

const usageIds = {
  server: derObjectId('1.3.6.1.5.5.7.3.1'),
  client: derObjectId('1.3.6.1.5.5.7.3.2'),
} as const;

/** By the hash that a key signs with. */
const ecdsa: Readonly<Record<string, Buffer>> = {
  'SHA-256': derSequence(derObjectId('1.2.840.10045.4.3.2')),
  'SHA-384': derSequence(derObjectId('1.2.840.10045.4.3.3')),
  'SHA-512': derSequence(derObjectId('1.2.840.10045.4.3.4')),
};
const rsaWithSha256 = derSequence(derObjectId('1.2.840.113549.1.1.11'), derNull);

const version3 = der(contextTag(0, true), derInteger(Buffer.from([2])));

/** A subject or issuer: organizations, then the common name. */
export function encodeName({ organizations, commonName }: CertificateNames): Buffer {
  const part = (id: Buffer, text: string): Buffer =>
    der(derTag.set, derSequence(id, der(derTag.utf8String, Buffer.from(text))));
  return derSequence(
    ...organizations.map((name) => part(objectIds.organization, name)),
    ...(commonName === '' ? [] : [part(objectIds.commonName, commonName)]),
  );
}

function extension(id: Buffer, critical: boolean, value: Buffer): Buffer {
  return derSequence(id, ...(critical ? [derTrue] : []), der(derTag.octetString, value));
}

/** Bits are counted from the most significant one of the first octet. */
function keyUsage(...bits: readonly number[]): Buffer {
  const octet = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  return extension(objectIds.keyUsage, true, derBits(Buffer.from([octet]), 7 - Math.max(...bits)));
}

const digitalSignature = 0;
const keyEncipherment = 2;
const certificateSign = 5;
const revocationListSign = 6;

const identifiers = (own: Buffer, issuer: Buffer): Buffer[] => [
  extension(objectIds.subjectKeyIdentifier, false, der(derTag.octetString, own)),
  extension(objectIds.authorityKeyIdentifier, false, derSequence(der(contextTag(0, false), issuer))),
];

/** What an authority that signs leaves alone (path length 0) says of itself. */
export function authorityExtensions(keyIdentifier: Buffer): Buffer[] {
  return [
    extension(objectIds.basicConstraints, true, derSequence(derTrue, derInteger(Buffer.from([0])))),
    keyUsage(certificateSign, revocationListSign),
    ...identifiers(keyIdentifier, keyIdentifier),
  ];
}

export interface LeafExtensions {
  readonly names: CertificateNames;
  readonly usages: readonly ('server' | 'client')[];
  readonly keyType: 'ec' | 'rsa';
  readonly keyIdentifier: Buffer;
  readonly issuerKeyIdentifier: Buffer;
}

export function leafExtensions(leaf: LeafExtensions): Buffer[] {
  const { names, usages } = leaf;
  const alternatives = alternativeNames(names);
  const subjectless = names.commonName === '' && names.organizations.length === 0;
  return [
    extension(objectIds.basicConstraints, true, derSequence()),
    keyUsage(digitalSignature, ...(leaf.keyType === 'rsa' ? [keyEncipherment] : [])),
    extension(objectIds.extendedKeyUsage, false, derSequence(...[...new Set(usages)].map((usage) => usageIds[usage]))),
    ...identifiers(leaf.keyIdentifier, leaf.issuerKeyIdentifier),
    // Without a subject the alternative names are the only identity, and RFC 5280 wants them critical.
    ...(alternatives.length > 0
      ? [extension(objectIds.subjectAltName, subjectless, derSequence(...alternatives))]
      : []),
  ];
}

function alternativeNames({ dnsNames, ipAddresses, uris }: CertificateNames): Buffer[] {
  return [
    ...dnsNames.map((name) => der(contextTag(2, false), Buffer.from(name))),
    ...ipAddresses.map((address) => der(contextTag(7, false), addressOctets(address))),
    ...uris.map((uri) => der(contextTag(6, false), Buffer.from(uri))),
  ];
}

function addressOctets(address: string): Buffer {
  return Buffer.from((isIPv4(address) ? ipaddr.IPv4 : ipaddr.IPv6).parse(address).toByteArray());
}

export interface UnsignedCertificate {
  readonly serialNumber: Uint8Array;
  /** Names and key as encoded. */
  readonly subject: Buffer;
  readonly issuer: Buffer;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
  readonly from: Date;
  readonly until: Date;
  readonly extensions: readonly Buffer[];
}

/** The certificate, signed, in PEM. `hash` is that of `signingAlgorithm`. */
export function signedCertificate(unsigned: UnsignedCertificate, key: KeyObject, hash: string): string {
  const algorithm = key.asymmetricKeyType === 'rsa' ? rsaWithSha256 : ecdsa[hash];
  if (!algorithm) throw new TypeError(`certificates are not signed with ${hash}`);
  const body = derSequence(
    version3,
    derInteger(unsigned.serialNumber),
    algorithm,
    unsigned.issuer,
    derSequence(derTime(unsigned.from), derTime(unsigned.until)),
    unsigned.subject,
    unsigned.publicKey,
    der(contextTag(3, true), derSequence(...unsigned.extensions)),
  );
  return pem(derSequence(body, algorithm, derBits(sign(hash.replace('-', ''), body, key))));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** What names a key in certificates: the SHA-1 of its bits, as RFC 5280 proposes. */
export function keyIdentifierOf(publicKey: Uint8Array): Buffer {
  const [info] = derElements(Buffer.from(publicKey));
  const bits = info && derElements(info.content)[1];
  // The first octet counts unused bits.
  return createHash('sha1')
    .update(bits?.content.subarray(1) ?? Buffer.alloc(0))
    .digest();
}

/** What a leaf says of its authority: its subject as it wrote it, and its own key identifier where it has one. */
export function issuerOf(certificate: Buffer): { readonly subject: Buffer; readonly keyIdentifier: Buffer } {
  const [whole] = derElements(certificate);
  const [body] = derElements(whole?.content ?? Buffer.alloc(0));
  const parts = derElements(body?.content ?? Buffer.alloc(0));
  // Version 1 has no version element in front.
  const [, , , , subject, publicKey, ...rest] = parts[0]?.tag === contextTag(0, true) ? parts.slice(1) : parts;
  if (!subject || !publicKey) throw new RangeError('a certificate without subject or key');
  const extensions = rest.find(({ tag }) => tag === contextTag(3, true));
  return { subject: subject.bytes, keyIdentifier: ownIdentifier(extensions) ?? keyIdentifierOf(publicKey.bytes) };
}

function ownIdentifier(extensions: DerElement | undefined): Buffer | undefined {
  const [list] = extensions ? derElements(extensions.content) : [];
  for (const { content } of list ? derElements(list.content) : []) {
    const parts = derElements(content);
    if (!parts[0]?.bytes.equals(objectIds.subjectKeyIdentifier)) continue;
    const [identifier] = derElements(parts.at(-1)?.content ?? Buffer.alloc(0));
    return identifier?.content;
  }
  return undefined;
}
