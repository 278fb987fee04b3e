import { type KeyRing, keyRing } from '../kit/key-ring.ts';
import { Secret } from '../kit/secret.ts';
import type { Cursor, Engine } from './engine.ts';
import { StoreError } from './errors.ts';
import type { Filter, OrderBy } from './filter.ts';
import { isObject } from './paths.ts';

/**
 * Makes and reads continuations: sealed text that holds a place, proves that this store made it and that it was made for
 * the same question. The key is kept in the database, so every process on it takes the others' continuations.
 */
export interface Continuations {
  make(binding: string, place: unknown): Promise<string>;
  /** Throws InvalidContinuation for everything that `make` did not give for this binding. */
  read(binding: string, continuation: unknown): Promise<unknown>;
}

export function continuations(engine: Engine): Continuations {
  let made: Promise<KeyRing> | undefined;
  const ring = (): Promise<KeyRing> => {
    made ??= engine.secret('continuation').then(
      (bytes) => keyRing([{ id: 'c', bytes: new Secret(bytes) }]),
      (error: unknown) => {
        made = undefined;
        throw error;
      },
    );
    return made;
  };

  return {
    async make(binding, place) {
      return (await ring()).seal(JSON.stringify(place), binding);
    },
    async read(binding, continuation) {
      if (typeof continuation !== 'string') throw invalidContinuation();
      const keys = await ring();
      try {
        return JSON.parse(keys.open(continuation, binding));
      } catch {
        throw invalidContinuation();
      }
    },
  };
}

/** What a query's continuation is bound to: the order of members in the filter makes no difference. */
export function queryBinding(
  container: string,
  partition: string | undefined,
  filter: Filter | undefined,
  orderBy: readonly OrderBy[],
): string {
  const orders = orderBy.map(({ field, type, direction = 'ascending' }) => [field, type, direction]);
  return JSON.stringify(['query', container, partition ?? null, sorted(filter ?? null), orders]);
}

export function feedBinding(container: string, partition: string | undefined): string {
  return JSON.stringify(['feed', container, partition ?? null]);
}

/** A cursor in a continuation: short, as it may end up in an address. */
export type PackedCursor = readonly [Cursor['values'], string, string];

export function packCursor(cursor: Cursor): PackedCursor {
  return [cursor.values, cursor.partition, cursor.id];
}

/** Throws InvalidContinuation for a shape that another version of this code may have made. */
export function unpackCursor(packed: unknown): Cursor {
  if (!Array.isArray(packed)) throw invalidContinuation();
  const [values, partition, id]: unknown[] = packed;
  if (!Array.isArray(values) || typeof partition !== 'string' || typeof id !== 'string') throw invalidContinuation();
  return { values, partition, id };
}

export function invalidContinuation(): StoreError {
  return new StoreError(
    'InvalidContinuation',
    'the continuation was not made by this store for this question: start again without one',
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return { members: members.map(([name, member]) => [name, sorted(member)]) };
}
