import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createAuthority, issueServerCertificate } from '../../../pki/authority.ts';
import { keyPem } from '../../../pki/keys.ts';
import { createOidcKeys, type OidcIssuer } from './oidc.ts';

const keys = createOidcKeys();
const pair = await generateKeyPair('ES256');
let server: Server;
let issuer: OidcIssuer;
let asked = 0;
const now = Date.now();

before(async () => {
  const authority = await createAuthority({ name: 'issuer' });
  const leaf = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  server = createServer({ cert: leaf.certificatePem, key: keyPem(leaf.key) }, async (request, response) => {
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    asked++;
    const body =
      request.url === '/keys'
        ? { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] }
        : { issuer: url, jwks_uri: `${url}/keys` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    audiences: ['kube'],
    groupsClaim: 'groups',
    groupsPrefix: 'oidc:',
    requiredClaims: { tenant: 't1' },
    ca: authority.certificatePem,
    allowPrivateAddress: true,
  };
});

after(async () => {
  await keys.close();
  server.closeAllConnections();
  server.close();
});

const good = (): Record<string, unknown> => ({
  iss: issuer.url,
  aud: 'kube',
  sub: 'jane',
  email: 'jane@example.com',
  groups: ['devs'],
  tenant: 't1',
  exp: Math.floor(now / 1000) + 60,
});

const token = (claims: Record<string, unknown>, key = pair.privateKey): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(key);

test('a token of the issuer names its user and groups, with prefixes', async () => {
  assert.deepEqual(await keys.check(await token(good()), issuer, now), {
    name: `${issuer.url}#jane`,
    groups: ['oidc:devs', 'system:authenticated'],
  });
  const byMail = { ...issuer, usernameClaim: 'email' };
  assert.equal((await keys.check(await token(good()), byMail, now))?.name, 'jane@example.com');
  const bare = { ...issuer, usernamePrefix: '-' };
  assert.equal((await keys.check(await token(good()), bare, now))?.name, 'jane');
  assert.equal(asked, 2, 'the keys are asked for once');
});

test('tokens that are late, for others, of others or lacking claims are refused', async () => {
  const refused = async (claims: Record<string, unknown>): Promise<void> =>
    assert.equal(await keys.check(await token({ ...good(), ...claims }), issuer, now), undefined);
  await refused({ exp: Math.floor(now / 1000) - 1 });
  await refused({ nbf: Math.floor(now / 1000) + 60 });
  await refused({ aud: 'other' });
  await refused({ iss: 'https://other.example.com' });
  await refused({ tenant: 't2' });
  await refused({ sub: '' });
  await refused({ groups: [7] });
  const { exp: _, ...endless } = good();
  assert.equal(await keys.check(await token(endless), issuer, now), undefined);
  const forged = await generateKeyPair('ES256');
  assert.equal(await keys.check(await token(good(), forged.privateKey), issuer, now), undefined);
  const shared = new SignJWT(good()).setProtectedHeader({ alg: 'HS256', kid: 'k1' });
  assert.equal(await keys.check(await shared.sign(new Uint8Array(32)), issuer, now), undefined);
  const unverified = { ...issuer, usernameClaim: 'email' };
  assert.equal(await keys.check(await token({ ...good(), email_verified: false }), unverified, now), undefined);
});

test('an issuer that cannot be asked lets nobody in', async () => {
  const { allowPrivateAddress: _, ...outside } = issuer;
  assert.equal(await keys.check(await token(good()), outside, now), undefined);
});
