// The blob service of storage accounts.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toWire } from '../../../arm/error-wire.ts';
import type { DataPlaneService } from '../kernel/data-plane.ts';
import { loseAnswer, planeFaults } from '../kernel/plane-faults.ts';
import type { World } from '../kernel/world.ts';
import { admit } from './access.ts';
import { findAccount } from './account.ts';
import { runBatch } from './batch.ts';
import { splitPath } from './blob-path.ts';
import type { StorageAnswer, StorageCall } from './call.ts';
import { openContents } from './contents.ts';
import { openDocuments } from './documents.ts';
import { storageError } from './errors.ts';
import { operationOf } from './operations.ts';
import { declaration, element, field } from './xml.ts';

const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const;
const versionForm = /^20\d\d-\d\d-\d\d$/;

export const blobPlane: DataPlaneService = {
  plane: 'blob',
  async routes(app, world) {
    app.removeAllContentTypeParsers();
    // Bodies are read by the operations, which know how large they may be.
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      await planeFaults(world, request, reply);
      const answer = await answerTo(await callOf(world, request));
      return loseAnswer(request, reply) ? reply : send(request, reply, answer);
    };
    for (const url of ['/', '/*']) app.route({ method: [...methods], url, handler });
  },
};

/** What one request does, whether it came alone or with others. */
export async function answerTo(call: StorageCall): Promise<StorageAnswer> {
  if (call.method === 'POST' && call.query.comp?.toLowerCase() === 'batch') return runBatch(call, answerTo);
  const operation = operationOf(call);
  const grant = await admit(call, operation.need);
  return operation.run(call, grant);
}

async function callOf(world: World, request: FastifyRequest): Promise<StorageCall> {
  const account = await findAccount(world, request.planeName);
  if (account === undefined)
    throw storageError(404, 'ResourceNotFound', `There is no storage account '${request.planeName}'.`);
  const [path = '/', search = ''] = splitOnce(request.raw.url ?? '/');
  const query: { [name: string]: string } = {};
  for (const [name, value] of new URLSearchParams(search.replaceAll('+', '%2B'))) {
    const key = name.toLowerCase();
    if (!Object.hasOwn(query, key)) query[key] = value;
  }
  const body = request.body as AsyncIterable<Buffer> | undefined;
  return {
    world,
    documents: await openDocuments(world),
    contents: await openContents(world, 'storage'),
    account,
    method: request.method,
    path,
    ...splitPath(path),
    query,
    headers: request.headers,
    body: body ?? nothing,
    requestId: request.id,
    origin: `https://${request.host}/`,
  };
}

const nothing: AsyncIterable<Buffer> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
};

function splitOnce(url: string): readonly [string, string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

function common(request: FastifyRequest): { readonly [name: string]: string } {
  const version = request.headers['x-ms-version'];
  const client = request.headers['x-ms-client-request-id'];
  return {
    server: 'Blob',
    'x-ms-request-id': request.id,
    'x-ms-version': typeof version === 'string' && versionForm.test(version) ? version : '2020-10-02',
    ...(typeof client === 'string' && /^[\x20-\x7e]{1,1024}$/.test(client) ? { 'x-ms-client-request-id': client } : {}),
  };
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers = {}, body }: StorageAnswer,
): FastifyReply {
  reply.code(status).headers({ ...common(request), ...headers });
  if (body === undefined) {
    // A HEAD says how long the content is without sending it; Node leaves a given length alone.
    return reply.send(request.method === 'HEAD' ? undefined : '');
  }
  if (typeof body === 'string')
    return reply.header('content-type', headers['content-type'] ?? 'application/xml').send(body);
  return reply.send(body);
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const wire = toWire(error, { requestId: request.id, conditional: false }, { bodyTooLargeStatus: 413 });
  if (wire.hidden) request.log.error({ err: error, requestId: request.id }, 'a request to a storage account failed');
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  reply.code(wire.status).headers({ ...common(request), ...wire.headers });
  if (request.method === 'HEAD' || wire.status === 304) return reply.send();
  return reply.type('application/xml').send(errorXml(error, request.id, wire.body.error));
}

export function errorXml(
  _error: unknown,
  requestId: string,
  { code, message }: { readonly code: string; readonly message: string },
): string {
  const whole = `${message}\nRequestId:${requestId}\nTime:${new Date().toISOString()}`;
  return `${declaration}${element('Error', [field('Code', code), field('Message', whole)])}`;
}
