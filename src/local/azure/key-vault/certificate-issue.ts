// X.509 for vaults: requests and certificates from a policy. Imported when a certificate is made: the library takes long to load.
import 'reflect-metadata';
import { createPublicKey, type KeyObject, randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { KeyedCertificate } from '../../../pki/certificate.ts';
import { signingAlgorithm, webKey } from '../../../pki/keys.ts';
import { keyUsages, type Policy } from './certificate-policy.ts';
import { badParameter } from './errors.ts';

/** The request that an issuer is to sign, DER. Throws BadParameter for names that no certificate can hold. */
export async function makeRequest(policy: Policy, key: KeyObject): Promise<Buffer> {
  const algorithm = algorithmOf(key);
  const keys = {
    privateKey: await webKey(key, algorithm),
    publicKey: await createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
  };
  const extensions = await extensionsOf(policy, key);
  const request = await naming(() =>
    x509.Pkcs10CertificateRequestGenerator.create(
      { name: policy.x509_props.subject, keys, signingAlgorithm: algorithm, extensions },
      webcrypto,
    ),
  );
  return Buffer.from(request.rawData);
}

export interface Signer {
  /** Signs itself without one. */
  readonly authority?: KeyedCertificate;
  readonly now: Date;
}

/** A certificate as the policy wants it, DER; cut to the life of the authority. */
export async function issue(policy: Policy, key: KeyObject, { authority, now }: Signer): Promise<Buffer> {
  const signer = authority?.key ?? key;
  const algorithm = algorithmOf(signer);
  const issuer = authority === undefined ? undefined : new x509.X509Certificate(authority.certificate.raw);
  const until = new Date(now);
  until.setUTCMonth(until.getUTCMonth() + policy.x509_props.validity_months);
  const end = issuer === undefined || issuer.notAfter > until ? until : issuer.notAfter;
  const identifier = issuer?.getExtension(x509.SubjectKeyIdentifierExtension);
  const extensions = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    ...(await extensionsOf(policy, key)),
    await x509.SubjectKeyIdentifierExtension.create(spki(key), false, webcrypto),
    ...(identifier ? [new x509.AuthorityKeyIdentifierExtension(identifier.keyId)] : []),
  ];
  const serial = randomBytes(16);
  serial[0] = (serial[0] ?? 0) & 0x7f || 1;
  const made = await naming(async () =>
    x509.X509CertificateGenerator.create(
      {
        serialNumber: serial.toString('hex'),
        subject: policy.x509_props.subject,
        issuer: issuer?.subjectName ?? policy.x509_props.subject,
        notBefore: seconds(new Date(now.getTime() - 300_000)),
        notAfter: seconds(end),
        publicKey: spki(key),
        signingKey: await webKey(signer, algorithm),
        signingAlgorithm: algorithm,
        extensions,
      },
      webcrypto,
    ),
  );
  return Buffer.from(made.rawData);
}

function algorithmOf(key: KeyObject) {
  const algorithm = signingAlgorithm(key);
  if (algorithm === undefined) throw badParameter('Certificates cannot be made with a key of this kind.');
  return algorithm;
}

async function extensionsOf({ x509_props: { sans, ekus, key_usage: usages } }: Policy, _key: KeyObject) {
  const names: x509.JsonGeneralName[] = [
    ...(sans?.dns_names ?? []).map((value) => ({ type: 'dns', value }) as const),
    ...(sans?.emails ?? []).map((value) => ({ type: 'email', value }) as const),
    ...(sans?.upns ?? []).map((value) => ({ type: 'upn', value }) as const),
    ...(sans?.uris ?? []).map((value) => ({ type: 'url', value }) as const),
    ...(sans?.ipAddresses ?? []).map((value) => ({ type: 'ip', value }) as const),
  ];
  const flags = usages.reduce((sum, usage) => sum | (1 << keyUsages.indexOf(usage)), 0);
  return naming(() => [
    ...(flags === 0 ? [] : [new x509.KeyUsagesExtension(flags, true)]),
    ...(ekus.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension([...ekus])]),
    ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
  ]);
}

async function naming<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof Error && error.name === 'VaultError') throw error;
    throw badParameter('The subject or a subject alternative name of the policy is not valid in a certificate.');
  }
}

function spki(key: KeyObject): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createPublicKey(key).export({ type: 'spki', format: 'der' }));
}

function seconds(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}
