// How long an item that failed waits before it is tried again.

export interface RateLimiter {
  /** How many milliseconds this failure has to wait. Counts the failure. */
  next(key: string): number;
  /** The item succeeded: its next failure counts as the first. */
  forget(key: string): void;
  failures(key: string): number;
}

export interface BackoffOptions {
  /** After the first failure; 5 ms unless given. It doubles with each further one. */
  readonly baseMs?: number;
  /** No wait is longer; 5 minutes unless given. */
  readonly maxMs?: number;
  /** All items together, so that a fault that hits every item does not become a storm: 10 per second and 100 at once. */
  readonly overall?: { readonly perSecond: number; readonly burst: number };
}

const defaultBaseMs = 5;
const defaultMaxMs = 5 * 60 * 1000;
const defaultOverall = { perSecond: 10, burst: 100 };

/** Exponential for each item, and a bucket of tokens for all of them; the longer wait counts. */
export function createBackoff(options: BackoffOptions = {}, now: () => number = () => performance.now()): RateLimiter {
  const { baseMs = defaultBaseMs, maxMs = defaultMaxMs, overall = defaultOverall } = options;
  const failed = new Map<string, number>();
  let tokens = overall.burst;
  let filledAt = now();

  /** Takes a token, on credit if need be; the wait is until the credit is paid. */
  function take(): number {
    const time = now();
    tokens = Math.min(overall.burst, tokens + ((time - filledAt) / 1000) * overall.perSecond);
    filledAt = time;
    tokens -= 1;
    return tokens >= 0 ? 0 : (-tokens / overall.perSecond) * 1000;
  }

  return {
    next(key) {
      const before = failed.get(key) ?? 0;
      failed.set(key, before + 1);
      // 2 ** 1024 is Infinity, which the limit takes care of.
      return Math.max(Math.min(baseMs * 2 ** before, maxMs), take());
    },
    forget(key) {
      failed.delete(key);
    },
    failures: (key) => failed.get(key) ?? 0,
  };
}
