// Objects that every cluster has from its start, without a copy in each: a cluster stores only what it changed of them.
import type { KubeObject } from '../object.ts';
import { keyOf } from '../objects/entry.ts';
import type { Change, Entry, ListOptions, Objects, StorageType, Transaction } from '../objects/objects.ts';

/** The shared objects, made once for all clusters. */
export interface SharedDefaults {
  /** In order of namespace and name; undefined for types without any. */
  of(type: StorageType): ReadonlyMap<string, Entry> | undefined;
}

export function sharedDefaults(entries: readonly Entry[]): SharedDefaults {
  const types = new Map<StorageType, Map<string, Entry>>();
  const sorted = entries.toSorted((a, b) => compareKeys(keyOf(a.namespace, a.name), keyOf(b.namespace, b.name)));
  for (const entry of sorted) {
    const byKey = types.get(entry.type) ?? new Map<string, Entry>();
    types.set(entry.type, byKey.set(keyOf(entry.namespace, entry.name), entry));
  }
  return { of: (type) => types.get(type) };
}

/**
 * A cluster's objects with the shared ones among them. One that is changed is stored from then on; one that is deleted is gone
 * until the cluster is opened again, as a real server makes its default roles again when it starts.
 */
export function withSharedDefaults(objects: Objects, shared: SharedDefaults): Objects {
  const deleted = new Set<Entry>();
  // Those deleted by commits under way too: commits see each other before anybody else does.
  const deleting = new Set<Entry>();

  const defaultOf = (type: StorageType, namespace: string, name: string): Entry | undefined => {
    const entry = shared.of(type)?.get(keyOf(namespace, name));
    return entry && !deleted.has(entry) ? entry : undefined;
  };

  /** Defaults of a type that the cluster has not stored in a version of its own. */
  const untouched = (type: StorageType, namespace: string | undefined, stored: ReadonlySet<string>): Entry[] => {
    const found: Entry[] = [];
    for (const [key, entry] of shared.of(type) ?? []) {
      const elsewhere = namespace !== undefined && entry.namespace !== namespace;
      if (!elsewhere && !stored.has(key) && !deleted.has(entry)) found.push(entry);
    }
    return found;
  };

  return {
    get revision() {
      return objects.revision;
    },
    get: (type, namespace, name) => objects.get(type, namespace, name) ?? defaultOf(type, namespace, name),
    list(type, options = {}) {
      if (!shared.of(type)) return objects.list(type, options);
      const { limit: _, after: __, ...all } = options;
      const stored = objects.list(type, all);
      const keys = new Set(stored.map((entry) => keyOf(entry.namespace, entry.name)));
      return page([...stored, ...untouched(type, options.namespace, keys)], options);
    },
    count(type, namespace) {
      const defaults = shared.of(type);
      let count = objects.count(type, namespace);
      for (const entry of defaults?.values() ?? []) {
        const elsewhere = namespace !== undefined && entry.namespace !== namespace;
        if (!elsewhere && !deleted.has(entry) && !objects.get(type, entry.namespace, entry.name)) count++;
      }
      return count;
    },
    byOwner: (uid) => objects.byOwner(uid),
    async commit(work) {
      const gone: Entry[] = [];
      try {
        const result = await objects.commit((transaction) => work(overlaid(transaction, shared, deleting, gone)));
        for (const entry of gone) deleted.add(entry);
        return result;
      } catch (error) {
        for (const entry of gone) deleting.delete(entry);
        throw error;
      }
    },
    watch: (type, after, listener) => objects.watch(type, after, (change) => listener(asChange(change, shared))),
    watchAll: (listener) => objects.watchAll((change) => listener(asChange(change, shared))),
  };
}

/** Storing a default for the first time is news only of a change to it. */
function asChange(change: Change, shared: SharedDefaults): Change {
  if (change.kind !== 'ADDED') return change;
  const { type, namespace, name, uid } = change.entry;
  const before = shared.of(type)?.get(keyOf(namespace, name));
  return before && before.uid === uid ? { kind: 'MODIFIED', entry: change.entry, before } : change;
}

function overlaid(transaction: Transaction, shared: SharedDefaults, deleting: Set<Entry>, gone: Entry[]): Transaction {
  const defaultOf = (type: StorageType, namespace: string, name: string): Entry | undefined => {
    const entry = shared.of(type)?.get(keyOf(namespace, name));
    return entry && !deleting.has(entry) ? entry : undefined;
  };
  return {
    get: (type, namespace, name) => transaction.get(type, namespace, name) ?? defaultOf(type, namespace, name),
    *list(type, namespace) {
      const stored = [...transaction.list(type, namespace)];
      const keys = new Set(stored.map((entry) => keyOf(entry.namespace, entry.name)));
      yield* stored;
      for (const [key, entry] of shared.of(type) ?? []) {
        const elsewhere = namespace !== undefined && entry.namespace !== namespace;
        if (!elsewhere && !keys.has(key) && !deleting.has(entry)) yield entry;
      }
    },
    put: (type, object, index) => transaction.put(type, object, index),
    delete(entry) {
      const original = defaultOf(entry.type, entry.namespace, entry.name);
      if (!original) return transaction.delete(entry);
      gone.push(original);
      deleting.add(original);
      if (entry !== original) return transaction.delete(entry);
      // A deletion needs a revision of its own, which only a stored object can get.
      const object = JSON.parse(entry.bytes.toString()) as KubeObject;
      return transaction.delete(transaction.put(entry.type, object));
    },
  };
}

const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function page(entries: Entry[], { limit, after }: ListOptions): Entry[] {
  const sorted = entries
    .map((entry) => ({ key: keyOf(entry.namespace, entry.name), entry }))
    .sort((a, b) => compareKeys(a.key, b.key));
  const from = after === undefined ? undefined : keyOf(...after);
  const rest = from === undefined ? sorted : sorted.filter(({ key }) => key > from);
  return (limit === undefined ? rest : rest.slice(0, limit)).map(({ entry }) => entry);
}
