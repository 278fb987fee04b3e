// kubectl against pods that stand for services of this machine: port-forward by service and pod, logs, and commands refused.
// KUBECTLS names further releases of kubectl, by comma.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startServer } from '../../../src/local/kubernetes/http/testing/server.ts';
import { kubeconfigOf } from '../../../src/local/kubernetes/kubeconfig.ts';
import { addNode } from '../../../src/local/kubernetes/kubelet/add-node.ts';
import { createLineLog, type LineLog } from '../../../src/local/kubernetes/stream/line-log.ts';
import type { LogSource, PodBackends } from '../../../src/local/kubernetes/stream/pod-backends.ts';
import { needs } from '../../peers.ts';

const echoPort = 8443;
const deadPort = 8444;

const manifest = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'rp' },
    spec: {
      selector: { matchLabels: { app: 'rp' } },
      template: {
        metadata: { labels: { app: 'rp' } },
        spec: {
          containers: [{ name: 'main', image: 'rp', ports: [{ name: 'https', containerPort: echoPort }] }],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'rp' },
    spec: { selector: { app: 'rp' }, ports: [{ port: 443, targetPort: 'https' }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'waiting' },
    spec: { containers: [{ name: 'main', image: 'x' }], nodeSelector: { none: 'such' } },
  },
]
  .map((object) => JSON.stringify(object))
  .join('\n');

interface Setup {
  readonly log: LineLog;
  /** Settles when somebody follows the log. */
  readonly followed: Promise<void>;
  /** What kubectl prints, both on its output and its error output. */
  run(...args: readonly string[]): Promise<string>;
  /** Starts a forwarding and gives the local port of it. */
  forward(tunnel: boolean, target: string, port: number): Promise<Forwarding>;
}

interface Forwarding {
  readonly child: ChildProcess;
  readonly port: number;
  readonly errors: () => string;
}

/** A cluster with a deployment `rp`, whose pod stands for a log and an echo server, and a pod that finds no node. */
async function setUp(t: TestContext, kubectl: string): Promise<Setup> {
  const log = createLineLog();
  const followed = Promise.withResolvers<void>();
  const source: LogSource = {
    lines: log.lines,
    follow(onLine, onEnd) {
      followed.resolve();
      return log.follow(onLine, onEnd);
    },
  };
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  t.after(() => echo.close());
  const { port } = echo.address() as AddressInfo;
  const backend = {
    logs: () => source,
    ports: new Map([
      [echoPort, { host: '127.0.0.1', port }],
      [deadPort, { host: '127.0.0.1', port: 1 }],
    ]),
  };
  const podBackends: PodBackends = { find: ({ pod }) => (pod.startsWith('rp-') ? backend : undefined) };
  const running = await startServer(t, { podBackends, controllers: {} });
  const cluster = running.clusters.find('one');
  assert.ok(cluster);
  await addNode(cluster, { name: 'node-1' });
  const directory = await mkdtemp(join(tmpdir(), 'kubernetes-streams-'));
  t.after(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, (await kubeconfigOf(cluster)).text.reveal(), { mode: 0o600 });
  await writeFile(join(directory, 'manifest.json'), manifest);

  const start = (args: readonly string[], env = {}): ChildProcess =>
    spawn(kubectl, ['--kubeconfig', kubeconfig, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
  const texts = (child: ChildProcess): { out: string; errors: string } => {
    const seen = { out: '', errors: '' };
    child.stdout?.on('data', (part: Buffer) => {
      seen.out += part;
    });
    child.stderr?.on('data', (part: Buffer) => {
      seen.errors += part;
    });
    return seen;
  };
  const setup: Setup = {
    log,
    followed: followed.promise,
    async run(...args) {
      const child = start(args);
      const seen = texts(child);
      await once(child, 'close');
      return seen.out + seen.errors;
    },
    async forward(tunnel, target, to) {
      const child = start(['port-forward', target, `:${to}`], { KUBECTL_PORT_FORWARD_WEBSOCKETS: String(tunnel) });
      t.after(() => child.kill());
      const seen = texts(child);
      let closed = false;
      child.once('close', () => {
        closed = true;
      });
      for (;;) {
        const [, local] = /127\.0\.0\.1:(\d+) ->/.exec(seen.out) ?? [];
        if (local) return { child, port: Number(local), errors: () => seen.errors };
        assert.ok(!closed, seen.errors);
        await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'close')]);
      }
    },
  };
  assert.match(await setup.run('apply', '-f', join(directory, 'manifest.json')), /pod\/waiting created/);
  assert.match(await setup.run('rollout', 'status', 'deployment/rp', '--timeout=30s'), /successfully rolled out/);
  return setup;
}

/** Sends all, ends its side, and gives the digest of what came back until the other side ended. */
async function exchange(port: number, bytes: Buffer): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(bytes);
  const digest = createHash('sha256');
  for await (const part of socket) digest.update(part as Buffer);
  return digest.digest('hex');
}

function kubectls(t: TestContext): readonly string[] {
  const first = needs(t, 'kubectl');
  const more = (process.env.KUBECTLS ?? '').split(',').filter((path) => path !== '');
  return first === undefined ? [] : [...new Set([first, ...more])];
}

for (const tunnel of [true, false]) {
  const how = tunnel ? 'SPDY within a WebSocket' : 'SPDY';

  test(`port-forward of a service reaches its real listener, many connections at a time (${how})`, async (t) => {
    for (const kubectl of kubectls(t)) {
      const { forward } = await setUp(t, kubectl);
      const { port } = await forward(tunnel, 'svc/rp', 443);
      const sizes = [0, 1, 1000, 70_000, 3_000_000, ...Array.from({ length: 25 }, (_, at) => at * 997)];
      await Promise.all(
        sizes.map(async (size) => {
          const bytes = randomBytes(size);
          assert.equal(await exchange(port, bytes), createHash('sha256').update(bytes).digest('hex'), `${size} bytes`);
        }),
      );
    }
  });

  for (const [port, why] of [
    [9999, /error forwarding port 9999 to pod rp-.*, uid .*: no service of this machine stands behind this port/],
    [deadPort, /error forwarding port 8444 to pod rp-.*, uid .*: connect ECONNREFUSED/],
  ] as const) {
    test(`port-forward to port ${port}, where nobody listens, says so (${how})`, async (t) => {
      for (const kubectl of kubectls(t)) {
        const { forward } = await setUp(t, kubectl);
        const seen = await forward(tunnel, 'deployment/rp', port);
        await exchange(seen.port, Buffer.from('x')).catch(() => undefined);
        while (!why.test(seen.errors())) await once(seen.child.stderr ?? seen.child, 'data');
      }
    });
  }
}

test('kubectl shows the log of the service, follows it, and tells why it cannot execute', async (t) => {
  for (const kubectl of kubectls(t)) {
    const { run, log, followed } = await setUp(t, kubectl);
    log.write('hello');
    assert.equal(await run('logs', 'deployment/rp', '--tail=5'), 'hello\n');
    assert.match(await run('logs', '-l', 'app=rp', '--prefix'), /^\[pod\/rp-.*\/main\] hello\n$/);
    const following = run('logs', '-f', 'deployment/rp');
    await followed;
    log.write('again');
    log.end();
    assert.equal(await following, 'hello\nagain\n');
    assert.match(await run('exec', 'deployment/rp', '--', 'true'), /pods of this cluster are simulated and run no/);
    assert.match(await run('attach', 'deployment/rp'), /pods of this cluster are simulated and run no processes/);
  }
});

test('a pod that has no node has no log, no ports and no commands', async (t) => {
  for (const kubectl of kubectls(t)) {
    const { run } = await setUp(t, kubectl);
    assert.equal(await run('logs', 'waiting'), '');
    assert.match(await run('exec', 'waiting', '--', 'true'), /pod waiting does not have a host assigned/);
    assert.match(await run('port-forward', 'waiting', ':80'), /pod is not running. Current status=Pending/);
  }
});
