import 'reflect-metadata';
import assert from 'node:assert/strict';
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { test } from 'node:test';
import * as x509 from '@peculiar/x509';
import { createAuthority } from './authority.ts';
import { pair } from './certificate.ts';
import { createRequest, type NewRequest, type RequestPolicy, signRequest } from './csr.ts';
import { PkiError } from './errors.ts';

const authority = await createAuthority({ name: 'Test authority' });

const policy: RequestPolicy = {
  usages: ['server', 'client'],
  commonNames: [{ exact: 'rp' }, { prefix: 'system:node:' }],
  organizations: [{ exact: 'system:nodes' }],
  dnsNames: [{ suffix: '.aro.local' }, { exact: 'localhost' }],
  ipRanges: ['10.0.0.0/8', 'fd00::/8'],
  uris: [{ prefix: 'spiffe://aro.local/' }],
};

test('a request within the policy is signed with exactly what it asked for', async () => {
  const { requestPem, key } = await createRequest({
    commonName: 'rp',
    organizations: ['system:nodes'],
    dnsNames: ['rp.aro.local', 'localhost'],
    ipAddresses: ['10.1.2.3', 'fd00::1'],
    uris: ['spiffe://aro.local/rp'],
    usages: ['server'],
  });
  const { certificate, certificatePem } = await signRequest(authority, requestPem, policy);
  pair(certificatePem, key, 'the signed request');
  assert.equal(certificate.subject, 'O=system:nodes\nCN=rp');
  assert.equal(
    certificate.subjectAltName,
    'DNS:rp.aro.local, DNS:localhost, IP Address:10.1.2.3, IP Address:FD00:0:0:0:0:0:0:1, URI:spiffe://aro.local/rp',
  );
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.ok(certificate.verify(authority.certificate.publicKey));
});

test('a request that names no usage gets those of the policy', async () => {
  const { requestPem } = await createRequest({ commonName: 'rp' });
  const { certificate } = await signRequest(authority, requestPem, { ...policy, usages: ['client'] });
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
});

const beyond: readonly (readonly [string, NewRequest, RegExp])[] = [
  ['another common name', { commonName: 'admin' }, /the common name "admin"/],
  ['another organization', { commonName: 'rp', organizations: ['system:masters'] }, /organization "system:masters"/],
  ['a DNS name that only ends alike', { dnsNames: ['evilaro.local'] }, /the DNS name "evilaro.local"/],
  ['the suffix itself', { dnsNames: ['aro.local'] }, /the DNS name "aro.local"/],
  ['an address out of range', { commonName: 'rp', ipAddresses: ['11.0.0.1'] }, /the IP address "11.0.0.1"/],
  ['an IPv4 address written as IPv6', { commonName: 'rp', ipAddresses: ['::ffff:10.0.0.1'] }, /the IP address/],
  ['another URI', { commonName: 'rp', uris: ['spiffe://aro.local.evil/rp'] }, /the URI/],
];
for (const [what, request, message] of beyond) {
  test(`refuses ${what}`, async () => {
    const { requestPem } = await createRequest(request);
    await assert.rejects(signRequest(authority, requestPem, { ...policy, usages: ['client'] }), refusal(message));
  });
}

test('says every name that is not allowed, not only the first', async () => {
  const { requestPem } = await createRequest({ commonName: 'a', dnsNames: ['b'], usages: ['server'] });
  await assert.rejects(
    signRequest(authority, requestPem, { usages: ['client'] }),
    refusal(/common name "a"; the DNS name "b"; the usage "server"/),
  );
});

const extensions: readonly (readonly [string, x509.Extension[], RegExp])[] = [
  ['to be an authority', [new x509.BasicConstraintsExtension(true)], /CA:TRUE/],
  ['to sign certificates', [new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign)], /key usages/],
  ['to sign code', [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.3'])], /extended key usage 1\.3\.6/],
  ['every usage', [new x509.ExtendedKeyUsageExtension(['2.5.29.37.0'])], /extended key usage 2\.5/],
  ['an unknown extension', [new x509.Extension('1.2.3.4', true, new Uint8Array([5, 0]))], /the extension 1\.2\.3\.4/],
  ['an e-mail name', [new x509.SubjectAlternativeNameExtension([{ type: 'email', value: 'a@b' }])], /type email/],
  [
    'a DNS name with a NUL',
    [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'a\0.aro.local' }])],
    /DNS/,
  ],
  [
    'the same extension twice',
    [new x509.BasicConstraintsExtension(false), new x509.BasicConstraintsExtension(false)],
    /twice/,
  ],
];
for (const [what, asked, message] of extensions) {
  test(`refuses a request for ${what}`, async () => {
    await assert.rejects(signRequest(authority, await rawRequest({ extensions: asked }), policy), message);
  });
}

test('refuses a subject with other attributes, or two common names', async () => {
  const unit = await rawRequest({ name: 'CN=rp, OU=admins' });
  await assert.rejects(signRequest(authority, unit, policy), refusal(/subject attribute OU/));
  const twice = await rawRequest({ name: 'CN=rp, CN=admin' });
  await assert.rejects(signRequest(authority, twice, policy), refusal(/two common names/));
});

test('refuses a request whose signature was made by another key', async () => {
  const [mine, other] = await Promise.all([webKeys(), webKeys()]);
  const stolen = await rawRequest({ keys: { publicKey: other.publicKey, privateKey: mine.privateKey } });
  await assert.rejects(signRequest(authority, stolen, policy), refusal(/signature is wrong/));
});

test('refuses a request that was changed after signing', async () => {
  const { requestPem } = await createRequest({ commonName: 'rp' });
  const der = Buffer.from(requestPem.replace(/-----[^-]+-----/g, ''), 'base64');
  const at = der.indexOf('rp');
  der.write('rq', at);
  const changed = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
  await assert.rejects(
    signRequest(authority, changed, { ...policy, commonNames: [{ exact: 'rq' }] }),
    refusal(/signature/),
  );
});

test('refuses a key that is too weak', async () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const keys = {
    privateKey: await pair.privateKey.toCryptoKey(algorithm, true, ['sign']),
    publicKey: await pair.publicKey.toCryptoKey(algorithm, true, ['verify']),
  };
  const weak = await rawRequest({ keys, signingAlgorithm: algorithm });
  await assert.rejects(signRequest(authority, weak, policy), refusal(/at least 2048 bits/));
});

for (const [what, text] of [
  ['nothing', ''],
  ['a certificate', authority.certificatePem],
  ['broken base64', '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----'],
  ['something huge', `-----BEGIN CERTIFICATE REQUEST-----\n${'A'.repeat(100_000)}\n-----END CERTIFICATE REQUEST-----`],
] as const) {
  test(`${what} is not a request`, async () => {
    await assert.rejects(signRequest(authority, text, policy), (error) => {
      assert.ok(error instanceof PkiError);
      assert.equal(error.reason, 'garbage');
      return true;
    });
  });
}

function refusal(message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof PkiError, String(error));
    assert.equal(error.reason, 'refused', error.message);
    assert.match(error.message, message);
    return true;
  };
}

async function webKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
}

/** A request that our own createRequest would not make. */
async function rawRequest(params: Partial<x509.Pkcs10CertificateRequestCreateParams>): Promise<string> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create(
    {
      name: 'CN=rp',
      keys: await webKeys(),
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
      ...params,
    },
    webcrypto,
  );
  return request.toString('pem');
}
