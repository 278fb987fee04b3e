// The work queue between watches and workers.
import { type BackoffOptions, createBackoff } from './backoff.ts';
import { LanedFifo } from './laned-fifo.ts';
import type { QueueMetrics } from './queue-metrics.ts';

/**
 * A queue of things to look at, with the semantics of client-go's:
 *
 * - An item that is added while it waits is there once: whoever takes it looks at the newest state anyway.
 * - An item is handed to one worker at a time. Added while a worker has it, it is queued again when that worker is done.
 * - Items are handed out in the order they were added, within a lane; lanes take turns.
 * - After `shutDown`, nothing can be added; workers get what is queued until that is empty, or nothing more, as asked for.
 */
export interface WorkQueue<T> {
  add(item: T): void;
  /** Adds the item when the time has passed. Of several delays of one item, the one that ends first counts. */
  addAfter(item: T, delayMs: number): void;
  /** Adds an item that failed, when its own backoff and that of the whole queue allow. */
  addRateLimited(item: T): void;
  /** Ends the item's backoff; call it when it succeeded. */
  forget(item: T): void;
  failures(item: T): number;
  /** The next item, when there is one; undefined when the queue is shut down. Each item taken must be marked `done`. */
  take(): Promise<T | undefined>;
  done(item: T): void;
  /** Items that wait for a worker. */
  readonly depth: number;
  /** Items that workers have. */
  readonly busy: number;
  /** Settles when no worker has an item any more. With `drain`, what is queued now is still handed out. */
  shutDown(options?: { readonly drain?: boolean }): Promise<void>;
}

export interface QueueOptions<T> {
  /** What makes two items the same. */
  readonly keyOf: (item: T) => string;
  /** Items of one lane do not hold up those of another: a namespace, a tenant. One lane for all unless given. */
  readonly laneOf?: (item: T) => string;
  readonly backoff?: BackoffOptions;
  readonly metrics?: QueueMetrics;
}

/** The longest that a timer can wait. */
const longestTimerMs = 2 ** 31 - 1;

export function createQueue<T>(options: QueueOptions<T>): WorkQueue<T> {
  const { keyOf, laneOf = () => '', metrics } = options;
  const backoff = createBackoff(options.backoff);
  const ready = new LanedFifo<string>();
  /** What is to be looked at: waiting in `ready`, or with a worker and due again after that. */
  const dirty = new Map<string, { readonly item: T; readonly since: number }>();
  const processing = new Map<string, number>();
  const delayed = new Map<string, { readonly due: number; readonly timer: NodeJS.Timeout }>();
  const takers: ((item: T | undefined) => void)[] = [];
  const idle: (() => void)[] = [];
  let down = false;

  function add(item: T): void {
    if (down) return;
    const key = keyOf(item);
    const waiting = dirty.get(key);
    if (waiting) {
      // The newest of equal items: it may carry more than its key.
      dirty.set(key, { item, since: waiting.since });
      return;
    }
    metrics?.added();
    dirty.set(key, { item, since: performance.now() });
    if (!processing.has(key)) enqueue(key, item);
  }

  function enqueue(key: string, item: T): void {
    ready.push(laneOf(item), key);
    const taker = takers.shift();
    if (taker) taker(next());
    metrics?.depth(ready.size);
  }

  function next(): T | undefined {
    const key = ready.shift();
    if (key === undefined) return undefined;
    const entry = dirty.get(key);
    if (!entry) return undefined;
    dirty.delete(key);
    const now = performance.now();
    processing.set(key, now);
    metrics?.depth(ready.size);
    metrics?.waited((now - entry.since) / 1000);
    return entry.item;
  }

  function addAfter(item: T, delayMs: number): void {
    if (down) return;
    if (!(delayMs > 0)) {
      add(item);
      return;
    }
    const key = keyOf(item);
    const wait = Math.min(delayMs, longestTimerMs);
    const due = performance.now() + wait;
    const planned = delayed.get(key);
    if (planned && planned.due <= due) return;
    clearTimeout(planned?.timer);
    const timer = setTimeout(() => {
      delayed.delete(key);
      if (delayMs > wait) addAfter(item, delayMs - wait);
      else add(item);
    }, wait);
    delayed.set(key, { due, timer });
  }

  return {
    add,
    addAfter,
    addRateLimited(item) {
      if (down) return;
      metrics?.retried();
      addAfter(item, backoff.next(keyOf(item)));
    },
    forget: (item) => backoff.forget(keyOf(item)),
    failures: (item) => backoff.failures(keyOf(item)),
    take() {
      const item = next();
      if (item !== undefined) return Promise.resolve(item);
      if (down) return Promise.resolve(undefined);
      return new Promise((resolve) => takers.push(resolve));
    },
    done(item) {
      const key = keyOf(item);
      const since = processing.get(key);
      if (since === undefined) return;
      processing.delete(key);
      metrics?.worked((performance.now() - since) / 1000);
      const again = dirty.get(key);
      if (again) enqueue(key, again.item);
      if (down && processing.size === 0 && ready.size === 0) for (const settle of idle.splice(0)) settle();
    },
    get depth() {
      return ready.size;
    },
    get busy() {
      return processing.size;
    },
    shutDown({ drain = false } = {}) {
      down = true;
      for (const { timer } of delayed.values()) clearTimeout(timer);
      delayed.clear();
      if (!drain) {
        ready.clear();
        dirty.clear();
        metrics?.depth(0);
      }
      for (const taker of takers.splice(0)) taker(undefined);
      if (processing.size === 0 && ready.size === 0) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };
}
