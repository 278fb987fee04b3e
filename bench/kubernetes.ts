// The embedded Kubernetes over HTTP/2, in a process of its own: speed against a real kube-apiserver and etcd in the same run
// where KUBEBUILDER_ASSETS names them, the time to start, memory, and many clusters on one port.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLogger } from '../src/kit/log.ts';
import { issueStaticToken } from '../src/local/kubernetes/access/static-tokens.ts';
import { start } from '../src/local/kubernetes/main.ts';
import { type Contestant, compare, median, percentile, progress, report } from './harness.ts';

const bench = 'kubernetes';
const namespaces = '/api/v1/namespaces';
const maps = `${namespaces}/default/configmaps`;
const inFlight = 16;
const watchers = 100;
const clusterCount = 10_000;
const visited = 1000;
const fullCount = 150_000;
const mebibyte = 1 << 20;

/** What it takes to reach a cluster as administrator. */
interface Access {
  readonly url: string;
  readonly serverName: string;
  readonly ca: string;
  readonly token: string;
}

/** What a server process is asked, one at a time. */
type Question =
  | { readonly ask: 'access'; readonly cluster: string }
  | { readonly ask: 'make' }
  | { readonly ask: 'rss' };

interface Server {
  readonly access: Access;
  stop(): Promise<void>;
}

interface Subject extends Server {
  ask<Answer>(question: Question): Promise<Answer>;
}

if (process.argv[2] === '--serve') await serve(process.argv[3] ?? '', process.argv[4] === 'NORMAL' ? 'NORMAL' : 'FULL');
else await main();

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-kubernetes-'));
  const assets = process.env.KUBEBUILDER_ASSETS;
  try {
    await starting(directory);
    const peer = assets ? await startPeer(assets, join(directory, 'peer')) : undefined;
    try {
      await speeds(join(directory, 'FULL'), 'FULL', peer);
    } finally {
      await peer?.stop();
    }
    await speeds(join(directory, 'NORMAL'), 'NORMAL', undefined);
    await manyClusters(join(directory, 'many'));
    await manyObjects(join(directory, 'full'));
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function starting(directory: string): Promise<void> {
  progress('start');
  const first: number[] = [];
  const further: number[] = [];
  for (let round = 0; round < 5; round++) {
    const from = performance.now();
    const subject = await startSubject(join(directory, `start-${round}`), 'FULL');
    await firstAnswer(subject.access);
    first.push(performance.now() - from);
    for (let at = 0; at < 20; at++) {
      const access = await subject.ask<Access>({ ask: 'access', cluster: `further-${at}` });
      const asked = performance.now();
      await firstAnswer(access);
      further.push(performance.now() - asked);
    }
    await subject.stop();
  }
  report({ bench, case: 'start to first get ns', value: median(first), unit: 'ms' });
  report({ bench, case: 'a further cluster, handshake and first get ns', value: median(further), unit: 'ms' });
}

async function firstAnswer(access: Access): Promise<void> {
  const client = await clientOf(access);
  await client.call('GET', namespaces);
  client.close();
}

/** About 2 KiB of JSON. */
function objectOf(name: string, value = 'v'): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { 'app.kubernetes.io/part-of': 'bench' } },
    data: Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`key-${at}`, value.repeat(140)])),
  };
}

async function speeds(directory: string, synchronous: 'FULL' | 'NORMAL', peer: Server | undefined): Promise<void> {
  const subject = await startSubject(directory, synchronous);
  const ours = await workOf(subject.access);
  const theirs = peer && (await workOf(peer.access));
  try {
    for (const name of [
      'create',
      'get',
      'update',
      'server-side apply',
      'list of 5,000',
      'watch fan-out to 100',
    ] as const) {
      progress(`${name}, ${synchronous}`);
      const operations = name.startsWith('list') ? 4 : name.startsWith('watch') ? 50 : 400;
      const title = `${name}, ${synchronous}`;
      if (theirs) {
        await compare({ bench, case: title, operations, rounds: 7, subject: ours.work[name], peer: theirs.work[name] });
        continue;
      }
      const rates: number[] = [];
      for (let round = 0; round <= 7; round++) {
        const rate = operations / (await ours.work[name](operations, round));
        if (round > 0) rates.push(rate);
      }
      report({ bench, case: title, value: median(rates), unit: 'operations/s' });
    }
  } finally {
    ours.close();
    theirs?.close();
    await subject.stop();
  }
}

type Work = 'create' | 'get' | 'update' | 'server-side apply' | 'list of 5,000' | 'watch fan-out to 100';

/** The same work for whichever server. */
async function workOf(access: Access): Promise<{ readonly work: Readonly<Record<Work, Contestant>>; close(): void }> {
  const client = await clientOf(access);
  // Apart from the client that writes, and several: servers bound the streams of one connection, some at 100.
  const watching = await Promise.all(Array.from({ length: 4 }, () => clientOf(access)));
  const listed = `${namespaces}/listed/configmaps`;
  const watched = `${namespaces}/watched/configmaps`;
  for (const name of ['listed', 'watched']) {
    await client.call('POST', namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await concurrently(5000, (at) => client.call('POST', listed, objectOf(`listed-${at}`)));
  for (let at = 0; at < 100; at++) await client.call('POST', maps, objectOf(`kept-${at}`));
  let made = 0;
  const timed =
    (operation: (at: number) => Promise<unknown>): Contestant =>
    async (operations) => {
      const from = performance.now();
      await concurrently(operations, () => operation(made++));
      return (performance.now() - from) / 1000;
    };
  const work: Record<Work, Contestant> = {
    create: timed((at) => client.call('POST', maps, objectOf(`made-${at}`))),
    get: timed((at) => client.call('GET', `${maps}/kept-${at % 100}`)),
    update: timed((at) =>
      client.call('PUT', `${maps}/kept-${at % 100}`, objectOf(`kept-${at % 100}`, String(at % 10))),
    ),
    'server-side apply': timed((at) =>
      client.call(
        'PATCH',
        `${maps}/applied-${at % 100}?fieldManager=bench&force=true`,
        objectOf(`applied-${at % 100}`, String(at % 10)),
        'application/apply-patch+yaml',
      ),
    ),
    'list of 5,000': async (operations) => {
      const from = performance.now();
      for (let done = 0; done < operations; done++) await client.call('GET', listed);
      return (performance.now() - from) / 1000;
    },
    /** An operation is one change, seen by all watchers. */
    'watch fan-out to 100': async (operations) => {
      const all = Promise.withResolvers<void>();
      let left = operations * watchers;
      const token = randomUUID().slice(0, 8);
      const path = `${watched}?watch=1&labelSelector=run=${token}`;
      const streams = await Promise.all(
        watching.flatMap((watcher) =>
          Array.from({ length: watchers / watching.length }, () =>
            watcher.watch(path, (events) => {
              left -= events;
              if (left <= 0) all.resolve();
            }),
          ),
        ),
      );
      const from = performance.now();
      await concurrently(operations, (at) => {
        const object = objectOf(`watched-${token}-${at}`) as { metadata: { labels: Record<string, string> } };
        object.metadata.labels = { run: token };
        return client.call('POST', watched, object);
      });
      await all.promise;
      const seconds = (performance.now() - from) / 1000;
      for (const stream of streams) stream.close();
      return seconds;
    },
  };
  return {
    work,
    close() {
      for (const each of [client, ...watching]) each.close();
    },
  };
}

async function manyClusters(directory: string): Promise<void> {
  progress('10,000 clusters');
  const subject = await startSubject(directory, 'NORMAL');
  const before = await subject.ask<number>({ ask: 'rss' });
  await subject.ask({ ask: 'make' });
  const each = ((await subject.ask<number>({ ask: 'rss' })) - before) / clusterCount / 1024;
  report({ bench, case: 'RSS per idle cluster, 10,000 clusters', value: each, unit: 'KiB' });
  const firsts: number[] = [];
  const later: number[] = [];
  for (let at = 0; at < visited; at++) {
    const cluster = `idle-${(at * 7919) % clusterCount}`;
    const access = await subject.ask<Access>({ ask: 'access', cluster });
    const client = await clientOf(access);
    for (const times of [firsts, later, later]) {
      const from = performance.now();
      await client.call('GET', namespaces);
      times.push(performance.now() - from);
    }
    client.close();
  }
  const title = 'get ns, 1,000 of 10,000 clusters by SNI';
  report({ bench, case: `${title}, 99th percentile`, value: percentile(later, 99), unit: 'ms' });
  report({ bench, case: `${title}, first use, 99th percentile`, value: percentile(firsts, 99), unit: 'ms' });
  await subject.stop();
}

async function manyObjects(directory: string): Promise<void> {
  progress('150,000 objects');
  const subject = await startSubject(directory, 'NORMAL');
  const client = await clientOf(subject.access);
  await concurrently(fullCount, (at) => client.call('POST', maps, objectOf(`object-${at}`)));
  const rss = await subject.ask<number>({ ask: 'rss' });
  report({ bench, case: 'RSS, 150,000 objects of 2 KiB', value: rss / mebibyte, unit: 'MiB' });
  client.close();
  await subject.stop();
}

async function concurrently(count: number, operation: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await operation(next++);
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, worker));
}

interface Client {
  /** Reads the whole answer; throws when it is not a success. */
  call(method: string, path: string, body?: object, contentType?: string): Promise<void>;
  /** Resolves when the watch has begun. Tells how many events have come. */
  watch(path: string, onEvents: (count: number) => void): Promise<ClientHttp2Stream>;
  close(): void;
}

async function clientOf({ url, serverName, ca, token }: Access): Promise<Client> {
  const session: ClientHttp2Session = connect(url, { servername: serverName, ca });
  await once(session, 'connect');
  const authorization = `Bearer ${token}`;
  return {
    async call(method, path, body, contentType = 'application/json') {
      const head = { ':method': method, ':path': path, authorization, 'content-type': contentType };
      const stream = session.request(head, { endStream: body === undefined });
      if (body) stream.end(JSON.stringify(body));
      await new Promise<void>((resolve, reject) => {
        let status = 0;
        let text = '';
        stream.on('response', (headers) => {
          status = headers[':status'] ?? 0;
        });
        stream.on('data', (part: Buffer) => {
          if (status >= 300) text += part;
        });
        stream.on('end', () => {
          if (status < 300) resolve();
        });
        stream.on('error', reject);
        stream.on('close', () => reject(new Error(`${method} ${path}: ${status} ${text} (${stream.rstCode})`)));
      });
    },
    async watch(path, onEvents) {
      const stream = session.request({ ':path': path, authorization });
      stream.on('error', () => {});
      stream.on('data', (part: Buffer) => {
        let count = 0;
        for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) count++;
        onEvents(count);
      });
      await once(stream, 'response');
      return stream;
    },
    close: () => session.destroy(),
  };
}

async function startSubject(directory: string, synchronous: 'FULL' | 'NORMAL'): Promise<Subject> {
  const script = fileURLToPath(import.meta.url);
  const child = fork(script, ['--serve', directory, synchronous], { execArgv: ['--expose-gc'] });
  const ask = async <Answer>(question: Question): Promise<Answer> => {
    const answer = once(child, 'message');
    child.send(question);
    return (await answer)[0] as Answer;
  };
  const [access] = (await once(child, 'message')) as [Access];
  return { access, ask, stop: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/** The server's process: API servers alone, as the peer is. */
async function serve(dataDirectory: string, synchronous: 'FULL' | 'NORMAL'): Promise<void> {
  const logger = createLogger({ service: bench, level: 'silent' });
  const running = await start({ logger, dataDirectory, synchronous, clusters: ['one'], controllers: false });
  const accessOf = async (name: string): Promise<Access> => {
    const cluster = running.clusters.create(name);
    const token = await issueStaticToken(cluster.objects, { user: 'bench', groups: ['system:masters'] });
    return { url: cluster.address, serverName: cluster.hostName, ca: await cluster.ca(), token: token.reveal() };
  };
  const answers = {
    access: (question: Question) => accessOf('cluster' in question ? question.cluster : ''),
    make() {
      for (let at = 0; at < clusterCount; at++) running.clusters.create(`idle-${at}`);
      return true;
    },
    async rss() {
      for (let round = 0; round < 4; round++) {
        globalThis.gc?.();
        await sleep(50);
      }
      return process.memoryUsage.rss();
    },
  };
  process.on('message', async (question: Question) => process.send?.(await answers[question.ask](question)));
  process.on('disconnect', () => process.exit());
  process.send?.(await accessOf('one'));
}

/** A real API server and its etcd, on free ports. */
async function startPeer(assets: string, directory: string): Promise<Server> {
  progress('starting the peer');
  await mkdir(directory, { recursive: true });
  const [client, peering, secure] = [await freePort(), await freePort(), await freePort()];
  const key = join(directory, 'sa.key');
  const tokens = join(directory, 'tokens.csv');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const token = randomUUID();
  await writeFile(key, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  await writeFile(tokens, `${token},bench,1,"system:masters"\n`, { mode: 0o600 });
  const etcdUrl = `http://127.0.0.1:${client}`;
  const run = (name: string, args: readonly string[]): ChildProcess =>
    spawn(join(assets, name), [...args], { stdio: 'ignore' });
  const etcd = run('etcd', [
    ...['--data-dir', join(directory, 'etcd'), '--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
    ...['--listen-peer-urls', `http://127.0.0.1:${peering}`, '--log-level', 'error'],
  ]);
  const server = run('kube-apiserver', [
    ...[`--etcd-servers=${etcdUrl}`, `--cert-dir=${join(directory, 'certs')}`, `--secure-port=${secure}`],
    ...['--bind-address=127.0.0.1', '--service-account-issuer=https://kubernetes.default.svc'],
    ...[`--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`],
    ...['--authorization-mode=RBAC', `--token-auth-file=${tokens}`, '--service-cluster-ip-range=10.0.0.0/24'],
  ]);
  const stop = async (): Promise<void> => {
    await ended(server);
    await ended(etcd);
  };
  const url = `https://127.0.0.1:${secure}`;
  for (let attempt = 0; attempt < 120; attempt++) {
    await sleep(500);
    try {
      const ca = await readFile(join(directory, 'certs', 'apiserver.crt'), 'utf8');
      const access = { url, serverName: 'kubernetes.default.svc', ca, token };
      const trying = await clientOf(access);
      try {
        await trying.call('GET', `${namespaces}/default`);
        return { access, stop };
      } finally {
        trying.close();
      }
    } catch {
      // Not ready yet.
    }
  }
  await stop();
  throw new Error('the real server did not become ready within a minute');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
