// The front of Resource Manager. Every request goes through these steps, in this order; the first that refuses decides the answer.
//
//   ids             x-ms-request-id, correlation and routing ids on every answer
//   path            malformed paths, subscription ids and group names: 400
//   caller          the token, by the directory: 401
//   subscription    unknown: 404
//   dispatch        which path, method and api-version: 404, 405, 400
//   throttling      by subscription and principal: 429
//   authorisation   by role assignments: 403
//   faults          errors and delays that were asked for
//   body            type, size, JSON: 415, 413, 400
//   answer          the resource engine, or what the path is for
//
// Nothing of a body is read before the caller is known and may make the request.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { body as bodyParser } from '../../../arm/body.ts';
import { isConditional } from '../../../arm/conditional.ts';
import { toWire } from '../../../arm/error-wire.ts';
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { type HttpRequest, isHttp2 } from '../../../kit/http-server.ts';
import { faultError } from '../kernel/fault-table.ts';
import type { FaultEffect } from '../kernel/faults.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import { repeatedVersion } from './api-version.ts';
import { audiencesOf } from './audiences.ts';
import type { Answer, ArmCall, Front, Method } from './call.ts';
import type { Dispatched, Dispatcher } from './dispatch.ts';
import { parseLenientJson } from './lenient-json.ts';
import { checkPlace, segmentsOf } from './path.ts';
import type { CallKind, Throttle } from './throttle.ts';

export interface FrontOptions extends Front {
  readonly dispatcher: Dispatcher;
  readonly throttle: Throttle;
}

const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'] as const satisfies readonly Method[];
/** Where Resource Manager's paths start. */
const roots = ['/subscriptions', '/providers', '/tenants'] as const;
const bodyLimitBytes = 4 * 1024 * 1024;
const bodyMaxDepth = 200;
const idForm = /^[A-Za-z0-9._:{}+/=-]{1,128}$/;

/** A request that may be answered. */
interface Admitted {
  readonly segments: readonly string[];
  readonly query: { readonly [name: string]: string };
  readonly caller: CallerIdentity;
  readonly dispatched: Dispatched;
  readonly faults: readonly FaultEffect[];
}

/** Puts Resource Manager's routes on an app, in a scope of their own. */
export async function armFront(app: FastifyInstance, options: FrontOptions): Promise<void> {
  await app.register(async (scope) => {
    const admittedOf = new WeakMap<FastifyRequest, Admitted>();
    bodyParser(scope, {
      limitBytes: bodyLimitBytes,
      maxDepth: bodyMaxDepth,
      bodyTooLargeStatus: 413,
      parse: parseLenientJson,
    });
    scope.setErrorHandler(sendError);
    scope.addHook('onRequest', async (request, reply) => {
      ids(request, reply);
      admittedOf.set(request, await admit(request, reply, options));
    });
    const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const admitted = admittedOf.get(request);
      if (admitted === undefined) throw new Error('a request came by without being admitted');
      const answer = await admitted.dispatched.run(callOf(request, admitted, options));
      if (admitted.faults.some(({ kind }) => kind === 'lostAnswer')) return loseAnswer(request, reply);
      return send(reply, answer);
    };
    for (const root of roots) {
      for (const url of [root, `${root}/*`]) scope.route({ method: [...methods], url, handler: handle });
    }
  });
}

function ids(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-ms-request-id', request.id);
  reply.header('x-ms-correlation-request-id', correlationOf(request));
  reply.header('x-ms-routing-request-id', `LOCAL:${request.id}`);
  reply.header('strict-transport-security', 'max-age=31536000; includeSubDomains');
  reply.header('cache-control', 'no-cache');
  reply.header('x-content-type-options', 'nosniff');
  const client = request.headers['x-ms-client-request-id'];
  const wanted = request.headers['x-ms-return-client-request-id'];
  if (typeof client === 'string' && idForm.test(client) && typeof wanted === 'string' && foldCase(wanted) === 'true')
    reply.header('x-ms-client-request-id', client);
}

/** The client's, when it is well-formed. */
function correlationOf(request: FastifyRequest): string {
  const sent = request.headers['x-ms-correlation-request-id'];
  return typeof sent === 'string' && idForm.test(sent) ? sent : request.id;
}

async function admit(request: FastifyRequest, reply: FastifyReply, options: FrontOptions): Promise<Admitted> {
  const { world, dispatcher, throttle } = options;
  const segments = segmentsOf(request.raw.url ?? '/');
  checkPlace(segments);
  const caller = await authenticate(request, options);
  const subscriptionId = subscriptionOf(segments);
  if (subscriptionId !== undefined && world.subscriptions.find(subscriptionId) === undefined)
    throw new ArmError(404, 'SubscriptionNotFound', `The subscription '${subscriptionId}' could not be found.`);
  const method = request.method as Method;
  const query = queryOf(request);
  const dispatched = dispatcher.dispatch(method, segments, query);
  const kind = kindOf[method];
  const remaining = throttle.take(subscriptionId, caller.objectId, kind);
  reply.header(
    `x-ms-ratelimit-remaining-${subscriptionId === undefined ? 'tenant' : 'subscription'}-${kind}`,
    remaining,
  );
  if (dispatched.needs) await world.access.demand(caller, dispatched.needs.action, dispatched.needs.scope);
  const faults = world.faults.on({ method, host: request.host, path: `/${segments.join('/')}` });
  for (const fault of faults) {
    if (fault.kind === 'error') throw faultError(fault);
    if (fault.kind === 'latency') await delay(fault.ms, undefined, { signal: world.stopping, ref: false });
  }
  return { segments, query, caller, dispatched, faults };
}

async function authenticate(request: FastifyRequest, { world }: FrontOptions): Promise<CallerIdentity> {
  const { directory, cloud } = world;
  try {
    return await directory.authenticate(request.headers.authorization, audiencesOf(cloud));
  } catch (error) {
    if (!(error instanceof ArmError) || error.status !== 401 || error.headers['www-authenticate'] !== undefined)
      throw error;
    const { code, message, retryAfterSeconds } = error;
    const description = message.replaceAll(/["\\\r\n]/g, ' ');
    const challenge =
      `Bearer authorization_uri="${cloud.origin}/${directory.tenantId}", error="invalid_token", ` +
      `error_description="${description}"`;
    throw new ArmError(401, code, message, {
      headers: { 'www-authenticate': challenge },
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
}

const kindOf: { readonly [method in Method]: CallKind } = {
  GET: 'reads',
  HEAD: 'reads',
  PUT: 'writes',
  PATCH: 'writes',
  POST: 'writes',
  DELETE: 'deletes',
};

function subscriptionOf(segments: readonly string[]): string | undefined {
  return segments.length >= 2 && foldCase(segments[0] ?? '') === 'subscriptions' ? segments[1] : undefined;
}

/** By lower-case name; of a parameter given twice, the first counts, except for the version: which one is meant is not guessed. */
function queryOf(request: FastifyRequest): { readonly [name: string]: string } {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.query as Record<string, string | string[]>)) {
    const first = Array.isArray(value) ? value[0] : value;
    const key = name.toLowerCase();
    if (key === 'api-version' && (Array.isArray(value) || Object.hasOwn(query, key))) throw repeatedVersion();
    if (first !== undefined && !Object.hasOwn(query, key)) query[key] = first;
  }
  return query;
}

function callOf(request: FastifyRequest, admitted: Admitted, options: FrontOptions): ArmCall {
  const { world, registry, keys, retryAfterSeconds } = options;
  const { segments, query, caller, dispatched, faults } = admitted;
  return {
    world,
    registry,
    keys,
    retryAfterSeconds,
    method: request.method as Method,
    segments,
    query,
    apiVersion: dispatched.apiVersion,
    caller,
    body: request.body,
    ifMatch: headerOf(request, 'if-match'),
    ifNoneMatch: headerOf(request, 'if-none-match'),
    origin: `https://${request.host}`,
    faults,
    sent: {
      headers: request.headers,
      target: request.raw.url ?? '/',
      requestId: request.id,
      correlationId: correlationOf(request),
    },
  };
}

function headerOf(request: FastifyRequest, name: 'if-match' | 'if-none-match'): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function send(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  reply.code(status);
  if (headers) reply.headers(headers);
  if (body === undefined) return reply.send();
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** What the request did stays done; the client never hears of it. */
function loseAnswer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const raw: HttpRequest = request.raw;
  reply.hijack();
  if (isHttp2(raw)) raw.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else raw.socket.destroy();
  return reply;
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = error instanceof ArmError && error.status === 413 ? tooLarge : error;
  const wire = toWire(
    known,
    { requestId: request.id ?? randomUUID(), conditional: isConditional(request) },
    { bodyTooLargeStatus: 413 },
  );
  if (wire.hidden) request.log.error({ err: error, requestId: request.id }, 'a request to Resource Manager failed');
  // HTTP/2 has no such header; the framework sets it for a body that was not read.
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  reply.code(wire.status).headers(wire.headers);
  if (request.method === 'HEAD') return reply.send();
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(wire.body));
}

const tooLarge = new ArmError(
  413,
  'RequestContentTooLarge',
  `The request content is larger than the maximum of ${bodyLimitBytes / 1024 / 1024} MB.`,
);
