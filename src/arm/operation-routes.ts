// The two routes by which clients follow an operation: its status, and its result.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Document, Key } from '../store/store.ts';
import { ArmError, type ErrorBody } from './errors.ts';
import { linkTo } from './links.ts';
import {
  isOperation,
  isTerminal,
  isVisible,
  type OperationDocument,
  operationDocumentId,
  operationStatus,
} from './operation.ts';
import { type OperationOptions, resultPath, statusPath } from './operation-paths.ts';
import { isGuid } from './resource-id.ts';

/** Renders the result of an operation that succeeded, in the api-version of the poll. */
export type OperationResult = (
  document: OperationDocument,
  request: FastifyRequest,
  reply: FastifyReply,
) => unknown | Promise<unknown>;

export interface OperationRoutesOptions extends OperationOptions {
  /** The container with the operations, or anything that reads like it. */
  readonly container: { read(key: Key): Promise<Document<object> | undefined> };
  /** By the operation's `request`: `Create` → 201 and the resource, `Delete` → 204, as the product has it. */
  readonly results: Readonly<Record<string, OperationResult>>;
  /** The same for one that failed, where the product does not answer with the operation's error. */
  readonly failedResult?: OperationResult;
}

interface Parameters {
  readonly subscriptionId: string;
  readonly location: string;
  readonly operationId: string;
}

export function operationRoutes(app: FastifyInstance, options: OperationRoutesOptions): void {
  const { paths } = options;
  const base = `/subscriptions/:subscriptionId/providers/${paths.provider}/locations/:location`;
  // An operation can be followed to its end whatever becomes of the subscription meanwhile; whose it is goes by its tenant.
  const config = { arm: { subscriptionGate: 'lookup' as const } };

  app.get<{ Params: Parameters }>(`${base}/${paths.statusSegment}/:operationId`, { config }, async (request, reply) => {
    const document = await find(request, options);
    if (!isTerminal(document.status)) reply.header('retry-after', String(options.retryAfterSeconds));
    return operationStatus(document, statusPath(document, paths));
  });

  app.get<{ Params: Parameters }>(`${base}/${paths.resultSegment}/:operationId`, { config }, async (request, reply) => {
    const document = await find(request, options);
    if (!isTerminal(document.status)) {
      reply.header('location', linkTo(request, options.links, resultPath(document, paths)));
      reply.header('retry-after', String(options.retryAfterSeconds));
      return reply.code(202).send();
    }
    if (document.status !== 'Succeeded') {
      if (options.failedResult) return options.failedResult(document, request, reply);
      throw failure(document);
    }
    const render = Object.hasOwn(options.results, document.request) ? options.results[document.request] : undefined;
    return render ? render(document, request, reply) : reply.code(204).send();
  });
}

async function find(
  request: FastifyRequest<{ Params: Parameters }>,
  options: OperationRoutesOptions,
): Promise<OperationDocument> {
  const { subscriptionId, location, operationId } = request.params;
  // Not found and not visible look the same.
  const missing = (): ArmError =>
    new ArmError(404, 'ResourceNotFound', 'The operation was not found. Operations are kept for 7 days.', {
      target: `/subscriptions/${subscriptionId}/providers/${options.paths.provider}/locations/${location}`,
    });
  if (!isGuid(operationId)) throw missing();
  const key = { partition: subscriptionId.toLowerCase(), id: operationDocumentId(operationId) };
  const body = (await options.container.read(key))?.body;
  if (!isOperation(body) || !isVisible(body, request, subscriptionId)) throw missing();
  if (body.location.toLowerCase() !== location.toLowerCase()) throw missing();
  return body;
}

/** The error of an operation that failed or was cancelled, with the status that fits it. */
function failure(document: OperationDocument): ArmError {
  const error: ErrorBody = document.error ?? {
    code: document.status === 'Canceled' ? 'Canceled' : 'InternalServerError',
    message: document.status === 'Canceled' ? 'The operation was cancelled.' : 'The operation failed.',
  };
  return new ArmError(document.errorStatus ?? statusOf(error.code), error.code, error.message, error);
}

/** Codes whose status is not 400. */
const statuses: Readonly<Record<string, number>> = {
  InternalServerError: 500,
  ServiceUnavailable: 503,
  Canceled: 409,
  Conflict: 409,
  Forbidden: 403,
  ScopeLocked: 409,
  ThrottlingLimitExceeded: 429,
};

function statusOf(code: string): number {
  return (Object.hasOwn(statuses, code) ? statuses[code] : undefined) ?? (code.endsWith('NotFound') ? 404 : 400);
}
