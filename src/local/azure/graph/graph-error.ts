// Errors in the words and form of Microsoft Graph.
import { quotable } from '../../../arm/query.ts';
import type { BearerError, BearerProblem } from '../entra/bearer.ts';

export class GraphError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'GraphError';
    this.status = status;
    this.code = code;
  }
}

export function badRequest(message: string): GraphError {
  return new GraphError(400, 'Request_BadRequest', message);
}

export function notFound(id: string): GraphError {
  return new GraphError(
    404,
    'Request_ResourceNotFound',
    `Resource '${quotable(id)}' does not exist or one of its queried reference-property objects are not present.`,
  );
}

export function denied(): GraphError {
  return new GraphError(403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.');
}

export function conflict(message: string): GraphError {
  return new GraphError(409, 'Request_MultipleObjectsWithSameKeyValue', message);
}

export function unsupportedQuery(message: string): GraphError {
  return new GraphError(400, 'Request_UnsupportedQuery', message);
}

/** The query is not OData at all, or names what is not there. */
export function badQuery(message: string): GraphError {
  return new GraphError(400, 'BadRequest', message);
}

export function unknownProperty(name: string, type: string): GraphError {
  return badQuery(`Could not find a property named '${quotable(name)}' on type 'microsoft.graph.${type}'.`);
}

export function quotaExceeded(): GraphError {
  return new GraphError(
    403,
    'Directory_QuotaExceeded',
    'The directory object quota limit has been exceeded. Delete objects that are no longer needed, then try again.',
  );
}

const tokenMessages: Readonly<Record<BearerProblem, string>> = {
  missing: 'Access token is empty.',
  malformed: 'IDX14100: JWT is not well formed, or its signature is not valid.',
  expired: 'Lifetime validation failed, the token is expired.',
  audience: 'Access token validation failure. Invalid audience.',
  issuer: 'Access token validation failure. Invalid issuer.',
  gone: 'The identity of the calling application or user could not be established.',
};

export function unauthorized(error: BearerError): GraphError {
  return new GraphError(401, 'InvalidAuthenticationToken', tokenMessages[error.problem]);
}
