import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { createAuthority, issueCertificate, issueClientCertificate } from '../pki/authority.ts';
import { admit, type CertificateCaller, certificateCaller, decorateCaller, type IdentityRule } from './caller.ts';

const authority = await createAuthority({ name: 'Test authority' });

test('a certificate tells its holder by common name, organizations, DNS names and URIs', async () => {
  const { certificate } = await issueClientCertificate(authority, {
    commonName: 'rp, "the" = frontend',
    organizations: ['one', 'two, O=three'],
    dnsNames: ['RP.aro.local'],
    uris: ['spiffe://aro.local/rp,DNS:evil.example', 'urn:second'],
    ipAddresses: ['10.0.0.1'],
  });
  const caller = certificateCaller(certificate);
  assert.equal(caller.commonName, 'rp, "the" = frontend');
  assert.deepEqual(caller.organizations, ['one', 'two, O=three']);
  assert.deepEqual(caller.names, {
    dns: ['rp.aro.local'],
    uri: ['spiffe://aro.local/rp,DNS:evil.example', 'urn:second'],
  });
  assert.equal(caller.identity, 'spiffe://aro.local/rp,DNS:evil.example');
  assert.match(caller.fingerprint, /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
});

test('a certificate without subject or without alternative names is read all the same', async () => {
  const nameless = await issueCertificate(authority, { dnsNames: ['a.aro.local'], usages: ['client'] });
  assert.equal(nameless.certificate.subject, undefined);
  assert.equal(certificateCaller(nameless.certificate).commonName, '');
  assert.equal(certificateCaller(nameless.certificate).identity, 'a.aro.local');
  const plain = await issueClientCertificate(authority, { commonName: 'rp' });
  assert.deepEqual(certificateCaller(new X509Certificate(plain.certificatePem)).names, { dns: [], uri: [] });
  assert.equal(certificateCaller(plain.certificate).identity, 'rp');
});

const rules: readonly IdentityRule[] = [
  { of: 'commonName', exact: 'rp' },
  { of: 'dns', suffix: '.aro.local' },
  { of: 'uri', prefix: 'spiffe://aro.local/' },
];
const cases: readonly (readonly [string, Partial<CertificateCaller>, string | undefined])[] = [
  ['its common name', { commonName: 'rp' }, 'rp'],
  ['its DNS name', { names: { dns: ['x.other', 'a.aro.local'], uri: [] } }, 'a.aro.local'],
  ['its URI', { names: { dns: [], uri: ['spiffe://aro.local/rp'] } }, 'spiffe://aro.local/rp'],
  ['no name that is listed', { commonName: 'other' }, undefined],
  ['a common name that is listed as DNS name', { commonName: 'a.aro.local' }, undefined],
  ['a DNS name that is listed as common name', { names: { dns: ['rp'], uri: [] } }, undefined],
  ['a DNS name that ends alike', { names: { dns: ['evilaro.local'], uri: [] } }, undefined],
  ['a common name in other case', { commonName: 'RP' }, undefined],
  ['no name at all', {}, undefined],
];
for (const [what, given, identity] of cases) {
  test(`a caller with ${what} is ${identity === undefined ? 'not admitted' : 'admitted'}`, () => {
    const caller: CertificateCaller = {
      kind: 'certificate',
      commonName: '',
      organizations: [],
      names: { dns: [], uri: [] },
      fingerprint: '',
      identity: '',
      ...given,
    };
    assert.equal(admit(caller, rules)?.identity, identity);
  });
}

test('an empty allow list, and an empty pattern, admit nobody', async () => {
  const caller = certificateCaller((await issueClientCertificate(authority, { commonName: 'rp' })).certificate);
  assert.equal(admit(caller, []), undefined);
  assert.equal(admit(caller, [{ of: 'commonName', suffix: '' }]), undefined);
  assert.equal(admit(caller, [{ of: 'commonName', prefix: '' }]), undefined);
});

test('a request that no listener took in is anonymous, in every part of an app', async () => {
  const app = fastify();
  app.register(async (part) => {
    part.get('/in-a-plugin', async (request) => request.caller);
  });
  decorateCaller(app);
  decorateCaller(app);
  app.get('/', async (request) => request.caller);
  for (const url of ['/', '/in-a-plugin']) assert.deepEqual((await app.inject(url)).json(), { kind: 'anonymous' });
  await app.close();
});
