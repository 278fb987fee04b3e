// Shares a fixed number of buckets among the workers of a pool, each bucket with at most one owner by the database's clock.
// There is no master: every bucket is a document of a queue and is owned by holding its lease, every worker publishes a
// heartbeat with what it holds, and every worker works out its own share from the heartbeats of all (bucket-balance.ts).
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { bucketTargets } from './bucket-balance.ts';
import { type BucketListeners, bucketLeases } from './bucket-leases.ts';
import { openPool, type PoolBody, workerOf } from './pool-documents.ts';
import type { Change, Lease, Store } from './store.ts';

export const defaultBuckets = 256;

export interface PoolOptions extends BucketListeners {
  readonly store: Store;
  /** `[a-z][a-z0-9_]{0,31}`. */
  readonly pool: string;
  /** A name for people to read; every join gets an id of its own, so a restarted worker is a new one. */
  readonly worker: string;
  /** After a crash, how long the buckets stay with the dead: 30 when left out. */
  readonly leaseSeconds?: number;
  /** How often leases are renewed and shares looked at: a sixth of the lease when left out. */
  readonly roundSeconds?: number;
  /** 256 when left out; the same for every member of the pool. */
  readonly buckets?: number;
}

/** One worker's place in a pool. */
export interface PoolMember {
  /** The id of this member: owner of its leases. */
  readonly id: string;
  /** The buckets held now, each with the lease to write under. */
  owned(): ReadonlyMap<number, Lease>;
  /** The lease to write under; undefined once its deadline has passed, also when the database cannot be reached. */
  leaseOf(bucket: number): Lease | undefined;
  isOwned(bucket: number): boolean;
  /** When the last round succeeded, by `performance.now()`, for a readiness check. */
  lastRound(): number;
  /**
   * Stops, lets onChange end its work, gives every bucket back and leaves the list, so that others take over at once.
   * Never rejects; what cannot be given back lapses by itself.
   */
  leave(): Promise<void>;
}

/** Changes by others that come within this time of each other ask for one round together. */
const gatherMilliseconds = 50;

/** Joins a pool; settles after the first round, when this member has taken what is free of its share. */
export async function joinPool(options: PoolOptions): Promise<PoolMember> {
  const { pool, leaseSeconds = 30, roundSeconds = leaseSeconds / 6, buckets = defaultBuckets } = options;
  const id = `${options.worker}.${randomUUID()}`;
  const documents = await openPool(options.store, pool, buckets);
  const { leases } = documents.container;
  const holding = bucketLeases(leases, id, leaseSeconds, options);
  const stop = new AbortController();
  const alarm = wakeableAlarm();
  let published: number | undefined;
  let lastRound = 0;
  let left: Promise<void> | undefined;

  async function publish(): Promise<void> {
    const holds = holding.size();
    await documents.heartbeat(id, holds, leaseSeconds);
    published = holds;
  }

  async function round(): Promise<void> {
    await holding.renew();
    await publish();
    const others = (await documents.holders()).filter(({ worker }) => worker !== id);
    const target = bucketTargets(buckets, [...others, { worker: id, holds: holding.size() }]).get(id) ?? 0;
    const givenBack = holding.giveBackOver(target);
    await holding.takeUpTo(target);
    if (published !== holding.size()) await publish();
    // Others may take them from now on: the next round tells them so.
    givenBack?.then(alarm.ring);
    lastRound = performance.now();
  }

  async function rounds(): Promise<void> {
    let failed = false;
    while (!stop.signal.aborted) {
      const everyMilliseconds = roundSeconds * 1000 * (0.9 + 0.2 * Math.random());
      const rung = await alarm.wait(failed ? everyMilliseconds / 4 : everyMilliseconds);
      if (rung && !stop.signal.aborted) await setTimeout(gatherMilliseconds);
      if (stop.signal.aborted) return;
      try {
        await round();
        failed = false;
      } catch (error) {
        failed = true;
        options.onError?.(error);
      }
    }
  }

  /** Rings when another worker comes, goes, or holds another number: no need to wait for the next round then. */
  async function watch(): Promise<void> {
    const seen = new Map<string, number>();
    const news = ({ kind, document }: Change<PoolBody>): boolean => {
      if (document.body.kind !== 'worker' || workerOf(document) === id) return false;
      const known = seen.get(document.id) === document.body.holds;
      if (kind === 'delete') seen.delete(document.id);
      else seen.set(document.id, document.body.holds);
      return kind === 'delete' || !known;
    };
    while (!stop.signal.aborted) {
      try {
        const feed = documents.container.changes({ from: 'now', partition: pool, signal: stop.signal });
        for await (const { changes } of feed) if (changes.filter(news).length > 0) alarm.ring();
      } catch (error) {
        if (stop.signal.aborted) return;
        options.onError?.(error);
        await setTimeout(roundSeconds * 1000, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
  }

  const watching = watch();
  async function end(running: Promise<void>): Promise<void> {
    stop.abort();
    alarm.ring();
    await Promise.all([running, watching]);
    await holding.giveBackAll();
    await documents.farewell(id).catch((error) => options.onError?.(error));
  }
  try {
    await round();
  } catch (error) {
    await end(Promise.resolve());
    throw error;
  }
  const running = rounds();
  return {
    id,
    owned: holding.owned,
    leaseOf: holding.leaseOf,
    isOwned: (bucket) => holding.leaseOf(bucket) !== undefined,
    lastRound: () => lastRound,
    leave() {
      left ??= end(running);
      return left;
    },
  };
}

/** A wait that can be cut short. */
function wakeableAlarm(): { ring: () => void; wait(milliseconds: number): Promise<boolean> } {
  let rung = false;
  let wake = () => {};
  return {
    ring() {
      rung = true;
      wake();
    },
    /** Whether it was rung, during the wait or before it. */
    async wait(milliseconds) {
      if (!rung) {
        const cut = new AbortController();
        wake = () => cut.abort();
        await setTimeout(milliseconds, undefined, { signal: cut.signal }).catch(() => undefined);
      }
      const was = rung;
      rung = false;
      return was;
    },
  };
}
