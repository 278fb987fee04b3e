import type { DatabaseSync } from 'node:sqlite';
import type { EngineClaim, EngineContainer, Layout } from '../engine.ts';
import type { Background } from './background.ts';
import { prepare, type statementCache, type Transaction } from './database.ts';
import { createFeed } from './feed.ts';
import type { Line } from './line.ts';
import { type Queries, smallContainer } from './queries.ts';
import { countWaiting, createQueue, type Taken } from './queue.ts';
import { type DocumentCells, documentColumns, pageCharacters, rowOf } from './rows.ts';
import { runScan, scanFor } from './scans.ts';
import { identifier } from './sql.ts';
import { createStoredTexts } from './stored.ts';
import { tablesOf } from './tables.ts';
import { applyBatch, charactersOf, createWriter, shortWriteBytes, TooLargeHere } from './writes.ts';

/** What the containers of one file share. */
export interface Connection {
  readonly db: DatabaseSync;
  readonly reads: Line;
  readonly writes: Line;
  readonly transaction: Transaction;
  readonly statement: ReturnType<typeof statementCache>;
  readonly queries: Queries;
  readonly background: Background;
  /** Epoch milliseconds. SQLite's own clock is the machine's, and so is this one, for every process that has the file open. */
  readonly clock: () => number;
  /** To be called after every commit, with about how many characters it wrote. */
  committed(container: string, showsInFeed: boolean, characters?: number): void;
  subscribe(container: string, wake: () => void): () => void;
}

/** The chores of a container; each call does a little. They answer whether there is more to do. */
export interface Upkeep {
  sweepExpired(): Promise<boolean>;
  trimHistory(historyMs: number): Promise<boolean>;
}

/** Expired documents that one claim clears away before it lets others write. */
const clearedByClaim = 50;

const always = () => true;

/** One container whose tables are there, prepared: statements are compiled here, once. */
export function openContainer(connection: Connection, layout: Layout): EngineContainer & Upkeep {
  const { db, reads, writes, transaction, queries, clock, background } = connection;
  const { name } = layout;
  const documents = identifier(tablesOf(name).documents);
  const queue = createQueue(db, name);
  const writer = createWriter({ db, layout, queue, clock, mostBytes: shortWriteBytes });
  const feed = createFeed(db, name);
  const texts = createStoredTexts(db, name);
  const isSmall = smallContainer(db, name);
  const readOne = prepare<DocumentCells>(
    db,
    `SELECT ${documentColumns} FROM ${documents} WHERE partition = ? AND id = ?`,
  );
  const anyExpired = prepare<[1]>(db, `SELECT 1 FROM ${documents} WHERE expires_at <= ? LIMIT 1`);

  function readLive(partition: string, id: string) {
    const cells = readOne.get(partition, id);
    if (cells === undefined || (cells[3] !== null && cells[3] <= clock())) return undefined;
    return rowOf(cells);
  }

  /** The document of an entry just leased; one that has expired leaves the queue instead. */
  function claimOf({ partition, id, token, dequeues }: Taken): EngineClaim | undefined {
    const row = readLive(partition, id);
    if (row !== undefined) return { row, token, dequeues };
    if (!writer.removeExpired(partition, id)) queue.remove(partition, id);
    return undefined;
  }

  function claimSome(owner: string, leaseMs: number, max: number, ownerLimit: number | undefined) {
    const now = clock();
    queue.promote(now);
    const room = ownerLimit === undefined ? max : Math.min(max, ownerLimit - queue.heldBy(owner, now, ownerLimit));
    const claims: EngineClaim[] = [];
    let characters = 0;
    let cleared = 0;
    while (claims.length < room && characters < pageCharacters && cleared < clearedByClaim) {
      const taken = queue.takeNext(owner, leaseMs, now);
      if (taken === undefined) break;
      const claim = claimOf(taken);
      if (claim === undefined) cleared++;
      else {
        claims.push(claim);
        characters += claim.row.json.length;
      }
    }
    return { claims, cleared, again: claims.length === 0 && cleared === clearedByClaim };
  }

  const clockOffset = () => clock() - Date.now();

  /** Undefined when a document is too large for this thread to delete. */
  function writeHere<T>(work: () => T, showsInFeed: (result: T) => boolean, characters = 0): Promise<T | undefined> {
    return writes.run(() => {
      try {
        const result = work();
        connection.committed(name, showsInFeed(result), characters);
        return result;
      } catch (error) {
        if (error instanceof TooLargeHere) return undefined;
        throw error;
      }
    });
  }

  async function sweepInBackground(): Promise<boolean> {
    const removed = await background.sweep(layout, clockOffset());
    connection.committed(name, true);
    return removed > 0;
  }

  return {
    read: (partition, id) => reads.run(() => readLive(partition, id)),

    async write(partition, batch, fence) {
      const characters = charactersOf(batch);
      const revisions =
        characters <= shortWriteBytes
          ? await writeHere(() => applyBatch(transaction, writer, partition, batch, fence), always, characters)
          : undefined;
      if (revisions !== undefined) return revisions;
      const late = await background.write(layout, partition, batch, fence, clockOffset());
      connection.committed(name, true, characters);
      return late;
    },

    async query(query) {
      const scan = scanFor(layout, query);
      if (scan !== undefined) return runScan(connection, scan, query);
      const page = await reads.run(() => (isSmall() ? queries.query(layout, query, clock()) : undefined));
      return page ?? background.query(layout, query, clock());
    },

    async count(partition, filter) {
      const count = await reads.run(() => (isSmall() ? queries.count(layout, partition, filter, clock()) : undefined));
      return count ?? background.count(layout, partition, filter, clock());
    },

    feedEnd: () => reads.run(() => feed.end()),
    changesAfter: (position, limit, partition) => reads.run(() => feed.after(position, limit, partition)),
    onCommit: (wake) => connection.subscribe(name, wake),

    async claim(owner, leaseSeconds, max, ownerLimit) {
      for (;;) {
        // Asked first without the lock, so that idle workers do not keep each other and the writers waiting.
        if (!(await reads.run(() => queue.hasWork(clock())))) return [];
        const result = await writeHere(
          () => transaction(() => claimSome(owner, leaseSeconds * 1000, max, ownerLimit)),
          ({ cleared }) => cleared > 0,
        );
        if (result === undefined) await sweepInBackground();
        else if (!result.again) return result.claims;
      }
    },

    claimOne: (partition, id, owner, leaseSeconds) =>
      writeHere(
        () =>
          transaction(() => {
            const taken = queue.take(partition, id, owner, leaseSeconds * 1000, clock());
            return taken && claimOf(taken);
          }),
        (claim) => claim === undefined,
      ),

    renew: (leases, leaseSeconds) =>
      writes.run(() => {
        const held = transaction(() => {
          const now = clock();
          return leases.filter((one) => queue.renew(one.partition, one.id, one.token, leaseSeconds * 1000, now));
        });
        connection.committed(name, false);
        return held;
      }),

    release: ({ partition, id, token }, delaySeconds) =>
      writes.run(() => {
        transaction(() => queue.release(partition, id, token, delaySeconds * 1000, clock()));
        connection.committed(name, false);
      }),

    async waiting() {
      const now = clock();
      const count = await reads.run(() => {
        if (!queue.hasWork(now)) return 0;
        return isSmall() ? countWaiting(db, name, now) : undefined;
      });
      return count ?? background.waiting(name, now);
    },

    stored: (after, limit) => reads.run(() => texts.page(after, limit)),
    restate: (place, json) =>
      writes.run(() => {
        const done = texts.restate(place, json);
        connection.committed(name, false, json.length);
        return done;
      }),

    async sweepExpired() {
      if (!(await reads.run(() => anyExpired.get(clock()) !== undefined))) return false;
      const removed = await writeHere(() => transaction(() => writer.sweep()), always);
      return removed === undefined ? sweepInBackground() : removed > 0;
    },

    async trimHistory(historyMs) {
      const now = clock();
      if (!(await reads.run(() => feed.canTrim(now - historyMs, now)))) return false;
      return writes.run(() => {
        const more = transaction(() => feed.trim(now - historyMs, now));
        connection.committed(name, false);
        return more;
      });
    },
  };
}
