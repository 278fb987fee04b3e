import { readFile } from 'node:fs/promises';

/** The text of a file that others renew, such as a projected token. */
export interface FreshFile {
  /** As it was at most `maxAgeSeconds` ago. When it cannot be read any more, what was last read is used on. */
  text(): Promise<string>;
  /** Makes the next call read the file. */
  forget(): void;
}

const defaultMaxAgeSeconds = 60;

export function freshFile(path: string, maxAgeSeconds = defaultMaxAgeSeconds): FreshFile {
  let kept: { readonly text: string; readonly until: number } | undefined;
  return {
    async text() {
      // The monotonic clock: a wall clock set back must not keep an old token alive.
      const now = performance.now();
      if (kept && now < kept.until) return kept.text;
      try {
        kept = { text: await readFile(path, 'utf8'), until: now + maxAgeSeconds * 1000 };
      } catch (error) {
        if (!kept) throw error;
        kept = { text: kept.text, until: now + 1000 };
      }
      return kept.text;
    },
    forget() {
      if (kept) kept = { text: kept.text, until: 0 };
    },
  };
}
