import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeConformance } from '../testing/conformance.ts';
import { openSqliteStore } from './open.ts';

storeConformance('SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'aro-store-'));
  return {
    open: (options) => openSqliteStore({ file: join(directory, 'store.db'), ...options }),
    drop: () => rm(directory, { recursive: true }),
  };
});
