import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { HostedCluster } from '../clusters.ts';
import { type Client, clientOf, startServer } from '../http/testing/server.ts';
import { kubeconfigOf } from '../kubeconfig.ts';
import type { Status } from '../status.ts';
import { createLineLog, type LineLog } from './line-log.ts';
import { createPodBackends } from './pod-backends.ts';

interface Setup {
  readonly client: Client;
  readonly cluster: HostedCluster;
  readonly log: LineLog;
  readonly kubeconfig: string;
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
  const directory = await mkdtemp(join(tmpdir(), 'kubernetes-stream-'));
  t.after(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, (await kubeconfigOf(cluster)).text.reveal(), { mode: 0o600 });
  return { client, cluster, log, kubeconfig, stop: () => running.stop() };
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

test('a simulated pod has an empty log, and wrong questions are answered as by the real server', async (t) => {
  const { client } = await setUp(t);
  const message = async (path: string): Promise<[number, string | undefined]> => {
    const { status, json } = await client.request('GET', `${pods}/${path}`);
    return [status, json<Status>().message];
  };
  const empty = await client.request('GET', `${pods}/pair/log?container=left&follow=true`);
  assert.deepEqual([empty.status, empty.text, empty.headers['content-type']], [200, '', 'text/plain']);
  for (const [path, status, text] of [
    ['pair/log', 400, 'a container name must be specified for pod pair, choose one of: [left right]'],
    ['pair/log?container=z', 400, 'container z is not valid for pod pair'],
    ['none/log', 404, 'pods "none" not found'],
    ['real/log?tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['real/log?sinceTime=zz', 400, 'parsing time "zz" as "2006-01-02T15:04:05Z07:00": cannot parse "zz" as "2006"'],
    [
      'real/log?tailLines=-1',
      422,
      'PodLogOptions "real" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'real/log?limitBytes=0',
      422,
      'PodLogOptions "real" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
    ],
    [
      'real/log?sinceSeconds=5&sinceTime=2024-01-01T00:00:00Z',
      422,
      'PodLogOptions "real" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['real/exec?container=z', 400, 'container z is not valid for pod real'],
    ['real/exec', 400, 'cannot execute a command in pod real: pods of this cluster are simulated and run no processes'],
    ['real/attach', 400, 'cannot attach to pod real: pods of this cluster are simulated and run no processes'],
    ['real/portforward', 400, 'Upgrade request required'],
  ] as const) {
    assert.deepEqual(await message(path), [status, text], path);
  }
});

/** Where kubectl can be; more than one release where there are more. */
const kubectls = (process.env.KUBECTLS ?? 'kubectl')
  .split(',')
  .filter((path) => spawnSync(path, ['version', '--client']).status === 0);

async function forwarding(t: TestContext, kubectl: string, args: readonly string[], env = {}): Promise<Forwarding> {
  const child = spawn(kubectl, [...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  t.after(() => child.kill());
  const seen = { child, err: '', port: 0 };
  child.stderr.on('data', (part: Buffer) => {
    seen.err += part;
  });
  let out = '';
  for await (const part of child.stdout.iterator({ destroyOnReturn: false })) {
    out += part;
    const [, port] = /127\.0\.0\.1:(\d+) ->/.exec(out) ?? [];
    seen.port = Number(port ?? 0);
    if (port) break;
  }
  child.stdout.resume();
  assert.notEqual(seen.port, 0, seen.err);
  return seen;
}

interface Forwarding {
  readonly child: ChildProcess;
  readonly err: string;
  readonly port: number;
}

/** Sends all, ends its side, and gives the digest of what came back until the other side ended. */
async function exchange(port: number, bytes: Buffer): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(bytes);
  const digest = createHash('sha256');
  for await (const part of socket) digest.update(part as Buffer);
  return digest.digest('hex');
}

for (const kubectl of kubectls) {
  for (const tunnel of ['true', 'false']) {
    const how = `${kubectl}, ${tunnel === 'true' ? 'SPDY within a WebSocket' : 'SPDY'}`;
    const env = { KUBECTL_PORT_FORWARD_WEBSOCKETS: tunnel };

    test(`port-forward reaches the service, many connections at a time, half-closed (${how})`, async (t) => {
      const { kubeconfig } = await setUp(t);
      const args = ['--kubeconfig', kubeconfig, 'port-forward', 'pod/real', `:${echoPort}`];
      const { port } = await forwarding(t, kubectl, args, env);
      const sizes = [0, 1, 1000, 70_000, 3_000_000, ...Array.from({ length: 25 }, (_, at) => at * 997)];
      await Promise.all(
        sizes.map(async (size) => {
          const bytes = randomBytes(size);
          assert.equal(await exchange(port, bytes), createHash('sha256').update(bytes).digest('hex'), `${size} bytes`);
        }),
      );
    });

    for (const [port, why] of [
      [9999, /error forwarding port 9999 to pod real, uid .*: no service of this machine stands behind this port/],
      [deadPort, /error forwarding port 7001 to pod real, uid .*: connect ECONNREFUSED/],
    ] as const) {
      test(`port-forward to port ${port}, where nobody listens, says so (${how})`, async (t) => {
        const { kubeconfig } = await setUp(t);
        const args = ['--kubeconfig', kubeconfig, 'port-forward', 'pod/real', `:${port}`];
        const seen = await forwarding(t, kubectl, args, env);
        await exchange(seen.port, Buffer.from('x')).catch(() => {});
        while (!why.test(seen.err)) await once(seen.child.stderr ?? seen.child, 'data');
      });
    }
  }

  test(`kubectl shows logs, and why it cannot execute (${kubectl})`, async (t) => {
    const { kubeconfig, log } = await setUp(t);
    log.write('hello');
    const run = async (...args: string[]): Promise<string> => {
      const child = spawn(kubectl, ['--kubeconfig', kubeconfig, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
      let text = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (part: Buffer) => {
          text += part;
        });
      }
      await once(child, 'close');
      return text;
    };
    assert.equal(await run('logs', 'real', '--tail=5'), 'hello\n');
    assert.match(await run('exec', 'real', '--', 'true'), /pods of this cluster are simulated and run no processes/);
    assert.match(await run('attach', 'real'), /pods of this cluster are simulated and run no processes/);
  });
}

test('a server that stops ends logs that are followed', async (t) => {
  const { client, log, stop } = await setUp(t);
  log.write('last');
  const following = client.request('GET', `${pods}/real/log?follow=true`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await stop();
  assert.equal((await following).text, 'last\n');
});
