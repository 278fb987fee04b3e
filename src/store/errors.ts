/** What went wrong, for code to branch on. */
export type StoreErrorCode =
  /** A document with this id is there already. */
  | 'Exists'
  /** No such document. */
  | 'NotFound'
  /** The document changed since it was read. */
  | 'Changed'
  /** Another document of the partition has these unique values; `uniqueKey` names the key. */
  | 'UniqueKey'
  /** The lease lapsed or another owner has it: whatever is done under it must stop. */
  | 'LeaseLost'
  /** A document or batch over the engine's limits; nothing was written. */
  | 'TooLarge'
  /** The document, key, filter or option cannot be stored or asked. */
  | 'Invalid'
  /** A continuation that this store did not make, or made for another query. */
  | 'InvalidContinuation'
  /** A feed continuation older than the history kept: read again from the beginning. */
  | 'ContinuationExpired'
  /** A sealed value does not open: its key is not in the ring or a byte was changed. */
  | 'Seal'
  /** The database is there but others held it for too long; trying again is safe. */
  | 'Busy'
  /** The database cannot be reached; nothing was written. */
  | 'Unavailable'
  /** The connection broke while a write was under way: it may or may not have happened. Read before trying again. */
  | 'OutcomeUnknown'
  /** No room left. */
  | 'Full'
  /** The file or its directory cannot be written. */
  | 'ReadOnly'
  /** The file is not a database, is damaged, or was written by a newer version. */
  | 'Corrupt'
  | 'Closed';

/** The one error type of the store. The message says what a person can do about it and never holds document contents. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** In a batch: which operation. */
  readonly operation?: number;
  /** With code UniqueKey: the name of the key. */
  readonly uniqueKey?: string;

  constructor(
    code: StoreErrorCode,
    message: string,
    more: { operation?: number; uniqueKey?: string; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'StoreError';
    this.code = code;
    if (more.operation !== undefined) this.operation = more.operation;
    if (more.uniqueKey !== undefined) this.uniqueKey = more.uniqueKey;
  }
}

export function isStoreError(error: unknown, ...codes: StoreErrorCode[]): error is StoreError {
  return error instanceof StoreError && (codes.length === 0 || codes.includes(error.code));
}
