import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, createServer, type PeerCertificate, type TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { createAuthority, issueCertificate, issueClientCertificate, issueServerCertificate } from './authority.ts';
import { type KeyedCertificate, notAfter, notBefore } from './certificate.ts';
import { PkiError } from './errors.ts';
import { keyPem } from './keys.ts';

const daySeconds = 86_400;

test('an authority signs leaves and no further authorities', async () => {
  const authority = await createAuthority({ name: 'Test authority, "quoted" = #1' });
  const { certificate } = authority;
  assert.equal(certificate.ca, true);
  assert.equal(certificate.toLegacyObject().subject.CN, 'Test authority, "quoted" = #1');
  assert.equal(certificate.issuer, certificate.subject);
  assert.ok(certificate.verify(certificate.publicKey));
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
});

test('a server certificate carries its names and is verified by its authority', async () => {
  const authority = await createAuthority({ name: 'Test authority' });
  const server = await issueServerCertificate(authority, {
    commonName: 'rp',
    dnsNames: ['RP.aro.local', '*.apps.aro.local', 'localhost'],
    ipAddresses: ['127.0.0.1', '::1', '2001:db8::ff'],
  });
  const { certificate } = server;
  assert.equal(certificate.ca, false);
  assert.ok(certificate.checkIssued(authority.certificate));
  assert.ok(certificate.verify(authority.certificate.publicKey));
  assert.equal(certificate.checkHost('rp.aro.local'), 'rp.aro.local');
  assert.equal(certificate.checkHost('console.apps.aro.local'), '*.apps.aro.local');
  assert.equal(certificate.checkHost('other.aro.local'), undefined);
  for (const address of ['127.0.0.1', '::1', '2001:db8::ff']) assert.equal(certificate.checkIP(address), address);
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
});

test('a client certificate carries its common name, organizations and URI', async () => {
  const authority = await createAuthority({ name: 'Test authority' });
  const { certificate } = await issueClientCertificate(authority, {
    commonName: 'system:aro',
    organizations: ['system:masters', 'Zweigstelle Köln'],
    uris: ['spiffe://aro.local/rp'],
  });
  assert.equal(certificate.subject, 'O=system:masters\nO=Zweigstelle Köln\nCN=system:aro');
  assert.equal(certificate.subjectAltName, 'URI:spiffe://aro.local/rp');
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
});

for (const keyType of ['P-256', 'P-384', 'RSA-2048'] as const) {
  test(`TLS with client certificates works with ${keyType} keys on both sides`, async () => {
    const authority = await createAuthority({ name: 'Test authority', keyType });
    const server = await issueServerCertificate(authority, { dnsNames: ['localhost'], keyType });
    const client = await issueClientCertificate(authority, { commonName: 'caller', keyType });
    const seen = await handshake(authority, server, client);
    assert.equal(seen.subject.CN, 'caller');
  });
}

test('a certificate of another authority of the same name is refused in the handshake', async () => {
  const [authority, impostor] = await Promise.all([
    createAuthority({ name: 'Test authority' }),
    createAuthority({ name: 'Test authority' }),
  ]);
  const server = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  const client = await issueClientCertificate(impostor, { commonName: 'caller' });
  await assert.rejects(handshake(authority, server, client));
});

test('a server certificate does not serve as client certificate', async () => {
  const authority = await createAuthority({ name: 'Test authority' });
  const server = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  await assert.rejects(handshake(authority, server, server));
  const both = await issueCertificate(authority, { dnsNames: ['localhost'], usages: ['server', 'client'] });
  await handshake(authority, both, both);
});

test('serial numbers are random 128-bit numbers and positive', async () => {
  const authority = await createAuthority({ name: 'Test authority' });
  const serials = new Set<string>();
  for (let count = 0; count < 24; count++) {
    const { certificate } = await issueClientCertificate(authority, { commonName: 'caller' });
    serials.add(certificate.serialNumber);
    assert.match(certificate.serialNumber, /^[0-9A-F]{24,32}$/);
  }
  assert.equal(serials.size, 24);
});

test('a certificate starts a little in the past and lives as long as asked', async () => {
  const now = new Date('2030-05-01T12:00:00.750Z');
  const authority = await createAuthority({ name: 'Test authority', now, lifeSeconds: 10 * daySeconds });
  assert.equal(notBefore(authority.certificate).toISOString(), '2030-05-01T11:55:00.000Z');
  assert.equal(notAfter(authority.certificate).toISOString(), '2030-05-11T12:00:00.000Z');
  const leaf = await issueClientCertificate(authority, { commonName: 'caller', now, lifeSeconds: daySeconds });
  assert.equal(notAfter(leaf.certificate).toISOString(), '2030-05-02T12:00:00.000Z');
});

test('a life beyond the year 2050, where the encoding of dates changes, is kept', async () => {
  const now = new Date('2049-12-31T23:00:00.500Z');
  const authority = await createAuthority({ name: 'Test authority', now });
  assert.equal(notAfter(authority.certificate).toISOString(), '2059-12-29T23:00:00.000Z');
});

test('a leaf never outlives its authority, and an authority outside its life issues nothing', async () => {
  const now = new Date('2030-05-01T12:00:00Z');
  const authority = await createAuthority({ name: 'Test authority', now, lifeSeconds: daySeconds });
  const leaf = await issueClientCertificate(authority, { commonName: 'caller', now, lifeSeconds: 90 * daySeconds });
  assert.deepEqual(notAfter(leaf.certificate), notAfter(authority.certificate));
  const late = new Date('2030-05-03T12:00:00Z');
  await assert.rejects(issueClientCertificate(authority, { commonName: 'caller', now: late }), reason('expired'));
  const early = new Date('2030-04-01T12:00:00Z');
  await assert.rejects(
    issueClientCertificate(authority, { commonName: 'caller', now: early }),
    reason('not-yet-valid'),
  );
});

test('a leaf cannot act as an authority', async () => {
  const authority = await createAuthority({ name: 'Test authority' });
  const leaf = await issueClientCertificate(authority, { commonName: 'caller' });
  await assert.rejects(issueClientCertificate(leaf, { commonName: 'other' }), reason('not-an-authority'));
});

const badNames: readonly (readonly [string, Parameters<typeof issueServerCertificate>[1]])[] = [
  ['no name at all', {}],
  ['a DNS name with a blank', { dnsNames: ['a b'] }],
  ['a DNS name with a NUL', { dnsNames: ['good.example\0.evil.example'] }],
  ['a DNS name with a trailing dot', { dnsNames: ['a.example.'] }],
  ['a wildcard inside', { dnsNames: ['a.*.example'] }],
  ['a bare wildcard', { dnsNames: ['*'] }],
  ['an address as DNS name', { dnsNames: ['10.0.0.1'] }],
  ['a label too long', { dnsNames: [`${'a'.repeat(64)}.example`] }],
  ['an address with a zone', { ipAddresses: ['fe80::1%eth0'] }],
  ['an address with a port', { ipAddresses: ['127.0.0.1:80'] }],
  ['a common name too long', { commonName: 'a'.repeat(65), dnsNames: ['a'] }],
  ['a common name with a line feed', { commonName: 'a\nCN=root', dnsNames: ['a'] }],
  ['a relative URI', { uris: ['/rp'], dnsNames: ['a'] }],
];
for (const [what, names] of badNames) {
  test(`refuses ${what}`, async () => {
    const authority = await createAuthority({ name: 'Test authority' });
    await assert.rejects(issueServerCertificate(authority, names), reason('bad-name'));
  });
}

test('a private key does not show when a certificate is printed or put into JSON', async () => {
  const authority = await createAuthority({ name: 'Test authority' });
  const secret = keyPem(authority.key).split('\n')[1] ?? '';
  assert.ok(secret.length > 20);
  assert.ok(!inspect(authority, { depth: 9, showHidden: true }).includes(secret));
  assert.ok(!JSON.stringify(authority).includes(secret));
});

function reason(expected: PkiError['reason']): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof PkiError, String(error));
    assert.equal(error.reason, expected, error.message);
    return true;
  };
}

/** Connects with mutual TLS and returns the client certificate as the server saw it; rejects when either side refused. */
async function handshake(
  authority: KeyedCertificate,
  server: KeyedCertificate,
  client: KeyedCertificate,
): Promise<PeerCertificate> {
  const ca = authority.certificatePem;
  const listener = createServer({
    ca,
    cert: server.certificatePem,
    key: keyPem(server.key),
    requestCert: true,
    rejectUnauthorized: true,
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const accepted = new Promise<PeerCertificate>((resolve, reject) => {
    listener.once('secureConnection', (socket: TLSSocket) => {
      // The client is the first to go, and goes at once.
      socket.on('error', () => undefined);
      resolve(socket.getPeerCertificate());
    });
    listener.once('tlsClientError', reject);
  });
  const socket = connect({
    port: (listener.address() as AddressInfo).port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca,
    cert: client.certificatePem,
    key: keyPem(client.key),
  });
  const failed = new Promise<never>((_, reject) => socket.once('error', reject));
  try {
    const seen = await Promise.race([accepted, failed]);
    assert.ok(new X509Certificate(seen.raw).checkIssued(authority.certificate));
    return seen;
  } finally {
    accepted.catch(() => undefined);
    failed.catch(() => undefined);
    socket.destroy();
    listener.close();
    await once(listener, 'close');
  }
}
