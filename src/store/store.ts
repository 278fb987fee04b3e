// The document store as services see it: documents in containers, each with a partition, an etag and a revision that only
// grows. Two engines stand behind it (sqlite/, postgres/) and a third, Cosmos DB, must be able to: hence one partition per
// batch, no transaction across containers, and a feed that may be polled.
import type { TSchema } from 'typebox';
import type { Filter, OrderBy, Path } from './filter.ts';

export interface Key {
  /** 1 to 1,023 bytes of UTF-8, no control characters; so is the id. */
  readonly partition: string;
  readonly id: string;
}

/** One version of a document, named: what a replace or delete must be given, so that neither can be blind. */
export interface Version extends Key {
  /** Opaque. Differs for every version a document ever had, also after it was deleted and created again. */
  readonly etag: string;
}

export interface Document<T> extends Version {
  /** Grows with every write in the container. */
  readonly revision: number;
  /** Epoch milliseconds by the database's clock; absent when the document does not expire. */
  readonly expiresAt?: number;
  readonly body: T;
}

/** What a container is, as data. Opening it makes its tables and indexes; opening it again brings them up to date. */
export interface ContainerSpec<T> {
  /** `[a-z][a-z0-9_]{0,39}`. */
  readonly name: string;
  /** Values that no two documents of a partition share. Missing ones are not compared. */
  readonly uniqueKeys?: readonly { readonly name: string; readonly paths: readonly Path[] }[];
  /** The fields that filters and orders use often; each gets an index of its own. */
  readonly indexes?: readonly { readonly field: Path; readonly type: 'string' | 'number' | 'boolean' }[];
  /** Where the labels are: an object whose members are strings. Indexed by key and value. */
  readonly labels?: Path;
  /**
   * The shape this code knows. Members of a stored document that it does not know (written by a newer version) survive a
   * replace made by code that dropped them.
   */
  readonly schema?: TSchema;
  /** Sealed at rest and `Secret<string>` in the body. `*` stands for every element of an array or member of a map. */
  readonly sealed?: readonly Path[];
  /** For every document that is not written with a time of its own. */
  readonly ttlSeconds?: number;
  /**
   * Makes the container a work queue. Called on every body written: the fairness key (such as the subscription) when the
   * document wants work done, undefined when it does not. Entering and leaving the queue is part of the write.
   */
  readonly queue?: (body: T) => string | undefined;
}

export interface WriteOptions {
  /** Seconds to live from this write, by the database's clock; null for ever. Left out: the container's default. */
  readonly ttlSeconds?: number | null;
  /** The database refuses the write unless this lease is held at commit. It must be of the same container and partition. */
  readonly lease?: Lease;
}

export type Operation<T> =
  | { readonly kind: 'create'; readonly id: string; readonly body: T; readonly ttlSeconds?: number | null }
  | { readonly kind: 'replace'; readonly version: Version; readonly body: T; readonly ttlSeconds?: number | null }
  | { readonly kind: 'delete'; readonly version: Version }
  /** Changes nothing; the batch fails unless the document is still this version. */
  | { readonly kind: 'check'; readonly version: Version };

export interface Query {
  readonly partition?: string;
  readonly filter?: Filter;
  /** Ties, and queries without an order, go by partition and id. */
  readonly orderBy?: readonly OrderBy[];
  /** 1 to 1,000; 100 when left out. A page may hold fewer although more follow. */
  readonly limit?: number;
  /** Not together with a continuation. */
  readonly offset?: number;
  /** From the page before; the rest of the query must be the same. Inserts and deletes between pages shift nothing. */
  readonly continuation?: string;
}

export interface Page<T> {
  readonly documents: readonly Document<T>[];
  /** Absent on the last page. */
  readonly continuation?: string;
}

export interface Change<T> {
  readonly kind: 'create' | 'replace' | 'delete';
  /** After the change; for a delete, the last body with the revision of the delete. */
  readonly document: Document<T>;
}

export interface Changes<T> {
  readonly changes: readonly Change<T>[];
  /** Store it with the work done and go on from it, in this process or another. */
  readonly continuation: string;
  /**
   * Nothing more was there when this was read. Told at once when the iteration starts and finds nothing, with no changes; a
   * feed of a quiet partition also comes without changes now and then, for its continuation to stay young.
   */
  readonly caughtUp: boolean;
}

export interface FeedOptions {
  /**
   * `beginning` shows what exists now as creates, then every change. A document written while that goes on may be seen
   * twice, the later state first (its revision tells), but none is missed. `now` is when the iteration starts.
   */
  readonly from: 'beginning' | 'now' | { readonly continuation: string };
  readonly partition?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** The right to work on one document for a while. Plain data; it may be handed on within the process. */
export interface Lease extends Key {
  readonly container: string;
  readonly owner: string;
  /** Fencing token: grows with every claim of the document. */
  readonly token: number;
  /** How often the document was claimed since it entered the queue, this time included. */
  readonly dequeues: number;
  readonly leaseSeconds: number;
  /** When it lapses, by this process's monotonic clock (`performance.now()`), on the safe side. */
  readonly deadline: number;
}

export interface Claim<T> {
  readonly document: Document<T>;
  readonly lease: Lease;
}

export interface ClaimOptions {
  /** Names the claimant: a process, or one worker of it. */
  readonly owner: string;
  readonly leaseSeconds: number;
  /** At most this many at once; 1 when left out. */
  readonly max?: number;
  /** No more than this many leases held by the owner in all. */
  readonly ownerLimit?: number;
}

/** Work claimed from a container's queue. All times are by the database's clock. */
export interface Leases<T> {
  /** The documents that have waited longest, one fairness key after the other. Empty when there is no work. */
  claim(options: ClaimOptions): Promise<readonly Claim<T>[]>;
  /** One document of the queue, if nobody holds it and it is not put off. */
  claimOne(key: Key, options: Pick<ClaimOptions, 'owner' | 'leaseSeconds'>): Promise<Claim<T> | undefined>;
  /** Extends by leaseSeconds from now. Throws LeaseLost. */
  renew(lease: Lease): Promise<Lease>;
  /** Renews many in one go; those that were lost are left out of the answer. */
  renewAll(leases: readonly Lease[]): Promise<readonly Lease[]>;
  /** Gives it back to the queue, to be claimed again at once or after a delay. A lost lease is fine. */
  release(lease: Lease, options?: { readonly delaySeconds?: number }): Promise<void>;
  /** How many documents wait (not leased, not put off). */
  waiting(): Promise<number>;
}

export interface Container<T> {
  readonly name: string;
  /** Throws Exists, UniqueKey, TooLarge, Invalid. */
  create(key: Key, body: T, options?: WriteOptions): Promise<Document<T>>;
  read(key: Key): Promise<Document<T> | undefined>;
  /** Throws Changed when the document is no longer that version, NotFound when it is gone. */
  replace(version: Version, body: T, options?: WriteOptions): Promise<Document<T>>;
  delete(version: Version, options?: Pick<WriteOptions, 'lease'>): Promise<void>;
  /**
   * Reads, lets `change` make a new body, replaces; again from the read when somebody else was faster (bounded). Returning
   * undefined leaves the document as it is. Throws NotFound.
   */
  update(key: Key, change: (body: T) => T | undefined, options?: WriteOptions): Promise<Document<T>>;
  /** All or nothing, in one partition. Answers with each document written; undefined for deletes and checks. */
  batch(
    partition: string,
    operations: readonly Operation<T>[],
    options?: Pick<WriteOptions, 'lease'>,
  ): Promise<readonly (Document<T> | undefined)[]>;
  query(query: Query): Promise<Page<T>>;
  count(query?: Pick<Query, 'partition' | 'filter'>): Promise<number>;
  /** Never ends by itself. Within a partition: every change, once, in commit order. */
  changes(options: FeedOptions): AsyncIterable<Changes<T>>;
  readonly leases: Leases<T>;
  /** Seals again, under the ring's current key, what older keys sealed; etags stay. Answers how many values it re-sealed. */
  reseal(options?: { readonly signal?: AbortSignal }): Promise<number>;
}

export interface Store {
  container<T extends object>(spec: ContainerSpec<T>): Promise<Container<T>>;
  /** Epoch milliseconds by the database's clock. */
  now(): Promise<number>;
  /** Throws what a readiness check should show. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
