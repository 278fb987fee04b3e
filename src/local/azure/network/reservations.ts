// Who has which address or name: claims that only one owner can have, decided by the store.
import { isStoreError } from '../../../store/errors.ts';
import type { Filter } from '../../../store/filter.ts';
import type { Container, Document, Store } from '../../../store/store.ts';

interface Claim {
  /** Folded id of the resource or part of one that has it. */
  readonly owner: string;
}

export interface Reservations {
  /** Takes one thing of a pool. False when another owner has it. */
  take(pool: string, thing: string, owner: string): Promise<boolean>;
  /** Who has it. */
  owner(pool: string, thing: string): Promise<string | undefined>;
  /** What an owner has of a pool, in order. */
  held(pool: string, owner: string): Promise<readonly string[]>;
  /** All that is taken of a pool. */
  taken(pool: string): Promise<ReadonlyMap<string, string>>;
  /** How much is taken of a pool. */
  count(pool: string): Promise<number>;
  /** Below which place of a pool nothing was free when it was last looked at; forgotten when something is given back. */
  readonly fullBelow: Map<string, bigint>;
  /** Gives back what an owner has of a pool; `thing` alone when it is given. */
  release(pool: string, owner: string, thing?: string): Promise<void>;
  /** Gives back what an owner and its parts have in pools of any kind, but for these (`claimText`). */
  keepOnly(owner: string, kept: ReadonlySet<string>): Promise<void>;
}

export function claimText(pool: string, thing: string): string {
  return `${pool} ${thing}`;
}

const opened = new WeakMap<Store, Promise<Reservations>>();

/** One for each store. */
export function reservationsOf(store: Store): Promise<Reservations> {
  const there = opened.get(store);
  if (there) return there;
  const opening = open(store);
  opened.set(store, opening);
  return opening;
}

async function open(store: Store): Promise<Reservations> {
  const claims: Container<Claim> = await store.container<Claim>({
    name: 'network_reservations',
    indexes: [{ field: ['owner'], type: 'string' }],
  });

  const query = async (partition: string | undefined, filter?: Filter) => {
    const found: Document<Claim>[] = [];
    let continuation: string | undefined;
    do {
      const page = await claims.query({
        limit: 1000,
        ...(partition === undefined ? {} : { partition }),
        ...(filter === undefined ? {} : { filter }),
        ...(continuation === undefined ? {} : { continuation }),
      });
      found.push(...page.documents);
      continuation = page.continuation;
    } while (continuation !== undefined);
    return found;
  };
  const fullBelow = new Map<string, bigint>();
  const ownedBy = (owner: string): Filter => ({ op: 'eq', field: ['owner'], value: owner });
  const giveBack = async (claim: Document<Claim>): Promise<void> => {
    try {
      await claims.delete(claim);
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
    }
    fullBelow.delete(claim.partition);
  };

  return {
    async take(partition, id, owner) {
      const there = await claims.read({ partition, id });
      if (there) return there.body.owner === owner;
      try {
        await claims.create({ partition, id }, { owner });
        return true;
      } catch (error) {
        if (!isStoreError(error, 'Exists')) throw error;
        return (await claims.read({ partition, id }))?.body.owner === owner;
      }
    },
    owner: async (partition, id) => (await claims.read({ partition, id }))?.body.owner,
    held: async (pool, owner) => (await query(pool, ownedBy(owner))).map(({ id }) => id),
    taken: async (pool) => new Map((await query(pool)).map(({ id, body }) => [id, body.owner])),
    count: (partition) => claims.count({ partition }),
    fullBelow,
    async release(pool, owner, thing) {
      for (const claim of await query(pool, ownedBy(owner)))
        if (thing === undefined || claim.id === thing) await giveBack(claim);
    },
    async keepOnly(owner, kept) {
      const parts: Filter = { op: 'prefix', field: ['owner'], value: `${owner}/` };
      for (const claim of await query(undefined, { op: 'or', filters: [ownedBy(owner), parts] }))
        if (!kept.has(claimText(claim.partition, claim.id))) await giveBack(claim);
    },
  };
}
