// What a page is given to carry from one request to the next: sealed, for a while, bound to the browser that was given it. So the
// server keeps nothing for visitors who have not signed in.
import { createHash } from 'node:crypto';
import { type KeyRing, keyRing, SealError } from '../../../kit/key-ring.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface PageSeal {
  /** `browser` is the random value of its cookie. */
  seal(purpose: string, browser: string, value: object): string;
  /** Undefined when it is not one of ours, too old, for another purpose or another browser. */
  open(purpose: string, browser: string, sealed: string): unknown;
}

const lifeMs = 15 * 60 * 1000;
const maxLength = 16 * 1024;

export async function createPageSeal(keys: SigningKeys, now: () => number): Promise<PageSeal> {
  const ring: KeyRing = keyRing([{ id: 'pages', bytes: await keys.secretFor('pages') }]);
  const context = (purpose: string, browser: string): string =>
    JSON.stringify([purpose, createHash('sha256').update(browser).digest('hex')]);
  return {
    seal: (purpose, browser, value) =>
      ring.seal(JSON.stringify({ until: now() + lifeMs, value }), context(purpose, browser)),
    open(purpose, browser, sealed) {
      if (sealed.length > maxLength || browser === '') return undefined;
      try {
        const opened = JSON.parse(ring.open(sealed, context(purpose, browser))) as { until: number; value: unknown };
        return opened.until > now() ? opened.value : undefined;
      } catch (error) {
        if (error instanceof SealError) return undefined;
        throw error;
      }
    },
  };
}
