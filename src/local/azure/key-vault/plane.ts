// The data plane of vaults. A request goes through these steps; the first that refuses decides the answer: vault, api-version, token,
// path, right, faults, body.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { body as bodyParser } from '../../../arm/body.ts';
import { toWire } from '../../../arm/error-wire.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { DataPlaneService } from '../kernel/data-plane.ts';
import { loseAnswer, planeFaults } from '../kernel/plane-faults.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { World } from '../kernel/world.ts';
import { authenticate, authorize } from './access.ts';
import { backupRoutes } from './backup.ts';
import type { Vault, VaultAnswer, VaultRoute } from './call.ts';
import { certificateRoutes } from './certificates.ts';
import { badParameter, VaultError } from './errors.ts';
import { issuerRoutes } from './issuers.ts';
import { keyRoutes } from './keys.ts';
import { lifecycleRoutes } from './lifecycle.ts';
import { openObjects } from './objects.ts';
import { secretRoutes } from './secrets.ts';
import { agendaOf } from './upkeep.ts';
import { vaultOf } from './vault.ts';

const apiVersions: ReadonlySet<string> = new Set([
  '2016-10-01',
  ...['7.0', '7.1', '7.2', '7.3', '7.4', '7.5', '7.6', '7.6-preview.2'],
  '2025-06-01-preview',
  '2025-07-01',
  '2026-01-01-preview',
  '2026-04-01',
]);
const bodyLimitBytes = 4 * 1024 * 1024;
const methods = ['GET', 'PUT', 'PATCH', 'POST', 'DELETE'] as const;

interface Admitted {
  readonly route: VaultRoute;
  readonly vault: Vault;
  readonly caller: CallerIdentity;
  readonly parameters: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: string };
  readonly apiVersion: string;
}

export const vaultPlane: DataPlaneService = {
  plane: 'vault',
  async routes(app, world) {
    const objects = await openObjects(world);
    const agenda = agendaOf(world);
    const table = routeTable([
      ...issuerRoutes,
      ...(['secrets', 'keys', 'certificates'] as const).flatMap((type) => [
        ...backupRoutes(type),
        ...lifecycleRoutes(type),
      ]),
      ...secretRoutes,
      ...keyRoutes,
      ...certificateRoutes(agenda.wake),
    ]);
    const admittedOf = new WeakMap<FastifyRequest, Admitted>();
    bodyParser(app, { limitBytes: bodyLimitBytes, maxDepth: 30, bodyTooLargeStatus: 413 });
    app.setErrorHandler(sendError);
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-ms-request-id', request.id);
      reply.header('x-ms-keyvault-region', 'local');
      reply.header('x-ms-keyvault-service-version', '1.9.0.0');
      reply.header('cache-control', 'no-cache');
      reply.header('x-content-type-options', 'nosniff');
      admittedOf.set(request, await admit(world, table, request));
      await planeFaults(world, request, reply);
    });
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const admitted = admittedOf.get(request);
      if (admitted === undefined) throw new Error('a request came by without being admitted');
      const answer = await admitted.route.run({ world, objects, ...admitted, body: request.body });
      if (admitted.route.method !== 'GET') agenda.wake();
      return loseAnswer(request, reply) ? reply : send(reply, answer);
    };
    for (const url of ['/', '/*']) app.route({ method: [...methods], url, handler });
  },
};

function send(reply: FastifyReply, { status = 200, body, headers }: VaultAnswer): FastifyReply {
  reply.code(status);
  if (headers) reply.headers(headers);
  return body === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}

async function admit(world: World, table: RouteTable, request: FastifyRequest): Promise<Admitted> {
  const record = await world.resources.named('Microsoft.KeyVault/vaults', request.planeName);
  if (record === undefined)
    throw new VaultError(404, 'VaultNotFound', `The vault '${request.planeName}' was not found.`);
  const vault = vaultOf(world, record.body);
  const caller = await authenticate(world, request.headers.authorization);
  const query = queryOf(request);
  const apiVersion = query['api-version'];
  if (apiVersion === undefined || !apiVersions.has(foldCase(apiVersion)))
    throw badParameter(
      apiVersion === undefined
        ? 'AKV10028: api-version must be specified'
        : `AKV10029: The specified version (${apiVersion.slice(0, 32)}) is not recognized. Consider using the latest supported version (2026-04-01).`,
    );
  const found = table(request.method, segmentsOf(request.raw.url ?? '/'));
  if (found === undefined) throw new VaultError(404, 'NotFound', 'The requested path does not exist.');
  if (found === 'method') throw new VaultError(405, 'MethodNotAllowed', 'The method is not allowed on this path.');
  const { route, parameters } = found;
  const [type = ''] = route.path.split('/');
  const below = parameters.name === undefined ? '' : `${type.replace(/^deleted/, '')}/${parameters.name}`;
  await authorize(world, vault, caller, route.need, below);
  return { route, vault, caller, parameters, query, apiVersion };
}

type Matched = { readonly route: VaultRoute; readonly parameters: { readonly [name: string]: string } };
/** `method`: the path is known under another method. */
type RouteTable = (method: string, segments: readonly string[]) => Matched | 'method' | undefined;

function routeTable(routes: readonly VaultRoute[]): RouteTable {
  const patterns = routes.map((route) => ({ route, parts: route.path.split('/') }));
  return (method, segments) => {
    let isKnown = false;
    for (const { route, parts } of patterns) {
      const parameters = fit(parts, segments);
      if (parameters === undefined) continue;
      if (route.method === method) return { route, parameters };
      isKnown = true;
    }
    return isKnown ? 'method' : undefined;
  };
}

function fit(parts: readonly string[], segments: readonly string[]): { [name: string]: string } | undefined {
  if (parts.length !== segments.length) return undefined;
  const parameters: { [name: string]: string } = {};
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] ?? '';
    if (part.startsWith('{')) parameters[part.slice(1, -1)] = segment;
    else if (foldCase(segment) !== foldCase(part)) return undefined;
  }
  return parameters;
}

function segmentsOf(url: string): readonly string[] {
  const [path = ''] = url.split('?', 1);
  return path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => {
      try {
        return decodeURIComponent(segment);
      } catch {
        throw badParameter('The request URI is not encoded properly.');
      }
    });
}

/** By lower-case name. */
function queryOf(request: FastifyRequest): { readonly [name: string]: string } {
  const query: { [name: string]: string } = {};
  if (!isRecord(request.query)) return query;
  for (const [name, value] of Object.entries(request.query)) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') query[name.toLowerCase()] = first;
  }
  return query;
}

function sendError(this: FastifyInstance, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const wire = toWire(error, { requestId: request.id, conditional: false }, { bodyTooLargeStatus: 413 });
  if (wire.hidden) request.log.error({ err: error, requestId: request.id }, 'a request to a vault failed');
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  const { code, message } = wire.body.error;
  const inner = error instanceof VaultError ? error.inner : undefined;
  const known = code === 'InvalidRequestContent' || code === 'UnsupportedMediaType' ? 'BadParameter' : code;
  reply.code(wire.status).headers(wire.headers);
  return reply.type('application/json; charset=utf-8').send(
    JSON.stringify({
      error: { code: known, message, ...(inner === undefined ? {} : { innererror: { code: inner } }) },
    }),
  );
}
