// Every error to bytes, in one place: status, body, `x-ms-error-code`, `Retry-After`.
import { isStoreError, type StoreErrorCode } from '../store/errors.ts';
import { ArmError, type ErrorBody, errorBody } from './errors.ts';

/** `Retry-After` of errors that do not say another. */
const retryAfterSeconds = { serviceUnavailable: 59, tooManyRequests: 10, changed: 1, busy: 5 } as const;

export interface WireOptions {
  /** Status for a body over the limit; the code is InvalidResource. 400 is what ARM clients of both products know. */
  readonly bodyTooLargeStatus: 400 | 413;
  /** Status for a write that lost its race without a condition; the code is Conflict, to be tried again after a second. 409 when left out. */
  readonly lostRaceStatus?: 409 | 429;
}

/** What is known of the request that failed. */
export interface FailedRequest {
  readonly requestId: string;
  /** It carried If-Match or If-None-Match, so a lost race is a failed precondition. */
  readonly conditional: boolean;
}

export interface WireError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: ErrorBody };
  /** The cause is ours and the caller cannot see it: log the error itself. */
  readonly hidden: boolean;
}

/** Turns anything that was thrown into an answer. Never throws. */
export function toWire(thrown: unknown, request: FailedRequest, options: WireOptions): WireError {
  const known =
    thrown instanceof ArmError ? thrown : (fromStore(thrown, request, options) ?? fromFastify(thrown, options));
  const error = known ?? internal(request.requestId);
  const retryAfter = error.retryAfterSeconds ?? retryAfterOf(error);
  return {
    status: error.status,
    headers: {
      ...error.headers,
      'x-ms-error-code': headerSafe(error.code),
      ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.max(0, Math.ceil(retryAfter))) }),
    },
    body: { error: errorBody(error) },
    hidden: known === undefined || error.status >= 500,
  };
}

function internal(requestId: string): ArmError {
  const message = `An internal error occurred. Try again; if it stays, ask for help and quote request id ${requestId}.`;
  return new ArmError(500, 'InternalServerError', message);
}

function retryAfterOf(error: ArmError): number | undefined {
  if (error.status === 503 || error.code === 'ServiceUnavailable') return retryAfterSeconds.serviceUnavailable;
  return error.status === 429 ? retryAfterSeconds.tooManyRequests : undefined;
}

const unavailableMessage =
  'The service cannot reach its database at the moment. Nothing is wrong with the request: try again.';
const changedMessage =
  'The resource was changed by another request at the same time. Read it again and repeat the request.';

type StoreRow = (request: FailedRequest, options: WireOptions) => ArmError | undefined;

/** Codes left out (a damaged file, a missing key) are for operators: the caller gets the bare 500. */
const storeRows: Partial<Record<StoreErrorCode, StoreRow>> = {
  Exists: (request, options) =>
    request.conditional ? preconditionFailed('another request created the resource') : lostRace(options),
  Changed: (request, options) => (request.conditional ? preconditionFailed() : lostRace(options)),
  LeaseLost: (_, options) => lostRace(options),
  UniqueKey: () => new ArmError(409, 'Conflict', 'Another resource already has a value that must be unique.'),
  NotFound: (request) =>
    request.conditional ? preconditionFailed() : new ArmError(404, 'ResourceNotFound', 'The resource was not found.'),
  TooLarge: (_, options) =>
    new ArmError(options.bodyTooLargeStatus, 'InvalidResource', 'The resource is too large to be stored.'),
  Invalid: () => new ArmError(400, 'InvalidParameter', 'A name or value in the request cannot be stored.'),
  InvalidContinuation: () => badContinuation(),
  ContinuationExpired: () => badContinuation(),
  Busy: () =>
    new ArmError(503, 'ServiceUnavailable', unavailableMessage, { retryAfterSeconds: retryAfterSeconds.busy }),
  Unavailable: () => new ArmError(503, 'ServiceUnavailable', unavailableMessage),
  OutcomeUnknown: () =>
    new ArmError(
      503,
      'ServiceUnavailable',
      'The connection to the database broke during the write, which may or may not have happened. Read the resource, then try again.',
    ),
  Full: () => new ArmError(503, 'ServiceUnavailable', 'The service has no room left to store the request.'),
  Closed: () => new ArmError(503, 'ServiceUnavailable', 'The service is stopping. Try again.'),
};

function fromStore(thrown: unknown, request: FailedRequest, options: WireOptions): ArmError | undefined {
  return isStoreError(thrown) ? storeRows[thrown.code]?.(request, options) : undefined;
}

function lostRace(options: WireOptions): ArmError {
  const more = { retryAfterSeconds: retryAfterSeconds.changed };
  return new ArmError(options.lostRaceStatus ?? 409, 'Conflict', changedMessage, more);
}

function preconditionFailed(why = 'the resource changed since it was read'): ArmError {
  const message = `The condition given in If-Match or If-None-Match is not met: ${why}.`;
  return new ArmError(412, 'PreconditionFailed', message, { retryAfterSeconds: retryAfterSeconds.changed });
}

function badContinuation(): ArmError {
  return new ArmError(400, 'InvalidParameter', 'The $skipToken is not valid. Start the list again.', {
    target: '$skipToken',
  });
}

/** Status, code and wording of the framework's own refusals. */
const fastifyRows: Readonly<Record<string, (options: WireOptions) => ArmError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (options) => bodyTooLarge(options),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ArmError(415, 'UnsupportedMediaType', "The content type must be 'application/json'."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ArmError(400, 'InvalidRequestContent', 'The body is not as long as Content-Length says.'),
  FST_ERR_BAD_URL: () => new ArmError(400, 'InvalidParameter', 'The request path is not a valid URL path.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new ArmError(400, 'InvalidParameter', 'A segment of the request path is too long.'),
  FST_ERR_NOT_FOUND: () => pathNotFound(),
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: () =>
    new ArmError(415, 'UnsupportedMediaType', "The content type must be 'application/json'."),
  FST_ERR_HANDLER_TIMEOUT: () => new ArmError(503, 'ServiceUnavailable', 'The request took too long. Try again.'),
};

function fromFastify(thrown: unknown, options: WireOptions): ArmError | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, statusCode } = thrown as Error & { code?: unknown; statusCode?: unknown };
  const row = typeof code === 'string' && Object.hasOwn(fastifyRows, code) ? fastifyRows[code] : undefined;
  if (row) return row(options);
  // A request that broke off while its body was read reaches here with a status of 400 from the framework.
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new ArmError(400, 'InvalidRequestContent', 'The request ended before its body was complete.');
  }
  const isFastify = typeof code === 'string' && code.startsWith('FST_');
  if (isFastify && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new ArmError(statusCode, 'InvalidParameter', 'The request is not valid.');
  }
  return undefined;
}

/** For a body over the limit. */
export function bodyTooLarge(options: WireOptions): ArmError {
  return new ArmError(
    options.bodyTooLargeStatus,
    'InvalidResource',
    'The request body is larger than the service accepts.',
  );
}

/** For a path that no route has. The path is not repeated: it is the caller's text. */
export function pathNotFound(): ArmError {
  return new ArmError(404, 'NotFound', 'The requested path could not be found.');
}

/** For a path that has routes, none of them with this method. */
export function methodNotAllowed(method: string, allowed: readonly string[]): ArmError {
  const message = `The method ${method} is not allowed on this path. Allowed: ${allowed.join(', ')}.`;
  return new ArmError(405, 'MethodNotAllowed', message, { headers: { allow: allowed.join(', ') } });
}

/** Header values are ASCII without line breaks; a code from elsewhere might not be. */
function headerSafe(code: string): string {
  return /^[\x21-\x7e]{1,200}$/.test(code) ? code : 'Unknown';
}
