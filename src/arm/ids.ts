// Request, correlation and client-request ids: made or taken, bound to the request's logger, returned.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FastifyChildLoggerFactory } from 'fastify/types/logger.js';
import type { ArmRequest, ArmRoute } from './request.ts';

/** What an id from outside may look like to be logged and returned. */
const idForm = /^[A-Za-z0-9._:{}+/=-]{1,128}$/;

const noRoute: ArmRoute = {};
/** Where a raw request carries the id chosen for it: the logger is made before there is a fastify request. */
const chosen: unique symbol = Symbol('correlationId');

/** Every request gets a new GUID; what a client sends has no say in it. */
export function newRequestId(): string {
  return randomUUID();
}

/** The sent correlation id when it is well-formed, else a new one; the same for every call on one request. */
function correlationIdOf(raw: IncomingMessage): string {
  const marked: IncomingMessage & { [chosen]?: string } = raw;
  marked[chosen] ??= wellFormed(raw.headers['x-ms-correlation-request-id']) ?? randomUUID();
  return marked[chosen];
}

/** A server's `childLoggerFactory`: one child per request, with both ids on it. */
export const requestLogger: FastifyChildLoggerFactory = (logger, bindings, options, raw) =>
  logger.child({ ...bindings, correlationId: correlationIdOf(raw) }, options);

/** Puts `request.arm` in place and returns the ids to the caller. First of the hooks. */
export function ids(app: FastifyInstance): void {
  app.decorateRequest('arm');
  app.addHook('onRequest', (request, reply, done) => {
    const arm = newArmRequest(request);
    request.arm = arm;
    reply.header('x-ms-request-id', arm.requestId);
    reply.header('x-ms-correlation-request-id', arm.correlationId);
    if (arm.clientRequestId !== undefined && wantsEcho(request)) {
      reply.header('x-ms-client-request-id', arm.clientRequestId);
    }
    done();
  });
}

/** The state of a request before any other plugin has seen it. */
export function newArmRequest(request: FastifyRequest): ArmRequest {
  const { url, config } = request.routeOptions;
  return {
    requestId: request.id,
    correlationId: correlationIdOf(request.raw),
    clientRequestId: wellFormed(request.headers['x-ms-client-request-id']),
    startedAt: performance.now(),
    pattern: url,
    route: config?.arm ?? noRoute,
    caller: 'unauthenticated',
    fromArm: false,
    homeTenantId: undefined,
    clientObjectId: undefined,
    clientPrincipalName: undefined,
    identityUrl: undefined,
    notificationUri: undefined,
    apiVersion: '',
    subscription: undefined,
    errorCode: undefined,
    logged: false,
  };
}

function wantsEcho(request: FastifyRequest): boolean {
  const value = request.headers['x-ms-return-client-request-id'];
  return typeof value === 'string' && value.toLowerCase() === 'true';
}

function wellFormed(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && idForm.test(value) ? value : undefined;
}
