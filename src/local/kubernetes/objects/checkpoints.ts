// Copying the log into the database file, on a thread of its own: it takes long and waits for the disk.
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../kit/log.ts';
import type { Synchronous } from '../../../store/sqlite/database.ts';

export interface CheckpointOptions {
  readonly file: string;
  readonly synchronous: Synchronous;
  readonly logger: Logger | undefined;
}

export interface WorkerOptions {
  readonly file: string;
  readonly synchronous: Synchronous;
}

export type WorkerRequest = 'checkpoint' | 'close';

/** Undefined when all went well. */
export type WorkerAnswer = string | undefined;

export interface Checkpoints {
  /** This many bytes went into the log. */
  wrote(bytes: number): void;
  /** Ends the thread, if there is one, after it has emptied the log; the other connection is closed already. */
  close(): Promise<void>;
}

/** After about so much writing the log is copied. The thread is started then, so a quiet host has none. */
const logBytes = 4 << 20;

export function createCheckpoints({ file, synchronous, logger }: CheckpointOptions): Checkpoints {
  let worker: Worker | undefined;
  let written = 0;
  let busy = false;

  function start(): Worker {
    const workerData: WorkerOptions = { file, synchronous };
    const started = new Worker(new URL('./checkpoints.worker.ts', import.meta.url), {
      workerData,
      name: 'objects-checkpoints',
      // The parent's debugging and test flags are not for this thread.
      execArgv: [],
    });
    started.unref();
    started.on('message', (failure: WorkerAnswer) => {
      busy = false;
      if (failure !== undefined) logger?.warn({ file, failure }, 'the log of the objects was not copied');
    });
    // A log that is not copied is longer than it should be, and nothing worse: the next try starts another thread.
    started.on('error', (error) => logger?.warn({ file, err: error }, 'the thread that copies the log ended'));
    started.on('exit', () => {
      if (worker !== started) return;
      worker = undefined;
      busy = false;
    });
    return started;
  }

  return {
    wrote(bytes) {
      written += bytes;
      if (written < logBytes || busy) return;
      written = 0;
      busy = true;
      worker ??= start();
      worker.postMessage('checkpoint' satisfies WorkerRequest);
    },
    async close() {
      const ending = worker;
      if (ending === undefined) return;
      await new Promise<void>((resolve) => {
        ending.once('exit', () => resolve());
        ending.ref();
        ending.postMessage('close' satisfies WorkerRequest);
      });
    },
  };
}
