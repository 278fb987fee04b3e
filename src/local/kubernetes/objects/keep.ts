import type { StoredEntry } from './entry.ts';
import type { StorageType } from './objects.ts';
import type { Written } from './transaction.ts';

/** What survives the process. All of it but `close` is synchronous; errors are StoreErrors. */
export interface Keep {
  /** The highest row that an object has. */
  readonly lastRow: number;
  readonly clusters: readonly KeptCluster[];
  /** Types that a cluster has objects of. */
  types(cluster: number): StorageType[];
  /** Some entries of a type after a namespace and name; none at the end. */
  load(
    cluster: Pick<KeptCluster, 'row' | 'name'>,
    type: StorageType,
    after: readonly [namespace: string, name: string],
  ): StoredEntry[];
  /** Begins a transaction; false when the database is locked at this moment. */
  begin(): boolean;
  /** Keeps what was written and ends the transaction. If it throws, nothing was kept and the transaction is over. */
  end(written: readonly Written[]): void;
  /** From now on the cluster does not exist; its objects go by `sweep`. False when the database is locked. */
  removeCluster(cluster: number): boolean;
  /** Deletes some objects of removed clusters; false when none is left, or `locked`. */
  sweep(): boolean | 'locked';
  close(): Promise<void>;
}

export interface KeptCluster {
  readonly row: number;
  readonly name: string;
  readonly revision: number;
}
