// What goes wrong at a Maestro server, by the numbers that its clients know. REST answers with them as JSON, gRPC in the text of a
// status.
import { status } from '@grpc/grpc-js';

interface ErrorKind {
  readonly http: number;
  readonly grpc: number;
  readonly meaning: string;
}

/** The catalogue: what `/errors` shows. */
export const errorKinds = {
  1: { http: 403, grpc: status.UNAUTHENTICATED, meaning: 'Invalid token' },
  4: { http: 403, grpc: status.PERMISSION_DENIED, meaning: 'Forbidden to perform this action' },
  6: { http: 409, grpc: status.ABORTED, meaning: 'An entity with the specified unique values already exists' },
  7: { http: 404, grpc: status.NOT_FOUND, meaning: 'Resource not found' },
  8: { http: 400, grpc: status.INVALID_ARGUMENT, meaning: 'General validation failure' },
  9: { http: 500, grpc: status.INTERNAL, meaning: 'Unspecified error' },
  10: { http: 405, grpc: status.UNIMPLEMENTED, meaning: 'HTTP Method not implemented for this endpoint' },
  11: { http: 403, grpc: status.PERMISSION_DENIED, meaning: 'Account is unauthorized to perform this action' },
  15: { http: 401, grpc: status.UNAUTHENTICATED, meaning: 'Account authentication could not be verified' },
  17: { http: 400, grpc: status.INVALID_ARGUMENT, meaning: 'Unable to read request body' },
  21: { http: 400, grpc: status.INVALID_ARGUMENT, meaning: 'Bad request' },
  23: { http: 400, grpc: status.INVALID_ARGUMENT, meaning: 'Failed to parse search query' },
  26: { http: 503, grpc: status.UNAVAILABLE, meaning: 'The database cannot take the request now' },
} as const satisfies Readonly<Record<number, ErrorKind>>;

export type ErrorCode = keyof typeof errorKinds;

export class MaestroError extends Error {
  readonly code: ErrorCode;

  /** `reason` is shown to the caller: it names what was asked for, never what is stored. */
  constructor(code: ErrorCode, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'MaestroError';
    this.code = code;
  }
}

export const basePath = '/api/maestro/v1';

/** The body of an error's answer. */
export function errorBody(code: ErrorCode, reason: string, operationId: string): Readonly<Record<string, string>> {
  return { ...catalogueEntry(code), reason, operation_id: operationId };
}

/** One line of the catalogue. */
export function catalogueEntry(code: ErrorCode): Readonly<Record<string, string>> {
  return {
    kind: 'Error',
    id: String(code),
    href: `${basePath}/errors/${code}`,
    code: `maestro-${code}`,
    reason: errorKinds[code].meaning,
  };
}

export function isErrorCode(text: string): text is `${ErrorCode}` {
  return Object.hasOwn(errorKinds, text);
}
