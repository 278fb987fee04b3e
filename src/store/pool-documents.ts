// What a pool of workers keeps in the store: a container of its own (a claim takes from a whole container, so pools that
// shared one would take each other's buckets) with one document for each bucket, in the queue, and one for each live worker.
import type { Holder } from './bucket-balance.ts';
import { isStoreError, StoreError } from './errors.ts';
import type { Container, ContainerSpec, Key, Operation, Store, Version } from './store.ts';

export type PoolBody =
  | { readonly kind: 'bucket'; readonly bucket: number }
  /** Lives as long as its worker renews it. */
  | { readonly kind: 'worker'; readonly holds: number };

export interface PoolDocuments {
  readonly container: Container<PoolBody>;
  /** Says that the worker lives, for `ttlSeconds` from now, and what it holds. */
  heartbeat(worker: string, holds: number, ttlSeconds: number): Promise<void>;
  /** Takes the worker off the list. */
  farewell(worker: string): Promise<void>;
  /** Every worker whose heartbeat has not expired. */
  holders(): Promise<readonly Holder[]>;
}

const workerPrefix = 'worker:';
const documentsPerBatch = 64;
const heartbeatAttempts = 3;

/** The worker that a worker's document is about. */
export function workerOf(document: Pick<Key, 'id'>): string {
  return document.id.slice(workerPrefix.length);
}

/** The container of a pool; a fenced write under a bucket's lease goes to it, partition `pool`. */
export function poolContainer(pool: string): ContainerSpec<PoolBody> {
  if (!/^[a-z][a-z0-9_]{0,31}$/.test(pool))
    throw new StoreError('Invalid', `pool name ${JSON.stringify(pool)} is not [a-z][a-z0-9_]{0,31}`);
  return {
    name: `pool_${pool}`,
    indexes: [{ field: ['kind'], type: 'string' }],
    queue: (body) => (body.kind === 'bucket' ? 'bucket' : undefined),
  };
}

/** Opens the pool's container and makes the buckets that are missing. Throws Invalid when the pool has more than `buckets`. */
export async function openPool(store: Store, pool: string, buckets: number): Promise<PoolDocuments> {
  const container = await store.container(poolContainer(pool));
  await makeBuckets(container, pool, buckets);
  const heartbeats = new Map<string, Version>();
  return {
    container,
    async heartbeat(worker, holds, ttlSeconds) {
      const key = { partition: pool, id: workerPrefix + worker };
      const body: PoolBody = { kind: 'worker', holds };
      for (let attempt = 1; ; attempt++) {
        try {
          const version = heartbeats.get(worker) ?? (await container.read(key));
          const written = version
            ? await container.replace(version, body, { ttlSeconds })
            : await container.create(key, body, { ttlSeconds });
          heartbeats.set(worker, written);
          return;
        } catch (error) {
          // It expired, or a write whose outcome was not known did happen.
          heartbeats.delete(worker);
          if (attempt === heartbeatAttempts || !isStoreError(error, 'Changed', 'NotFound', 'Exists')) throw error;
        }
      }
    },
    async farewell(worker) {
      const version = await container.read({ partition: pool, id: workerPrefix + worker });
      heartbeats.delete(worker);
      if (version) await container.delete(version);
    },
    async holders() {
      const holders: Holder[] = [];
      let continuation: string | undefined;
      do {
        const page = await container.query({
          partition: pool,
          filter: { op: 'eq', field: ['kind'], value: 'worker' },
          limit: 1000,
          ...(continuation === undefined ? {} : { continuation }),
        });
        for (const { id, body } of page.documents)
          if (body.kind === 'worker') holders.push({ worker: workerOf({ id }), holds: body.holds });
        continuation = page.continuation;
      } while (continuation !== undefined);
      return holders;
    },
  };
}

async function makeBuckets(container: Container<PoolBody>, pool: string, buckets: number): Promise<void> {
  const there = await container.count({ partition: pool, filter: { op: 'eq', field: ['kind'], value: 'bucket' } });
  if (there > buckets)
    throw new StoreError(
      'Invalid',
      `pool ${pool} has ${there} buckets, not ${buckets}: give every member the same number`,
    );
  if (there === buckets) return;
  const operations = Array.from({ length: buckets }, (_, bucket): Operation<PoolBody> => {
    return { kind: 'create', id: `bucket:${String(bucket).padStart(5, '0')}`, body: { kind: 'bucket', bucket } };
  });
  for (let from = 0; from < buckets; from += documentsPerBatch) {
    try {
      await container.batch(pool, operations.slice(from, from + documentsPerBatch));
    } catch (error) {
      // Every member makes the same batches, so one that is partly there is there whole.
      if (!isStoreError(error, 'Exists')) throw error;
    }
  }
}
