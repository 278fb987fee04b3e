import { parentPort, workerData } from 'node:worker_threads';
import { connect, prepare } from '../../../store/sqlite/database.ts';
import type { WorkerAnswer, WorkerOptions, WorkerRequest } from './checkpoints.ts';

/** Starting the log over keeps writers out while it waits for readers, so it must not wait long. */
const restartWaitMs = 20;
/**
 * A log longer than this is started over, which under constant writing does not happen by itself. Writing over what the file
 * has is faster than making it longer, and the disk syncs it faster.
 */
const longLogPages = 1000;
/** So few pages may be left to copy while writers are kept out; more are copied beside them first, unless they never end. */
const fewPages = 100;
const mostRounds = 4;

const db = connect({ ...(workerData as WorkerOptions), waitMs: restartWaitMs });
const copy = prepare<[busy: number, pages: number, copied: number]>(db, 'PRAGMA wal_checkpoint(PASSIVE)');
const restart = prepare(db, 'PRAGMA wal_checkpoint(RESTART)');

function checkpoint(): WorkerAnswer {
  try {
    let copied = 0;
    for (let round = 0; round < mostRounds; round++) {
      const [, pages = 0, done = 0] = copy.get() ?? [];
      if (pages < longLogPages) return undefined;
      if (pages - copied <= fewPages) break;
      copied = done;
    }
    restart.get();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

parentPort?.on('message', (request: WorkerRequest) => {
  if (request === 'checkpoint') parentPort?.postMessage(checkpoint());
  else {
    db.close();
    parentPort?.close();
  }
});
