// The REST API: routes, who may use them, and what errors look like.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { Type } from 'typebox';
import { bodyErrors } from '../../arm/check-body.ts';
import { parseJson } from '../../arm/json-text.ts';
import { isRecord } from '../../arm/record.ts';
import { MapOf } from '../../arm/schema.ts';
import { decorateCaller } from '../../kit/caller.ts';
import type { Logger } from '../../kit/log.ts';
import type { Metrics } from '../../kit/metrics.ts';
import { observeRequests } from '../../kit/observe.ts';
import type { Access, Identity } from './access.ts';
import { certificateNames } from './access.ts';
import type { VerifyBearer } from './bearer.ts';
import { bundleList } from './bundle-list.ts';
import { bundleJson } from './bundle-view.ts';
import type { Bundles } from './bundles.ts';
import { consumerFields, consumerJson, searchableConsumers } from './consumer-view.ts';
import type { Consumers } from './consumers.ts';
import { consumerPartition, type Documents } from './documents.ts';
import { ksuid } from './ksuid.ts';
import { listAnswer } from './lists.ts';
import {
  basePath,
  catalogueEntry,
  type ErrorCode,
  errorBody,
  errorKinds,
  isErrorCode,
  MaestroError,
} from './maestro-error.ts';
import { maestroError } from './store-error.ts';

export interface RestOptions {
  readonly documents: Documents;
  readonly consumers: Consumers;
  readonly bundles: Bundles;
  readonly access: Access;
  readonly bearer?: VerifyBearer;
  readonly openApi: Readonly<Record<string, unknown>>;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

const maxBodyBytes = 1024 * 1024;
const maxBodyDepth = 32;
const gzipFrom = 4096;
const compress = promisify(gzip);

/** An app for the kit's listeners. Nothing is served without a right to it, but for callers of the plain listener. */
export function createRest(options: RestOptions): FastifyInstance {
  const { consumers, bundles, documents, logger } = options;
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    frameworkErrors: (_error, request, reply) =>
      sendError(request, reply, new MaestroError(21, 'The request cannot be read')),
  });
  decorateCaller(app);
  observeRequests(app, options.metrics);
  readBodies(app);
  app.setErrorHandler((error, request, reply) => sendError(request, reply, requestError(error)));
  app.setNotFoundHandler((request, reply) => notFound(app, request, reply));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('vary', 'Authorization');
    const identity = await identify(request, options.bearer);
    if (identity === undefined) throw new MaestroError(15, 'Account authentication could not be verified');
    const wanted = request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write';
    if (!options.access.mayRest(identity, wanted))
      throw new MaestroError(11, 'Account is unauthorized to perform this action');
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < gzipFrom || !acceptsGzip(request)) return payload;
    reply.header('content-encoding', 'gzip');
    reply.removeHeader('content-length');
    return compress(payload, { level: 1 });
  });

  app.get('/api/maestro', async () => ({
    id: 'maestro',
    kind: 'API',
    href: '/api/maestro',
    versions: [{ id: 'v1', href: basePath, kind: '', collections: null }],
  }));
  app.get(basePath, async () => ({
    id: 'v1',
    kind: 'APIVersion',
    href: basePath,
    collections: [{ id: 'resources', kind: 'ResourceList', href: `${basePath}/resources` }],
  }));
  app.get(`${basePath}/openapi`, async () => options.openApi);
  app.get(`${basePath}/errors`, async () => {
    const items = Object.keys(errorKinds).map((code) => catalogueEntry(Number(code) as ErrorCode));
    return { kind: 'ErrorList', page: 1, size: items.length, total: items.length, items };
  });
  app.get<{ Params: { id: string } }>(`${basePath}/errors/:id`, async ({ params }) => {
    if (!isErrorCode(params.id)) throw new MaestroError(7, 'No error has this id');
    return catalogueEntry(Number(params.id) as ErrorCode);
  });

  const consumerList = {
    kind: 'ConsumerList',
    container: documents.consumers,
    searchable: searchableConsumers,
    fields: consumerFields,
    json: consumerJson,
    narrow: (filter?: Parameters<NonNullable<ReturnType<typeof bundleList>['narrow']>>[0]) => ({
      partition: consumerPartition,
      ...(filter === undefined ? {} : { filter }),
    }),
  } as const;
  const allBundles = bundleList(documents);
  app.get(`${basePath}/consumers`, async (request, reply) => {
    json(reply);
    return listAnswer(consumerList, request.query as Record<string, unknown>);
  });
  app.post(`${basePath}/consumers`, async (request, reply) => {
    const made = await consumers.create(checkedBody(request.body, consumerSchema, true));
    json(reply).code(201);
    return consumerJson(made);
  });
  app.get<{ Params: { id: string } }>(`${basePath}/consumers/:id`, async ({ params }, reply) => {
    json(reply);
    return consumerJson(await consumers.get(params.id));
  });
  app.patch<{ Params: { id: string } }>(`${basePath}/consumers/:id`, async ({ params, body }, reply) => {
    const { labels } = checkedBody(body, consumerPatchSchema, false);
    json(reply);
    return consumerJson(await consumers.patch(params.id, labels));
  });
  app.delete<{ Params: { id: string } }>(`${basePath}/consumers/:id`, async ({ params }, reply) => {
    await consumers.delete(params.id);
    return reply.code(204).send();
  });

  app.get(`${basePath}/resource-bundles`, async (request, reply) => {
    json(reply);
    return listAnswer(allBundles, request.query as Record<string, unknown>);
  });
  app.get<{ Params: { id: string } }>(`${basePath}/resource-bundles/:id`, async ({ params }, reply) => {
    const found = await bundles.find(params.id);
    if (found === undefined) throw new MaestroError(7, `Resource with id='${params.id}' not found`);
    json(reply);
    return bundleJson(found.body);
  });
  app.delete<{ Params: { id: string } }>(`${basePath}/resource-bundles/:id`, async ({ params }, reply) => {
    await bundles.deleteById(params.id);
    return reply.code(204).send();
  });
  return app;

  /** Logged where it is the server's own fault; then the caller is told no more than that. */
  function sendError(request: FastifyRequest, reply: FastifyReply, error: MaestroError): FastifyReply {
    const operationId = operationIdOf(request);
    const { http } = errorKinds[error.code];
    if (http >= 500) logger.error({ err: error, operationId }, 'a request failed');
    return reply
      .code(http)
      .type('application/json')
      .send(errorBody(error.code, error.message, operationId));
  }
}

const labels = Type.Optional(MapOf(Type.String({ maxLength: 63 }), { maxProperties: 256 }));
const consumerSchema = Type.Object({ id: Type.Optional(Type.String()), name: Type.Optional(Type.String()), labels });
const consumerPatchSchema = Type.Object({ labels });

interface ConsumerBody {
  readonly id?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function checkedBody(body: unknown, schema: Parameters<typeof bodyErrors>[0], isNew: boolean): ConsumerBody {
  if (!isRecord(body)) throw new MaestroError(17, 'Invalid request format: the body must be a JSON object');
  const present = Object.fromEntries(Object.entries(body).filter(([, member]) => member !== null));
  const [first] = bodyErrors(schema, present);
  if (first !== undefined) throw new MaestroError(17, `Invalid request format: ${first.target}: ${first.message}`);
  const read = present as ConsumerBody;
  if (isNew && (read.id ?? '') !== '') throw new MaestroError(8, 'id must be empty');
  return read;
}

function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, bytes, done) => {
    const parsed = parseJson(bytes as Buffer, maxBodyDepth);
    if (parsed.ok) done(null, parsed.value);
    else done(new MaestroError(17, `Invalid request format: ${parsed.message}`));
  });
}

function requestError(error: unknown): MaestroError {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 413) return new MaestroError(17, 'Invalid request format: the body is too large', { cause: error });
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new MaestroError(21, 'The request cannot be read', { cause: error });
  }
  return maestroError(error);
}

async function identify(request: FastifyRequest, bearer: VerifyBearer | undefined): Promise<Identity | undefined> {
  const { caller } = request;
  if (caller.kind === 'plain') return { kind: 'plain' };
  if (caller.kind === 'certificate') return { kind: 'names', names: certificateNames(caller) };
  const { authorization } = request.headers;
  if (bearer === undefined || authorization === undefined) return undefined;
  return { kind: 'names', names: await bearer(authorization) };
}

const operationIds = new WeakMap<FastifyRequest, string>();

/** The caller's own, where it sent one that can be shown. */
function operationIdOf(request: FastifyRequest): string {
  const known = operationIds.get(request);
  if (known !== undefined) return known;
  const given = request.headers['x-operation-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : ksuid();
  operationIds.set(request, id);
  return id;
}

/** A path that has other methods is not unknown. */
function notFound(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
  if (methods.some((method) => app.findRoute({ method, url: routeOf(path) }) !== null)) {
    return reply
      .code(405)
      .type('application/json')
      .send(errorBody(10, 'HTTP Method not implemented for this endpoint', operationIdOf(request)));
  }
  return reply
    .code(404)
    .type('application/json')
    .send({
      type: 'Error',
      id: '404',
      href: `${basePath}/errors/404`,
      code: 'maestro-404',
      reason: `The requested resource '${path.slice(0, 512)}' doesn't exist`,
    });
}

/** The pattern that a path would have: an id stands after the name of a collection. */
function routeOf(path: string): string {
  const [, collection, id] = /^\/api\/maestro\/v1\/([a-z-]+)(\/[^/]+)?\/?$/.exec(path) ?? [];
  return collection === undefined ? path : `${basePath}/${collection}${id === undefined ? '' : '/:id'}`;
}

function json(reply: FastifyReply): FastifyReply {
  return reply.type('application/json');
}

function acceptsGzip(request: FastifyRequest): boolean {
  const accepted = request.headers['accept-encoding'];
  return typeof accepted === 'string' && /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?(?:[\s,]|$))/i.test(accepted);
}
