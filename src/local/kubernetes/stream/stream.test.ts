import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { HostedCluster } from '../clusters.ts';
import { type Client, clientOf, startServer } from '../http/testing/server.ts';
import type { Status } from '../status.ts';
import { createLineLog, type LineLog } from './line-log.ts';
import { createPodBackends } from './pod-backends.ts';

interface Setup {
  readonly client: Client;
  readonly cluster: HostedCluster;
  readonly log: LineLog;
  stop(): Promise<void>;
}

const pods = '/api/v1/namespaces/default/pods';
const echoPort = 7000;
const deadPort = 7001;

/** A cluster with the pod `real`, which stands for a log and an echo server, and the pod `pair`, which stands for nothing. */
async function setUp(t: TestContext): Promise<Setup> {
  const backends = createPodBackends();
  const running = await startServer(t, { podBackends: backends });
  const cluster = running.clusters.find('one');
  assert.ok(cluster);
  const client = await clientOf(t, running, cluster);
  await client.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
  });
  const containersOf = { real: ['main'], pair: ['left', 'right'] };
  for (const [name, containers] of Object.entries(containersOf)) {
    const spec = { containers: containers.map((container) => ({ name: container, image: 'x' })), nodeName: 'node' };
    const made = await client.request('POST', pods, {
      body: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec },
    });
    assert.equal(made.status, 201, made.text);
    const status = await client.request('PATCH', `${pods}/${name}/status`, {
      body: { status: { phase: 'Running' } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    assert.equal(status.status, 200, status.text);
  }
  const log = createLineLog();
  const echo = await listening(
    t,
    createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)),
  );
  const dead = await closedPort();
  backends.register(
    { cluster: 'one', namespace: 'default', pod: 'real', container: 'main' },
    {
      logs: () => log,
      ports: new Map([
        [echoPort, { host: '127.0.0.1', port: echo }],
        [deadPort, { host: '127.0.0.1', port: dead }],
      ]),
    },
  );
  return { client, cluster, log, stop: () => running.stop() };
}

/** A port of this machine that refuses connections. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function listening(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

test('a log is given as asked: the last lines, with times, from a time on, cut at a size', async (t) => {
  const { client, log, cluster } = await setUp(t);
  const text = async (query = ''): Promise<string> => (await client.request('GET', `${pods}/real/log?${query}`)).text;
  assert.equal(await text(), '');
  log.write('old', cluster.now() - 3600_000);
  log.write('one', Date.UTC(2100, 0, 1));
  log.write('two', Date.UTC(2100, 0, 2));
  assert.equal(await text(), 'old\none\ntwo\n');
  assert.equal(await text('tailLines=1'), 'two\n');
  assert.equal(await text('tailLines=0'), '');
  assert.equal(await text('sinceSeconds=60&container=main'), 'one\ntwo\n');
  assert.equal(await text('sinceTime=2100-01-02T00:00:00Z'), 'two\n');
  assert.equal(await text('tailLines=1&timestamps=true'), '2100-01-02T00:00:00.000Z two\n');
  assert.equal(await text('limitBytes=5'), 'old\no');
  assert.match(await text('previous=true'), /previous terminated container \\"main\\" in pod \\"real\\" not found/);
  log.end();
  log.write('again');
  assert.equal(await text('previous=true'), 'old\none\ntwo\n');
  assert.equal(await text('follow=false'), 'again\n');
});

test('a log that is followed goes on until the service ends', async (t) => {
  const { client, log } = await setUp(t);
  log.write('before');
  const following = client.request('GET', `${pods}/real/log?follow=true`);
  for (let at = 0; at < 3; at++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    log.write(`line ${at}`);
  }
  log.end();
  assert.equal((await following).text, 'before\nline 0\nline 1\nline 2\n');
});

test('a simulated pod has an empty log, runs no commands, and says so', async (t) => {
  const { client } = await setUp(t);
  const message = async (path: string): Promise<[number, string | undefined]> => {
    const { status, json } = await client.request('GET', `${pods}/${path}`);
    return [status, json<Status>().message];
  };
  const empty = await client.request('GET', `${pods}/pair/log?container=left&follow=true`);
  assert.deepEqual([empty.status, empty.text, empty.headers['content-type']], [200, '', 'text/plain']);
  for (const [path, status, text] of [
    ['real/exec?container=z', 400, 'container z is not valid for pod real'],
    ['real/exec', 400, 'cannot execute a command in pod real: pods of this cluster are simulated and run no processes'],
    ['real/attach', 400, 'cannot attach to pod real: pods of this cluster are simulated and run no processes'],
    ['real/portforward', 400, 'Upgrade request required'],
  ] as const) {
    assert.deepEqual(await message(path), [status, text], path);
  }
});

test('a server that stops ends logs that are followed', async (t) => {
  const { client, log, stop } = await setUp(t);
  log.write('last');
  const following = client.request('GET', `${pods}/real/log?follow=true`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await stop();
  assert.equal((await following).text, 'last\n');
});
