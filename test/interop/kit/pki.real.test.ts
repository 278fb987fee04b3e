// OpenSSL judges our certificates and requests, and we take its.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../../src/pki/authority.ts';
import { createRequest, signRequest } from '../../../src/pki/csr.ts';
import { authorityFiles, certificateFiles, loadAuthority, writeCertificate } from '../../../src/pki/files.ts';
import { needs } from '../../peers.ts';

const run = promisify(execFile);

for (const keyType of ['P-256', 'P-384', 'RSA-2048'] as const) {
  test(`OpenSSL verifies our ${keyType} chains by its strict rules`, async (t) => {
    const openssl = needs(t, 'openssl');
    if (!openssl) return;
    const directory = await temporary(t);
    const authority = await createAuthority({ name: 'Interop "authority", Köln', keyType });
    const ca = authorityFiles(directory);
    await writeCertificate(ca, authority);
    const server = certificateFiles(directory, 'server');
    await writeCertificate(
      server,
      await issueServerCertificate(authority, {
        dnsNames: ['rp.aro.local', '*.apps.aro.local'],
        ipAddresses: ['10.0.0.1', '2001:db8::1'],
        keyType,
      }),
    );
    const client = certificateFiles(directory, 'client');
    await writeCertificate(
      client,
      await issueClientCertificate(authority, {
        commonName: 'system:aro',
        organizations: ['system:masters'],
        uris: ['spiffe://aro.local/rp'],
        keyType,
      }),
    );
    const verify = (file: string, ...rest: string[]) =>
      run(openssl, ['verify', '-x509_strict', '-CAfile', ca.certificate, ...rest, file]);
    await verify(ca.certificate);
    await verify(server.certificate, '-purpose', 'sslserver', '-verify_hostname', 'rp.aro.local');
    await verify(server.certificate, '-verify_hostname', 'x.apps.aro.local');
    await verify(server.certificate, '-verify_ip', '10.0.0.1');
    await verify(server.certificate, '-verify_ip', '2001:db8:0::1');
    await verify(client.certificate, '-purpose', 'sslclient');
    await assert.rejects(verify(server.certificate, '-purpose', 'sslclient'));
    await assert.rejects(verify(client.certificate, '-purpose', 'sslserver'));
    await assert.rejects(verify(server.certificate, '-verify_hostname', 'other.aro.local'));
    for (const { key } of [ca, server, client]) await run(openssl, ['pkey', '-in', key, '-check', '-noout']);

    const { stdout } = await run(openssl, ['x509', '-in', client.certificate, '-noout', '-text']);
    assert.match(stdout, /Subject: O = system:masters, CN = system:aro|Subject: O=system:masters, CN=system:aro/);
    assert.match(stdout, /X509v3 Basic Constraints: critical\s+CA:FALSE/);
    assert.match(stdout, /X509v3 Key Usage: critical/);
    assert.match(stdout, /TLS Web Client Authentication/);
    const { stdout: root } = await run(openssl, ['x509', '-in', ca.certificate, '-noout', '-text']);
    assert.match(root, /CA:TRUE, pathlen:0/);
    assert.match(root, /Certificate Sign, CRL Sign/);
  });
}

test('OpenSSL verifies our requests', async (t) => {
  const openssl = needs(t, 'openssl');
  if (!openssl) return;
  const directory = await temporary(t);
  const { requestPem } = await createRequest({ commonName: 'rp', dnsNames: ['rp.aro.local'], usages: ['server'] });
  const file = join(directory, 'rp.csr');
  await writeFile(file, requestPem);
  await run(openssl, ['req', '-in', file, '-verify', '-noout']);
  const { stdout } = await run(openssl, ['req', '-in', file, '-noout', '-text']);
  assert.match(stdout, /DNS:rp\.aro\.local/);
});

for (const [what, key] of [
  ['EC', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
  ['RSA', ['-newkey', 'rsa:2048']],
] as const) {
  test(`we sign requests that OpenSSL makes for ${what} keys, within the policy`, async (t) => {
    const openssl = needs(t, 'openssl');
    if (!openssl) return;
    const directory = await temporary(t);
    const authority = await createAuthority({ name: 'Interop authority' });
    await writeCertificate(authorityFiles(directory), authority);
    const request = async (...more: string[]): Promise<string> => {
      const file = join(directory, 'made.csr');
      const common = ['req', '-new', ...key, '-nodes', '-keyout', join(directory, 'made.key'), '-out', file];
      await run(openssl, [...common, '-subj', '/O=aro/CN=rp', ...more]);
      return readFile(file, 'utf8');
    };
    const policy = {
      usages: ['server'],
      commonNames: [{ exact: 'rp' }],
      organizations: [{ exact: 'aro' }],
      dnsNames: [{ suffix: '.aro.local' }],
      ipRanges: ['127.0.0.0/8', '::1/128'],
    } as const;
    const asked = await request(
      ...['-addext', 'subjectAltName=DNS:rp.aro.local,IP:127.0.0.1,IP:::1'],
      ...['-addext', 'extendedKeyUsage=serverAuth', '-addext', 'keyUsage=digitalSignature,keyEncipherment'],
      ...['-addext', 'basicConstraints=CA:FALSE'],
    );
    const { certificatePem } = await signRequest(authority, asked, policy);
    const file = join(directory, 'made.crt');
    await writeFile(file, certificatePem);
    const ca = authorityFiles(directory).certificate;
    await run(openssl, ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca, '-verify_ip', '::1', file]);

    const beyond = [
      'basicConstraints=CA:TRUE',
      'keyUsage=keyCertSign',
      'extendedKeyUsage=codeSigning',
      'subjectAltName=email:a@b.example',
      'subjectAltName=DNS:evil.example',
      'nameConstraints=permitted;DNS:x',
    ];
    for (const extension of beyond) {
      const refused = await request('-addext', extension);
      await assert.rejects(signRequest(authority, refused, policy), /not allowed/, extension);
    }
  });
}

test('an authority that OpenSSL made can be used', async (t) => {
  const openssl = needs(t, 'openssl');
  if (!openssl) return;
  const directory = await temporary(t);
  const ca = authorityFiles(directory);
  const made = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/C=DE/O=Other/CN=Made elsewhere',
  ];
  await run(openssl, [...made, '-keyout', ca.key, '-out', ca.certificate]);
  const authority = await loadAuthority(ca);
  const files = certificateFiles(directory, 'server');
  await writeCertificate(files, await issueServerCertificate(authority, { dnsNames: ['rp.aro.local'] }));
  await run(openssl, ['verify', '-CAfile', ca.certificate, '-purpose', 'sslserver', files.certificate]);
});

async function temporary(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-pki-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}
