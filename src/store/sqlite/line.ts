// How calls reach the one connection without ever holding up the event loop: each attempt is short, a locked database is
// asked again later instead of being waited for, and calls that keep each other going yield to everything else now and then.
import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy, storeError } from './errors.ts';

export interface LineOptions {
  readonly file: string;
  /** How long a call keeps asking a locked database before it fails with Busy. */
  readonly patienceMs: number;
  readonly observe?: Observe | undefined;
}

/** Told how long each attempt took, and how much of that the thread was computing rather than waiting its turn. */
export type Observe = (milliseconds: number, processorMilliseconds: number) => void;

/** Calls waiting for the database, first come first served. Errors come out as StoreError. */
export interface Line {
  run<T>(attempt: () => T): Promise<T>;
  /** Fails everything that still waits. */
  close(error: Error): void;
}

/** After this long without a turn of the event loop, the next call lets one happen first. */
const turnMs = 5;
const longestPauseMs = 10;

let turnStarted = 0;

/**
 * True when the calls of this turn of the event loop have had their share. A loop of awaited calls that all succeed at once
 * would otherwise never let timers and sockets run.
 */
function turnSpent(): boolean {
  const now = performance.now();
  if (turnStarted !== 0) return now - turnStarted > turnMs;
  turnStarted = now;
  setImmediate(endTurn);
  return false;
}

function endTurn(): void {
  turnStarted = 0;
}

export function createLine(options: LineOptions): Line {
  interface Waiting {
    readonly attempt: () => unknown;
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: Error) => void;
    readonly deadline: number;
  }
  let waiting: Waiting[] = [];
  let draining = false;
  const { observe } = options;

  function timed<T>(attempt: () => T): T {
    if (observe === undefined) return attempt();
    const start = performance.now();
    const processor = process.threadCpuUsage();
    try {
      return attempt();
    } finally {
      const { user, system } = process.threadCpuUsage(processor);
      observe(performance.now() - start, (user + system) / 1000);
    }
  }

  /** Serves the first in line; false when the database is locked. */
  function serve(first: Waiting): boolean {
    try {
      first.resolve(timed(first.attempt));
    } catch (error) {
      if (isBusy(error) && performance.now() < first.deadline) return false;
      first.reject(storeError(error, options.file));
    }
    return true;
  }

  async function drain(): Promise<void> {
    draining = true;
    let pauseMs = 0;
    while (waiting.length > 0) {
      await pause(pauseMs);
      let first = waiting[0];
      while (first !== undefined && !turnSpent()) {
        if (!serve(first)) {
          pauseMs = Math.min(longestPauseMs, pauseMs * 1.5 + 0.1);
          break;
        }
        pauseMs = 0;
        waiting.shift();
        first = waiting[0];
      }
    }
    draining = false;
  }

  return {
    async run<T>(attempt: () => T): Promise<T> {
      if (waiting.length === 0 && !turnSpent()) {
        try {
          return timed(attempt);
        } catch (error) {
          if (!isBusy(error)) throw storeError(error, options.file);
        }
      }
      return new Promise<T>((resolve, reject) => {
        const deadline = performance.now() + options.patienceMs;
        waiting.push({ attempt, resolve: (value) => resolve(value as T), reject, deadline });
        if (!draining) void drain();
      });
    },
    close(error) {
      const left = waiting;
      waiting = [];
      for (const one of left) one.reject(error);
    },
  };
}

/** The jitter keeps processes that wait for each other from asking in step. */
async function pause(milliseconds: number): Promise<void> {
  if (milliseconds < 1) await new Promise((resolve) => setImmediate(resolve));
  else await sleep(milliseconds * (0.5 + Math.random()));
}
