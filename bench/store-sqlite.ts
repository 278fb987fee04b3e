// The SQLite store against the bare statements it ends in: same tables, same SQL, same JSON work.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Container, Document } from '../src/store/store.ts';
import { compare, loopOf, percentile, progress, report } from './harness.ts';

const bench = 'store-sqlite';
const feedEvents = 1000;
const rounds = 25;
const partition = 'a3f1c9d2-7e44-4b8e-9c55-0d1f2e3a4b5c';

interface Body {
  readonly key: string;
  readonly sentAt?: number;
  readonly properties: object;
}

/** About 1 KiB of JSON. */
function bodyOf(key: string, sentAt = 0): Body {
  const tags = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`tag${index}`, `value of the tag ${index}`]),
  );
  const profile = { domain: 'example', version: '4.18.1', fips: false, pullSecret: 'x'.repeat(300) };
  return { key, sentAt, properties: { provisioningState: 'Succeeded', profile, tags, workers: 3 } };
}

/** Wall time with a fraction, the same in every process of this machine. */
function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

const follower = process.argv.indexOf('--write-to');
if (follower !== -1) await writeFromAnotherProcess(process.argv[follower + 1] ?? '');
else await main();

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-store-sqlite-'));
  try {
    await verbs(directory);
    await claims(directory);
    await feed(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function verbs(directory: string): Promise<void> {
  const peerFile = join(directory, 'peer.db');
  const maker = await openSqliteStore({ file: peerFile });
  await maker.container<Body>({ name: 'peer' });
  await maker.close();
  const bare = bareStatements(peerFile);
  const store = await openSqliteStore({ file: join(directory, 'subject.db') });
  const subject = await store.container<Body>({ name: 'subject' });

  progress('create');
  await compare({
    bench,
    case: 'create',
    operations: 500,
    rounds,
    subject: loopOf((index) => subject.create({ partition, id: `create-${index}` }, bodyOf(`k${index}`))),
    peer: loopOf((index) => bare.create(`create-${index}`, bodyOf(`k${index}`))),
  });

  progress('point read');
  const known = 2000;
  await compare({
    bench,
    case: 'point read',
    operations: 3000,
    rounds,
    subject: loopOf((index) => subject.read({ partition, id: `create-${(index * 7) % known}` })),
    peer: loopOf((index) => bare.read(`create-${(index * 7) % known}`)),
  });

  progress('replace');
  const documents: Document<Body>[] = [];
  for (let index = 0; index < known; index++) {
    documents.push(await subject.create({ partition, id: `replace-${index}` }, bodyOf(`r${index}`)));
    bare.create(`replace-${index}`, bodyOf(`r${index}`));
  }
  await compare({
    bench,
    case: 'replace',
    operations: 500,
    rounds,
    subject: loopOf(async (index) => {
      const document = documents[index % known];
      if (document) documents[index % known] = await subject.replace(document, bodyOf(`s${index}`));
    }),
    peer: loopOf((index) => bare.replace(`replace-${index % known}`, bodyOf(`s${index}`))),
  });

  progress('batch of 2');
  await compare({
    bench,
    case: 'batch of 2',
    operations: 300,
    rounds,
    subject: loopOf((index) =>
      subject.batch(partition, [
        { kind: 'create', id: `batch-${index}-a`, body: bodyOf(`a${index}`) },
        { kind: 'create', id: `batch-${index}-b`, body: bodyOf(`b${index}`) },
      ]),
    ),
    peer: loopOf((index) =>
      bare.createTwo(`batch-${index}-a`, bodyOf(`a${index}`), `batch-${index}-b`, bodyOf(`b${index}`)),
    ),
  });
  bare.close();
  await store.close();
}

/** The statements of the store, prepared on a bare connection, over tables that the store made. It never checkpoints. */
function bareStatements(file: string) {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16000');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const addChange = db.prepare(
    'INSERT INTO "peer/changes" (partition, id, kind, at, expires_at, body) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const addDocument = db.prepare(
    'INSERT INTO "peer/documents" (partition, id, revision, expires_at, body) VALUES (?, ?, ?, ?, ?)',
  );
  const change = db.prepare(
    'UPDATE "peer/documents" SET revision = ?, expires_at = ?, body = ? WHERE partition = ? AND id = ?',
  );
  const find = db.prepare(
    'SELECT body, partition, id, revision, expires_at FROM "peer/documents" WHERE partition = ? AND id = ?',
  );
  find.setReturnArrays(true);

  const insert = (id: string, body: Body): void => {
    const json = JSON.stringify(body);
    const { lastInsertRowid } = addChange.run(partition, id, 'create', Date.now(), null, json);
    addDocument.run(partition, id, lastInsertRowid, null, json);
  };
  return {
    create(id: string, body: Body): undefined {
      begin.run();
      insert(id, body);
      commit.run();
    },
    createTwo(id: string, body: Body, otherId: string, otherBody: Body): undefined {
      begin.run();
      insert(id, body);
      insert(otherId, otherBody);
      commit.run();
    },
    replace(id: string, body: Body): undefined {
      const json = JSON.stringify(body);
      begin.run();
      const { lastInsertRowid } = addChange.run(partition, id, 'replace', Date.now(), null, json);
      change.run(lastInsertRowid, null, json, partition, id);
      commit.run();
    },
    read(id: string): undefined {
      const row = find.get(partition, id);
      JSON.parse(String(row?.[0]));
    },
    close: () => db.close(),
  };
}

async function claims(directory: string): Promise<void> {
  const sizes = { short: 1_000, long: 100_000 } as const;
  const queues = new Map<number, Container<Body>>();
  const stores = [];
  for (const size of Object.values(sizes)) {
    progress(`filling a queue with ${size} documents`);
    const store = await openSqliteStore({ file: join(directory, `queue-${size}.db`) });
    stores.push(store);
    const container = await store.container<Body>({ name: 'work', queue: (body) => body.key });
    queues.set(size, container);
    for (let index = 0; index < size; index += 100) {
      const batch = Array.from({ length: 100 }, (_, offset) => index + offset);
      await container.batch(
        partition,
        batch.map((id) => ({ kind: 'create', id: `document-${id}`, body: bodyOf(`subscription-${id % 100}`) })),
      );
    }
  }

  /** Counts the claims alone; each is given back so that the queue keeps its length. */
  const claiming = (size: number) => async (operations: number) => {
    const container = queues.get(size);
    let milliseconds = 0;
    for (let index = 0; container && index < operations; index++) {
      const start = performance.now();
      const [claim] = await container.leases.claim({ owner: 'bench', leaseSeconds: 60 });
      milliseconds += performance.now() - start;
      if (claim) await container.leases.release(claim.lease);
    }
    return milliseconds / 1000;
  };
  progress('claims');
  await compare({
    bench,
    case: 'claim, 100,000 queued against 1,000 queued',
    operations: 300,
    rounds,
    subject: claiming(sizes.long),
    peer: claiming(sizes.short),
  });
  for (const store of stores) await store.close();
}

async function feed(directory: string): Promise<void> {
  const file = join(directory, 'feed.db');
  const store = await openSqliteStore({ file });
  const container = await store.container<Body>({ name: 'events' });

  progress('feed, in this process');
  const inProcess = deliveries(container);
  for (let index = 0; index < feedEvents; index++) {
    await container.create({ partition, id: `own-${index}` }, bodyOf('event', preciseNow()));
    await sleep(1);
  }
  reportDelivery('feed commit to delivery p99, in process', await inProcess);

  progress('feed, from another process');
  const across = deliveries(container);
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, '--write-to', file], { stdio: ['ignore', 'inherit', 'inherit'] });
  reportDelivery('feed commit to delivery p99, across processes', await across);
  await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(undefined)));
  await store.close();
}

async function deliveries(container: Container<Body>): Promise<number[]> {
  const delays: number[] = [];
  for await (const { changes } of container.changes({ from: 'now' })) {
    const now = preciseNow();
    for (const { document } of changes) delays.push(now - (document.body.sentAt ?? now));
    if (delays.length >= feedEvents) break;
  }
  return delays;
}

function reportDelivery(name: string, delays: readonly number[]): void {
  report({ bench, case: name, value: percentile(delays, 99), unit: 'ms' });
}

async function writeFromAnotherProcess(file: string): Promise<void> {
  const store = await openSqliteStore({ file });
  const container = await store.container<Body>({ name: 'events' });
  for (let index = 0; index < feedEvents; index++) {
    await container.create({ partition, id: `other-${index}` }, bodyOf('event', preciseNow()));
    await sleep(1);
  }
  await store.close();
}
