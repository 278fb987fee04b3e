import { setImmediate } from 'node:timers/promises';
import type { EngineContainer, Stored } from './engine.ts';
import { isStoreError, type StoreError } from './errors.ts';
import type { Sealing } from './sealing.ts';

const firstPage = 16;
const largestPage = 256;
/** Characters of JSON in one page: a few milliseconds of parsing. */
const pageLength = 262_144;

/**
 * Goes through every text the container keeps, history included, and seals again what other keys than the current one
 * sealed. A document that changed meanwhile is skipped: its new text was sealed by the writer. Stopped half-way, it can be
 * run again. A value that does not open is left as it is and told, as Seal, once all the others are done.
 */
export async function resealAll(
  engine: EngineContainer,
  seals: Sealing,
  alive: () => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  let resealed = 0;
  let refused: StoreError | undefined;
  let limit = firstPage;
  let after: Omit<Stored, 'json'> | undefined;
  for (;;) {
    alive();
    if (signal?.aborted) return resealed;
    const page = await engine.stored(after, limit);
    let length = 0;
    for (const { json, ...place } of page) {
      after = place;
      length += json.length;
      try {
        const body: unknown = JSON.parse(json);
        const count = seals.reseal(place, body);
        if (count > 0 && (await engine.restate(place, JSON.stringify(body)))) resealed += count;
      } catch (error) {
        if (!isStoreError(error, 'Seal')) throw error;
        refused ??= error;
      }
    }
    if (page.length === 0) break;
    limit = length > pageLength ? Math.max(1, limit >> 1) : Math.min(largestPage, limit * 2);
    await setImmediate();
  }
  if (refused) throw refused;
  return resealed;
}
