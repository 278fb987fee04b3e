// The work queue of a container. A row of the queue table is in one of three states:
//
//   ready      its place is ready_seq, in the line of its fairness key        → leased by a claim
//   leased     owner and token name the lease, wake_at says when it lapses    → ready by release or lapse; put off by release
//   put off    wake_at says when the delay is over                            → ready then
//
// Every step is a few look-ups in an index, whatever the length of the queue. All functions run inside a transaction.
import type { DatabaseSync } from 'node:sqlite';
import { prepare } from './database.ts';
import { identifier } from './sql.ts';
import { tablesOf } from './tables.ts';

/**
 * A lease or delay that began this much later than now was made before the clock was set back, and counts as over. Smaller
 * steps back, such as time synchronisation makes, leave leases alone; they last longer by the step.
 */
const clockStepMs = 5_000;
/** Rows made ready by one claim, so that a queue whose leases all lapsed at once is worked off bit by bit. */
const promotedAtOnce = 100;

export interface Taken {
  readonly partition: string;
  readonly id: string;
  readonly token: number;
  readonly dequeues: number;
}

export interface Queue {
  /** The document wants work under this key. One that waits in another line changes lines; a lease or delay stays. */
  put(partition: string, id: string, fairKey: string): void;
  /** The document is gone or wants no more work; its lease ends. */
  remove(partition: string, id: string): void;
  isHeld(partition: string, id: string, token: number, now: number): boolean;
  /** Whether a claim would find anything. Needs no lock. */
  hasWork(now: number): boolean;
  /** Makes ready what lapsed or was put off until now. */
  promote(now: number): void;
  /** Leases held by the owner; stops counting at `most`. */
  heldBy(owner: string, now: number, most: number): number;
  /** Leases the document that is next, or undefined when none is ready. */
  takeNext(owner: string, leaseMs: number, now: number): Taken | undefined;
  /** Leases this document if it is ready, lapsed, or its delay is over. */
  take(partition: string, id: string, owner: string, leaseMs: number, now: number): Taken | undefined;
  renew(partition: string, id: string, token: number, leaseMs: number, now: number): boolean;
  release(partition: string, id: string, token: number, delayMs: number, now: number): void;
}

/** The condition for a lease or delay that is over. Its two marks: now, and the latest time it may have begun. */
const over = '(wake_at <= ? OR since > ?)';

export function createQueue(db: DatabaseSync, container: string): Queue {
  const queue = identifier(tablesOf(container).queue);
  const turns = identifier(tablesOf(container).turns);
  const nextSeq = `(SELECT coalesce(max(ready_seq), 0) + 1 FROM ${queue} WHERE fair_key = ? AND ready_seq IS NOT NULL)`;
  const nextTurn = `(SELECT coalesce(max(turn), 0) + 1 FROM ${turns})`;

  const find = prepare<[fairKey: string, readySeq: number | null]>(
    db,
    `SELECT fair_key, ready_seq FROM ${queue} WHERE partition = ? AND id = ?`,
  );
  const insert = prepare(db, `INSERT INTO ${queue} (partition, id, fair_key, ready_seq) VALUES (?, ?, ?, ${nextSeq})`);
  const drop = prepare(db, `DELETE FROM ${queue} WHERE partition = ? AND id = ?`);
  const changeKey = prepare(db, `UPDATE ${queue} SET fair_key = ? WHERE partition = ? AND id = ?`);
  const changeLine = prepare(
    db,
    `UPDATE ${queue} SET fair_key = ?, ready_seq = ${nextSeq} WHERE partition = ? AND id = ?`,
  );
  const makeReady = prepare(
    db,
    `UPDATE ${queue} SET ready_seq = ${nextSeq}, wake_at = NULL, since = NULL, owner = NULL, token = 0
     WHERE partition = ? AND id = ?`,
  );
  const putOff = prepare(
    db,
    `UPDATE ${queue} SET wake_at = ?, since = ?, owner = NULL, token = 0 WHERE partition = ? AND id = ?`,
  );
  const lease = prepare<[dequeues: number]>(
    db,
    `UPDATE ${queue} SET ready_seq = NULL, wake_at = ?, since = ?, owner = ?, token = ?, dequeues = dequeues + 1
     WHERE partition = ? AND id = ? RETURNING dequeues`,
  );
  const extend = prepare(
    db,
    `UPDATE ${queue} SET wake_at = ?, since = ?
     WHERE partition = ? AND id = ? AND token = ? AND owner IS NOT NULL AND NOT ${over}`,
  );
  const holder = prepare<[fairKey: string]>(
    db,
    `SELECT fair_key FROM ${queue} WHERE partition = ? AND id = ? AND token = ? AND owner IS NOT NULL`,
  );
  const held = prepare<[1]>(
    db,
    `SELECT 1 FROM ${queue} WHERE partition = ? AND id = ? AND token = ? AND owner IS NOT NULL AND NOT ${over}`,
  );
  const claimable = prepare<[fairKey: string, ready: number]>(
    db,
    `SELECT fair_key, ready_seq IS NOT NULL FROM ${queue}
     WHERE partition = ? AND id = ? AND (ready_seq IS NOT NULL OR ${over})`,
  );
  const lapsed = prepare<[partition: string, id: string, fairKey: string]>(
    db,
    `SELECT partition, id, fair_key FROM ${queue} WHERE wake_at <= ? ORDER BY wake_at LIMIT ${promotedAtOnce}`,
  );
  const fromTheFuture = prepare<[partition: string, id: string, fairKey: string]>(
    db,
    `SELECT partition, id, fair_key FROM ${queue} WHERE since > ? ORDER BY since LIMIT ${promotedAtOnce}`,
  );
  const anyWork = prepare<[number]>(
    db,
    `SELECT EXISTS (SELECT 1 FROM ${turns}) OR EXISTS (SELECT 1 FROM ${queue} WHERE wake_at <= ?)
       OR EXISTS (SELECT 1 FROM ${queue} WHERE since > ?)`,
  );
  const ownerHolds = prepare<[number]>(
    db,
    `SELECT count(*) FROM (SELECT 1 FROM ${queue} WHERE owner = ? AND NOT ${over} LIMIT ?)`,
  );
  const firstKey = prepare<[fairKey: string]>(db, `SELECT fair_key FROM ${turns} ORDER BY turn LIMIT 1`);
  const firstOfKey = prepare<[partition: string, id: string]>(
    db,
    `SELECT partition, id FROM ${queue} WHERE fair_key = ? AND ready_seq IS NOT NULL ORDER BY ready_seq LIMIT 1`,
  );
  const addTurn = prepare(db, `INSERT OR IGNORE INTO ${turns} VALUES (?, ${nextTurn})`);
  const moveTurnBack = prepare(db, `UPDATE ${turns} SET turn = ${nextTurn} WHERE fair_key = ?`);
  const dropTurn = prepare(db, `DELETE FROM ${turns} WHERE fair_key = ?`);
  const nextToken = prepare<[number]>(db, 'UPDATE counters SET value = value + 1 WHERE name = ? RETURNING value');

  function ready(partition: string, id: string, fairKey: string): void {
    makeReady.run(fairKey, partition, id);
    addTurn.run(fairKey);
  }

  /** A document left the line of this key: the key keeps its turn only while others wait in it. */
  function leftLine(fairKey: string): void {
    if (firstOfKey.get(fairKey) === undefined) dropTurn.run(fairKey);
  }

  function leased(partition: string, id: string, owner: string, leaseMs: number, now: number): Taken {
    const token = nextToken.get(container)?.[0] ?? 0;
    const dequeues = lease.get(now + leaseMs, now, owner, token, partition, id)?.[0] ?? 0;
    return { partition, id, token, dequeues };
  }

  return {
    put(partition, id, fairKey) {
      const entry = find.get(partition, id);
      if (entry === undefined) {
        insert.run(partition, id, fairKey, fairKey);
        addTurn.run(fairKey);
        return;
      }
      const [before, readySeq] = entry;
      if (before === fairKey) return;
      if (readySeq === null) {
        changeKey.run(fairKey, partition, id);
        return;
      }
      changeLine.run(fairKey, fairKey, partition, id);
      addTurn.run(fairKey);
      leftLine(before);
    },
    remove(partition, id) {
      const entry = find.get(partition, id);
      if (entry === undefined) return;
      drop.run(partition, id);
      if (entry[1] !== null) leftLine(entry[0]);
    },
    isHeld: (partition, id, token, now) => held.get(partition, id, token, now, now + clockStepMs) !== undefined,
    hasWork: (now) => anyWork.get(now, now + clockStepMs)?.[0] === 1,
    promote(now) {
      for (const entry of lapsed.all(now)) ready(...entry);
      for (const entry of fromTheFuture.all(now + clockStepMs)) ready(...entry);
    },
    heldBy: (owner, now, most) => ownerHolds.get(owner, now, now + clockStepMs, most)?.[0] ?? 0,
    takeNext(owner, leaseMs, now) {
      for (;;) {
        const key = firstKey.get()?.[0];
        if (key === undefined) return undefined;
        const first = firstOfKey.get(key);
        if (first === undefined) {
          dropTurn.run(key);
          continue;
        }
        const taken = leased(...first, owner, leaseMs, now);
        if (firstOfKey.get(key) === undefined) dropTurn.run(key);
        else moveTurnBack.run(key);
        return taken;
      }
    },
    take(partition, id, owner, leaseMs, now) {
      const entry = claimable.get(partition, id, now, now + clockStepMs);
      if (entry === undefined) return undefined;
      const taken = leased(partition, id, owner, leaseMs, now);
      if (entry[1] === 1) leftLine(entry[0]);
      return taken;
    },
    renew: (partition, id, token, leaseMs, now) =>
      extend.run(now + leaseMs, now, partition, id, token, now, now + clockStepMs).changes > 0,
    release(partition, id, token, delayMs, now) {
      const fairKey = holder.get(partition, id, token)?.[0];
      if (fairKey === undefined) return;
      if (delayMs > 0) putOff.run(now + delayMs, now, partition, id);
      else ready(partition, id, fairKey);
    },
  };
}

/** How many documents wait: ready, or with a lease or delay that is over. Grows with the queue. */
export function countWaiting(db: DatabaseSync, container: string, now: number): number {
  const queue = identifier(tablesOf(container).queue);
  const documents = identifier(tablesOf(container).documents);
  const waits = `(ready_seq IS NOT NULL OR ${over})`;
  const latest = now + clockStepMs;
  const all = prepare<[number]>(db, `SELECT count(*) FROM ${queue} WHERE ${waits}`).get(now, latest)?.[0] ?? 0;
  const expired = prepare<[number]>(
    db,
    `SELECT count(*) FROM ${documents} AS d CROSS JOIN ${queue} AS q ON q.partition = d.partition AND q.id = d.id
     WHERE d.expires_at <= ? AND ${waits}`,
  ).get(now, now, latest);
  return all - (expired?.[0] ?? 0);
}
