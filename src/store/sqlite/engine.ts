// The SQLite engine: one file, WAL, several processes. The main thread does what is short; background.worker.ts the rest.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Engine, Layout, Limits } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { createBackground } from './background.ts';
import { type Connection, openContainer, type Upkeep } from './container.ts';
import {
  type ConnectOptions,
  checkLength,
  connect,
  prepare,
  prepareFile,
  type Synchronous,
  sizeOf,
  statementCache,
  transactions,
} from './database.ts';
import { closedError } from './errors.ts';
import { createLine, type Observe } from './line.ts';
import { createQueries, smallContainer } from './queries.ts';
import { applyLayout, hasContainer, hasLayout, isPrepared, makeStoreTables } from './schema.ts';
import { startUpkeep } from './upkeep.ts';
import { createWakes } from './wake.ts';

export interface SqliteOptions {
  /** The database file. Left out or ':memory:': a new one in a temporary directory, removed at the end. */
  readonly file?: string;
  /**
   * NORMAL (the default): a commit survives the end of the process, killed or not, but the last few may be lost when the
   * machine loses power. FULL: every commit waits for the disk.
   */
  readonly synchronous?: Synchronous;
  /** How long changes are kept for feeds that resume; a day when left out. */
  readonly historySeconds?: number;
  /** How long a call keeps trying while another process has the file locked; 10 seconds when left out. */
  readonly patienceSeconds?: number;
  /** The file does not grow beyond this: writes that need more room fail with Full. Left out: up to the disk. */
  readonly largestFileBytes?: number;
  /** Epoch milliseconds; for tests of clocks that jump. */
  readonly clock?: () => number;
  /** Told of every stretch of synchronous work on the main thread. */
  readonly observe?: Observe;
}

export const sqliteLimits: Limits = { documentBytes: 2 << 20, batchOperations: 100, batchBytes: 4 << 20 };

const daySeconds = 86_400;
/** Opening or closing goes through the log, so with one longer than this the worker is first to open and last to close. */
const longLogBytes = 1 << 20;

export async function openSqliteEngine(options: SqliteOptions = {}): Promise<Engine> {
  if (options.file !== undefined && options.file !== ':memory:') return openFile(resolve(options.file), options);
  const directory = await mkdtemp(join(tmpdir(), 'store-'));
  const engine = await openFile(join(directory, 'store.db'), options);
  return {
    ...engine,
    async close() {
      await engine.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A connection to a file that has the store's own tables. */
function connectPrepared(options: ConnectOptions): DatabaseSync {
  const { file } = options;
  checkLength(file);
  const db = connect(options);
  try {
    if (!isPrepared(db, file)) transactions(db)(() => makeStoreTables(db));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

async function openFile(file: string, options: SqliteOptions): Promise<Engine> {
  const {
    clock = Date.now,
    synchronous = 'NORMAL',
    historySeconds = daySeconds,
    patienceSeconds = 10,
    largestFileBytes,
    observe,
  } = options;
  const lineOptions = { file, patienceMs: patienceSeconds * 1000, observe };
  const writes = createLine(lineOptions);
  const reads = createLine(lineOptions);
  const background = createBackground({ file, synchronous, largestFileBytes });

  await prepareFile(file);
  const open = async (): Promise<DatabaseSync> => {
    if (sizeOf(`${file}-wal`) > longLogBytes) await background.start();
    return writes.run(() => connectPrepared({ file, synchronous, waitMs: 0, largestFileBytes }));
  };
  const db = await open().catch(async (error: unknown) => {
    await background.close();
    throw error;
  });

  const transaction = transactions(db);
  const wakes = createWakes(db, file);
  const containers = new Map<string, Upkeep>();
  const upkeep = startUpkeep({
    file,
    background,
    historyMs: historySeconds * 1000,
    containers: () => [...containers.values()],
  });
  const connection: Connection = {
    db,
    reads,
    writes,
    transaction,
    statement: statementCache(db),
    queries: createQueries(db),
    background,
    clock,
    committed(container, showsInFeed, characters = 0) {
      upkeep.wrote(characters);
      if (showsInFeed) wakes.committed(container);
    },
    subscribe: (container, wake) => wakes.subscribe(container, wake),
  };
  const ask = {
    secret: prepare<[Uint8Array]>(db, 'SELECT bytes FROM secrets WHERE name = ?'),
    makeSecret: prepare(db, 'INSERT OR IGNORE INTO secrets VALUES (?, ?)'),
    begin: prepare(db, 'BEGIN IMMEDIATE'),
    rollback: prepare(db, 'ROLLBACK'),
  };
  let closing: Promise<void> | undefined;

  /** Index making on a container with many documents takes long, and then it is the worker's. */
  async function bringUpToDate(layout: Layout): Promise<void> {
    const isQuick = await writes.run(() => {
      if (hasLayout(db, layout)) return true;
      if (hasContainer(db, layout.name) && !smallContainer(db, layout.name)()) return false;
      transaction(() => applyLayout(db, layout));
      return true;
    });
    if (!isQuick) await background.applyLayout(layout);
  }

  async function close(): Promise<void> {
    await upkeep.stop();
    wakes.close();
    reads.close(closedError(file));
    writes.close(closedError(file));
    // The last connection to close copies the log into the file: the worker's, when there is much to copy.
    if (sizeOf(`${file}-wal`) > longLogBytes) await background.start().catch(() => undefined);
    db.close();
    await background.close();
  }

  return {
    limits: sqliteLimits,
    async open(layout) {
      await bringUpToDate(layout);
      const container = await reads.run(() => openContainer(connection, layout));
      containers.set(layout.name, container);
      return container;
    },
    async secret(name) {
      const found = await reads.run(() => ask.secret.get(name));
      if (found === undefined) await writes.run(() => ask.makeSecret.run(name, randomBytes(32)));
      const bytes = found ?? (await reads.run(() => ask.secret.get(name)));
      if (bytes === undefined) throw new StoreError('Corrupt', `database ${file}: the secret ${name} cannot be kept`);
      return Buffer.from(bytes[0]);
    },
    now: () => reads.run(clock),
    // Takes the write lock and gives it back: a file that is gone, read-only or locked for long shows here.
    ping: () =>
      writes.run(() => {
        ask.begin.run();
        ask.rollback.run();
        if (sizeOf(file) === 0) {
          throw new StoreError('Unavailable', `database ${file}: the file was removed; restart this process`);
        }
      }),
    close: () => (closing ??= close()),
  };
}
