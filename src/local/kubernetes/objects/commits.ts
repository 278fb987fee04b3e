// The line of commits. All that were asked for in one turn of the event loop run one after the other, are kept by one
// database transaction, and settle together; watchers are told after that.
import { type ClusterObjects, removedError } from './cluster-objects.ts';
import type { History } from './history.ts';
import type { Keep } from './keep.ts';
import type { Transaction } from './objects.ts';
import { OpenTransaction, type Written } from './transaction.ts';

export interface Commits {
  add<T>(cluster: ClusterObjects, work: (transaction: Transaction) => T): Promise<T>;
  /** Runs what waits, then refuses everything with this error. */
  close(error: Error): Promise<void>;
}

export interface CommitsOptions {
  /** Undefined: memory is all there is. */
  readonly keep: Keep | undefined;
  readonly history: History;
  /** Told about a flush that took long. */
  readonly onSlow: ((flush: SlowFlush) => void) | undefined;
}

export interface SlowFlush {
  readonly milliseconds: number;
  readonly commits: number;
  readonly writes: number;
}

/** Works run for about so long before what they wrote is kept and the event loop has its turn. */
const turnMs = 8;
/** A flush that kept everything waiting for so long is slow. */
const slowMs = 100;
/** Somebody else has the database for a moment: the thread that copies its log. */
const busyPauseMs = 1;

interface Job {
  readonly cluster: ClusterObjects;
  readonly work: (transaction: Transaction) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

export function createCommits({ keep, history, onSlow }: CommitsOptions): Commits {
  let waiting: Job[] = [];
  let scheduled = false;
  let closed: Error | undefined;
  let idle: (() => void) | undefined;
  let lastRow = keep?.lastRow ?? 0;
  const newRow = () => ++lastRow;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    const started = performance.now();
    scheduled = false;
    try {
      if (keep && !keep.begin()) {
        scheduled = true;
        setTimeout(flush, busyPauseMs);
        return;
      }
    } catch (error) {
      const refused = waiting;
      waiting = [];
      for (const job of refused) job.reject(error);
      after(started, refused.length, 0);
      return;
    }
    const jobs = waiting;
    waiting = [];
    const outcomes: Outcome[] = [];
    const written: Written[] = [];
    for (const job of jobs) {
      outcomes.push(perform(job, written));
      if (performance.now() - started > turnMs) break;
    }
    const done = jobs.slice(0, outcomes.length);
    if (done.length < jobs.length) waiting = [...jobs.slice(outcomes.length), ...waiting];
    try {
      keep?.end(written);
    } catch (error) {
      takeBack(written, 0);
      // Those that threw as well: they may have seen what did not come to be.
      for (const job of done) job.reject(error);
      after(started, done.length, 0);
      return;
    }
    settle(done, outcomes);
    for (const { shelf, change } of written) history.remember(shelf.past, change);
    for (const { cluster, shelf, change } of written) cluster.tell(shelf, change);
    after(started, done.length, written.length);
  }

  function perform({ cluster, work }: Job, written: Written[]): Outcome {
    const mark = written.length;
    const transaction = new OpenTransaction(cluster, written, newRow);
    try {
      if (cluster.removed) throw removedError(cluster.name);
      const value = work(transaction);
      if (isPromise(value)) throw new Error('the work of a commit must not wait: it returned a promise');
      return { value };
    } catch (error) {
      takeBack(written, mark);
      return { error };
    } finally {
      transaction.end();
    }
  }

  function after(started: number, commits: number, writes: number): void {
    const milliseconds = performance.now() - started;
    if (waiting.length > 0) schedule();
    else idle?.();
    if (milliseconds > slowMs) onSlow?.({ milliseconds, commits, writes });
  }

  return {
    add<T>(cluster: ClusterObjects, work: (transaction: Transaction) => T): Promise<T> {
      if (closed) return Promise.reject(closed);
      return new Promise<T>((resolve, reject) => {
        waiting.push({ cluster, work, resolve: (value) => resolve(value as T), reject });
        schedule();
      });
    },
    async close(error) {
      closed ??= error;
      if (scheduled) {
        await new Promise<void>((resolve) => {
          idle = resolve;
        });
      }
    },
  };
}

function takeBack(written: Written[], mark: number): void {
  while (written.length > mark) {
    const last = written.pop();
    last?.cluster.undo(last.shelf, last.change);
  }
}

function settle(jobs: readonly Job[], outcomes: readonly Outcome[]): void {
  jobs.forEach((job, index) => {
    const outcome = outcomes[index];
    if (outcome === undefined) return;
    if ('error' in outcome) job.reject(outcome.error);
    else job.resolve(outcome.value);
  });
}

function isPromise(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
