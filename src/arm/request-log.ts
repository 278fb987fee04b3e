// One line per request when it is over. Never a body, never the query (it may hold skip tokens and secrets).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from './request.ts';

const pathMaxLength = 1024;
/** What is logged for a caller that went away before the answer; never sent. */
const clientClosed = 499;

/** Writes the line after the answer, or when the caller goes away before it. */
export function requestLog(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply, reply.statusCode);
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    logRequest(request, undefined, clientClosed);
    done();
  });
}

/** The line itself; a second call for the same request does nothing. */
export function logRequest(request: FastifyRequest, reply: FastifyReply | undefined, status: number): void {
  const arm = request.arm;
  if (!arm || arm.logged) return;
  arm.logged = true;
  const path = pathOf(request);
  const line = {
    method: request.method,
    route: arm.pattern ?? '<no match>',
    path: path.length > pathMaxLength ? path.slice(0, pathMaxLength) : path,
    apiVersion: arm.apiVersion,
    status,
    outcome: status < 400 ? 'success' : status < 500 ? 'userError' : 'serverError',
    durationMs: Math.round((performance.now() - arm.startedAt) * 1000) / 1000,
    bytesOut: bytesOf(reply),
    caller: arm.caller,
    principal: arm.clientPrincipalName,
    clientRequestId: arm.clientRequestId,
    errorCode: arm.errorCode,
  };
  if (status >= 500) request.log.error(line, 'request');
  else request.log.info(line, 'request');
}

function bytesOf(reply: FastifyReply | undefined): number | undefined {
  const length = reply?.getHeader('content-length');
  return length === undefined ? undefined : Number(length);
}
