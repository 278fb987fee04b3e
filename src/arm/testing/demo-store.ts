// A real store in a directory of its own, for tests of the demo provider.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyRing } from '../../kit/key-ring.ts';
import { Secret } from '../../kit/secret.ts';
import { openSqliteStore } from '../../store/sqlite/open.ts';
import type { Container, Store } from '../../store/store.ts';
import { operationIndexes, operationSealed } from '../operation.ts';
import type { DemoDocument } from './demo-provider.ts';

export interface DemoStore {
  /** The database; other files may be put beside it. */
  readonly file: string;
  readonly store: Store;
  readonly container: Container<DemoDocument>;
  /** Opens the same file again, as another process would. */
  again(): Promise<Store>;
  close(): Promise<void>;
}

export const demoContainer = { name: 'demo', indexes: operationIndexes, sealed: operationSealed };

/** The same in every process that opens the file. */
export const demoRing = keyRing([{ id: 'k1', bytes: new Secret(Buffer.alloc(32, 7)) }]);

/** The store's clock is the machine's unless another is given. */
export async function demoStore(clock: () => number = Date.now): Promise<DemoStore> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-arm-'));
  const file = join(directory, 'demo.db');
  const store = await openSqliteStore({ file, clock, keyRing: demoRing });
  const others: Store[] = [];
  return {
    file,
    store,
    container: await store.container<DemoDocument>(demoContainer),
    async again() {
      const other = await openSqliteStore({ file, clock, keyRing: demoRing });
      others.push(other);
      return other;
    },
    async close() {
      for (const other of others) await other.close();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
