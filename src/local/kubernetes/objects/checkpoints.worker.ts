import { parentPort, workerData } from 'node:worker_threads';
import { connect, prepare } from '../../../store/sqlite/database.ts';
import type { WorkerAnswer, WorkerOptions, WorkerRequest } from './checkpoints.ts';

/** Starting the log over keeps writers out while it waits for readers, so it must not wait long. */
const restartWaitMs = 20;
/** A log longer than this is started over. Under constant writing it does not come to that by itself. */
const longLogPages = 8192;

const db = connect({ ...(workerData as WorkerOptions), waitMs: restartWaitMs });
const copy = prepare<[busy: number, pages: number]>(db, 'PRAGMA wal_checkpoint(PASSIVE)');
const restart = prepare(db, 'PRAGMA wal_checkpoint(RESTART)');

function checkpoint(): WorkerAnswer {
  try {
    const [, pages = 0] = copy.get() ?? [];
    if (pages >= longLogPages) restart.get();
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
