// Held against another encoder: the same certificate, byte for byte, except for what is random in a signature.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import * as x509 from '@peculiar/x509';
import {
  authorityExtensions,
  encodeName,
  issuerOf,
  keyIdentifierOf,
  leafExtensions,
  signedCertificate,
} from './certificate-encoding.ts';
import { derElements, derInteger, derObjectId, derTime } from './der.ts';
import { signingAlgorithm, webKey } from './keys.ts';
import { alternativeNames, subjectName } from './name-encoding.ts';
import type { CertificateNames } from './names.ts';

const names: CertificateNames = {
  commonName: 'kube-apiserver Ä',
  organizations: ['system:masters', 'one, "two"'],
  dnsNames: ['a.example', '*.b.example'],
  ipAddresses: ['127.0.0.1', '2001:db8:0:0:0:0:0:1'],
  uris: ['spiffe://aro.local/rp'],
};
const from = new Date('2026-01-02T03:04:05Z');
const until = new Date('2051-01-02T03:04:05Z');

const spki = (key: KeyObject): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createPublicKey(key).export({ type: 'spki', format: 'der' }));

/** All that is signed, of a certificate in PEM. */
function signedPart(pem: string): Buffer | undefined {
  const [whole] = derElements(new X509Certificate(pem).raw);
  return derElements(whole?.content ?? Buffer.alloc(0))[0]?.bytes;
}

async function other(key: KeyObject, subject: CertificateNames, serial: Buffer, extensions: x509.Extension[]) {
  const algorithm = signingAlgorithm(key);
  assert.ok(algorithm);
  const made = await x509.X509CertificateGenerator.create(
    {
      serialNumber: serial.toString('hex'),
      subject: subjectName(subject),
      issuer: subjectName(names),
      notBefore: from,
      notAfter: until,
      publicKey: spki(key),
      signingKey: await webKey(key, algorithm),
      signingAlgorithm: algorithm,
      extensions,
    },
    webcrypto,
  );
  return made.toString('pem');
}

const keys: Readonly<Record<string, KeyObject>> = {
  'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  'RSA-2048': generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};
const serials = { short: '01', high: 'ff'.repeat(16), 'long zero': `007f${'01'.repeat(14)}` };

for (const [kind, key] of Object.entries(keys)) {
  test(`an authority with a ${kind} key is written as another encoder writes it`, async () => {
    const identifier = await x509.SubjectKeyIdentifierExtension.create(spki(key), false, webcrypto);
    for (const hex of Object.values(serials)) {
      const serial = Buffer.from(hex, 'hex');
      const theirs = await other(key, names, serial, [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        identifier,
        new x509.AuthorityKeyIdentifierExtension(identifier.keyId),
      ]);
      const subject = encodeName(names);
      const ours = signedCertificate(
        {
          serialNumber: serial,
          subject,
          issuer: subject,
          publicKey: spki(key),
          from,
          until,
          extensions: authorityExtensions(keyIdentifierOf(spki(key))),
        },
        key,
        signingAlgorithm(key)?.hash ?? '',
      );
      assert.deepEqual(signedPart(ours), signedPart(theirs));
      assert.ok(new X509Certificate(ours).verify(createPublicKey(key)));
      const issuer = issuerOf(new X509Certificate(ours).raw);
      assert.deepEqual(issuer, { subject, keyIdentifier: Buffer.from(identifier.keyId, 'hex') });
    }
  });

  test(`a leaf with a ${kind} key is written as another encoder writes it`, async () => {
    const subjects: CertificateNames[] = [names, { ...names, commonName: '', organizations: [] }];
    for (const subject of subjects) {
      const serial = Buffer.from('12345678', 'hex');
      const identifier = await x509.SubjectKeyIdentifierExtension.create(spki(key), false, webcrypto);
      const rsa = kind.startsWith('RSA');
      const theirs = await other(key, subject, serial, [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.digitalSignature | (rsa ? x509.KeyUsageFlags.keyEncipherment : 0),
          true,
        ),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
        identifier,
        new x509.AuthorityKeyIdentifierExtension('0102'),
        new x509.SubjectAlternativeNameExtension(alternativeNames(subject), subject.commonName === ''),
      ]);
      const ours = signedCertificate(
        {
          serialNumber: serial,
          subject: encodeName(subject),
          issuer: encodeName(names),
          publicKey: spki(key),
          from,
          until,
          extensions: leafExtensions({
            names: subject,
            usages: ['server', 'client', 'server'],
            keyType: rsa ? 'rsa' : 'ec',
            keyIdentifier: keyIdentifierOf(spki(key)),
            issuerKeyIdentifier: Buffer.from([1, 2]),
          }),
        },
        key,
        signingAlgorithm(key)?.hash ?? '',
      );
      assert.deepEqual(signedPart(ours), signedPart(theirs));
    }
  });
}

test('an authority without a key identifier is named by the hash of its key', async () => {
  const key = keys['P-256'];
  assert.ok(key);
  const pem = await other(key, names, Buffer.from([1]), [new x509.BasicConstraintsExtension(true, 0, true)]);
  assert.deepEqual(issuerOf(new X509Certificate(pem).raw).keyIdentifier, keyIdentifierOf(spki(key)));
});

test('numbers, identifiers and times have the one form that DER allows', () => {
  assert.equal(derInteger(Buffer.from([0, 0])).toString('hex'), '020100');
  assert.equal(derInteger(Buffer.from([0, 0x80])).toString('hex'), '02020080');
  assert.equal(derObjectId('1.2.840.113549').toString('hex'), '06062a864886f70d');
  assert.equal(derTime(new Date('2049-12-31T23:59:59.900Z')).toString('latin1').slice(2), '491231235959Z');
  assert.equal(derTime(new Date('2050-01-01T00:00:00Z')).toString('latin1').slice(2), '20500101000000Z');
  assert.throws(() => derElements(Buffer.from([0x30, 5, 1])), RangeError);
});
