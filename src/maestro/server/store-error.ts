// What a failure of the store, or of the server itself, is to a caller.
import { isStoreError } from '../../store/errors.ts';
import { MaestroError } from './maestro-error.ts';

/** Never shows what the cause says: that is for the log. */
export function maestroError(error: unknown): MaestroError {
  if (error instanceof MaestroError) return error;
  if (isStoreError(error, 'Unavailable', 'Busy', 'OutcomeUnknown', 'Closed', 'Full', 'ReadOnly')) {
    return new MaestroError(26, 'The database cannot take the request now; try again', { cause: error });
  }
  if (isStoreError(error, 'Changed')) {
    return new MaestroError(6, 'The resource was changed by others meanwhile; try again', { cause: error });
  }
  if (isStoreError(error, 'NotFound')) return new MaestroError(7, 'The resource is gone', { cause: error });
  if (isStoreError(error, 'TooLarge', 'Invalid')) {
    return new MaestroError(8, 'The resource cannot be stored: it is too large or holds text that is not', {
      cause: error,
    });
  }
  return new MaestroError(9, 'Unspecified error', { cause: error });
}
