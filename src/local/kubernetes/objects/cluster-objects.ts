import { StoreError } from '../../../store/errors.ts';
import { keyOf, type StoredEntry } from './entry.ts';
import { changesAfter, newPast } from './history.ts';
import type { Change, Entry, ListOptions, Objects, StorageType, Transaction } from './objects.ts';
import { dependentsOf, type OwnerIndex, reindex } from './owner-index.ts';
import type { Shelf, StoredChange, Watcher } from './shelf.ts';
import { SortedEntries } from './sorted-entries.ts';

/** What a cluster needs of its host. */
export interface Surroundings {
  commit<T>(cluster: ClusterObjects, work: (transaction: Transaction) => T): Promise<T>;
  /** Some kept entries of a type after a namespace and name; none at the end. */
  load(cluster: ClusterObjects, type: StorageType, after: readonly [string, string]): readonly StoredEntry[];
  /** Types that the database has objects of. */
  types(cluster: ClusterObjects): Iterable<StorageType>;
  /** Calls a listener, whatever it throws. */
  tell(listener: (change: Change) => void, change: Change): void;
}

/**
 * The objects of one cluster in memory. A class, because a process has thousands of them: methods are shared. What is in the
 * database comes in type by type, when a type is first asked for.
 */
export class ClusterObjects implements Objects {
  readonly name: string;
  /** Its row in the database; 0 before the first commit. */
  row: number;
  revision: number;
  /** Its objects are gone and it takes no more. */
  removed = false;
  readonly #surroundings: Surroundings;
  readonly #floor: number;
  #shelves: Map<StorageType, Shelf> | undefined;
  #owners: OwnerIndex | undefined;
  #watchers: Set<Watcher> | undefined;
  #allLoaded: boolean;

  constructor(surroundings: Surroundings, name: string, kept?: { readonly row: number; readonly revision: number }) {
    this.#surroundings = surroundings;
    this.name = name;
    this.row = kept?.row ?? 0;
    this.revision = kept?.revision ?? 0;
    this.#floor = this.revision;
    this.#allLoaded = kept === undefined;
  }

  get(type: StorageType, namespace: string, name: string): Entry | undefined {
    return this.shelf(type).entries.get(keyOf(namespace, name));
  }

  list(type: StorageType, options: ListOptions = {}): Entry[] {
    const { namespace, after, limit } = options;
    const [from, to] = namespace ? boundsOf(namespace) : [];
    // The least key after a key is that key and a zero.
    const next = after && `${keyOf(after[0], after[1])}\0`;
    return this.shelf(type).entries.slice(
      next !== undefined && (from === undefined || next > from) ? next : from,
      to,
      limit,
    );
  }

  count(type: StorageType, namespace?: string): number {
    const { entries } = this.shelf(type);
    return namespace ? entries.count(...boundsOf(namespace)) : entries.size;
  }

  byOwner(uid: string): Iterable<Entry> {
    this.#loadAll();
    return this.#owners ? dependentsOf(this.#owners, uid) : [];
  }

  commit<T>(work: (transaction: Transaction) => T): Promise<T> {
    return this.#surroundings.commit(this, work);
  }

  watch(type: StorageType, after: number, listener: (change: Change) => void): () => void {
    const shelf = this.#shelfAsIs(type);
    const missed = changesAfter(shelf.past, after);
    const watcher: Watcher = { listener, after: Math.max(after, this.revision) };
    shelf.watchers ??= new Set();
    shelf.watchers.add(watcher);
    for (const change of missed) this.#surroundings.tell(listener, change);
    return () => {
      shelf.watchers?.delete(watcher);
      if (shelf.watchers?.size === 0) shelf.watchers = undefined;
    };
  }

  watchAll(listener: (change: Change) => void): () => void {
    const watcher: Watcher = { listener, after: this.revision };
    this.#watchers ??= new Set();
    this.#watchers.add(watcher);
    return () => {
      this.#watchers?.delete(watcher);
      if (this.#watchers?.size === 0) this.#watchers = undefined;
    };
  }

  /** The shelf of a type with everything in it. */
  shelf(type: StorageType): Shelf {
    const shelf = this.#shelfAsIs(type);
    while (shelf.loaded !== 'all') this.#loadMore(shelf, shelf.loaded);
    return shelf;
  }

  /** Brings in everything step by step, pausing in between. Who asks meanwhile gets what is asked for, loaded at once. */
  async load(pause: () => Promise<void>): Promise<void> {
    if (this.#allLoaded) return;
    for (const type of this.#surroundings.types(this)) {
      const shelf = this.#shelfAsIs(type);
      while (shelf.loaded !== 'all') {
        this.#loadMore(shelf, shelf.loaded);
        await pause();
      }
    }
    this.#nothingLeft();
  }

  /** Makes the change in memory. */
  apply(shelf: Shelf, { kind, entry, before }: StoredChange): void {
    if (kind === 'DELETED') shelf.entries.delete(entry.key);
    else shelf.entries.set(entry);
    this.#reindex(before, kind === 'DELETED' ? undefined : entry);
    this.revision = entry.revision;
  }

  /** Takes back the newest change. */
  undo(shelf: Shelf, { kind, entry, before }: StoredChange): void {
    if (before) shelf.entries.set(before);
    else shelf.entries.delete(entry.key);
    this.#reindex(kind === 'DELETED' ? undefined : entry, before);
    this.revision = entry.revision - 1;
  }

  /** Tells everybody who watches. */
  tell(shelf: Shelf, change: Change): void {
    this.#tell(shelf.watchers, change);
    this.#tell(this.#watchers, change);
  }

  /** Lets go of everything; answers with the shelves there were. */
  clear(): Iterable<Shelf> {
    const shelves = this.#shelves?.values() ?? [];
    this.removed = true;
    this.#shelves = undefined;
    this.#owners = undefined;
    this.#watchers = undefined;
    this.#allLoaded = true;
    return shelves;
  }

  #tell(watchers: Set<Watcher> | undefined, change: Change): void {
    if (watchers === undefined) return;
    for (const { listener, after } of watchers) {
      if (change.entry.revision > after) this.#surroundings.tell(listener, change);
    }
  }

  #shelfAsIs(type: StorageType): Shelf {
    const found = this.#shelves?.get(type);
    if (found) return found;
    const shelf: Shelf = {
      type,
      entries: new SortedEntries(),
      past: newPast(this.#floor),
      loaded: this.#allLoaded ? 'all' : ['', ''],
      watchers: undefined,
    };
    this.#shelves ??= new Map();
    this.#shelves.set(type, shelf);
    return shelf;
  }

  #loadAll(): void {
    if (this.#allLoaded) return;
    for (const type of this.#surroundings.types(this)) this.shelf(type);
    this.#nothingLeft();
  }

  #nothingLeft(): void {
    for (const shelf of this.#shelves?.values() ?? []) shelf.loaded = 'all';
    this.#allLoaded = true;
  }

  #loadMore(shelf: Shelf, after: readonly [string, string]): void {
    const entries = this.removed ? [] : this.#surroundings.load(this, shelf.type, after);
    for (const entry of entries) {
      shelf.entries.set(entry);
      if (entry.owners) this.#reindex(undefined, entry);
    }
    const last = entries.at(-1);
    shelf.loaded = last ? [last.namespace, last.name] : 'all';
  }

  #reindex(before: Entry | undefined, after: Entry | undefined): void {
    if (before?.owners === undefined && after?.owners === undefined) return;
    this.#owners ??= new Map();
    reindex(this.#owners, before, after);
  }
}

export function removedError(cluster: string): StoreError {
  return new StoreError('Closed', `cluster ${cluster} was removed; nothing can be written to it`);
}

/** Between which keys the objects of a namespace are: `0` is the character after the separator. */
function boundsOf(namespace: string): [from: string, to: string] {
  return [`${namespace}/`, `${namespace}0`];
}
