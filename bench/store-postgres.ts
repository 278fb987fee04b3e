// The PostgreSQL store against bare prepared statements with the same effect on the same tables, at 16 connections.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { openPostgresStore } from '../src/store/postgres/open.ts';
import type { Container, Document, Store } from '../src/store/store.ts';
import { startPostgres } from '../src/store/testing/postgres-server.ts';
import { type Contestant, compare, median, percentile, progress, report } from './harness.ts';

const bench = 'store-postgres';
const connections = 16;
const partitions = 500;
const feedEvents = 1000;

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

const partitionOf = (index: number): string =>
  `a3f1c9d2-7e44-4b8e-9c55-${String(index % partitions).padStart(12, '0')}`;

/** Wall time with a fraction, the same in every process of this machine. */
function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** As many workers as connections; each takes the next index when it is done with one. */
function workersOf(operation: (index: number) => Promise<unknown>): Contestant {
  let index = 0;
  return async (operations) => {
    const start = performance.now();
    const end = index + operations;
    const worker = async () => {
      while (index < end) await operation(index++);
    };
    await Promise.all(Array.from({ length: connections }, worker));
    return (performance.now() - start) / 1000;
  };
}

const writerUrl = process.argv.indexOf('--write-to');
if (writerUrl !== -1) await writeFromAnotherProcess(process.argv[writerUrl + 1] ?? '');
else await main();

async function main(): Promise<void> {
  const server = await startPostgres();
  try {
    const store = await openPostgresStore({ server: server.url, maxConnections: connections });
    try {
      await verbs(store, server.url);
      await claims(store);
      await feed(store, server.url);
    } finally {
      await store.close();
    }
  } finally {
    await server.stop();
  }
}

interface BareVersion {
  readonly partition: string;
  readonly id: string;
  revision: string;
}

function bareStatements(url: string) {
  const pool = new Pool({ connectionString: url, max: connections });
  pool.on('error', () => undefined);
  const [documents, changes, revisions] = ['aro.peer_documents', 'aro.peer_changes', 'aro.peer_revisions'];
  const columns = 'revision, kind, partition, id, body';
  return {
    read: (partition: string, id: string) =>
      pool.query({
        name: 'read',
        text: `SELECT revision, body FROM ${documents} WHERE partition = $1 AND id = $2`,
        values: [partition, id],
      }),
    async create(partition: string, id: string, body: Body): Promise<BareVersion> {
      const { rows } = await pool.query({
        name: 'create',
        text: `WITH d AS (INSERT INTO ${documents} (partition, id, revision, body)
            VALUES ($1, $2, nextval('${revisions}'), $3) RETURNING *)
          INSERT INTO ${changes} (${columns}) SELECT revision, 'create', partition, id, body FROM d RETURNING revision`,
        values: [partition, id, JSON.stringify(body)],
      });
      return { partition, id, revision: rows[0].revision };
    },
    async replace(version: BareVersion, body: Body): Promise<void> {
      const { rows } = await pool.query({
        name: 'replace',
        text: `WITH d AS (UPDATE ${documents} SET revision = nextval('${revisions}'), body = $4
            WHERE partition = $1 AND id = $2 AND revision = $3 RETURNING *)
          INSERT INTO ${changes} (${columns}) SELECT revision, 'replace', partition, id, body FROM d RETURNING revision`,
        values: [version.partition, version.id, version.revision, JSON.stringify(body)],
      });
      version.revision = rows[0].revision;
    },
    close: () => pool.end(),
  };
}

async function verbs(store: Store, url: string): Promise<void> {
  await store.container<Body>({ name: 'peer' });
  const subject = await store.container<Body>({ name: 'subject' });
  const bare = bareStatements(url);
  const known = 2000;
  const versions: Document<Body>[] = [];
  const bareVersions: BareVersion[] = [];

  // The store is more code than the bare statements, and it is compiled while it runs.
  progress('warming up');
  const warm = (index: number) => [partitionOf(index), `warm-${index}`, bodyOf(`w${index}`)] as const;
  await workersOf((index) => subject.create({ partition: warm(index)[0], id: warm(index)[1] }, warm(index)[2]))(
    5000,
    0,
  );
  await workersOf((index) => bare.create(...warm(index)))(5000, 0);

  progress('create');
  await compare({
    bench,
    case: 'create',
    operations: known,
    subject: workersOf(async (index) => {
      const key = { partition: partitionOf(index), id: `create-${index}` };
      versions[index] = await subject.create(key, bodyOf(`k${index}`));
    }),
    peer: workersOf(async (index) => {
      bareVersions[index] = await bare.create(partitionOf(index), `create-${index}`, bodyOf(`k${index}`));
    }),
  });

  progress('point read');
  await compare({
    bench,
    case: 'point read',
    operations: 5000,
    subject: workersOf((index) => subject.read({ partition: partitionOf(index), id: `create-${index % known}` })),
    peer: workersOf((index) => bare.read(partitionOf(index), `create-${index % known}`)),
  });

  progress('replace');
  await compare({
    bench,
    case: 'replace',
    operations: known,
    subject: workersOf(async (index) => {
      const version = versions[index % known];
      if (version) versions[index % known] = await subject.replace(version, bodyOf(`r${index}`));
    }),
    peer: workersOf(async (index) => {
      const version = bareVersions[index % known];
      if (version) await bare.replace(version, bodyOf(`r${index}`));
    }),
  });
  await bare.close();
}

/** Claims from a long queue against claims from a short one, each with its documents under 100 fairness keys. */
async function claims(store: Store): Promise<void> {
  const queueOf = async (name: string, length: number): Promise<Container<Body>> => {
    progress(`filling a queue with ${length} documents`);
    const container = await store.container<Body>({ name, queue: ({ key }) => key });
    const batchSize = 50;
    const fill = workersOf((batch) =>
      container.batch(
        partitionOf(batch),
        Array.from({ length: batchSize }, (_, at) => {
          const id = `${batch}-${at}`;
          return { kind: 'create', id, body: bodyOf(`subscription-${(batch * batchSize + at) % 100}`) };
        }),
      ),
    );
    await fill(length / batchSize, 0);
    return container;
  };
  const long = await queueOf('long', 100_000);
  const short = await queueOf('short', 1000);
  const claimOf = (container: Container<Body>): Contestant => {
    const claimOne = workersOf(async () => {
      const [claim] = await container.leases.claim({ owner: 'bench', leaseSeconds: 600 });
      if (!claim) throw new Error('the queue is empty');
      held.push(claim.lease);
    });
    const held: Parameters<typeof container.leases.release>[0][] = [];
    // Given back between the rounds, so that every round finds the same length.
    return async (operations, round) => {
      const seconds = await claimOne(operations, round);
      await Promise.all(held.splice(0).map((lease) => container.leases.release(lease)));
      return seconds;
    };
  };
  progress('claim');
  await compare({
    bench,
    case: 'claim with 100,000 queued, peer 1,000 queued',
    operations: 400,
    subject: claimOf(long),
    peer: claimOf(short),
  });
}

/** When each document's writer knew that it was committed, by id. */
type Committed = Record<string, number>;

async function feed(store: Store, url: string): Promise<void> {
  const container = await store.container<Body>({ name: 'feed' });
  progress('feed, in-process');
  reportLatency('in-process', await latencies(container, () => writeEvents(container, 'here')));

  progress('feed, across processes');
  reportLatency(
    'across processes',
    await latencies(container, async () => {
      const child = fork(fileURLToPath(import.meta.url), ['--write-to', url]);
      const [committed] = (await once(child, 'message')) as [Committed];
      return committed;
    }),
  );
}

async function writeEvents(container: Container<Body>, prefix: string): Promise<Committed> {
  const committed: Committed = {};
  for (let index = 0; index < feedEvents; index++) {
    await sleep(2);
    const id = `${prefix}-${index}`;
    await container.create({ partition: partitionOf(index), id }, bodyOf('', preciseNow()));
    committed[id] = preciseNow();
  }
  return committed;
}

async function writeFromAnotherProcess(url: string): Promise<void> {
  const store = await openPostgresStore({ server: url, maxConnections: connections });
  const committed = await writeEvents(await store.container<Body>({ name: 'feed' }), 'across');
  await store.close();
  process.send?.(committed, () => process.disconnect());
}

interface Latencies {
  /** From the writer's knowledge of the commit to the change in the follower's hand; 0 when that was earlier. */
  readonly fromCommit: readonly number[];
  /** From before the write: the write itself is part of it. */
  readonly fromWrite: readonly number[];
}

function reportLatency(where: string, { fromCommit, fromWrite }: Latencies): void {
  for (const [name, values] of Object.entries({ 'commit to delivery': fromCommit, 'write to delivery': fromWrite })) {
    report({ bench, case: `feed, ${name}, ${where}, p50`, value: median(values), unit: 'ms' });
    report({ bench, case: `feed, ${name}, ${where}, p99`, value: percentile(values, 99), unit: 'ms' });
  }
}

async function latencies(container: Container<Body>, write: () => Promise<Committed>): Promise<Latencies> {
  const stop = new AbortController();
  const arrived: { id: string; at: number; sentAt: number }[] = [];
  const ready = Promise.withResolvers<void>();
  const follow = (async () => {
    for await (const { changes, caughtUp } of container.changes({ from: 'now', signal: stop.signal })) {
      if (caughtUp) ready.resolve();
      const at = preciseNow();
      for (const { document } of changes) arrived.push({ id: document.id, at, sentAt: document.body.sentAt ?? 0 });
      if (arrived.length >= feedEvents) return;
    }
  })();
  await ready.promise;
  const committed = await write();
  const patience = setTimeout(() => stop.abort(), 10_000);
  await follow;
  clearTimeout(patience);
  if (arrived.length < feedEvents) throw new Error(`only ${arrived.length} of ${feedEvents} changes came`);
  return {
    fromCommit: arrived.map(({ id, at }) => Math.max(0, at - (committed[id] ?? 0))),
    fromWrite: arrived.map(({ at, sentAt }) => at - sentAt),
  };
}
