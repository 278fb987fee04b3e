import type { KubeObject } from '../object.ts';
import type { ClusterObjects } from './cluster-objects.ts';
import { deletedEntry, entryOf, keyOf } from './entry.ts';
import type { Entry, StorageType, Transaction } from './objects.ts';
import type { Shelf, StoredChange } from './shelf.ts';

/** One write of a commit, with all that is needed to keep it, to tell it and to take it back. */
export interface Written {
  readonly cluster: ClusterObjects;
  readonly shelf: Shelf;
  readonly change: StoredChange;
}

/** A transaction that changes memory at once and adds what it did to `written`. */
export class OpenTransaction implements Transaction {
  readonly #cluster: ClusterObjects;
  readonly #written: Written[];
  readonly #newRow: () => number;
  #ended = false;

  constructor(cluster: ClusterObjects, written: Written[], newRow: () => number) {
    this.#cluster = cluster;
    this.#written = written;
    this.#newRow = newRow;
  }

  /** What is asked of it from now on throws. */
  end(): void {
    this.#ended = true;
  }

  get(type: StorageType, namespace: string, name: string): Entry | undefined {
    this.#check();
    return this.#cluster.get(type, namespace, name);
  }

  list(type: StorageType, namespace?: string): Iterable<Entry> {
    this.#check();
    return this.#cluster.list(type, namespace ? { namespace } : {});
  }

  put(type: StorageType, object: KubeObject, index?: Pick<Entry, 'fields'>): Entry {
    this.#check();
    const shelf = this.#cluster.shelf(type);
    const { namespace = '', name = '' } = object.metadata;
    const before = shelf.entries.get(keyOf(namespace, name));
    const entry = entryOf(shelf.type, object, index?.fields, {
      revision: this.#cluster.revision + 1,
      row: before?.row ?? this.#newRow(),
      before,
    });
    this.#write(shelf, { kind: before ? 'MODIFIED' : 'ADDED', entry, before });
    return entry;
  }

  delete(entry: Entry): Entry {
    this.#check();
    const shelf = this.#cluster.shelf(entry.type);
    const before = shelf.entries.get(keyOf(entry.namespace, entry.name));
    if (before?.revision !== entry.revision) {
      throw new Error(
        `${entry.type} ${entry.namespace}/${entry.name} changed since it was read: read it in this commit`,
      );
    }
    const deleted = deletedEntry(before, this.#cluster.revision + 1);
    this.#write(shelf, { kind: 'DELETED', entry: deleted, before });
    return deleted;
  }

  #write(shelf: Shelf, change: StoredChange): void {
    this.#cluster.apply(shelf, change);
    this.#written.push({ cluster: this.#cluster, shelf, change });
  }

  #check(): void {
    if (this.#ended)
      throw new Error('this commit is over: a transaction is for use inside its work, which must not wait');
  }
}
