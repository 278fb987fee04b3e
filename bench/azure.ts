// The embedded Azure over HTTPS, in a process of its own on one core: reads and writes of resources (writes beside a bare fastify route
// that makes the same write in node:sqlite), the time to start, and the memory with 200,000 resources.
import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import Fastify from 'fastify';
import { median, progress, report } from './harness.ts';

const bench = 'azure';
const subscriptionId = '00000000-1111-4222-8333-444444444444';
const group = `/subscriptions/${subscriptionId}/resourceGroups/bench`;
const version = '2024-01-01';
const connections = 16;
const manyResources = 200_000;
const mebibyte = 1 << 20;
const units = { clock: 'requests/s', cpu: 'requests/s of processor time' } as const;
const cacheDirectory = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));

/** What is put: about half a kibibyte, as a small network interface is. */
const body = JSON.stringify({
  location: 'westeurope',
  tags: { team: 'bench', stage: 'test' },
  properties: {
    addressSpace: { addressPrefixes: ['10.0.0.0/16', '10.1.0.0/16'] },
    dhcpOptions: { dnsServers: ['10.0.0.4', '10.0.0.5'] },
    enableDdosProtection: false,
    settings: Array.from({ length: 6 }, (_, at) => ({ name: `setting-${at}`, value: 'x'.repeat(24) })),
  },
});

interface Access {
  readonly port: number;
  readonly ca: string;
  readonly token: string;
}

interface Server {
  ask(question: string): Promise<number>;
  /** With what clients reach it; called once. */
  access(): Promise<Access>;
  stop(): Promise<void>;
}

/** The process that measures stays on the first core, servers get the second. */
const isPinned = process.argv[2] === undefined && availableParallelism() > 1 && pinSelf();

function pinSelf(): boolean {
  try {
    execFileSync('taskset', ['-cp', '0', String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const [mode, directory = ''] = process.argv.slice(2);
if (mode === '--serve') await serve(directory);
else if (mode === '--bare') await serveBare(directory);
else await main();

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-azure-'));
  try {
    await starting(join(folder, 'start'));
    await speeds(folder);
    await memory(join(folder, 'many'));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function starting(path: string): Promise<void> {
  progress('start');
  const times: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < 6; round++) {
    const from = performance.now();
    const server = await startServer('--serve', path);
    const took = performance.now() - from;
    // The first start makes the data directory and fills the compile cache.
    if (round > 0) {
      times.push(took);
      cpu.push((await server.ask('cpu')) * 1000);
    }
    await server.stop();
  }
  report({ bench, case: 'start, process to ready, warm compile cache', value: median(times), unit: 'ms' });
  report({
    bench,
    case: 'start, process to ready, warm compile cache',
    value: median(cpu),
    unit: 'ms of processor time',
  });
}

/** Requests per second by the clock, which other work on the machine disturbs, and of processor time of the server, which it does not. */
interface Rates {
  readonly clock: number[];
  readonly cpu: number[];
}

async function speeds(folder: string): Promise<void> {
  const subject = await startServer('--serve', join(folder, 'speed'));
  const peer = await startServer('--bare', join(folder, 'speed'));
  const [ours, theirs] = [await clientOf(await subject.access()), await clientOf(await peer.access())];
  const one = `${group}/providers/Bench.Things/things/one`;
  let made = 0;
  const get = () => request('GET', one);
  const put = () => request('PUT', `${group}/providers/Bench.Things/things/t${made++}`, body);
  const measured = async (server: Server, client: typeof ours, count: number, next: () => string, rates: Rates) => {
    const before = await server.ask('cpu');
    const clock = await client.run(count, next);
    rates.clock.push(clock);
    rates.cpu.push(count / ((await server.ask('cpu')) - before));
  };
  const noRates = (): Rates => ({ clock: [], cpu: [] });
  const [gets, puts, bare] = [noRates(), noRates(), noRates()];
  try {
    await ours.run(1, () => request('PUT', one, body));
    progress('warming up');
    await ours.run(5000, get);
    await ours.run(2000, put);
    await theirs.run(2000, put);
    for (let round = 1; round <= 5; round++) {
      progress(`round ${round}`);
      await measured(subject, ours, 5000, get, gets);
      await measured(subject, ours, 2000, put, puts);
      await measured(peer, theirs, 2000, put, bare);
    }
    const place = isPinned ? 'one core' : 'not pinned';
    for (const kind of ['clock', 'cpu'] as const) {
      const [value, peerValue, unit] = [median(puts[kind]), median(bare[kind]), units[kind]];
      report({ bench, case: `GET of a resource, ${place}`, value: median(gets[kind]), unit });
      report({
        bench,
        case: `PUT of a new resource, ${place}`,
        value,
        unit,
        peer: peerValue,
        ratio: value / peerValue,
      });
    }
  } finally {
    ours.close();
    theirs.close();
    await subject.stop();
    await peer.stop();
  }
}

async function memory(path: string): Promise<void> {
  progress(`${manyResources} resources`);
  const server = await startServer('--serve', path);
  const access = await server.access();
  await server.ask('fill');
  const client = await clientOf(access);
  await client.run(2000, () => request('GET', `${group}/providers/Bench.Things/things/f17`));
  await client.run(20, () => request('GET', `/subscriptions/${subscriptionId}/resources`, undefined, '2021-04-01'));
  const rss = (await server.ask('rss')) / mebibyte;
  report({ bench, case: 'RSS with 200,000 resources', value: rss, unit: 'MiB' });
  client.close();
  await server.stop();
}

function request(method: string, path: string, sent?: string, apiVersion = version): string {
  const head = `${method} ${path}?api-version=${apiVersion} HTTP/1.1\r\nhost: localhost\r\n`;
  if (sent === undefined) return head;
  return `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(sent)}\r\n\r\n${sent}`;
}

/** Several connections, each with one request at a time: what SDKs do, at a price so small that the server is what is measured. */
async function clientOf({ port, ca, token }: Access) {
  const authorization = `authorization: Bearer ${token}\r\n`;
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] });
      await once(socket, 'secureConnect');
      return socket;
    }),
  );
  return {
    /** Gives the requests per second. */
    async run(count: number, next: () => string): Promise<number> {
      let left = count;
      const from = performance.now();
      await Promise.all(
        sockets.map(async (socket) => {
          while (left > 0) {
            left--;
            const [line = '', ...rest] = next().split('\r\n');
            const tail = rest.length > 2 ? rest.join('\r\n') : `${rest.join('\r\n')}\r\n`;
            await exchange(socket, `${line}\r\n${authorization}${tail}`);
          }
        }),
      );
      return (count * 1000) / (performance.now() - from);
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function exchange(socket: TLSSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let got = '';
    const onData = (chunk: Buffer): void => {
      got += chunk.toString('latin1');
      const end = got.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(got)?.[1] ?? 0);
      if (got.length < end + 4 + length) return;
      socket.off('data', onData).off('close', onClose);
      if (/^HTTP\/1\.1 2/.test(got)) resolve();
      else reject(new Error(got));
    };
    const onClose = (): void => reject(new Error('the connection ended'));
    socket.on('data', onData).on('close', onClose);
    socket.write(text);
  });
}

async function startServer(kind: '--serve' | '--bare', path: string): Promise<Server> {
  const file = fileURLToPath(import.meta.url);
  const env = { ...process.env, NODE_COMPILE_CACHE: cacheDirectory };
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const child: ChildProcess = isPinned
    ? spawn('taskset', ['-c', '1', process.execPath, '--expose-gc', file, kind, path], { stdio: [...stdio], env })
    : fork(file, [kind, path], { stdio: [...stdio], env, execArgv: ['--expose-gc'] });
  await once(child, 'message');
  const answerTo = async (question: string): Promise<unknown> => {
    child.send(question);
    const [answer] = await once(child, 'message');
    return answer;
  };
  return {
    ask: async (question) => (await answerTo(question)) as number,
    access: async () => (await answerTo('access')) as Access,
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** Imported here, so that the process that measures does not load a cloud. */
async function serve(path: string): Promise<void> {
  enableCompileCache(cacheDirectory);
  const { createLogger } = await import('../src/kit/log.ts');
  const { start } = await import('../src/local/azure/main.ts');
  const { parseResourceId } = await import('../src/arm/resource-id.ts');
  const azure = await start({
    logger: createLogger({ service: bench, level: 'silent' }),
    dataDirectory: path,
    port: 0,
    proxyPort: 0,
    profile: 'instant',
    subscriptions: [{ subscriptionId, displayName: 'Bench' }],
    providers: [
      {
        namespace: 'Bench.Things',
        alwaysRegistered: true,
        types: [{ type: 'things', apiVersions: [version], scope: 'resourceGroup', location: 'required' }],
      },
    ],
  });
  await azure.ready;
  const { world, owner, cloud } = azure;
  const caller = { tenantId: owner.tenantId, objectId: owner.objectId, kind: 'ServicePrincipal', groups: [] } as const;
  const put = async (text: string, content: string): Promise<void> => {
    const id = parseResourceId(text);
    if (!id.ok) throw new Error(id.message);
    const apiVersion = text === group ? '2021-04-01' : version;
    await world.resources.put(id.id, JSON.parse(content), { apiVersion, caller, faults: [] });
  };
  const questions: { readonly [question: string]: () => Promise<number | Access> } = {
    async access() {
      await put(group, '{"location":"westeurope"}');
      const audience = cloud.origin;
      const token = await world.directory.issue({ audience, appId: owner.clientId, objectId: owner.objectId });
      return { port: Number(new URL(cloud.origin).port), ca: azure.ca, token: token.reveal() };
    },
    async fill() {
      let next = 0;
      const work = async (): Promise<void> => {
        while (next < manyResources) await put(`${group}/providers/Bench.Things/things/f${next++}`, body);
      };
      await Promise.all(Array.from({ length: 32 }, work));
      return manyResources;
    },
    cpu: cpuSeconds,
    async rss() {
      for (let round = 0; round < 4; round++) {
        globalThis.gc?.();
        await sleep(50);
      }
      return process.memoryUsage.rss();
    },
  };
  process.on('message', async (question: string) => process.send?.(await questions[question]?.()));
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

async function cpuSeconds(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Fastify and node:sqlite with nothing between them, on the certificate of the other server. */
async function serveBare(path: string): Promise<void> {
  const read = (name: string): string => readFileSync(join(path, 'pki', name), 'utf8');
  const db = new DatabaseSync(join(path, 'bare.sqlite'));
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE IF NOT EXISTS things (id TEXT PRIMARY KEY, body TEXT)',
  );
  const write = db.prepare(
    'INSERT INTO things (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body',
  );
  const app = Fastify({ https: { cert: read('server.crt'), key: read('server.key') } });
  app.put('/*', async (asked, reply) => {
    const id = asked.url.split('?', 1)[0] ?? '';
    const resource = { id, name: id.split('/').at(-1), type: 'Bench.Things/things', ...(asked.body as object) };
    write.run(id.toLowerCase(), JSON.stringify(resource));
    return reply.code(201).send(resource);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const access: Access = { port, ca: read('ca.crt'), token: 'x'.repeat(900) };
  process.on('message', async (question) => process.send?.(question === 'access' ? access : await cpuSeconds()));
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}
