// The thread for what may take long: queries of any shape, large writes, making indexes, checkpoints. It has its own connections, so it
// may wait inside SQLite.
import { parentPort, workerData } from 'node:worker_threads';
import type { Layout } from '../engine.ts';
import { StoreError } from '../errors.ts';
import type {
  AfterCheckpoint,
  BackgroundAnswer,
  BackgroundOptions,
  BackgroundRequest,
  BackgroundTask,
} from './background.ts';
import { connect, prepare, transactions } from './database.ts';
import { sqliteCode } from './errors.ts';
import { createQueries } from './queries.ts';
import { countWaiting, createQueue } from './queue.ts';
import { applyLayout } from './schema.ts';
import { applyBatch, createWriter, type Writer } from './writes.ts';

const options = workerData as BackgroundOptions;
const lockWaitMs = 10_000;
/** Starting the log over keeps writers out while it waits for readers, so it must not wait long. */
const restartWaitMs = 20;

const db = connect({ ...options, waitMs: lockWaitMs });
const transaction = transactions(db);
const queries = createQueries(db);

/** A log longer than this is started over, which keeps writers out for a moment. Constant writing makes it come to that. */
const longLogPages = 8192;

function checkpoint(log: AfterCheckpoint): void {
  const [, pages = 0] = prepare<[number, number]>(db, 'PRAGMA wal_checkpoint(PASSIVE)').get() ?? [];
  if (log === 'reuse' && pages < longLogPages) return;
  db.exec(`PRAGMA busy_timeout = ${restartWaitMs}`);
  try {
    prepare(db, `PRAGMA wal_checkpoint(${log === 'empty' ? 'TRUNCATE' : 'RESTART'})`).get();
  } finally {
    db.exec(`PRAGMA busy_timeout = ${lockWaitMs}`);
  }
}

const writers = new Map<string, Writer>();
let clockOffsetMs = 0;

/** Tasks come one by one, so what the clock is for one of them holds until it is done. */
function writerOf(layout: Layout, offset: number): Writer {
  clockOffsetMs = offset;
  const key = JSON.stringify(layout);
  const found =
    writers.get(key) ??
    createWriter({
      db,
      layout,
      queue: createQueue(db, layout.name),
      clock: () => Date.now() + clockOffsetMs,
      mostBytes: Number.MAX_SAFE_INTEGER,
    });
  writers.set(key, found);
  return found;
}

function perform(task: BackgroundTask): unknown {
  switch (task.kind) {
    case 'query':
      return queries.query(task.layout, task.query, task.now);
    case 'count':
      return queries.count(task.layout, task.partition, task.filter, task.now);
    case 'waiting':
      return countWaiting(db, task.container, task.now);
    case 'write':
      return applyBatch(transaction, writerOf(task.layout, task.clockOffset), task.partition, task.writes, task.fence);
    case 'sweep':
      return transaction(() => writerOf(task.layout, task.clockOffset).sweep());
    case 'layout':
      return transaction(() => applyLayout(db, task.layout));
    case 'checkpoint':
      return checkpoint(task.log);
    case 'close':
      return db.close();
  }
}

function answer(request: BackgroundRequest): BackgroundAnswer {
  try {
    return { id: request.id, value: perform(request.task) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof StoreError) {
      return {
        id: request.id,
        failure: { message, store: error.code, uniqueKey: error.uniqueKey, operation: error.operation },
      };
    }
    return { id: request.id, failure: { message, sqlite: sqliteCode(error) } };
  }
}

parentPort?.on('message', (request: BackgroundRequest) => {
  parentPort?.postMessage(answer(request));
  if (request.task.kind === 'close') parentPort?.close();
});
