import { closeSync, fchmodSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { makePrivateDirectory } from '../../pki/private-directory.ts';
import { StoreError } from '../errors.ts';
import { damaged } from './errors.ts';

export type Synchronous = 'NORMAL' | 'FULL';

/** A prepared statement whose rows are arrays of the type R. */
export interface Statement<R> {
  get(...params: readonly SQLInputValue[]): R | undefined;
  all(...params: readonly SQLInputValue[]): R[];
  iterate(...params: readonly SQLInputValue[]): Iterable<R>;
  run(...params: readonly SQLInputValue[]): { readonly changes: number; readonly lastInsertRowid: number };
}

export function prepare<R extends readonly unknown[] = []>(db: DatabaseSync, text: string): Statement<R> {
  const statement = db.prepare(text);
  statement.setReturnArrays(true);
  return statement as unknown as Statement<R>;
}

const keptStatements = 256;

/** Prepares each text once and keeps those used most recently. */
export function statementCache(db: DatabaseSync): <R extends readonly unknown[]>(text: string) => Statement<R> {
  const kept = new Map<string, Statement<readonly unknown[]>>();
  return <R extends readonly unknown[]>(text: string) => {
    const found = kept.get(text) ?? prepare<readonly unknown[]>(db, text);
    kept.delete(text);
    kept.set(text, found);
    if (kept.size > keptStatements) {
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    }
    return found as Statement<R>;
  };
}

/** Runs `work` in one transaction that has the write lock from its start; whatever it throws rolls everything back. */
export type Transaction = <T>(work: () => T) => T;

export function transactions(db: DatabaseSync): Transaction {
  const begin = prepare(db, 'BEGIN IMMEDIATE');
  const commit = prepare(db, 'COMMIT');
  const rollback = prepare(db, 'ROLLBACK');
  return (work) => {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      try {
        rollback.run();
      } catch {
        // SQLite has already rolled back, as it does when the disk is full.
      }
      throw error;
    }
  };
}

/** Makes the directory and the file; the file is for its owner only, also where it was not before. SQLite gives the -wal and -shm files the file's mode. */
export async function prepareFile(file: string): Promise<void> {
  try {
    await makePrivateDirectory(dirname(file));
    const fd = openSync(file, 'a+', 0o600);
    try {
      if (fstatSync(fd).mode & 0o077) fchmodSync(fd, 0o600);
    } finally {
      closeSync(fd);
    }
    for (const beside of [`${file}-wal`, `${file}-shm`]) await chmod(beside, 0o600).catch(() => undefined);
  } catch (error) {
    throw fileError(error, file);
  }
}

const fileErrors: Readonly<Record<string, readonly ['ReadOnly' | 'Full' | 'Unavailable', string]>> = {
  EACCES: ['ReadOnly', 'this process may not write it or its directory; check the owner and the mode'],
  EPERM: ['ReadOnly', 'this process may not write it or its directory; check the owner, the mode and its attributes'],
  EROFS: ['ReadOnly', 'it is on a file system mounted read-only'],
  ENOSPC: ['Full', 'there is no room left on the disk; free some, then try again'],
  ENOENT: ['Unavailable', 'its directory cannot be made there; give a path on an ordinary file system'],
  EISDIR: ['Unavailable', 'a directory is in its place; give the path of a file'],
  EEXIST: ['Unavailable', 'its path leads through a file; give a path whose parents are directories'],
  ENOTDIR: ['Unavailable', 'its path leads through a file; give a path whose parents are directories'],
};

function fileError(error: unknown, file: string): StoreError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const [meaning, advice] = fileErrors[code] ?? ['Unavailable', 'it cannot be opened'];
  return new StoreError(meaning, `database ${file}: ${advice} (${code})`, { cause: error });
}

/** Notices a file that lost its end, which SQLite itself sees only when it comes to a missing page. */
export function checkLength(file: string): void {
  const header = Buffer.alloc(100);
  const fd = openSync(file, 'r');
  try {
    if (readSync(fd, header, 0, 100, 0) < 100) return;
  } finally {
    closeSync(fd);
  }
  // With a write-ahead log the newest pages may be in there alone.
  if (sizeOf(`${file}-wal`) > 0) return;
  const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  if (header.toString('latin1', 0, 15) === 'SQLite format 3' && sizeOf(file) < pages * pageSize) {
    throw new StoreError('Corrupt', `database ${file}: ${damaged('its end is missing')}`);
  }
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

export interface ConnectOptions {
  readonly file: string;
  readonly synchronous: Synchronous;
  /** How long a statement may wait inside SQLite for a lock: 0 on the main thread, which must not wait at all. */
  readonly waitMs: number;
  /** The file does not grow beyond this. */
  readonly largestFileBytes?: number | undefined;
}

/**
 * Opens a connection in WAL mode that never checkpoints by itself: the background worker does that. Throws what node:sqlite
 * throws, SQLITE_BUSY included when several processes make the file at the same moment.
 */
export function connect(options: ConnectOptions): DatabaseSync {
  const db = new DatabaseSync(options.file, { timeout: options.waitMs });
  try {
    const mode = prepare<[string]>(db, 'PRAGMA journal_mode = WAL').get()?.[0];
    if (mode !== 'wal') {
      throw new StoreError(
        'Unavailable',
        `database ${options.file}: its file system cannot do WAL mode; use a local disk`,
      );
    }
    db.exec(`PRAGMA synchronous = ${options.synchronous}; PRAGMA wal_autocheckpoint = 0;
      PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF`);
    if (options.largestFileBytes !== undefined) {
      const [pageSize = 4096] = prepare<[number]>(db, 'PRAGMA page_size').get() ?? [];
      db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(options.largestFileBytes / pageSize))}`);
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
