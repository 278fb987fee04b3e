// What an edge remembers of answers, bounded in size.

export interface CachedAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  /** Epoch milliseconds. */
  readonly stored: number;
  readonly until: number;
}

export interface EdgeCache {
  get(endpoint: string, key: string, now: number): CachedAnswer | undefined;
  put(endpoint: string, key: string, answer: CachedAnswer): void;
  /** Paths may end in `*`. */
  purge(endpoint: string, paths: readonly string[]): void;
}

export const cachedBodyMax = 1024 * 1024;
const totalMax = 64 * 1024 * 1024;

export function createCache(): EdgeCache {
  const entries = new Map<string, CachedAnswer>();
  let total = 0;
  const drop = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    total -= entry.body.length;
    entries.delete(key);
  };
  const keyOf = (endpoint: string, key: string): string => `${endpoint}\n${key}`;
  return {
    get(endpoint, key, now) {
      const whole = keyOf(endpoint, key);
      const entry = entries.get(whole);
      if (entry === undefined) return undefined;
      if (entry.until <= now) {
        drop(whole);
        return undefined;
      }
      // What is used last goes last.
      entries.delete(whole);
      entries.set(whole, entry);
      return entry;
    },
    put(endpoint, key, answer) {
      if (answer.body.length > cachedBodyMax) return;
      const whole = keyOf(endpoint, key);
      drop(whole);
      entries.set(whole, answer);
      total += answer.body.length;
      for (const oldest of entries.keys()) {
        if (total <= totalMax) break;
        drop(oldest);
      }
    },
    purge(endpoint, paths) {
      const own = `${endpoint}\n`;
      for (const whole of [...entries.keys()]) {
        if (!whole.startsWith(own)) continue;
        const [path = ''] = whole.slice(own.length).split('?', 1);
        if (paths.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : path === one))) drop(whole);
      }
    },
  };
}

/** How long an answer may be kept, in seconds, by what its origin says. Without a word it is not kept. */
export function freshSeconds(headers: { readonly [name: string]: string | string[] | undefined }): number {
  const value = headers['cache-control'];
  const text = (Array.isArray(value) ? value.join(',') : (value ?? '')).toLowerCase();
  if (/\b(?:no-store|no-cache|private)\b/.test(text)) return 0;
  const [, shared] = /\bs-maxage=(\d{1,9})/.exec(text) ?? [];
  const [, own] = /\bmax-age=(\d{1,9})/.exec(text) ?? [];
  return Number(shared ?? own ?? 0);
}
