// Conditional headers of storage requests.
import { header, type StorageCall } from './call.ts';
import { storageError } from './errors.ts';

interface State {
  readonly etag: string;
  readonly modified: number;
}

/** Throws 412, or 304 for reads. `state` is undefined when there is nothing yet. */
export function checkConditions(call: StorageCall, state: State | undefined, isRead: boolean, prefix = ''): void {
  const get = (name: string): string | undefined => header(call, `${prefix}${name}`);
  const modified = state === undefined ? undefined : Math.floor(state.modified / 1000) * 1000;
  const fails = (): never => {
    throw prefix === ''
      ? storageError(412, 'ConditionNotMet')
      : storageError(
          412,
          'SourceConditionNotMet',
          'The source condition specified using HTTP conditional header(s) is not met.',
        );
  };
  const unchanged = (): never => {
    if (isRead && prefix === '') throw storageError(304, 'ConditionNotMet');
    return fails();
  };
  const ifMatch = get('if-match');
  if (ifMatch !== undefined && (state === undefined || !lists(ifMatch, state.etag))) fails();
  const ifNoneMatch = get('if-none-match');
  if (ifNoneMatch !== undefined && state !== undefined && lists(ifNoneMatch, state.etag)) {
    if (ifNoneMatch.trim() === '*' && !isRead) throw storageError(409, 'BlobAlreadyExists');
    unchanged();
  }
  const since = dateOf(get('if-modified-since'));
  if (since !== undefined && modified !== undefined && modified <= since) unchanged();
  const unmodified = dateOf(get('if-unmodified-since'));
  if (unmodified !== undefined && modified !== undefined && modified > unmodified) fails();
}

function lists(value: string, etag: string): boolean {
  return value.split(',').some((one) => {
    const text = one.trim().replace(/^W\//, '');
    return text === '*' || text === etag || `"${text}"` === etag;
  });
}

function dateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw storageError(400, 'InvalidHeaderValue');
  return time;
}
