// Every object of every cluster: in memory for reads and watches, in one SQLite file for keeps. Knows bytes, keys and
// revisions; knows nothing of kinds, schemas or HTTP.

/** Group and plural of the resource as stored, such as `apps/deployments`, or `/pods`. */
export type StorageType = string;

/** One stored object. Immutable; a change makes another entry. */
export interface Entry {
  readonly type: StorageType;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The object's resourceVersion. Grows with every commit of its cluster. */
  readonly revision: number;
  /** JSON of the object in its storage version, metadata.resourceVersion included. Never changed in place. */
  readonly bytes: Buffer;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** What field selectors of its type may ask, beside metadata.name and metadata.namespace. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** Owners' uids, for garbage collection. */
  readonly owners: readonly string[] | undefined;
}

export interface Change {
  readonly kind: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** After the change; for DELETED, the last state with the revision of the deletion. */
  readonly entry: Entry;
  /** Before the change; undefined for ADDED. Selectors need it to turn a change into ADDED or DELETED for one watcher. */
  readonly before: Entry | undefined;
}

/** What a commit may do. Reads see what the same commit wrote. */
export interface Transaction {
  get(type: StorageType, namespace: string, name: string): Entry | undefined;
  list(type: StorageType, namespace?: string): Iterable<Entry>;
  /**
   * Writes an object as it shall be stored. The revision is assigned here and written to metadata.resourceVersion; the
   * caller has done all checks, including the one against the entry it read in this transaction.
   */
  put(type: StorageType, object: import('../object.ts').KubeObject, index?: Pick<Entry, 'fields'>): Entry;
  delete(entry: Entry): Entry;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly limit?: number;
  /** Namespace and name of the last entry of the page before. */
  readonly after?: readonly [namespace: string, name: string];
}

/** The objects of one cluster. */
export interface Objects {
  /** The newest revision. */
  readonly revision: number;
  get(type: StorageType, namespace: string, name: string): Entry | undefined;
  /** In order of namespace and name. */
  list(type: StorageType, options?: ListOptions): Entry[];
  count(type: StorageType, namespace?: string): number;
  byOwner(uid: string): Iterable<Entry>;
  /**
   * Runs `work` synchronously, alone; settles once its writes are as durable as configured. Commits asked for at the same time
   * share one database transaction. If `work` throws, nothing it wrote happened. Nobody sees a write before it is kept.
   */
  commit<T>(work: (transaction: Transaction) => T): Promise<T>;
  /**
   * Every change of a type after a revision, then those that follow, in order. Throws StatusError 410 when the history
   * does not reach back that far. `listener` must not block; it is called after the commit.
   */
  watch(type: StorageType, after: number, listener: (change: Change) => void): () => void;
  /** Changes of all types, for controllers. */
  watchAll(listener: (change: Change) => void): () => void;
}

/** All clusters of this process. */
export interface ObjectHost {
  /** What the cluster holds comes into memory when it is asked for, type by type, which blocks for as long as it takes. */
  open(cluster: string): Objects;
  /** Opens a cluster and brings all it holds into memory in short steps. Worth it for large ones. */
  load(cluster: string): Promise<Objects>;
  /** Forgets a cluster and all it holds. Settles when the last of it is deleted; it is gone for everybody before that. */
  remove(cluster: string): Promise<void>;
  clusters(): readonly string[];
  close(): Promise<void>;
}
