// Requests to a provider that is slow, large, or not the one it should be.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../../pki/authority.ts';
import { tlsPair } from './arm-certificate.ts';
import type { Endpoint } from './endpoint.ts';
import { createRemote, type Remote } from './remote.ts';

interface Answering {
  readonly remote: Remote;
  readonly endpoint: Endpoint;
}

/** A provider that answers with `answer`, or never when there is none. */
async function start(t: TestContext, answer: string | undefined, timeoutMs?: number): Promise<Answering> {
  const authority = await createAuthority({ name: 'test' });
  const server = createServer(
    {
      ...tlsPair(await issueServerCertificate(authority, { dnsNames: ['provider.azure.test'] })),
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (_request, response) => {
      if (answer !== undefined) response.end(answer);
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = tlsPair(await issueClientCertificate(authority, { commonName: 'arm' }));
  const remote = createRemote({
    certificate: () => client,
    ca: authority.certificatePem,
    // The name leads to the machine's own port only through the cloud's network.
    network: () => ({ target: async () => ({ host: '127.0.0.1', port }) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  t.after(async () => {
    await remote.close();
    server.closeAllConnections();
    server.close();
  });
  const endpoint: Endpoint = {
    name: 'p',
    namespace: 'Test.Things',
    url: 'https://provider.azure.test',
    types: [{ type: 'things', apiVersions: ['2024-01-01'] }],
  };
  return { remote, endpoint };
}

const request = { method: 'GET', target: '/subscriptions?api-version=1', headers: {} };

test('names of the cloud lead to its listeners; the answer is read as JSON', async (t) => {
  const { remote, endpoint } = await start(t, '{"a":1}');
  assert.deepEqual((await remote.send(endpoint, request)).body, { a: 1 });
});

test('a provider that does not answer in time is a time-out of the gateway', async (t) => {
  const { remote, endpoint } = await start(t, undefined, 50);
  await assert.rejects(remote.send(endpoint, request), { status: 504, code: 'GatewayTimeout' });
});

test('an answer that is too large is not handed on', async (t) => {
  const { remote, endpoint } = await start(t, JSON.stringify('a'.repeat(17 * 1024 * 1024)));
  await assert.rejects(remote.send(endpoint, request), { status: 502, code: 'InvalidResourceResponseBody' });
});

test('a provider whose certificate is of another authority, or another name, is not spoken to', async (t) => {
  const { remote, endpoint } = await start(t, '{}');
  const { certificatePem } = await createAuthority({ name: 'other' });
  const unavailable = { status: 503, code: 'ServiceUnavailable' };
  await assert.rejects(remote.send({ ...endpoint, ca: certificatePem }, request), unavailable);
  await assert.rejects(remote.send({ ...endpoint, serverName: 'else.azure.test' }, request), unavailable);
});
