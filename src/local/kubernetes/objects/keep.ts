import type { StoredEntry } from './entry.ts';
import type { StorageType } from './objects.ts';
import type { Written } from './transaction.ts';

/** What survives. All of it is synchronous; errors are StoreErrors. */
export interface Keep {
  /** The highest row that any object ever had. */
  readonly lastRow: number;
  readonly clusters: readonly KeptCluster[];
  types(cluster: number): StorageType[];
  load(cluster: number, type: StorageType): Iterable<StoredEntry>;
  /** Begins a transaction; false when the database is locked at this moment. */
  begin(): boolean;
  /** Keeps what was written and ends the transaction. If it throws, nothing was kept and the transaction is over. */
  end(written: readonly Written[]): void;
}

export interface KeptCluster {
  readonly row: number;
  readonly name: string;
  readonly revision: number;
}
