import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { KeyRing } from '../../../kit/key-ring.ts';
import { isStoreError, type StoreError, type StoreErrorCode } from '../../errors.ts';
import type { Container, ContainerSpec, Store } from '../../store.ts';

/** A database that a suite has for itself. Opening it twice gives two writers, as two processes would be. */
export interface TestDatabase {
  open(options?: { readonly keyRing?: KeyRing }): Promise<Store>;
  /** All stores are closed by then. */
  drop(): Promise<void>;
}

/** What the tests of one topic share: a database, a store on it, and containers for the asking. */
export interface World {
  readonly store: Store;
  /** A container that no other test has. */
  container<T extends object = Body>(spec?: Omit<ContainerSpec<T>, 'name'>): Promise<Container<T>>;
  /** Another store on the same database; closed at the end if the test did not. */
  open(options?: { readonly keyRing?: KeyRing }): Promise<Store>;
  /** A container name, or a partition, that no other test has. */
  unique(): string;
}

// biome's and TypeScript's view of "any JSON object" for tests that look at bodies loosely.
export type Body = { [member: string]: unknown };

/** Sets the database up before the tests of the suite it is called in, and drops it after them. */
export function worldOf(database: () => Promise<TestDatabase>): World {
  const opened: Store[] = [];
  let made: TestDatabase | undefined;
  let store: Store | undefined;
  let count = 0;
  const open: World['open'] = async (options) => {
    assert(made, 'the database is there once the tests run');
    const another = await made.open(options);
    opened.push(another);
    return another;
  };
  before(async () => {
    made = await database();
    store = await open();
  });
  after(async () => {
    for (const one of opened) await one.close();
    await made?.drop();
  });
  const world: World = {
    get store() {
      assert(store, 'the store is there once the tests run');
      return store;
    },
    open,
    unique: () => `c${++count}`,
    container: (spec = {}) => world.store.container({ name: world.unique(), ...spec }),
  };
  return world;
}

/** Expects a StoreError of one of these codes and gives it for a closer look. */
export async function refused(work: Promise<unknown>, ...codes: StoreErrorCode[]): Promise<StoreError> {
  let error: unknown;
  try {
    await work;
  } catch (thrown) {
    error = thrown;
  }
  assert(error !== undefined, `expected ${codes.join(' or ')}, but nothing was refused`);
  if (!isStoreError(error)) throw error;
  assert(codes.includes(error.code), `expected ${codes.join(' or ')}, got ${error.code}: ${error.message}`);
  return error;
}
