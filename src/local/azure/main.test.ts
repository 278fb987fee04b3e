// The cloud as a whole: where it listens, what it keeps, who answers under which name.
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { ProxyAgent, request as send } from 'undici';
import { createLogger } from '../../kit/log.ts';
import type { DataPlaneService } from './kernel/data-plane.ts';
import { start } from './main.ts';
import { startAzure } from './testing/start-azure.ts';
import { widgets } from './testing/widgets.ts';

const vaults: DataPlaneService = {
  plane: 'vault',
  routes(app) {
    app.get('/who', async (asked) => ({ name: asked.planeName }));
  },
};

test('it listens on loopback only', async () => {
  const logger = createLogger({ service: 'azure', level: 'fatal' });
  await assert.rejects(start({ logger, host: '0.0.0.0', port: 0 }), /loopback only/);
});

test('state, addresses, time and trust survive a restart', async (t) => {
  const first = await startAzure(t, { keep: true, providers: [widgets] });
  await first.call(`${first.subscription}/resourceGroups/g`, { method: 'PUT', body: { location: 'eastus' } });
  await first.control('/time', { method: 'POST', body: { advanceMs: 600_000 } });
  const { origin, azure } = first;
  const second = await first.restart();
  assert.equal(second.origin, origin);
  assert.equal(second.azure.cloud.proxy, azure.cloud.proxy);
  assert.equal(second.azure.ca, azure.ca);
  assert.equal(second.azure.controlToken.reveal(), azure.controlToken.reveal());
  assert.equal((await second.call(`${second.subscription}/resourceGroups/g`)).status, 200);
  assert.ok(second.azure.world.clock.now() - Date.now() > 590_000);
});

test('what must stay secret is readable by its owner only', async (t) => {
  // Windows has no such modes.
  if (process.platform === 'win32') return;
  const { azure } = await startAzure(t, { keep: true });
  const mode = async (name: string): Promise<number> => (await stat(join(azure.dataDirectory, name))).mode & 0o777;
  assert.equal((await stat(azure.dataDirectory)).mode & 0o777, 0o700);
  for (const name of ['azure.key', 'control-token', 'owner-secret']) assert.equal(await mode(name), 0o600, name);
  assert.equal(await readFile(join(azure.dataDirectory, 'ca.pem'), 'utf8'), azure.ca);
});

test('a host name leads to its service, through the proxy and not elsewhere', async (t) => {
  const { azure } = await startAzure(t, { dataPlanes: [vaults] });
  const agent = new ProxyAgent({ uri: azure.cloud.proxy, requestTls: { ca: azure.ca } });
  t.after(() => agent.close());
  const answer = await send('https://MyVault.vault.azure.test/who', { dispatcher: agent });
  assert.deepEqual(await answer.body.json(), { name: 'myvault' });
  const metadata = await send('https://management.azure.test/metadata/endpoints?api-version=2022-09-01', {
    dispatcher: agent,
  });
  assert.equal(metadata.statusCode, 200);
  await assert.rejects(send('https://example.com/', { dispatcher: agent }), /403/);
  const other = await new Promise<number | undefined>((resolve, reject) => {
    const { port } = new URL(azure.cloud.origin);
    const asked = request({
      host: '127.0.0.1',
      port,
      headers: { host: 'other.test' },
      ca: azure.ca,
      servername: 'localhost',
    });
    asked.on('response', (got) => {
      got.resume();
      resolve(got.statusCode);
    });
    asked.on('error', reject).end();
  });
  assert.equal(other, 421);
});

test('HTTP/2 is spoken with those who offer it', async (t) => {
  const { azure, token, subscription } = await startAzure(t);
  const session = connectHttp2(azure.cloud.origin, { ca: azure.ca });
  t.after(() => session.close());
  const stream = session.request({
    ':path': `${subscription}?api-version=2022-12-01`,
    authorization: `Bearer ${await token()}`,
  });
  const status = await new Promise((resolve, reject) => {
    stream.on('response', (headers) => resolve(headers[':status']));
    stream.on('error', reject).resume();
  });
  assert.equal(status, 200);
});

test('the certificate is good for every name of the cloud', async (t) => {
  const { azure } = await startAzure(t);
  const port = Number(new URL(azure.cloud.origin).port);
  for (const servername of ['localhost', 'login.azure.test', 'a.vault.azure.test', 'b.blob.storage.azure.test']) {
    await new Promise<void>((resolve, reject) => {
      const socket = connectTls({ host: '127.0.0.1', port, servername, ca: azure.ca }, () => {
        socket.end();
        resolve();
      });
      socket.on('error', reject);
    });
  }
});

test('metadata tells clients where the services of the cloud are, in every form they ask for', async (t) => {
  const { call, origin } = await startAzure(t);
  const document = async (version: string) =>
    (await call(`/metadata/endpoints?api-version=${version}`, { token: null })).json as unknown;
  const newest = (await document('2022-09-01')) as Record<string, unknown>;
  assert.equal(newest.name, 'AroLocal');
  assert.equal(newest.resourceManager, `${origin}/`);
  assert.equal((newest.suffixes as Record<string, string>).keyVaultDns, 'vault.azure.test');
  const [listed] = (await document('2019-05-01')) as Record<string, unknown>[];
  assert.equal((listed?.authentication as Record<string, unknown> | undefined)?.loginEndpoint, `${origin}/`);
  const oldest = (await document('2015-01-01')) as Record<string, unknown>;
  assert.equal(oldest.portalEndpoint, origin);
  assert.equal((await call('/metadata/endpoints?api-version=1', { token: null })).status, 400);
});
