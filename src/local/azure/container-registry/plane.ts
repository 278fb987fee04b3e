// The data plane of registries: the distribution protocol, the token service, and the lists that az asks for.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toWire } from '../../../arm/error-wire.ts';
import type { DataPlaneService } from '../kernel/data-plane.ts';
import { loseAnswer, planeFaults } from '../kernel/plane-faults.ts';
import type { World } from '../kernel/world.ts';
import { openContents } from '../storage/contents.ts';
import { cancelUpload, deleteBlob, finishUpload, getBlob, startUpload, uploadChunk, uploadStatus } from './blobs.ts';
import { checkName, type RegistryAnswer, type RegistryCall } from './call.ts';
import { openDocuments } from './documents.ts';
import { registryError } from './errors.ts';
import {
  deleteManifest,
  getManifest,
  listDetails,
  listReferrers,
  listRepositories,
  listTags,
  putManifest,
} from './manifests.ts';
import { findRegistry, type Registry } from './registry.ts';
import { byPassword, grantedScopes, type Party, type Scope } from './rights.ts';
import { basicOf, exchange, refreshUser, token } from './sign-in.ts';
import { readAccess, readRefresh } from './tokens.ts';

const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'] as const;

export const registryPlane: DataPlaneService = {
  plane: 'registry',
  async routes(app, world) {
    app.removeAllContentTypeParsers();
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

interface Route {
  readonly method: string;
  readonly path: RegExp;
  /** The right on the repository in the path's first group; on the registry's catalogue when there is none. */
  readonly needs?: string;
  run(call: RegistryCall, ...parts: string[]): Promise<RegistryAnswer>;
}

const repository = '(.+)';
const uploads = new RegExp(`^/v2/${repository}/blobs/uploads/?$`);
const upload = new RegExp(`^/v2/${repository}/blobs/uploads/([0-9a-f-]{36})$`);
const blob = new RegExp(`^/v2/${repository}/blobs/([^/]+)$`);
const manifest = new RegExp(`^/v2/${repository}/manifests/([^/]+)$`);

const routes: readonly Route[] = [
  { method: 'POST', path: /^\/oauth2\/exchange$/, run: exchange },
  { method: 'POST', path: /^\/oauth2\/token$/, run: token },
  { method: 'GET', path: /^\/oauth2\/token$/, run: token },
  { method: 'GET', path: /^\/v2\/?$/, needs: 'ping', run: async () => ({ status: 200, body: {} }) },
  { method: 'GET', path: /^\/v2\/_catalog$/, needs: '*', run: listRepositories },
  { method: 'GET', path: /^\/acr\/v1\/_catalog$/, needs: '*', run: listRepositories },
  {
    method: 'GET',
    path: new RegExp(`^/acr/v1/${repository}/_tags$`),
    needs: 'metadata_read',
    run: (call, name = '') => listDetails(call, name, 'tags'),
  },
  {
    method: 'GET',
    path: new RegExp(`^/acr/v1/${repository}/_manifests$`),
    needs: 'metadata_read',
    run: (call, name = '') => listDetails(call, name, 'manifests'),
  },
  {
    method: 'GET',
    path: new RegExp(`^/v2/${repository}/tags/list$`),
    needs: 'pull',
    run: (call, name = '') => listTags(call, name),
  },
  {
    method: 'GET',
    path: new RegExp(`^/v2/${repository}/referrers/([^/]+)$`),
    needs: 'pull',
    run: (call, name = '', digest = '') => listReferrers(call, name, digest),
  },
  { method: 'POST', path: uploads, needs: 'push', run: (call, name = '') => startUpload(call, name) },
  { method: 'PATCH', path: upload, needs: 'push', run: (call, name = '', id = '') => uploadChunk(call, name, id) },
  { method: 'PUT', path: upload, needs: 'push', run: (call, name = '', id = '') => finishUpload(call, name, id) },
  { method: 'GET', path: upload, needs: 'push', run: (call, name = '', id = '') => uploadStatus(call, name, id) },
  { method: 'DELETE', path: upload, needs: 'push', run: (call, name = '', id = '') => cancelUpload(call, name, id) },
  { method: 'GET', path: blob, needs: 'pull', run: (call, name = '', digest = '') => getBlob(call, name, digest) },
  { method: 'HEAD', path: blob, needs: 'pull', run: (call, name = '', digest = '') => getBlob(call, name, digest) },
  {
    method: 'DELETE',
    path: blob,
    needs: 'delete',
    run: (call, name = '', digest = '') => deleteBlob(call, name, digest),
  },
  {
    method: 'GET',
    path: manifest,
    needs: 'pull',
    run: (call, name = '', reference = '') => getManifest(call, name, reference),
  },
  {
    method: 'HEAD',
    path: manifest,
    needs: 'pull',
    run: (call, name = '', reference = '') => getManifest(call, name, reference),
  },
  {
    method: 'PUT',
    path: manifest,
    needs: 'push',
    run: (call, name = '', reference = '') => putManifest(call, name, reference),
  },
  {
    method: 'DELETE',
    path: manifest,
    needs: 'delete',
    run: (call, name = '', reference = '') => deleteManifest(call, name, reference),
  },
];

async function answerTo(call: RegistryCall): Promise<RegistryAnswer> {
  let isKnown = false;
  for (const route of routes) {
    const match = route.path.exec(call.path);
    if (match === null) continue;
    isKnown = true;
    if (route.method !== call.method) continue;
    const [, name, ...rest] = match;
    if (name !== undefined) checkName(name);
    if (route.needs !== undefined) {
      const isCatalogue = name === undefined;
      await call.demand(isCatalogue ? 'registry' : 'repository', name ?? 'catalog', route.needs);
    }
    return route.run(call, ...(name === undefined ? [] : [name]), ...rest);
  }
  throw isKnown ? registryError('UNSUPPORTED') : registryError('NAME_UNKNOWN', 'the path is not known');
}

async function callOf(world: World, request: FastifyRequest): Promise<RegistryCall> {
  const registry = await findRegistry(world, request.planeName);
  if (registry === undefined) throw registryError('NAME_UNKNOWN', `there is no registry '${request.planeName}'`);
  const url = request.raw.url ?? '/';
  const at = url.indexOf('?');
  const encoded = at === -1 ? url : url.slice(0, at);
  let path: string;
  try {
    path = decodeURIComponent(encoded);
  } catch {
    throw registryError('NAME_INVALID');
  }
  const body = request.body as AsyncIterable<Buffer> | undefined;
  return {
    world,
    registry,
    documents: await openDocuments(world),
    contents: await openContents(world, 'container-registry'),
    method: request.method,
    path,
    query: new URLSearchParams(at === -1 ? '' : url.slice(at + 1)),
    headers: request.headers,
    body: body ?? nothing,
    demand: demander(world, registry, request),
  };
}

const nothing: AsyncIterable<Buffer> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
};

/** Looks at the request's credentials once, whatever is asked of them. */
function demander(world: World, registry: Registry, request: FastifyRequest): RegistryCall['demand'] {
  let known: Promise<{ readonly party: Party; readonly access?: readonly Scope[] } | undefined> | undefined;
  return async (type, name, action) => {
    known ??= credentials(world, registry, request);
    const found = await known;
    const challenge = (error?: string) => {
      const scope = action === 'ping' ? '' : `,scope="${type}:${name}:${scopeOf(action)}"`;
      return {
        'www-authenticate': `Bearer realm="https://${registry.loginServer}/oauth2/token",service="${registry.loginServer}"${scope}${error === undefined ? '' : `,error="${error}"`}`,
      };
    };
    if (found === undefined) throw registryError('UNAUTHORIZED', undefined, challenge());
    if (action === 'ping') return;
    const scopes =
      found.access ?? (await grantedScopes(world, registry, found.party, [{ type, name, actions: [action] }]));
    const isAllowed = scopes.some(
      (scope) =>
        scope.type === type && scope.name === name && (scope.actions.includes(action) || scope.actions.includes('*')),
    );
    if (isAllowed) return;
    if (found.access === undefined) throw registryError('DENIED');
    throw registryError('UNAUTHORIZED', undefined, challenge('insufficient_scope'));
  };
}

/** Who pushes reads as well. */
function scopeOf(action: string): string {
  return action === 'push' ? 'pull,push' : action;
}

async function credentials(world: World, registry: Registry, { headers }: FastifyRequest) {
  const [, bearer] = /^bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (bearer !== undefined) return readAccess(world, registry, bearer);
  const basic = basicOf({ headers });
  if (basic === undefined) return undefined;
  const party =
    basic.user === refreshUser
      ? await readRefresh(world, registry, basic.password)
      : await byPassword(world, registry, basic.user, basic.password);
  return party === undefined ? undefined : { party };
}

function common(request: FastifyRequest): { readonly [name: string]: string } {
  return {
    'docker-distribution-api-version': 'registry/2.0',
    'x-ms-correlation-request-id': request.id,
    'x-content-type-options': 'nosniff',
  };
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers = {}, body }: RegistryAnswer,
): FastifyReply {
  reply.code(status).headers({ ...common(request), ...headers });
  if (body === undefined) return reply.send(request.method === 'HEAD' ? undefined : '');
  if (Buffer.isBuffer(body) || 'pipe' in body) return reply.send(body);
  return reply
    .header('content-type', headers['content-type'] ?? 'application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const wire = toWire(error, { requestId: request.id, conditional: false }, { bodyTooLargeStatus: 413 });
  if (wire.hidden) request.log.error({ err: error, requestId: request.id }, 'a request to a registry failed');
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  const { 'x-ms-error-code': _code, ...headers } = wire.headers;
  reply.code(wire.status).headers({ ...common(request), ...headers });
  if (request.method === 'HEAD') return reply.send();
  const { code, message } = wire.body.error;
  return reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ errors: [{ code: code.toUpperCase(), message, detail: {} }] }));
}
