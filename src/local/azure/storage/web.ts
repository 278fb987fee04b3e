// Static websites: what is in an account's `$web`, to everybody, with an index and a page for what is not there.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toWire } from '../../../arm/error-wire.ts';
import { ArmError } from '../../../arm/errors.ts';
import type { Document } from '../../../store/store.ts';
import type { DataPlaneService } from '../kernel/data-plane.ts';
import { loseAnswer, planeFaults } from '../kernel/plane-faults.ts';
import type { World } from '../kernel/world.ts';
import { findAccount } from './account.ts';
import { splitPath } from './blob-path.ts';
import { rangeOf } from './blob-reads.ts';
import { openContents } from './contents.ts';
import { type BlobBody, openDocuments, readBlob, readService } from './documents.ts';
import { stateHeaders } from './leases.ts';

export const webPlane: DataPlaneService = {
  plane: 'web',
  async routes(app, world) {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    app.setErrorHandler((error, request, reply) => {
      const wire = toWire(error, { requestId: request.id, conditional: false }, { bodyTooLargeStatus: 413 });
      if (wire.hidden) request.log.error({ err: error, requestId: request.id }, 'a request to a website failed');
      return page(request, reply.headers(wire.headers), wire.status, wire.body.error.code);
    });
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      await planeFaults(world, request, reply);
      reply.header('x-ms-request-id', request.id);
      const answer = await serve(world, request, reply);
      return loseAnswer(request, reply) ? reply : answer;
    };
    for (const url of ['/', '/*']) app.route({ method: ['GET', 'HEAD'], url, handler });
  },
};

async function serve(world: World, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const account = await findAccount(world, request.planeName);
  const documents = await openDocuments(world);
  const website = account === undefined ? undefined : (await readService(documents, account.name))?.body.website;
  if (account === undefined || website === undefined)
    return page(request, reply, 404, account === undefined ? 'ResourceNotFound' : 'WebContentNotFound');
  const [path = '/'] = (request.raw.url ?? '/').split('?', 1);
  const { container, blob } = splitPath(path);
  const name = blob === '' && !path.endsWith('/') ? container : `${container}${container === '' ? '' : '/'}${blob}`;
  const find = (one: string): Promise<Document<BlobBody> | undefined> => readBlob(documents, account.name, '$web', one);
  const index = website.index;
  const isFolder = name === '' || name.endsWith('/');
  const found =
    (isFolder ? undefined : await find(name)) ??
    (index === undefined ? undefined : await find(isFolder ? `${name}${index}` : `${name}/${index}`));
  if (found !== undefined) return content(world, request, reply, found.body, 200);
  const fallback = website.notFound === undefined ? undefined : await find(website.notFound);
  return fallback === undefined
    ? page(request, reply, 404, 'WebContentNotFound')
    : content(world, request, reply, fallback.body, 404);
}

async function content(
  world: World,
  request: FastifyRequest,
  reply: FastifyReply,
  body: BlobBody,
  status: number,
): Promise<FastifyReply> {
  const { headers } = body;
  reply.headers({
    ...stateHeaders(body),
    'content-type': headers.contentType ?? 'application/octet-stream',
    ...(headers.cacheControl === undefined ? {} : { 'cache-control': headers.cacheControl }),
    ...(headers.contentEncoding === undefined ? {} : { 'content-encoding': headers.contentEncoding }),
    'accept-ranges': 'bytes',
  });
  if (status === 200 && request.headers['if-none-match'] === body.etag) return reply.code(304).send();
  let range: ReturnType<typeof rangeOf>;
  try {
    range = status === 200 ? rangeOf(request.headers.range, body.length) : undefined;
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    return page(request, reply.headers(error.headers), 416, error.code);
  }
  const { start, end } = range ?? { start: 0, end: body.length };
  reply.code(range === undefined ? status : 206).header('content-length', String(end - start));
  if (range !== undefined) reply.header('content-range', `bytes ${start}-${end - 1}/${body.length}`);
  if (request.method === 'HEAD') return reply.send();
  const contents = await openContents(world, 'storage');
  return reply.send(contents.read(body.pieces, start, end));
}

function page(request: FastifyRequest, reply: FastifyReply, status: number, code: string): FastifyReply {
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  const text = `<!DOCTYPE html><html><head><title>${code}</title></head><body><h1>The requested content does not exist.</h1><ul><li>HttpStatusCode: ${status}</li><li>ErrorCode: ${code}</li><li>RequestId : ${request.id}</li></ul></body></html>`;
  return reply
    .code(status)
    .header('x-ms-error-code', code)
    .type('text/html')
    .send(request.method === 'HEAD' ? undefined : text);
}
