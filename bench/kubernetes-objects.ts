// The objects of the embedded Kubernetes: commits against bare SQLite inserts, reads, watches, memory, and opening a full file.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '../src/local/kubernetes/object.ts';
import type { Objects } from '../src/local/kubernetes/objects/objects.ts';
import { openObjects } from '../src/local/kubernetes/objects/open.ts';
import { type Contestant, compare, loopOf, percentile, progress, report } from './harness.ts';

const bench = 'kubernetes-objects';
const type = '/configmaps';
const mebibyte = 1 << 20;
const fullCount = 150_000;
const clusterCount = 10_000;

/** About 2 KiB of JSON. */
function objectOf(index: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `config-${index}`,
      namespace: `namespace-${index % 50}`,
      uid: `7b6e2f0c-3d5a-4c8e-9f10-${String(index).padStart(12, '0')}`,
      creationTimestamp: '2025-06-01T12:00:00Z',
      labels: { 'app.kubernetes.io/name': `app-${index % 100}`, 'app.kubernetes.io/part-of': 'bench' },
      annotations: { 'example.com/note': 'n'.repeat(200) },
    },
    data: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`key-${at}`, 'v'.repeat(132)])),
  };
}

const child = process.argv.indexOf('--child');
if (child === -1) await main();
else await runChild(process.argv[child + 1] ?? '', process.argv[child + 2] ?? '');

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-kubernetes-objects-'));
  try {
    for (const synchronous of ['FULL', 'NORMAL'] as const) {
      for (const writers of [1, 64]) await commits(directory, synchronous, writers);
    }
    await reads(directory);
    await fanOut();
    const full = join(directory, 'full.db');
    inChild('fill-objects', full);
    inChild('open-objects', full);
    const many = join(directory, 'many.db');
    inChild('fill-clusters', many);
    inChild('open-clusters', many);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function commits(directory: string, synchronous: 'FULL' | 'NORMAL', writers: number): Promise<void> {
  const name = `create, ${writers === 1 ? '1 writer' : `${writers} writers`}, ${synchronous}`;
  progress(name);
  const host = await openObjects({ file: join(directory, `${synchronous}-${writers}.db`), synchronous });
  const objects = host.open('bench');
  const bare = bareInserts(join(directory, `bare-${synchronous}-${writers}.db`), synchronous, writers);
  let made = 0;
  await compare({
    bench,
    case: name,
    operations: writers * (synchronous === 'FULL' ? 100 : 200),
    rounds: 7,
    subject: async (operations) => {
      const start = performance.now();
      const writer = async () => {
        for (let done = 0; done < operations / writers; done++) {
          const object = objectOf(made++);
          await objects.commit((transaction) => transaction.put(type, object));
        }
      };
      await Promise.all(Array.from({ length: writers }, writer));
      return (performance.now() - start) / 1000;
    },
    peer: bare.insert,
  });
  bare.close();
  await host.close();
}

/** The same rows, as many to a transaction as there are writers. */
function bareInserts(file: string, synchronous: string, rows: number): { insert: Contestant; close(): void } {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
    CREATE TABLE objects (id INTEGER PRIMARY KEY, cluster INTEGER, type TEXT, namespace TEXT, name TEXT, uid TEXT,
      revision INTEGER, about TEXT, bytes BLOB) STRICT;
    CREATE UNIQUE INDEX objects_by_name ON objects (cluster, type, namespace, name)`);
  const statement = db.prepare('INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  let made = 0;
  return {
    insert: (operations) => {
      const start = performance.now();
      for (let done = 0; done < operations; done += rows) {
        db.exec('BEGIN IMMEDIATE');
        for (let row = 0; row < rows; row++) {
          const object = objectOf(made++);
          const { namespace = '', name = '', uid = '', labels } = object.metadata;
          const bytes = Buffer.from(JSON.stringify(object));
          statement.run(made, 1, type, namespace, name, uid, made, JSON.stringify(labels), bytes);
        }
        db.exec('COMMIT');
      }
      return (performance.now() - start) / 1000;
    },
    close: () => db.close(),
  };
}

async function fill(objects: Objects, from: number, to: number): Promise<void> {
  const step = 500;
  for (let first = from; first < to; first += step) {
    await objects.commit((transaction) => {
      for (let index = first; index < Math.min(to, first + step); index++) transaction.put(type, objectOf(index));
    });
  }
}

/** A list from memory, against the same rows read from bare SQLite. */
async function reads(directory: string): Promise<void> {
  progress('list of 5,000, and get');
  const count = 5000;
  const host = await openObjects();
  const objects = host.open('bench');
  await fill(objects, 0, count);
  const file = join(directory, 'list.db');
  const bare = bareInserts(file, 'NORMAL', count);
  await bare.insert(count, 0);
  bare.close();
  const db = new DatabaseSync(file, { readOnly: true });
  const select = db.prepare('SELECT name, bytes FROM objects WHERE cluster = 1 AND type = ? ORDER BY namespace, name');
  let listed = 0;
  await compare({
    bench,
    case: 'list of 5,000',
    operations: 30,
    subject: loopOf(() => {
      listed += objects.list(type).length;
      return undefined;
    }),
    peer: loopOf(() => {
      listed -= select.all(type).length;
      return undefined;
    }),
  });
  if (listed !== 0) throw new Error('the lists differ in length');
  db.close();
  const start = performance.now();
  const gets = 200_000;
  for (let index = 0; index < gets; index++) {
    const at = (index * 7919) % count;
    objects.get(type, `namespace-${at % 50}`, `config-${at}`);
  }
  const value = gets / ((performance.now() - start) / 1000);
  report({ bench, case: 'get', value, unit: 'operations/s' });
  await host.close();
}

async function fanOut(): Promise<void> {
  progress('watch fan-out to 100');
  const host = await openObjects();
  const objects = host.open('bench');
  let told = 0;
  let bytes = 0;
  for (let watcher = 0; watcher < 100; watcher++) {
    objects.watch(type, 0, (change) => {
      told++;
      bytes += change.entry.bytes.length;
    });
  }
  const changes = 5000;
  const start = performance.now();
  await fill(objects, 0, changes);
  const seconds = (performance.now() - start) / 1000;
  if (told !== changes * 100 || bytes === 0) throw new Error(`${told} changes were told`);
  report({ bench, case: 'watch fan-out to 100', value: told / seconds, unit: 'changes told/s' });
  await host.close();
}

function inChild(task: string, file: string): void {
  progress(task);
  const script = fileURLToPath(import.meta.url);
  const { status } = spawnSync(process.execPath, ['--expose-gc', script, '--child', task, file], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${task} ended with ${status}`);
}

async function runChild(task: string, file: string): Promise<void> {
  if (task === 'fill-objects') await fillObjects(file);
  else if (task === 'open-objects') await openFull(file);
  else if (task === 'fill-clusters') await fillClusters(file);
  else await openClusters(file);
}

async function fillObjects(file: string): Promise<void> {
  const host = await openObjects({ file });
  const objects = host.open('bench');
  await fill(objects, 0, fullCount);
  const once = await settledRss();
  report({ bench, case: 'RSS, 150,000 objects of 2 KiB', value: once / mebibyte, unit: 'MiB' });
  // Every object is written again, as an operator's status updates do.
  await fill(objects, 0, fullCount);
  report({
    bench,
    case: 'RSS, the same after all were replaced',
    value: (await settledRss()) / mebibyte,
    unit: 'MiB',
  });
  await host.close();
}

async function openFull(file: string): Promise<void> {
  const start = performance.now();
  const host = await openObjects({ file });
  const opened = performance.now();
  report({ bench, case: 'open a file of 150,000 objects', value: opened - start, unit: 'ms' });
  const pauses: number[] = [];
  let last = performance.now();
  const tick = setInterval(() => {
    pauses.push(performance.now() - last);
    last = performance.now();
  }, 1);
  const objects = await host.load('bench');
  clearInterval(tick);
  if (objects.count(type) !== fullCount) throw new Error(`${objects.count(type)} objects were loaded`);
  report({ bench, case: 'load 150,000 objects in steps', value: performance.now() - opened, unit: 'ms' });
  report({ bench, case: 'load in steps, 99th percentile of pauses', value: percentile(pauses, 99), unit: 'ms' });
  report({ bench, case: 'load in steps, longest pause', value: Math.max(...pauses), unit: 'ms' });
  report({ bench, case: 'RSS, 150,000 objects loaded', value: (await settledRss()) / mebibyte, unit: 'MiB' });
  await host.close();
}

/** What a cluster has that nobody uses: its namespaces and some service accounts. */
function idleObjects(): [string, KubeObject][] {
  const names = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
  return names.flatMap((name): [string, KubeObject][] => [
    ['/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: crypto.randomUUID() } }],
    [
      '/serviceaccounts',
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', namespace: name, uid: crypto.randomUUID() },
      },
    ],
  ]);
}

async function fillClusters(file: string): Promise<void> {
  const host = await openObjects({ file });
  const before = await settledRss();
  const start = performance.now();
  for (let first = 0; first < clusterCount; first += 100) {
    const batch = Array.from({ length: 100 }, (_, at) => host.open(`cluster-${first + at}`));
    await Promise.all(
      batch.map((objects) =>
        objects.commit((transaction) => {
          for (const [storage, object] of idleObjects()) transaction.put(storage, object);
        }),
      ),
    );
  }
  const seconds = (performance.now() - start) / 1000;
  const each = ((await settledRss()) - before) / clusterCount / 1024;
  report({ bench, case: 'make a cluster of 8 objects', value: clusterCount / seconds, unit: 'clusters/s' });
  report({ bench, case: 'RSS per cluster in use, 10,000 clusters', value: each, unit: 'KiB' });
  await host.close();
}

async function openClusters(file: string): Promise<void> {
  const before = await settledRss();
  const start = performance.now();
  const host = await openObjects({ file });
  report({ bench, case: 'open a file of 10,000 clusters', value: performance.now() - start, unit: 'ms' });
  const clusters = host.clusters().map((name) => host.open(name));
  if (clusters.length !== clusterCount) throw new Error(`${clusters.length} clusters were opened`);
  const each = ((await settledRss()) - before) / clusterCount / 1024;
  report({ bench, case: 'RSS per idle cluster, 10,000 clusters', value: each, unit: 'KiB' });
  const took: number[] = [];
  for (const objects of clusters) {
    const asked = performance.now();
    objects.list('/namespaces');
    took.push(performance.now() - asked);
  }
  report({ bench, case: 'first list of a cluster, 99th percentile', value: percentile(took, 99), unit: 'ms' });
  await host.close();
}

/** What is resident once the collector has had its way. */
async function settledRss(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage.rss();
}
