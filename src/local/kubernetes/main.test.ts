import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect as dial } from 'node:net';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createAuthority, issueServerCertificate } from '../../pki/authority.ts';
import { keyPem } from '../../pki/keys.ts';
import type { OidcIssuer } from './access/oidc.ts';
import { clientOf, clientOver, portOf, startServer } from './http/testing/server.ts';
import { present } from './objects/testing/hosts.ts';

test('a removed cluster takes its own ports with it; those of others stay', async (t) => {
  const running = await startServer(t, { clusters: ['one', 'two'] });
  const [one, two] = ['one', 'two'].map((name) => present(running.clusters.find(name)));
  const urls = await Promise.all([one, one, two].map((cluster) => running.ownPort(present(cluster))));
  const opens = async (url: string): Promise<boolean> => {
    const socket = dial(Number(new URL(url).port), '127.0.0.1');
    t.after(() => socket.destroy());
    return Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(
      () => false,
    );
  };
  assert.deepEqual(await Promise.all(urls.map(opens)), [true, true, true]);
  await running.clusters.remove('one');
  assert.deepEqual(await Promise.all(urls.map(opens)), [false, false, true]);
  await assert.rejects(running.ownPort(present(one)), /removed|gone/);
  const again = running.clusters.create('one');
  await running.ownPort(again);
});

/** An issuer on this machine, and tokens of it. */
async function startIssuer(
  t: TestContext,
): Promise<{ issuer: OidcIssuer; token(claims: Record<string, unknown>): Promise<string> }> {
  const pair = await generateKeyPair('ES256');
  const authority = await createAuthority({ name: 'issuer' });
  const leaf = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  const key = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256', use: 'sig' };
  const server = createServer({ cert: leaf.certificatePem, key: keyPem(leaf.key) }, (request, response) => {
    const body = request.url === '/keys' ? { keys: [key] } : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer: OidcIssuer = {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    audiences: ['kubectl'],
    groupsClaim: 'groups',
    ca: authority.certificatePem,
    allowPrivateAddress: true,
  };
  return {
    issuer,
    token: (claims) =>
      new SignJWT({ iss: issuer.url, aud: 'kubectl', exp: Math.floor(Date.now() / 1000) + 60, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .sign(pair.privateKey),
  };
}

test('a cluster takes tokens of the issuers it is told to trust, and others do not', async (t) => {
  const { issuer, token } = await startIssuer(t);
  const running = await startServer(t, {
    clusters: ['one', 'two'],
    oidc: (cluster) => (cluster === 'one' ? [issuer] : []),
  });
  const authorization = `Bearer ${await token({ sub: 'jane', groups: ['readers'] })}`;
  const whoAmI = async (name: string): Promise<[number, unknown]> => {
    const cluster = present(running.clusters.find(name));
    const session = connect(`https://127.0.0.1:${portOf(running)}`, {
      servername: cluster.hostName,
      ca: await cluster.ca(),
    });
    t.after(() => session.destroy());
    const answer = await clientOver(session, { authorization }).request(
      'POST',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' } },
    );
    return [answer.status, answer.json<{ status: { userInfo?: unknown } }>().status.userInfo];
  };
  assert.deepEqual(await whoAmI('one'), [
    201,
    { username: `${issuer.url}#jane`, groups: ['readers', 'system:authenticated'] },
  ]);
  assert.equal((await whoAmI('two'))[0], 401);
  assert.equal(
    (await (await clientOf(t, running, running.clusters.find('one'))).request('GET', '/api/v1/nodes')).status,
    200,
  );
});
