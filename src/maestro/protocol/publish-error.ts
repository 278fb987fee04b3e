// What a server answered to a publish that it did not take.
import { type ServiceError, status } from '@grpc/grpc-js';

export type PublishFailure =
  /** The bundle or the event is wrong; sending it again does not help. */
  | 'invalid'
  /** There is one already, the version is not the latest, or the bundle is being deleted. */
  | 'conflict'
  /** No such bundle, or no such consumer. */
  | 'not-found'
  | 'forbidden'
  | 'unauthenticated'
  /** The server cannot be reached or cannot say; sending it again may help. */
  | 'unavailable'
  /** The server failed or gave a reason that is not known here. */
  | 'failed';

export class PublishError extends Error {
  readonly failure: PublishFailure;

  constructor(failure: PublishFailure, message: string) {
    super(message);
    this.name = 'PublishError';
    this.failure = failure;
  }
}

const byStatus: ReadonlyMap<number, PublishFailure> = new Map<number, PublishFailure>([
  [status.INVALID_ARGUMENT, 'invalid'],
  [status.OUT_OF_RANGE, 'invalid'],
  [status.ALREADY_EXISTS, 'conflict'],
  [status.ABORTED, 'conflict'],
  [status.FAILED_PRECONDITION, 'conflict'],
  [status.NOT_FOUND, 'not-found'],
  [status.PERMISSION_DENIED, 'forbidden'],
  [status.UNAUTHENTICATED, 'unauthenticated'],
  [status.UNAVAILABLE, 'unavailable'],
  [status.DEADLINE_EXCEEDED, 'unavailable'],
  [status.CANCELLED, 'unavailable'],
  [status.RESOURCE_EXHAUSTED, 'unavailable'],
]);

/** Servers that answer UNKNOWN for everything say which error it was in the text: `maestro-6: This Resource already exists`. */
const byMaestroCode: ReadonlyMap<string, PublishFailure> = new Map<string, PublishFailure>([
  ['1', 'unauthenticated'],
  ['4', 'forbidden'],
  ['6', 'conflict'],
  ['7', 'not-found'],
  ['8', 'invalid'],
  ['11', 'forbidden'],
  ['15', 'unauthenticated'],
  ['17', 'invalid'],
  ['21', 'invalid'],
  ['26', 'unavailable'],
]);

const maxDetails = 1024;

export function publishError(error: Pick<ServiceError, 'code' | 'details'>): PublishError {
  const details = error.details.slice(0, maxDetails);
  const [, code = ''] = /\bmaestro-([0-9]{1,3})\b/.exec(details) ?? [];
  const failure = byMaestroCode.get(code) ?? byStatus.get(error.code) ?? 'failed';
  return new PublishError(failure, `the Maestro server did not take the event: ${details}`);
}
