// The change feed of a container: what exists, then what changes, as an iteration that never ends by itself. Engines give
// changes after a position and call when something was committed; this waits, retries, decodes and makes continuations.
import { setImmediate } from 'node:timers/promises';
import { decodeStride } from './codec.ts';
import {
  type Continuations,
  feedBinding,
  invalidContinuation,
  type PackedCursor,
  packCursor,
  unpackCursor,
} from './continuation.ts';
import type { Cursor, EngineChange, EngineContainer, Row } from './engine.ts';
import { isStoreError, StoreError } from './errors.ts';
import { checkKeyPart, typeName } from './keys.ts';
import { isObject } from './paths.ts';
import { type Stop, stopper } from './stopper.ts';
import type { Change, Changes, Document, FeedOptions } from './store.ts';

export interface FeedSource<T> {
  readonly name: string;
  readonly engine: EngineContainer;
  readonly continuations: Continuations;
  /** Throws Closed. */
  alive(): void;
  /** Calls back when the store closes. Returns the unsubscribe. */
  onClose(closed: () => void): () => void;
  decode(row: Row): Document<T>;
  /** How often a feed of one partition, when that is quiet, tells how far the container as a whole has come. */
  readonly checkpointMs?: number;
}

/** The net below a missed wake. */
const pollMs = 1000;
const firstRetryMs = 50;
const lastRetryMs = 5000;
const changesAtOnce = 500;
const firstSnapshotPage = 32;
const largestSnapshotPage = 512;
const defaultCheckpointMs = 30_000;

/** Where a feed stands: paging through what existed, or in the changes after a position. */
type Place =
  | { readonly part: 'snapshot'; readonly end: string; readonly after: Cursor | undefined }
  | { readonly part: 'changes'; readonly position: string };

type Packed = readonly ['snapshot', string, PackedCursor | null] | readonly ['changes', string];

/** See Container.changes. Nothing happens before the first `next()`. */
export function feedOf<T>(source: FeedSource<T>, options: FeedOptions): AsyncIterable<Changes<T>> {
  return {
    [Symbol.asyncIterator]() {
      const stop = stopper();
      const run = follow(source, options, stop);
      return {
        next: () => run.next(),
        return() {
          stop.now();
          return run.return(undefined);
        },
        throw(error: unknown) {
          stop.now();
          return run.throw(error);
        },
      };
    },
  };
}

async function* follow<T>(
  source: FeedSource<T>,
  options: FeedOptions,
  stop: Stop,
): AsyncGenerator<Changes<T>, undefined, undefined> {
  source.alive();
  const { partition, signal } = options;
  if (partition !== undefined) checkKeyPart('partition', partition);
  if (signal?.aborted) return;
  const binding = feedBinding(source.name, partition);
  signal?.addEventListener('abort', stop.now);
  const ends = [() => signal?.removeEventListener('abort', stop.now)];
  try {
    ends.push(source.onClose(stop.now), source.engine.onCommit(stop.wake));
    let place = await retried(source, stop, () => startOf(source, binding, options.from));
    if (place.part === 'snapshot') {
      for await (const [changes, at] of snapshot(source, stop, partition, place)) {
        place = at;
        const continuation = await retried(source, stop, () => source.continuations.make(binding, pack(at)));
        yield { changes, continuation, caughtUp: false };
      }
      place = { part: 'changes', position: place.part === 'snapshot' ? place.end : place.position };
    }
    for await (const [changes, position, caughtUp] of live(source, stop, partition, place.position)) {
      const at: Place = { part: 'changes', position };
      const continuation = await retried(source, stop, () => source.continuations.make(binding, pack(at)));
      yield { changes, continuation, caughtUp };
    }
  } catch (error) {
    if (!stop.stopped) throw error;
    source.alive();
  } finally {
    for (const end of ends) end();
  }
}

async function startOf<T>(source: FeedSource<T>, binding: string, from: FeedOptions['from']): Promise<Place> {
  if (from === 'beginning') return { part: 'snapshot', end: await source.engine.feedEnd(), after: undefined };
  if (from === 'now') return { part: 'changes', position: await source.engine.feedEnd() };
  if (!isObject(from) || !('continuation' in from))
    throw new StoreError('Invalid', `from must be 'beginning', 'now' or a continuation, not ${typeName(from)}`);
  return unpack(await source.continuations.read(binding, from.continuation));
}

/** What exists, page by page, each with the place after it. */
async function* snapshot<T>(
  source: FeedSource<T>,
  stop: Stop,
  partition: string | undefined,
  from: Place & { readonly part: 'snapshot' },
): AsyncGenerator<readonly [readonly Change<T>[], Place]> {
  let { after } = from;
  let limit = firstSnapshotPage;
  for (;;) {
    const { rows: page, more } = await retried(source, stop, () =>
      source.engine.query({
        ...(partition === undefined ? {} : { partition }),
        ...(after === undefined ? {} : { after }),
        orderBy: [],
        limit,
        offset: 0,
      }),
    );
    let length = 0;
    for (const rows of strides(page.map(({ row }) => row))) {
      const changes = rows.map((row): Change<T> => ({ kind: 'create', document: source.decode(row) }));
      for (const row of rows) {
        length += row.json.length;
        after = { values: [], partition: row.partition, id: row.id };
      }
      yield [changes, { part: 'snapshot', end: from.end, after }];
      await stop.unless(setImmediate());
    }
    if (!more) return;
    limit = length > decodeStride ? Math.max(1, limit >> 1) : Math.min(largestSnapshotPage, limit * 2);
  }
}

/** Changes as they come, each batch with the position after it and whether anything more was there. */
async function* live<T>(
  source: FeedSource<T>,
  stop: Stop,
  partition: string | undefined,
  from: string,
): AsyncGenerator<readonly [readonly Change<T>[], string, boolean]> {
  let position = from;
  let toldCaughtUp = false;
  let toldAt = performance.now();
  const { checkpointMs = defaultCheckpointMs } = source;
  const next = () => source.engine.changesAfter(position, changesAtOnce, partition);
  for (;;) {
    stop.rearm();
    let ahead: readonly EngineChange[] | undefined = await retried(source, stop, next);
    while (ahead !== undefined && ahead.length > 0) {
      const [rows = [], ...rest]: EngineChange[][] = strides(ahead);
      const changes = rows.map((row): Change<T> => ({ kind: row.kind, document: source.decode(row) }));
      position = rows.at(-1)?.position ?? position;
      ahead = rest.length > 0 ? ahead.slice(rows.length) : await peek(stop, next);
      toldCaughtUp = ahead?.length === 0;
      toldAt = performance.now();
      yield [changes, position, toldCaughtUp];
      await stop.unless(setImmediate());
    }
    if (ahead === undefined) continue;
    const isQuiet = partition !== undefined && performance.now() - toldAt > checkpointMs;
    if (isQuiet) {
      const end = await retried(source, stop, () => source.engine.feedEnd());
      if ((await retried(source, stop, next)).length > 0) continue;
      toldCaughtUp &&= position === end;
      position = end;
      toldAt = performance.now();
    }
    if (!toldCaughtUp) {
      toldCaughtUp = true;
      yield [[], position, true];
    }
    await stop.sleepUnlessWoken(pollMs);
  }
}

/** A look ahead that must not keep back what is to be delivered: when it fails, the next read tells. */
async function peek(
  stop: Stop,
  next: () => Promise<readonly EngineChange[]>,
): Promise<readonly EngineChange[] | undefined> {
  stop.rearm();
  try {
    return await stop.unless(next());
  } catch {
    return undefined;
  }
}

/** Asks until the database answers; what waiting does not mend is thrown. */
async function retried<T, R>(source: FeedSource<T>, stop: Stop, ask: () => Promise<R>): Promise<R> {
  for (let waitMs = firstRetryMs; ; waitMs = Math.min(lastRetryMs, waitMs * 2)) {
    source.alive();
    try {
      return await stop.unless(ask());
    } catch (error) {
      if (!isStoreError(error, 'Unavailable', 'Busy')) throw error;
      await stop.sleep(waitMs * (0.5 + Math.random() / 2));
    }
  }
}

/** Cuts rows into runs whose decoding is short; a larger row has a run of its own. */
function strides<R extends Row>(rows: readonly R[]): R[][] {
  const runs: R[][] = [];
  let run: R[] = [];
  let length = 0;
  for (const row of rows) {
    if (run.length > 0 && length + row.json.length > decodeStride) {
      runs.push(run);
      run = [];
      length = 0;
    }
    run.push(row);
    length += row.json.length;
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

function pack(place: Place): Packed {
  return place.part === 'changes'
    ? ['changes', place.position]
    : ['snapshot', place.end, place.after ? packCursor(place.after) : null];
}

function unpack(packed: unknown): Place {
  if (!Array.isArray(packed)) throw invalidContinuation();
  const [part, position, after]: unknown[] = packed;
  if (typeof position !== 'string') throw invalidContinuation();
  if (part === 'changes') return { part, position };
  if (part !== 'snapshot') throw invalidContinuation();
  return { part, end: position, after: after === null ? undefined : unpackCursor(after) };
}
