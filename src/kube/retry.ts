// Which requests are sent again after which failures, and when.
import { KubeConnectionError, KubeError } from './kube-error.ts';

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'replace'
  | 'patch'
  | 'apply'
  | 'delete'
  | 'deletecollection'
  | 'raw';

/**
 * `always`: doing it twice is doing it once, so it is repeated even when the first answer was lost.
 * `refused`: it is repeated when the server said that it is overloaded or going down, which it says before it acts.
 * `throttled`: only when the server's flow control turned it away; everything else is for the caller to judge.
 */
const repeatable: Readonly<Record<Verb, 'always' | 'refused' | 'throttled' | 'never'>> = {
  get: 'always',
  list: 'always',
  apply: 'always',
  replace: 'refused',
  delete: 'refused',
  deletecollection: 'refused',
  create: 'throttled',
  patch: 'throttled',
  raw: 'throttled',
  // Whoever watches starts again by itself, from where it was.
  watch: 'never',
};

export interface RetryOptions {
  /** Times that a request is sent altogether; 5 unless given, 1 for no repetition. */
  readonly attempts?: number;
  /** No wait is longer, whatever the server asks for; 30 unless given. */
  readonly maxWaitSeconds?: number;
}

const defaultAttempts = 5;
const defaultMaxWaitSeconds = 30;
const firstWaitMs = 200;
const overload: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Runs `send` until it succeeds, fails for good, or has been run often enough; the last failure is passed on. The wait
 * between is what the server asked for, else it doubles; an abort ends it.
 */
export async function withRetries<T>(
  verb: Verb,
  options: RetryOptions,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
): Promise<T> {
  const attempts = options.attempts ?? defaultAttempts;
  const maxWaitMs = (options.maxWaitSeconds ?? defaultMaxWaitSeconds) * 1000;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt >= attempts || !mayRepeat(verb, error)) throw error;
      const asked = error instanceof KubeError ? error.retryAfterSeconds : undefined;
      const own = firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random());
      await pause(Math.min(asked === undefined ? own : asked * 1000, maxWaitMs), signal);
    }
  }
}

function mayRepeat(verb: Verb, error: unknown): boolean {
  const rule = repeatable[verb];
  if (rule === 'never') return false;
  if (error instanceof KubeConnectionError) return rule === 'always';
  if (!(error instanceof KubeError)) return false;
  if (error.code === 429) return true;
  if (rule === 'throttled' || error.code < 500) return false;
  return error.retryAfterSeconds !== undefined || (rule === 'always' && overload.has(error.code));
}

/** Waits; rejects with the signal's reason as soon as it fires. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
