// Certificate requests (PKCS #10). Nothing in a request is copied: what it asks for is read, held against a policy, and the
// authority writes its own certificate with the allowed names.
import 'reflect-metadata';
import { createPublicKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import ipaddr from 'ipaddr.js';
import { certify, type LifeOptions, type Usage } from './authority.ts';
import type { KeyedCertificate } from './certificate.ts';
import { PkiError } from './errors.ts';
import { allowedKeys, generateKey, signingAlgorithm, webKey } from './keys.ts';
import { alternativeNames, subjectName } from './name-encoding.ts';
import { type CertificateNames, checkNames, matchesName, type NamePattern } from './names.ts';

/** What a request may ask for. A list left out allows nothing of its kind. */
export interface RequestPolicy {
  readonly usages: readonly Usage[];
  readonly commonNames?: readonly NamePattern[];
  readonly organizations?: readonly NamePattern[];
  readonly dnsNames?: readonly NamePattern[];
  /** Ranges in CIDR form: `10.0.0.0/8`, `fd00::/8`; one address is `/32` or `/128`. */
  readonly ipRanges?: readonly string[];
  readonly uris?: readonly NamePattern[];
}

/** What a request asks for, with its signature checked. */
export interface CheckedRequest {
  readonly names: CertificateNames;
  /** Undefined when it does not say; the policy's usages then apply. */
  readonly usages: readonly Usage[] | undefined;
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

export interface NewRequest extends Partial<CertificateNames>, Pick<LifeOptions, 'keyType'> {
  readonly usages?: readonly Usage[];
}

/** Makes a key and a request for a certificate of it. The key stays here; only the request goes to the authority. */
export async function createRequest(
  asked: NewRequest,
): Promise<{ readonly requestPem: string; readonly key: KeyObject }> {
  const names = checkNames({
    commonName: asked.commonName ?? '',
    organizations: asked.organizations ?? [],
    dnsNames: asked.dnsNames ?? [],
    ipAddresses: asked.ipAddresses ?? [],
    uris: asked.uris ?? [],
  });
  const key = await generateKey(asked.keyType ?? 'P-256');
  const algorithm = signingAlgorithm(key);
  if (!algorithm) throw new PkiError('refused', `the key is not one of: ${allowedKeys}`);
  const alternatives = alternativeNames(names);
  const usages = asked.usages ?? [];
  const request = await x509.Pkcs10CertificateRequestGenerator.create(
    {
      name: subjectName(names),
      keys: {
        privateKey: await webKey(key, algorithm),
        publicKey: await createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
      },
      signingAlgorithm: algorithm,
      extensions: [
        ...(alternatives.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternatives)] : []),
        ...(usages.length > 0 ? [new x509.ExtendedKeyUsageExtension(usages.map((usage) => usageIds[usage]))] : []),
      ],
    },
    webcrypto,
  );
  return { requestPem: `${request.toString('pem')}\n`, key };
}

/** Signs a request that keeps to the policy, and returns the certificate in PEM. Throws `refused` otherwise, saying why. */
export async function signRequest(
  authority: KeyedCertificate,
  requestPem: string,
  policy: RequestPolicy,
  options: Omit<LifeOptions, 'keyType'> = {},
): Promise<{ readonly certificate: X509Certificate; readonly certificatePem: string }> {
  const request = await readRequest(requestPem);
  const [usage, ...more] = request.usages ?? policy.usages;
  if (!usage) throw refused('no usage, and the policy names none');
  const violations = violationsOf(request, policy);
  if (violations.length > 0) throw refused(violations.join('; '));
  const certificatePem = await certify(authority, {
    ...options,
    ...request.names,
    usages: [usage, ...more],
    publicKey: request.publicKey,
  });
  return { certificate: new X509Certificate(certificatePem), certificatePem };
}

const requestForm = /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([^-]+)-----END (?:NEW )?CERTIFICATE REQUEST-----/;
const largestRequestBytes = 64 * 1024;
const weakHashes: ReadonlySet<string> = new Set(['SHA-1', 'MD5']);

/** Reads a request and checks that whoever made it holds the private key. */
export async function readRequest(requestPem: string): Promise<CheckedRequest> {
  const body = requestPem.length <= largestRequestBytes ? requestForm.exec(requestPem)?.[1] : undefined;
  if (body === undefined) throw new PkiError('garbage', 'not a certificate request in PEM');
  const request = parse(Buffer.from(body, 'base64'));
  const publicKey = new Uint8Array(request.publicKey.rawData);
  await checkSignature(request, publicKey);
  return { ...asked(request), publicKey };
}

function parse(der: Buffer): x509.Pkcs10CertificateRequest {
  try {
    const request = new x509.Pkcs10CertificateRequest(new Uint8Array(der));
    // Extensions are parsed when first looked at; a broken one must show here.
    void request.extensions;
    return request;
  } catch (cause) {
    throw new PkiError('garbage', 'not a certificate request: its content cannot be read', { cause });
  }
}

async function checkSignature(request: x509.Pkcs10CertificateRequest, spki: Uint8Array): Promise<void> {
  let strong = false;
  try {
    strong = signingAlgorithm(createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })) !== undefined;
  } catch {
    // A key that OpenSSL cannot read is not one of the allowed kinds either.
  }
  if (!strong) throw refused(`a certificate for a key that is not one of: ${allowedKeys}`);
  if (weakHashes.has(request.signatureAlgorithm.hash?.name ?? '')) throw refused('a signature by a broken hash');
  let verified = false;
  try {
    verified = await request.verify(webcrypto);
  } catch {
    // A signature of the wrong shape is a wrong signature.
  }
  if (!verified) throw refused('a certificate for a key its sender does not hold: the signature is wrong');
}

const extensionRequestId = '1.2.840.113549.1.9.14';

const usageIds: Readonly<Record<Usage, x509.ExtendedKeyUsage>> = {
  server: x509.ExtendedKeyUsage.serverAuth,
  client: x509.ExtendedKeyUsage.clientAuth,
};

/** The key usages that a leaf for TLS can have; the certificate gets those that fit its key. */
const leafKeyUsages =
  x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.keyAgreement;

function asked(request: x509.Pkcs10CertificateRequest): Pick<CheckedRequest, 'names' | 'usages'> {
  const names = { commonName: '', organizations: [], dnsNames: [], ipAddresses: [], uris: [] } as {
    commonName: string;
    organizations: string[];
    dnsNames: string[];
    ipAddresses: string[];
    uris: string[];
  };
  readSubject(request.subjectName, names);
  if (request.getAttributes(extensionRequestId).length > 1) throw refused('extensions in two places');
  const seen = new Set<string>();
  let usages: readonly Usage[] | undefined;
  for (const extension of request.extensions) {
    if (seen.has(extension.type)) throw refused(`extension ${extension.type} twice`);
    seen.add(extension.type);
    if (extension instanceof x509.SubjectAlternativeNameExtension) readAlternatives(extension, names);
    else if (extension instanceof x509.ExtendedKeyUsageExtension) usages = extension.usages.map(usageOf);
    else if (extension instanceof x509.BasicConstraintsExtension) {
      if (extension.ca) throw refused('to be an authority (CA:TRUE)');
    } else if (extension instanceof x509.KeyUsagesExtension) {
      if ((extension.usages & ~leafKeyUsages) !== 0) throw refused('key usages beyond those of a TLS certificate');
    } else if (!(extension instanceof x509.SubjectKeyIdentifierExtension)) {
      throw refused(`the extension ${extension.type}`);
    }
  }
  return { names: checkNames(names), usages };
}

function readSubject(subject: x509.Name, names: { commonName: string; organizations: string[] }): void {
  for (const part of subject.toJSON()) {
    for (const [type, values] of Object.entries(part)) {
      if (type === 'O') names.organizations.push(...values);
      else if (type === 'CN' && names.commonName === '' && values.length === 1) names.commonName = values[0] ?? '';
      else throw refused(type === 'CN' ? 'two common names' : `the subject attribute ${type}`);
    }
  }
}

function readAlternatives(
  extension: x509.SubjectAlternativeNameExtension,
  names: { dnsNames: string[]; ipAddresses: string[]; uris: string[] },
): void {
  const lists: Readonly<Record<string, string[]>> = { dns: names.dnsNames, ip: names.ipAddresses, url: names.uris };
  for (const { type, value } of extension.names.items) {
    const list = lists[type];
    if (!list) throw refused(`an alternative name of type ${type}`);
    list.push(value);
  }
}

function usageOf(id: x509.ExtendedKeyUsageType): Usage {
  for (const usage of ['server', 'client'] as const) if (usageIds[usage] === id) return usage;
  throw refused(`the extended key usage ${String(id)}`);
}

function violationsOf(request: CheckedRequest, policy: RequestPolicy): readonly string[] {
  const { names } = request;
  const lists: readonly (readonly [string, readonly string[], (name: string) => boolean])[] = [
    ['the common name', names.commonName === '' ? [] : [names.commonName], anyOf(policy.commonNames)],
    ['the organization', names.organizations, anyOf(policy.organizations)],
    ['the DNS name', names.dnsNames, anyOf(policy.dnsNames)],
    ['the IP address', names.ipAddresses, inRanges(policy.ipRanges ?? [])],
    ['the URI', names.uris, anyOf(policy.uris)],
    ['the usage', request.usages ?? [], (usage) => policy.usages.some((allowed) => allowed === usage)],
  ];
  return lists.flatMap(([what, values, allowed]) =>
    values.filter((value) => !allowed(value)).map((value) => `${what} ${JSON.stringify(value)}`),
  );
}

function anyOf(patterns: readonly NamePattern[] = []): (name: string) => boolean {
  return (name) => patterns.some((pattern) => matchesName(pattern, name));
}

function inRanges(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.map((range) => ipaddr.parseCIDR(range));
  return (address) =>
    isIP(address) !== 0 &&
    parsed.some(([base, bits]) => {
      const given = ipaddr.parse(address);
      return given.kind() === base.kind() && given.match([base, bits]);
    });
}

function refused(what: string): PkiError {
  return new PkiError('refused', `the certificate request asks for what is not allowed: ${what}`);
}
