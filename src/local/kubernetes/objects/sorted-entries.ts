// The entries of one type in order. An array of short sorted arrays: finding is two binary searches, a write moves at most
// one short array, and a page is a few slices.
import type { StoredEntry } from './entry.ts';

const mostPerChunk = 512;
const fewPerChunk = mostPerChunk / 4;

/** A place between entries: before the entry `at` of the chunk. */
interface Place {
  readonly chunk: number;
  readonly at: number;
}

export class SortedEntries {
  #chunks: StoredEntry[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): StoredEntry | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    if (chunk === undefined) return undefined;
    const found = chunk[lowerBound(chunk, key)];
    return found?.key === key ? found : undefined;
  }

  /** Puts the entry in its place, instead of the one with the same key where there is one. */
  set(entry: StoredEntry): void {
    const index = this.#chunkOf(entry.key);
    const chunk = this.#chunks[index];
    if (chunk === undefined) {
      this.#chunks.push([entry]);
      this.#size++;
      return;
    }
    const at = lowerBound(chunk, entry.key);
    if (chunk[at]?.key === entry.key) {
      chunk[at] = entry;
      return;
    }
    this.#size++;
    // What comes in order fills its chunks instead of halving each.
    if (at === mostPerChunk && index === this.#chunks.length - 1) {
      this.#chunks.push([entry]);
      return;
    }
    chunk.splice(at, 0, entry);
    if (chunk.length > mostPerChunk) this.#chunks.splice(index + 1, 0, chunk.splice(mostPerChunk / 2));
  }

  delete(key: string): void {
    const index = this.#chunkOf(key);
    const chunk = this.#chunks[index];
    if (chunk === undefined) return;
    const at = lowerBound(chunk, key);
    if (chunk[at]?.key !== key) return;
    chunk.splice(at, 1);
    this.#size--;
    if (chunk.length >= fewPerChunk) return;
    const next = this.#chunks[index + 1];
    if (chunk.length === 0) this.#chunks.splice(index, 1);
    else if (next !== undefined && chunk.length + next.length <= mostPerChunk / 2) {
      chunk.push(...next);
      this.#chunks.splice(index + 1, 1);
    }
  }

  /** Entries with `from` <= key < `to`, at most `limit`; without bounds, all. */
  slice(from: string | undefined, to: string | undefined, limit = Number.POSITIVE_INFINITY): StoredEntry[] {
    const first = from === undefined ? { chunk: 0, at: 0 } : this.#place(from);
    const last = to === undefined ? { chunk: this.#chunks.length, at: 0 } : this.#place(to);
    const found: StoredEntry[] = [];
    for (let index = first.chunk; index <= last.chunk && found.length < limit; index++) {
      const chunk = this.#chunks[index];
      if (chunk === undefined) break;
      const start = index === first.chunk ? first.at : 0;
      const end = Math.min(index === last.chunk ? last.at : chunk.length, start + limit - found.length);
      for (let at = start; at < end; at++) {
        const entry = chunk[at];
        if (entry !== undefined) found.push(entry);
      }
    }
    return found;
  }

  /** How many entries have `from` <= key < `to`. */
  count(from: string, to: string): number {
    if (from >= to) return 0;
    const [first, last] = [this.#place(from), this.#place(to)];
    let count = last.at - first.at;
    for (let index = first.chunk; index < last.chunk; index++) count += this.#chunks[index]?.length ?? 0;
    return count;
  }

  #place(key: string): Place {
    const index = this.#chunkOf(key);
    const chunk = this.#chunks[index];
    return { chunk: index, at: chunk === undefined ? 0 : lowerBound(chunk, key) };
  }

  /** The last chunk that begins at or before the key; the first one for keys before all. */
  #chunkOf(key: string): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const first = chunks[middle]?.[0];
      if (first !== undefined && first.key <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** Where the first entry is whose key is not before this one. */
function lowerBound(chunk: readonly StoredEntry[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = chunk[middle];
    if (entry !== undefined && entry.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
