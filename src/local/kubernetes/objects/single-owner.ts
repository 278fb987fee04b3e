// A file that one process at a time may have. The lock is one of SQLite's on an empty file beside it, because the operating
// system lets go of that when the process ends, however it ends.
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../../store/errors.ts';
import { prepareFile } from '../../../store/sqlite/database.ts';
import { isBusy, storeError } from '../../../store/sqlite/errors.ts';

/**
 * What this process has. Asked before the file is touched: closing any descriptor of a file gives up all locks that the
 * process holds on it.
 */
const owned = new Set<string>();

/** Makes the file its own until the answer is called. Throws StoreError Busy when another has it. */
export async function own(file: string): Promise<() => void> {
  const path = resolve(file);
  if (owned.has(path)) throw taken(file, 'this process has it open already');
  owned.add(path);
  try {
    const lock = `${path}-lock`;
    await prepareFile(lock);
    const db = new DatabaseSync(lock);
    try {
      db.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    } catch (error) {
      db.close();
      throw isBusy(error) ? taken(file, 'another process has it open') : storeError(error, lock);
    }
    return () => {
      db.close();
      owned.delete(path);
    };
  } catch (error) {
    owned.delete(path);
    throw error;
  }
}

function taken(file: string, who: string): StoreError {
  return new StoreError(
    'Busy',
    `database ${file}: ${who}; stop that one, or give this one a data directory of its own`,
  );
}
