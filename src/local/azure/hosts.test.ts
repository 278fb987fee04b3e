import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createLogger } from '../../kit/log.ts';
import { createHosts, decoratePlaneName } from './hosts.ts';
import { newApp } from './new-app.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const vault = 'one.vault.azure.test';

/** Asks a server of hosts whose vaults are made by this. */
async function serve(t: TestContext, makeVaults: () => Promise<FastifyInstance>) {
  const hosts = createHosts('azure.test', logger);
  const server = createServer(hosts.app.routing as unknown as RequestListener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const post = async (host: string, body = ''): Promise<{ readonly status: number; readonly body: string }> => {
    const sent = request({ host: '127.0.0.1', port, method: 'POST', headers: { host }, agent: false });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode ?? 0, body: await text(answer) };
  };
  return { post, open: () => hosts.serve({ main: newApp(logger), planes: new Map([['vault', makeVaults]]) }) };
}

async function echo(): Promise<FastifyInstance> {
  const app = newApp(logger);
  decoratePlaneName(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.post('/', async (asked) => `${asked.planeName}: ${await text(asked.raw)}`);
  return app;
}

test('requests that come before the cloud is there are told to come again', async (t) => {
  const { post } = await serve(t, echo);
  assert.equal((await post(vault)).status, 503);
});

test('a plane is made once, with its first requests, which lose nothing by waiting for it', async (t) => {
  const gate = Promise.withResolvers<void>();
  let made = 0;
  const { post, open } = await serve(t, async () => {
    made++;
    await gate.promise;
    return echo();
  });
  await open();
  assert.equal(made, 0);
  const long = 'x'.repeat(300_000);
  const answers = Promise.all([post(vault, 'a'), post(`Two.vault.azure.test:443`, long)]);
  gate.resolve();
  assert.deepEqual(await answers, [
    { status: 200, body: 'one: a' },
    { status: 200, body: `two: ${long}` },
  ]);
  assert.equal((await post(vault, 'b')).body, 'one: b');
  assert.equal(made, 1);
});

test('a plane that could not be made is tried again with the next request', async (t) => {
  let made = 0;
  const { post, open } = await serve(t, async () => {
    if (made++ === 0) throw new Error('no');
    return echo();
  });
  await open();
  assert.equal((await post(vault, 'a')).status, 503);
  assert.deepEqual(await post(vault, 'a'), { status: 200, body: 'one: a' });
});

test('hosts that nobody serves are refused as misdirected', async (t) => {
  const { post, open } = await serve(t, echo);
  await open();
  assert.equal((await post('one.blob.storage.azure.test')).status, 421);
});
