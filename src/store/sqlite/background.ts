import { Worker } from 'node:worker_threads';
import type { EnginePage, EngineQuery, Fence, Layout, Write } from '../engine.ts';
import { StoreError, type StoreErrorCode } from '../errors.ts';
import type { Filter } from '../filter.ts';
import type { Synchronous } from './database.ts';
import { closedError, storeError } from './errors.ts';

export interface BackgroundOptions {
  readonly file: string;
  readonly synchronous: Synchronous;
  readonly largestFileBytes: number | undefined;
}

/**
 * What becomes of a log that was copied: `reuse` starts it over when it is long; `empty` makes the file short as well, which
 * holds up whoever writes to it at that moment, so it is for quiet times.
 */
export type AfterCheckpoint = 'reuse' | 'empty';

export type BackgroundTask =
  | { readonly kind: 'query'; readonly layout: Layout; readonly query: EngineQuery; readonly now: number }
  | {
      readonly kind: 'count';
      readonly layout: Layout;
      readonly partition: string | undefined;
      readonly filter: Filter | undefined;
      readonly now: number;
    }
  | { readonly kind: 'waiting'; readonly container: string; readonly now: number }
  | {
      readonly kind: 'write';
      readonly layout: Layout;
      readonly partition: string;
      readonly writes: readonly Write[];
      readonly fence: Fence | undefined;
      readonly clockOffset: number;
    }
  | { readonly kind: 'sweep'; readonly layout: Layout; readonly clockOffset: number }
  | { readonly kind: 'layout'; readonly layout: Layout }
  | { readonly kind: 'checkpoint'; readonly log: AfterCheckpoint }
  | { readonly kind: 'close' };

export interface BackgroundRequest {
  readonly id: number;
  readonly task: BackgroundTask;
}

export interface BackgroundAnswer {
  readonly id: number;
  readonly value?: unknown;
  readonly failure?: {
    readonly message: string;
    readonly sqlite?: number | undefined;
    readonly store?: StoreErrorCode;
    readonly uniqueKey?: string | undefined;
    readonly operation?: number | undefined;
  };
}

/** The worker thread, started at the first task. It keeps the process alive only while somebody awaits an answer. */
export interface Background {
  readonly started: boolean;
  query(layout: Layout, query: EngineQuery, now: number): Promise<EnginePage>;
  count(layout: Layout, partition: string | undefined, filter: Filter | undefined, now: number): Promise<number>;
  waiting(container: string, now: number): Promise<number>;
  /** `clockOffset` is what to add to the machine's clock. */
  write(
    layout: Layout,
    partition: string,
    writes: readonly Write[],
    fence: Fence | undefined,
    clockOffset: number,
  ): Promise<readonly number[]>;
  /** Answers how many expired documents it deleted. */
  sweep(layout: Layout, clockOffset: number): Promise<number>;
  applyLayout(layout: Layout): Promise<void>;
  /** Copies the log into the database file. */
  checkpoint(log: AfterCheckpoint): Promise<void>;
  /** Opens the file in the worker and does nothing else. */
  start(): Promise<void>;
  /** Closes its connection, which empties the log when it is the last one, and ends the thread. */
  close(): Promise<void>;
}

export function createBackground(options: BackgroundOptions): Background {
  interface Pending {
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: Error) => void;
  }
  let worker: Worker | undefined;
  let lastId = 0;
  let closed = false;
  const pending = new Map<number, Pending>();

  function failAll(error: unknown): void {
    worker = undefined;
    const left = [...pending.values()];
    pending.clear();
    for (const one of left) one.reject(storeError(error, options.file));
  }

  function settle(answer: BackgroundAnswer): void {
    const one = pending.get(answer.id);
    pending.delete(answer.id);
    if (pending.size === 0) worker?.unref();
    if (answer.failure === undefined) one?.resolve(answer.value);
    else one?.reject(failureError(answer.failure, options.file));
  }

  function startWorker(): Worker {
    const started = new Worker(new URL('./background.worker.ts', import.meta.url), {
      workerData: options,
      name: 'store-background',
      // The parent's debugging and test flags are not for this thread.
      execArgv: [],
    });
    started.on('message', settle);
    started.on('error', failAll);
    started.on('exit', () => {
      if (worker === started) failAll(new Error('the background thread ended'));
    });
    return started;
  }

  async function perform<T>(task: BackgroundTask): Promise<T> {
    if (closed) throw closedError(options.file);
    worker ??= startWorker();
    worker.ref();
    const id = ++lastId;
    const request: BackgroundRequest = { id, task };
    const thread = worker;
    return new Promise<T>((resolve, reject) => {
      pending.set(id, { resolve: (value) => resolve(value as T), reject });
      thread.postMessage(request);
    });
  }

  return {
    get started() {
      return worker !== undefined;
    },
    query: (layout, query, now) => perform({ kind: 'query', layout: plain(layout), query, now }),
    count: (layout, partition, filter, now) =>
      perform({ kind: 'count', layout: plain(layout), partition, filter, now }),
    waiting: (container, now) => perform({ kind: 'waiting', container, now }),
    write: (layout, partition, writes, fence, clockOffset) =>
      perform({ kind: 'write', layout: plain(layout), partition, writes, fence, clockOffset }),
    sweep: (layout, clockOffset) => perform({ kind: 'sweep', layout: plain(layout), clockOffset }),
    applyLayout: (layout) => perform({ kind: 'layout', layout: plain(layout) }),
    checkpoint: (log) => perform({ kind: 'checkpoint', log }),
    start: () => perform({ kind: 'checkpoint', log: 'reuse' }),
    async close() {
      const thread = worker;
      const ended = thread && new Promise((resolve) => thread.once('exit', resolve));
      const done = thread && perform({ kind: 'close' });
      closed = true;
      await done;
      thread?.ref();
      await ended;
    },
  };
}

/** Only what a layout is made of: what a caller hung onto the object may not pass to another thread. */
function plain({ name, uniqueKeys, indexes, labels }: Layout): Layout {
  return { name, uniqueKeys, indexes, labels };
}

function failureError(failure: NonNullable<BackgroundAnswer['failure']>, file: string): StoreError {
  const { message, sqlite, store, uniqueKey, operation } = failure;
  if (store !== undefined) {
    return new StoreError(store, message, {
      ...(uniqueKey === undefined ? {} : { uniqueKey }),
      ...(operation === undefined ? {} : { operation }),
    });
  }
  return storeError(Object.assign(new Error(message), { errcode: sqlite }), file);
}
