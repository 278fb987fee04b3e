import { StoreError, type StoreErrorCode } from '../errors.ts';

/** SQLite's primary result codes that the store acts on. */
export const resultCode = {
  error: 1,
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  schema: 17,
  tooBig: 18,
  constraint: 19,
  misuse: 21,
  notADatabase: 26,
} as const;

const sharedMemorySize = 4874;
const extendedOf = new Map<number, readonly [StoreErrorCode, string]>([
  [sharedMemorySize, ['Full', 'there is no room left on the disk; free some, then try again']],
]);

const meanings = new Map<number, readonly [StoreErrorCode, string]>([
  [resultCode.busy, ['Busy', 'another process kept it locked for too long; trying again is safe']],
  [resultCode.locked, ['Busy', 'another process kept it locked for too long; trying again is safe']],
  [resultCode.noMemory, ['Unavailable', 'there is not enough memory; nothing was written']],
  [resultCode.readOnly, ['ReadOnly', 'it or its directory cannot be written; check the owner, the mode and the mount']],
  [
    resultCode.ioError,
    ['Unavailable', 'the disk answered with an error; nothing was written; check the disk and its mount'],
  ],
  [resultCode.corrupt, ['Corrupt', damaged('it is damaged')]],
  [resultCode.notADatabase, ['Corrupt', damaged('it is not a database')]],
  [resultCode.full, ['Full', 'there is no room left on the disk; nothing was written; free some, then try again']],
  [
    resultCode.cantOpen,
    ['ReadOnly', 'its -wal and -shm files cannot be made beside it; check the mode and the mount of its directory'],
  ],
  [resultCode.schema, ['Busy', 'its tables were changed meanwhile; trying again is safe']],
  [resultCode.tooBig, ['TooLarge', 'a value is over the size that SQLite takes']],
]);

/** What a person does about a file that cannot be read. */
export function damaged(what: string): string {
  return `${what}; stop what uses it, then restore the file from a backup, or remove it together with its -wal and -shm files to start empty`;
}

/** The extended result code of an error thrown by node:sqlite; undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

export function isSqlite(error: unknown, primary: number): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code & 0xff) === primary;
}

/** Somebody else has the lock: the same statement works when tried again later. */
export function isBusy(error: unknown): boolean {
  return isSqlite(error, resultCode.busy) || isSqlite(error, resultCode.locked);
}

/** Any error as the store's own, naming the file and what to do. */
export function storeError(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  const code = sqliteCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === undefined) {
    return /database is not open|statement has been finalized/.test(message)
      ? closedError(file)
      : new StoreError('Unavailable', `database ${file}: ${message}`, { cause: error });
  }
  if ((code & 0xff) === resultCode.error && /no such (table|column)/.test(message)) {
    const changed = 'its tables were changed by another version of this program; restart this process';
    return new StoreError('Unavailable', `database ${file}: ${changed} (${message})`, { cause: error });
  }
  const [meaning, advice] = extendedOf.get(code) ??
    meanings.get(code & 0xff) ?? ['Invalid', 'SQLite refused the statement'];
  return new StoreError(meaning, `database ${file}: ${advice} (SQLite ${code}: ${message})`, { cause: error });
}

export function closedError(file: string): StoreError {
  return new StoreError('Closed', `database ${file} was closed by this process`);
}
