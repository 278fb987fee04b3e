// The objects that an informer knows, by key and by index.
import type { KubeObject, ObjectKey } from './object.ts';

/** The values under which an object is found in an index; none leaves it out. */
export type IndexValues<T> = (object: T) => readonly string[];

/** What can be asked of an informer's memory. Objects are shared by all who ask: nobody may change them. */
export interface Lister<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  /** Of one namespace, or of all. In no order. */
  list(namespace?: string): readonly T[];
  /** Throws TypeError for an index that there is not. */
  byIndex(index: string, value: string): readonly T[];
  readonly size: number;
}

export interface ObjectStore<T extends KubeObject> extends Lister<T> {
  /** Returns what was there before. */
  put(object: T): T | undefined;
  remove(key: ObjectKey): T | undefined;
  /** Adds an index, also over the objects that are there. The same name again must be the same function. */
  addIndex(name: string, values: IndexValues<T>): void;
  all(): Iterable<T>;
}

interface Index<T> {
  readonly values: IndexValues<T>;
  readonly entries: Map<string, Set<T>>;
}

export function createObjectStore<T extends KubeObject>(): ObjectStore<T> {
  const byNamespace = new Map<string, Map<string, T>>();
  const indexes = new Map<string, Index<T>>();
  let size = 0;

  function enter(index: Index<T>, object: T): void {
    for (const value of index.values(object)) {
      const found = index.entries.get(value);
      if (found) found.add(object);
      else index.entries.set(value, new Set([object]));
    }
  }

  function leave(index: Index<T>, object: T): void {
    for (const value of index.values(object)) {
      const found = index.entries.get(value);
      if (found?.delete(object) && found.size === 0) index.entries.delete(value);
    }
  }

  function* all(): Generator<T, void, void> {
    for (const objects of byNamespace.values()) yield* objects.values();
  }

  return {
    get size() {
      return size;
    },
    get: ({ namespace = '', name }) => byNamespace.get(namespace)?.get(name),
    list: (namespace) => [...(namespace === undefined ? all() : (byNamespace.get(namespace)?.values() ?? []))],
    byIndex(name, value) {
      const index = indexes.get(name);
      if (!index) throw new TypeError(`there is no index ${name}; known: ${[...indexes.keys()].join(', ') || 'none'}`);
      return [...(index.entries.get(value) ?? [])];
    },
    put(object) {
      const { namespace = '', name = '' } = object.metadata;
      let objects = byNamespace.get(namespace);
      if (!objects) {
        objects = new Map();
        byNamespace.set(namespace, objects);
      }
      const old = objects.get(name);
      objects.set(name, object);
      if (old === undefined) size++;
      for (const index of indexes.values()) {
        if (old !== undefined) leave(index, old);
        enter(index, object);
      }
      return old;
    },
    remove({ namespace = '', name }) {
      const objects = byNamespace.get(namespace);
      const old = objects?.get(name);
      if (!objects || old === undefined) return undefined;
      objects.delete(name);
      if (objects.size === 0) byNamespace.delete(namespace);
      size--;
      for (const index of indexes.values()) leave(index, old);
      return old;
    },
    addIndex(name, values) {
      const known = indexes.get(name);
      if (known?.values === values) return;
      if (known) throw new TypeError(`there is already an index ${name} with another function`);
      const index: Index<T> = { values, entries: new Map() };
      for (const object of all()) enter(index, object);
      indexes.set(name, index);
    },
    all,
  };
}
