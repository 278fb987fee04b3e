import type { KeyRing } from '../../kit/key-ring.ts';
import { documentStore } from '../document-store.ts';
import type { Store } from '../store.ts';
import { openSqliteEngine, type SqliteOptions } from './engine.ts';

export interface SqliteStoreOptions extends SqliteOptions {
  /** Needed by containers with sealed paths. */
  readonly keyRing?: KeyRing;
}

/**
 * Opens the store in a SQLite file, making the file (0600) and its directory (0700) when they are not there. Several processes
 * may have the same file open, on a local disk. Throws StoreError: Corrupt, ReadOnly, Full, Busy, Unavailable.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { keyRing, ...engine } = options;
  return documentStore(await openSqliteEngine(engine), keyRing === undefined ? {} : { keyRing });
}
