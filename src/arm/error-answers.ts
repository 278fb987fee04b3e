// Hooks error-wire.ts into a scope: what handlers throw, unknown paths, wrong methods.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseExpectation } from '../kit/client-error.ts';
import { isConditional } from './conditional.ts';
import { methodNotAllowed, pathNotFound, toWire, type WireOptions } from './error-wire.ts';
import { jsonText, type OutputOptions } from './output.ts';
import { pathOf } from './request.ts';
import { routesSeen } from './routes-seen.ts';

export interface AnswerOptions extends WireOptions {
  readonly output: OutputOptions;
}

export function errorAnswers(app: FastifyInstance, options: AnswerOptions & { readonly unknownPaths: boolean }): void {
  const methodsOf = routesSeen(app);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, options));
  if (app.server.listenerCount('checkExpectation') === 0) app.server.on('checkExpectation', refuseExpectation);
  if (!options.unknownPaths) return;
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(pathOf(request));
    const error = methods.length === 0 ? pathNotFound() : methodNotAllowed(request.method, methods);
    return sendError(error, request, reply, options);
  });
}

/** Answers with the error and logs what the caller must not see. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: AnswerOptions,
): FastifyReply {
  const wire = toWire(error, { requestId: request.id, conditional: isConditional(request) }, options);
  if (request.arm) request.arm.errorCode = wire.body.error.code;
  if (wire.hidden) request.log.error({ err: error }, 'request failed');
  // Headers that the handler set belong to the answer it did not give.
  for (const name of ['etag', 'location', 'azure-asyncoperation', 'azure-asyncnotification']) reply.removeHeader(name);
  // HTTP/2 has no such header; the framework sets it for a body that was not read.
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  // The scope's own serializer does not reach what no route of it answers.
  reply.serializer((payload: unknown) => jsonText(payload, options.output));
  return reply.code(wire.status).headers(wire.headers).type('application/json').send(wire.body);
}
