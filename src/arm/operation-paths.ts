// Where operations are on the wire. Each product has its own names for the two segments.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type LinkOptions, linkTo } from './links.ts';
import { isTerminal, type OperationDocument } from './operation.ts';

export interface OperationPaths {
  /** Provider namespace as it should be spelt in links. */
  readonly provider: string;
  readonly statusSegment: string;
  readonly resultSegment: string;
}

export interface OperationOptions {
  readonly paths: OperationPaths;
  readonly links: LinkOptions;
  /** How long a client should wait before it asks again. */
  readonly retryAfterSeconds: number;
}

export function statusPath(document: OperationDocument, paths: OperationPaths): string {
  return operationPath(document, paths, paths.statusSegment);
}

export function resultPath(document: OperationDocument, paths: OperationPaths): string {
  return operationPath(document, paths, paths.resultSegment);
}

function operationPath(document: OperationDocument, paths: OperationPaths, segment: string): string {
  const { subscriptionId, location, operationId } = document;
  return `/subscriptions/${subscriptionId}/providers/${paths.provider}/locations/${location}/${segment}/${operationId}`;
}

/** Sets the headers of an answer that starts an operation. `location` is for DELETE, PATCH and POST, whose result is elsewhere. */
export function announceOperation(
  request: FastifyRequest,
  reply: FastifyReply,
  document: OperationDocument,
  options: OperationOptions & { readonly location: boolean },
): void {
  reply.header('azure-asyncoperation', linkTo(request, options.links, statusPath(document, options.paths)));
  if (options.location) reply.header('location', linkTo(request, options.links, resultPath(document, options.paths)));
  if (document.notificationUri !== undefined) reply.header('azure-asyncnotification', 'Enabled');
  if (!isTerminal(document.status)) reply.header('retry-after', String(options.retryAfterSeconds));
}
