// What a database must do to be a store: the contract of the adapters in sqlite/ and postgres/. Adapters are thin: they move
// JSON text, and know nothing of types, sealing, unknown fields, etags or token formats. document-store.ts does that, once.
import type { Filter, OrderBy, Path } from './filter.ts';

export interface Limits {
  /** UTF-8 bytes of one document's JSON. */
  readonly documentBytes: number;
  readonly batchOperations: number;
  readonly batchBytes: number;
}

/** The part of a container's spec that shapes tables. */
export interface Layout {
  readonly name: string;
  readonly uniqueKeys: readonly { readonly name: string; readonly paths: readonly Path[] }[];
  readonly indexes: readonly { readonly field: Path; readonly type: 'string' | 'number' | 'boolean' }[];
  readonly labels: Path | undefined;
}

export interface Row {
  readonly partition: string;
  readonly id: string;
  readonly revision: number;
  readonly json: string;
  readonly expiresAt?: number;
}

export interface EngineChange extends Row {
  readonly kind: 'create' | 'replace' | 'delete';
  /** Where the feed goes on after this one. */
  readonly position: string;
}

export type Write =
  | {
      readonly kind: 'create';
      readonly id: string;
      readonly json: string;
      readonly ttlSeconds?: number;
      /** Fairness key: the document waits in the queue. */
      readonly queue?: string;
      readonly labels: readonly (readonly [key: string, value: string])[];
    }
  | {
      readonly kind: 'replace';
      readonly id: string;
      readonly revision: number;
      readonly json: string;
      readonly ttlSeconds?: number;
      /** Left out: it leaves the queue, and its lease ends. Given: a lease held stays as it is, a new entry starts waiting. */
      readonly queue?: string;
      readonly labels: readonly (readonly [key: string, value: string])[];
    }
  | { readonly kind: 'delete'; readonly id: string; readonly revision: number }
  | { readonly kind: 'check'; readonly id: string; readonly revision: number };

/** The lease a write is made under. */
export interface Fence {
  readonly id: string;
  readonly token: number;
}

/** The last row of the page before: its values of `orderBy`, then partition and id. */
export interface Cursor {
  readonly values: readonly (string | number | null)[];
  readonly partition: string;
  readonly id: string;
}

export interface EngineQuery {
  readonly partition?: string;
  readonly filter?: Filter;
  readonly orderBy: readonly OrderBy[];
  readonly limit: number;
  readonly offset: number;
  readonly after?: Cursor;
}

export interface EnginePage {
  /** Each with its order values, so that a cursor can be made of the last. */
  readonly rows: readonly { readonly row: Row; readonly values: readonly (string | number | null)[] }[];
  readonly more: boolean;
}

export interface EngineClaim {
  readonly row: Row;
  readonly token: number;
  readonly dequeues: number;
}

export interface EngineLease {
  readonly partition: string;
  readonly id: string;
  readonly token: number;
}

/** Where a stored text stands: a document, or an entry of the feed's history. */
export interface Stored {
  readonly table: 'documents' | 'changes';
  readonly partition: string;
  readonly id: string;
  readonly revision: number;
  readonly json: string;
}

/** Every method throws StoreError and nothing else. Expired documents are never shown. */
export interface EngineContainer {
  read(partition: string, id: string): Promise<Row | undefined>;
  /**
   * One transaction; answers with each write's new revision (the old one for a check). Refuses with `operation` set:
   * Exists, NotFound, Changed, UniqueKey; or LeaseLost when the fence's lease is not held, by the database's clock.
   */
  write(partition: string, writes: readonly Write[], fence?: Fence): Promise<readonly number[]>;
  /** One page in order. It may be short of `limit` although `more` follow, so that large documents make small pages. */
  query(query: EngineQuery): Promise<EnginePage>;
  count(partition: string | undefined, filter: Filter | undefined): Promise<number>;

  /** The position after every change committed so far. */
  feedEnd(): Promise<string>;
  /**
   * Changes after a position, in an order that is the same for every reader and the commit order within a partition; at most
   * `limit`, fewer when they are large. A change whose transaction is still open holds back those behind it.
   * Throws ContinuationExpired, or InvalidContinuation for text that is not a position.
   */
  changesAfter(position: string, limit: number, partition?: string): Promise<readonly EngineChange[]>;
  /** Calls back soon after anybody, in any process, has committed to the container; sometimes for nothing. Returns the unsubscribe. */
  onCommit(wake: () => void): () => void;

  claim(
    owner: string,
    leaseSeconds: number,
    max: number,
    ownerLimit: number | undefined,
  ): Promise<readonly EngineClaim[]>;
  claimOne(partition: string, id: string, owner: string, leaseSeconds: number): Promise<EngineClaim | undefined>;
  /** Those that were still held and now last leaseSeconds from now. */
  renew(leases: readonly EngineLease[], leaseSeconds: number): Promise<readonly EngineLease[]>;
  release(lease: EngineLease, delaySeconds: number): Promise<void>;
  waiting(): Promise<number>;

  /** Stored texts page by page, documents first, for re-sealing. */
  stored(after: Omit<Stored, 'json'> | undefined, limit: number): Promise<readonly Stored[]>;
  /** Puts another text in the place of one, same revision, no change shown. False when that revision is no longer there. */
  restate(place: Omit<Stored, 'json'>, json: string): Promise<boolean>;
}

export interface Engine {
  readonly limits: Limits;
  open(layout: Layout): Promise<EngineContainer>;
  /** 32 random bytes kept in the database under this name, made at the first call by anybody. */
  secret(name: string): Promise<Buffer>;
  now(): Promise<number>;
  ping(): Promise<void>;
  close(): Promise<void>;
}
