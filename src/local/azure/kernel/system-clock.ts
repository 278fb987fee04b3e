// The cloud's clock over the machine's: one timer for the next thing due, and skipping ahead.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../../kit/log.ts';
import type { Clock } from './clock.ts';

export interface SystemClockOptions {
  readonly logger: Logger;
  /** What was skipped in all before, as it was kept. */
  readonly skippedMs?: number;
  /** Keeps what is skipped in all. Awaited before anything runs at the later time, so that a crash never takes time back. */
  readonly keep?: (skippedMs: number) => void | Promise<void>;
}

export interface SystemClock extends Clock {
  readonly skippedMs: number;
  /** Calls nothing any more. What runs goes on. */
  stop(): void;
}

interface Entry {
  readonly time: number;
  readonly order: number;
  readonly run: () => void | Promise<void>;
}

/** The longest that a timer of the runtime can be told to wait. */
const longestTimerMs = 2_147_483_647;
/** How many turns of the event loop one piece of due work has to itself before the next is started beside it. */
const turnsAlone = 200;

export function createSystemClock(options: SystemClockOptions): SystemClock {
  const { logger, keep } = options;
  let skippedMs = options.skippedMs ?? 0;
  let last = 0;
  let order = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;
  let advancing: Promise<void> = Promise.resolve();
  let isAdvancing = false;
  /** Called when something was added that may be due within the skip under way. */
  let added: (() => void) | undefined;
  // Soonest last: taking the next one is cheap, and there are only as many as there are operations under way.
  const entries: Entry[] = [];

  const now = (): number => {
    last = Math.max(last, Date.now() + skippedMs);
    return last;
  };

  const place = (entry: Entry): void => {
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = entries[middle];
      if (other !== undefined && isLater(other, entry)) low = middle + 1;
      else high = middle;
    }
    entries.splice(low, 0, entry);
  };

  const start = async (entry: Entry): Promise<void> => {
    try {
      await entry.run();
    } catch (err) {
      logger.error({ err }, 'work that was due failed');
    }
  };

  const arm = (): void => {
    clearTimeout(timer);
    clearImmediate(soon);
    const next = entries.at(-1);
    if (next === undefined || stopped || isAdvancing) return;
    const ms = Math.ceil(next.time - now());
    if (ms > 0) timer = setTimeout(fire, Math.min(ms, longestTimerMs));
    else soon = setImmediate(fire);
  };

  const fire = (): void => {
    for (let next = entries.at(-1); next !== undefined && next.time <= now() && !stopped; next = entries.at(-1)) {
      entries.pop();
      void start(next);
    }
    arm();
  };

  const skipTo = (time: number): void => {
    const missing = time - now();
    if (missing > 0) skippedMs += missing;
  };

  const advance = async (ms: number): Promise<void> => {
    const target = now() + ms;
    await keep?.(skippedMs + ms);
    isAdvancing = true;
    clearTimeout(timer);
    clearImmediate(soon);
    const running = new Set<Promise<void>>();
    try {
      while (!stopped) {
        const next = entries.at(-1);
        if (next !== undefined && next.time <= target) {
          entries.pop();
          skipTo(next.time);
          const work = start(next).finally(() => running.delete(work));
          running.add(work);
          for (let turn = 0; turn < turnsAlone && running.has(work); turn++) await nextTurn();
        } else if (running.size > 0) {
          // Work may wait for what it has put on the clock itself, so both are waited for.
          const another = new Promise<void>((resolve) => {
            added = resolve;
          });
          await Promise.race([...running, another]);
        } else break;
      }
      skipTo(target);
    } finally {
      added = undefined;
      isAdvancing = false;
      arm();
    }
  };

  return {
    now,
    get skippedMs() {
      return skippedMs;
    },
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) return Promise.reject(new RangeError('time goes ahead only'));
      const done = advancing.then(() => advance(ms));
      advancing = done.catch(() => undefined);
      return done;
    },
    at(time, run) {
      if (stopped) return () => undefined;
      const entry: Entry = { time, order: order++, run };
      place(entry);
      added?.();
      if (entries.at(-1) === entry) arm();
      return () => {
        const at = entries.indexOf(entry);
        if (at !== -1) entries.splice(at, 1);
        if (entries.length === 0) arm();
      };
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      clearImmediate(soon);
      entries.length = 0;
      added?.();
    },
  };
}

function isLater(one: Entry, other: Entry): boolean {
  return one.time > other.time || (one.time === other.time && one.order > other.order);
}
