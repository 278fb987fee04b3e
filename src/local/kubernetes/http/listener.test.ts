// How a listener ends, whoever is still connected to it. The grace is far longer than any test may take: what waits for it fails.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { HostedCluster } from '../clusters.ts';
import { kubeconfigOf } from '../kubeconfig.ts';
import { type RunningKubernetes, start } from '../main.ts';
import { listenTls } from './listener.ts';
import { clientOver, silent } from './testing/server.ts';

const graceSeconds = 600;
const path = '/api/v1/namespaces/default';

interface OwnPort {
  readonly running: RunningKubernetes;
  readonly cluster: HostedCluster;
  readonly url: URL;
  /** What a TLS client of the cluster needs. */
  readonly options: { readonly ca: string; readonly cert: string; readonly key: string };
}

async function startOwnPort(): Promise<OwnPort> {
  const running = await start({ logger: silent, clusters: ['one', 'two'], graceSeconds });
  const cluster = running.clusters.find('two') ?? assert.fail();
  const url = new URL(await running.ownPort(cluster));
  const { ca, certificate, key } = await kubeconfigOf(cluster);
  return { running, cluster, url, options: { ca, cert: certificate, key: key.reveal() } };
}

function sessionOf(t: TestContext, { url, options }: OwnPort): ClientHttp2Session {
  const session = connect(url, options);
  session.on('error', () => {});
  t.after(() => session.destroy());
  return session;
}

test('a port of its own opens and ends without any client', async () => {
  const { running, url } = await startOwnPort();
  await running.stop();
  const late = connectTcp(Number(url.port), url.hostname);
  const [error] = (await once(late, 'error')) as [Error & { code?: string }];
  assert.equal(error.code, 'ECONNREFUSED');
});

test('a port of its own opens for every cluster of a process that has many, and all end', async (t) => {
  const running = await start({ logger: silent, clusters: ['one'], graceSeconds });
  const names = Array.from({ length: 10 }, (_, at) => `own-${at}`);
  const urls = await Promise.all(names.map((name) => running.ownPort(running.clusters.create(name))));
  assert.equal(new Set(urls).size, names.length);
  for (const [at, name] of names.entries()) {
    const cluster = running.clusters.find(name) ?? assert.fail();
    const { ca, certificate, key } = await kubeconfigOf(cluster);
    const options = { ca, cert: certificate, key: key.reveal() };
    const session = sessionOf(t, { running, cluster, url: new URL(urls[at] ?? ''), options });
    assert.equal((await clientOver(session, {}).request('GET', path)).status, 200);
  }
  await running.stop();
});

test('a port that is taken is refused, and the server goes on', async (t) => {
  const own = await startOwnPort();
  t.after(() => own.running.stop());
  const one = own.running.clusters.find('one') ?? assert.fail();
  await assert.rejects(own.running.ownPort(one, Number(own.url.port)), /EADDRINUSE/);
  assert.equal((await clientOver(sessionOf(t, own), {}).request('GET', path)).status, 200);
});

test('an HTTP/2 connection without requests ends with the listener', async (t) => {
  const own = await startOwnPort();
  const session = sessionOf(t, own);
  assert.equal((await clientOver(session, {}).request('GET', path)).status, 200);
  const closed = once(session, 'close');
  await own.running.stop();
  await closed;
});

test('a watch ends with the listener', async (t) => {
  const own = await startOwnPort();
  const watching = await clientOver(sessionOf(t, own), {}).watch('/api/v1/configmaps?watch=1&resourceVersion=0');
  await own.running.stop();
  let event = await watching.next();
  while (event) event = await watching.next();
});

test('an HTTP/1.1 connection that is kept ends with the listener', async (t) => {
  const own = await startOwnPort();
  const agent = new Agent({ keepAlive: true, ...own.options });
  t.after(() => agent.destroy());
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request(own.url, { agent, path }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
  assert.equal(status, 200);
  await own.running.stop();
});

test('a connection that never begins its handshake ends with the listener', async (t) => {
  const own = await startOwnPort();
  const silentClient = connectTcp(Number(own.url.port), own.url.hostname);
  t.after(() => silentClient.destroy());
  silentClient.on('error', () => {});
  await once(silentClient, 'connect');
  // Once a later connection was served, the server knows of this one.
  assert.equal((await clientOver(sessionOf(t, own), {}).request('GET', path)).status, 200);
  const closed = once(silentClient, 'close');
  await own.running.stop();
  await closed;
});

test('a connection that says nothing after its handshake ends with the listener', async (t) => {
  const own = await startOwnPort();
  const client = connectTls({
    host: own.url.hostname,
    port: Number(own.url.port),
    ALPNProtocols: ['h2'],
    ...own.options,
  });
  t.after(() => client.destroy());
  client.on('error', () => {});
  await once(client, 'secureConnect');
  assert.equal((await clientOver(sessionOf(t, own), {}).request('GET', path)).status, 200);
  const closed = once(client.resume(), 'close');
  await own.running.stop();
  await closed;
});

test('a connection of HTTP/1 whose request does not come whole is closed, at once after it opened or after an answer', async (t) => {
  const own = await startOwnPort();
  t.after(() => own.running.stop());
  const listening = await listenTls({
    host: '127.0.0.1',
    port: 0,
    handler: (exchange) => exchange.answer(204, {}, undefined),
    clusterOf: () => own.cluster,
    contextOf: (cluster) => cluster.tls(),
    unnamed: await own.cluster.serverCertificate(),
    logger: silent,
    idleMs: 50,
  });
  t.after(() => listening.stop(AbortSignal.abort()));
  const half = 'GET / HTTP/1.1\r\nHost: ';
  for (const sent of [half, `${half}x\r\n\r\n${half}`]) {
    const socket = connectTls({ ...own.options, port: listening.port, ALPNProtocols: ['http/1.1'] });
    socket.on('error', () => {});
    socket.resume();
    socket.write(sent);
    await once(socket, 'close');
  }
});
