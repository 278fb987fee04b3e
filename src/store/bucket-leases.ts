import type { PoolBody } from './pool-documents.ts';
import type { Lease, Leases } from './store.ts';

export interface BucketChange {
  readonly gained: readonly number[];
  readonly lost: readonly number[];
}

export interface BucketListeners {
  /**
   * Called after the owned buckets changed. A bucket given back because others have too few is handed on only once the
   * returned promise has settled (or the lease has lapsed), so that work on it can be ended in order.
   */
  readonly onChange?: (change: BucketChange) => void | Promise<void>;
  /** Told of everything that failed and will be tried again, and of an onChange that threw. Must not throw. */
  readonly onError?: (error: unknown) => void;
}

/** The leases of the buckets that one worker holds. */
export interface BucketLeases {
  /** Those whose deadline has not passed. */
  owned(): ReadonlyMap<number, Lease>;
  leaseOf(bucket: number): Lease | undefined;
  /** How many leases the database may count as this owner's: those being given back are among them. */
  size(): number;
  renew(): Promise<void>;
  takeUpTo(target: number): Promise<void>;
  /** Stops owning what is over the target, newest first. The answer settles when the database has it back; undefined: none. */
  giveBackOver(target: number): Promise<void> | undefined;
  /** Also waits for what is being given back already. */
  giveBackAll(): Promise<void>;
}

const releasesAtOnce = 16;

export function bucketLeases(
  leases: Leases<PoolBody>,
  owner: string,
  leaseSeconds: number,
  { onChange, onError }: BucketListeners,
): BucketLeases {
  const held = new Map<number, Lease>();
  const goingBack = new Set<Promise<void>>();
  let goingBackCount = 0;
  let told: ReadonlySet<number> = new Set();
  let lapse: NodeJS.Timeout | undefined;

  const leaseOf = (bucket: number) => {
    const lease = held.get(bucket);
    return lease && performance.now() < lease.deadline ? lease : undefined;
  };
  const owned = () => new Map([...held].filter(([bucket]) => leaseOf(bucket)));

  /** Tells of the difference between what was told last and what is owned now, and looks again when the next lease lapses. */
  async function tell(): Promise<void> {
    const now = owned();
    const gained = [...now.keys()].filter((bucket) => !told.has(bucket));
    const lost = [...told].filter((bucket) => !now.has(bucket));
    told = new Set(now.keys());
    clearTimeout(lapse);
    if (now.size > 0) {
      const first = Math.min(...[...now.values()].map(({ deadline }) => deadline));
      lapse = setTimeout(tell, Math.max(first - performance.now(), 0) + 1);
    }
    if (gained.length === 0 && lost.length === 0) return;
    try {
      await onChange?.({ gained, lost });
    } catch (error) {
      onError?.(error);
    }
  }

  async function release(given: readonly Lease[]): Promise<void> {
    for (let from = 0; from < given.length; from += releasesAtOnce) {
      const some = given.slice(from, from + releasesAtOnce);
      for (const result of await Promise.allSettled(some.map((lease) => leases.release(lease))))
        if (result.status === 'rejected') onError?.(result.reason);
    }
  }

  function giveBackOver(target: number): Promise<void> | undefined {
    const over = [...held].slice(target);
    if (over.length === 0) return undefined;
    for (const [bucket] of over) held.delete(bucket);
    goingBackCount += over.length;
    const back = tell()
      .then(() => release(over.map(([, lease]) => lease)))
      .finally(() => {
        goingBackCount -= over.length;
        goingBack.delete(back);
      });
    goingBack.add(back);
    return back;
  }

  return {
    owned,
    leaseOf,
    size: () => held.size + goingBackCount,
    async renew() {
      const asked = [...held];
      if (asked.length === 0) return;
      const renewed = new Map(
        (await leases.renewAll(asked.map(([, lease]) => lease))).map((lease) => [lease.id, lease]),
      );
      for (const [bucket, { id }] of asked) {
        const lease = renewed.get(id);
        if (lease) held.set(bucket, lease);
        else held.delete(bucket);
      }
      void tell();
    },
    async takeUpTo(target) {
      const max = target - held.size;
      if (max <= 0) return;
      for (const { document, lease } of await leases.claim({ owner, leaseSeconds, max, ownerLimit: target }))
        if (document.body.kind === 'bucket') held.set(document.body.bucket, lease);
      void tell();
    },
    giveBackOver,
    async giveBackAll() {
      giveBackOver(0);
      clearTimeout(lapse);
      await Promise.all(goingBack);
    },
  };
}
