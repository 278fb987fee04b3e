// What PostgreSQL and its connections report, as the store's own errors. Messages name the server but never the password, and
// never what a document holds: the database's own texts may quote values, so only harmless ones are passed on.
import { isStoreError, StoreError, type StoreErrorCode } from '../errors.ts';

/** What was under way when it went wrong. */
export type Stage = 'connect' | 'read' | 'write';

interface DatabaseError extends Error {
  readonly code?: string;
  readonly severity?: string;
  readonly detail?: string;
  readonly constraint?: string;
}

/** The SQLSTATE that the functions in write-functions.ts and queue-functions.ts raise: the message is the StoreErrorCode. */
export const refusalState = 'ARO00';

const byState: Readonly<Record<string, readonly [StoreErrorCode, string]>> = {
  '22021': ['Invalid', 'PostgreSQL cannot store text with the character U+0000'],
  '22P05': ['Invalid', 'PostgreSQL cannot store text with the character U+0000 or half a surrogate pair'],
  '22P02': ['Invalid', 'PostgreSQL cannot store this text: it is not JSON, or holds half a surrogate pair'],
  '22025': ['Invalid', 'a pattern must not end with a single backslash'],
  '22003': ['Invalid', 'a number is out of range'],
  '25006': ['ReadOnly', 'the server takes no writes: it is a standby, or its default is read-only'],
  '40001': ['Busy', 'others changed the same rows each time; try again'],
  '40P01': ['Busy', 'others changed the same rows each time; try again'],
  '42501': ['ReadOnly', 'the account may not do this: grant it the schema and its tables'],
  '53100': ['Full', 'its disk is full'],
  '53200': ['Busy', 'it is out of memory; try again later'],
  '53300': ['Busy', 'it has no connection left: raise its max_connections, or lower maxConnections here'],
  '54000': ['TooLarge', 'a value is larger than PostgreSQL can index'],
  '54001': ['Invalid', 'the document or filter is nested too deeply'],
  '55P03': ['Busy', 'others held a lock for too long; try again'],
  '57014': ['Busy', 'the statement took longer than its timeout and was undone; try again'],
  '58030': ['Unavailable', 'it cannot read or write its files'],
  '3D000': ['Unavailable', 'it has no database of that name: create it, or correct the configuration'],
  '28000': ['Unavailable', 'it refused the account: check the user name and pg_hba.conf'],
  '28P01': ['Unavailable', 'it refused the password of the account'],
  XX001: ['Corrupt', 'it found damaged data: restore it from a backup'],
  XX002: ['Corrupt', 'it found a damaged index: REINDEX, or restore from a backup'],
};

/** Going down, or not up yet: the connection is lost, and with it the answer to what was under way. */
const goingOrComing: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '57P05']);

/** Undone by the database itself and worth trying again at once. */
export function isRepeatable(error: unknown): boolean {
  return stateOf(error) === '40001' || stateOf(error) === '40P01';
}

/** The name of the violated constraint or index; undefined when the error is another one. */
export function violatedConstraint(error: unknown): string | undefined {
  return stateOf(error) === '23505' ? (error as DatabaseError).constraint : undefined;
}

/** Whether the connection is gone, so that another one may do better. */
export function isConnectionLost(error: unknown): boolean {
  const state = stateOf(error);
  return state === undefined ? !isStoreError(error) : goingOrComing.has(state) || state.startsWith('08');
}

/** `uniqueKeyOf` turns the name of a violated constraint into the name of the unique key. */
export function toStoreError(
  error: unknown,
  stage: Stage,
  server: string,
  uniqueKeyOf: (constraint: string) => string | undefined = () => undefined,
): StoreError {
  if (error instanceof StoreError) return error;
  const state = stateOf(error);
  if (state === refusalState) return refusal(error as DatabaseError, uniqueKeyOf);
  const told = `PostgreSQL at ${server}`;
  if (state === undefined || isConnectionLost(error)) {
    const cause = new Error(shortReason(error, state));
    if (stage === 'write') {
      return new StoreError(
        'OutcomeUnknown',
        `${told}: the connection broke while a write was under way; read before trying again`,
        { cause },
      );
    }
    const why = isTimeout(error) ? 'did not answer in time' : 'cannot be reached';
    return new StoreError('Unavailable', `${told} ${why} (${cause.message})`, { cause });
  }
  const cause = new Error(`SQLSTATE ${state}${quotesNothing(state) ? `: ${(error as Error).message}` : ''}`);
  const [code, why] = byState[state] ?? ['Corrupt', 'it refused a statement of the store, which should not be'];
  return new StoreError(code, `${told}: ${why} (SQLSTATE ${state})`, { cause });
}

function refusal(error: DatabaseError, uniqueKeyOf: (constraint: string) => string | undefined): StoreError {
  const code = error.message as StoreErrorCode;
  const operation = error.detail === undefined ? undefined : Number(error.detail);
  const uniqueKey = error.constraint === undefined ? undefined : uniqueKeyOf(error.constraint);
  const texts: Partial<Record<StoreErrorCode, string>> = {
    Exists: 'a document with this id is there already',
    NotFound: 'there is no such document',
    Changed: 'the document changed since it was read; read it again',
    UniqueKey: `another document of the partition has the same values of the unique key ${uniqueKey ?? ''}`,
    LeaseLost: 'the lease lapsed or another owner has it; stop the work done under it',
  };
  return new StoreError(code, texts[code] ?? 'the store refused the write', {
    ...(operation === undefined ? {} : { operation }),
    ...(uniqueKey === undefined ? {} : { uniqueKey }),
  });
}

function stateOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as DatabaseError).code : undefined;
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && (error as DatabaseError).severity !== undefined
    ? code
    : undefined;
}

/** Data errors (22, 23) quote the data. */
function quotesNothing(state: string): boolean {
  return !state.startsWith('22') && !state.startsWith('23');
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout/i.test(error.message);
}

function shortReason(error: unknown, state: string | undefined): string {
  if (state !== undefined) return `SQLSTATE ${state}: ${(error as Error).message}`;
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code === 'string') return code;
  // Several addresses tried, all failed.
  if (error instanceof AggregateError && error.errors[0] !== undefined) return shortReason(error.errors[0], undefined);
  return error instanceof Error ? error.message : 'unknown reason';
}
