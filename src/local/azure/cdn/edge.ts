// The edge: finds the origin of a request among the hosts of this cloud, asks it, remembers what it may.
import type { Agent } from 'undici';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { dataPlaneOf } from '../cloud.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { cachedBodyMax, createCache, freshSeconds } from './cache.ts';
import { matchRoute, originPath } from './route-match.ts';

export interface EdgeRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly host: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: AsyncIterable<Buffer> | undefined;
}

export interface EdgeAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] };
  readonly body: AsyncIterable<Buffer> | Buffer | undefined;
}

export interface Edge {
  /** Undefined when no route of the endpoint takes it. `domain`: the id of the custom domain that was asked for. */
  serve(endpoint: ResourceRecord, request: EdgeRequest, domain?: string): Promise<EdgeAnswer | undefined>;
  purge(endpoint: string, paths: readonly string[]): void;
}

const edges = new WeakMap<World, Edge>();

export function edgeOf(world: World): Edge {
  let edge = edges.get(world);
  if (edge === undefined) {
    edge = createEdge(world);
    edges.set(world, edge);
  }
  return edge;
}

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'http2-settings',
  'proxy-connection',
]);

interface Client {
  readonly agent: Agent;
  readonly send: typeof import('undici').request;
}

/** Reaches hosts of this cloud by where the network says they are. Loaded when the first request comes. */
async function createClient(world: World): Promise<Client> {
  const undici = await import('undici');
  const ca = world.authority?.certificatePem;
  const connector = undici.buildConnector({ timeout: 10_000, ...(ca === undefined ? {} : { ca }) });
  const agent = new undici.Agent({
    keepAliveTimeout: 1000,
    connect(options, callback) {
      world.network.target(options.hostname, 443).then(
        (target) => {
          if (target === undefined) {
            callback(new Error(`no way leads to ${options.hostname}`), null);
            return;
          }
          const servername = options.servername ?? options.hostname;
          connector({ ...options, hostname: target.host, port: String(target.port), servername }, callback);
        },
        (error: Error) => callback(error, null),
      );
    },
  });
  world.stopping.addEventListener('abort', () => void agent.destroy(), { once: true });
  return { agent, send: undici.request };
}

function createEdge(world: World): Edge {
  const cache = createCache();
  let client: Promise<Client> | undefined;

  const ask = async (origin: Origin, path: string, request: EdgeRequest, profileId: string): Promise<EdgeAnswer> => {
    const headers: { [name: string]: string | string[] } = {};
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined && !name.startsWith(':') && !hopByHop.has(name)) headers[name] = value;
    client ??= createClient(world);
    const { agent, send } = await client;
    const answer = await send(`https://${origin.host}${path}`, {
      method: request.method as 'GET',
      dispatcher: agent,
      headers: {
        ...headers,
        host: origin.hostHeader,
        'x-forwarded-host': request.host,
        'x-forwarded-proto': 'https',
        'x-azure-fdid': profileId,
        via: '1.1 Azure',
      },
      ...(request.body === undefined ? {} : { body: request.body as unknown as NodeJS.ReadableStream as never }),
    });
    const passed: { [name: string]: string | string[] } = {};
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !hopByHop.has(name)) passed[name] = value;
    return { status: answer.statusCode, headers: passed, body: answer.body as unknown as AsyncIterable<Buffer> };
  };

  return {
    purge: (endpoint, paths) => cache.purge(endpoint, paths),
    async serve(endpoint, request, domain) {
      const [path = '/', search] = splitOnce(request.url);
      const routes = await world.resources.list({
        parent: endpoint.resource.id,
        type: 'Microsoft.Cdn/profiles/afdEndpoints/routes',
      });
      const open = routes.map(({ resource }) => resource.properties ?? {}).filter((route) => isLinked(route, domain));
      const match = matchRoute(open, path);
      if (match === undefined) return undefined;
      const caching = match.properties.cacheConfiguration;
      const isCaching =
        isRecord(caching) &&
        request.method === 'GET' &&
        request.headers.range === undefined &&
        request.headers.authorization === undefined;
      const name = endpoint.resource.name.toLowerCase();
      const key = isRecord(caching) && caching.queryStringCachingBehavior === 'IgnoreQueryString' ? path : request.url;
      const now = world.clock.now();
      const kept = isCaching ? cache.get(name, key, now) : undefined;
      if (kept !== undefined) {
        const age = String(Math.max(0, Math.floor((now - kept.stored) / 1000)));
        return { status: kept.status, headers: { ...kept.headers, age, 'x-cache': 'TCP_HIT' }, body: kept.body };
      }
      const target = `${originPath(match, path)}${search === undefined ? '' : `?${search}`}`;
      const profile = await world.resources.read(endpoint.parent ?? '');
      const profileId = String(profile?.body.resource.properties?.frontDoorId ?? '');
      const answer = await firstOf(await originsOf(world, match.properties), (origin) =>
        ask(origin, target, request, profileId),
      );
      const seconds = isCaching && answer.status === 200 ? freshSeconds(answer.headers) : 0;
      const length = Number(answer.headers['content-length'] ?? Number.NaN);
      const headers = { ...answer.headers, 'x-cache': isRecord(caching) ? 'TCP_MISS' : 'CONFIG_NOCACHE' };
      if (seconds === 0 || !(length <= cachedBodyMax) || answer.body === undefined) return { ...answer, headers };
      const body = await whole(answer.body);
      cache.put(name, key, {
        status: answer.status,
        headers: Object.fromEntries(Object.entries(answer.headers).map(([header, value]) => [header, String(value)])),
        body,
        stored: now,
        until: now + seconds * 1000,
      });
      return { status: answer.status, headers, body };
    },
  };
}

function isLinked(route: JsonObject, domain: string | undefined): boolean {
  if (domain === undefined) return route.linkToDefaultDomain === 'Enabled';
  const domains = Array.isArray(route.customDomains) ? (route.customDomains as readonly JsonObject[]) : [];
  return domains.some(({ id }) => foldCase(String(id)) === foldCase(domain));
}

async function whole(body: AsyncIterable<Buffer> | Buffer): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function splitOnce(url: string): readonly [string, string | undefined] {
  const at = url.indexOf('?');
  return at === -1 ? [url, undefined] : [url.slice(0, at), url.slice(at + 1)];
}

interface Origin {
  readonly host: string;
  readonly hostHeader: string;
}

/** Enabled origins of the route's group, the preferred ones first; only hosts of this cloud, and no other edge. */
async function originsOf(world: World, route: JsonObject): Promise<readonly Origin[]> {
  const group = isRecord(route.originGroup) ? String(route.originGroup.id ?? '') : '';
  const records = await world.resources.list({ parent: group, type: 'Microsoft.Cdn/profiles/originGroups/origins' });
  const isOurs = (host: string): boolean => {
    const plane = dataPlaneOf(world.cloud, host)?.plane;
    return plane !== undefined && plane !== 'frontDoor';
  };
  return records
    .map(({ resource }) => resource.properties ?? {})
    .filter(({ enabledState }) => enabledState !== 'Disabled')
    .sort((a, b) => Number(a.priority ?? 1) - Number(b.priority ?? 1) || Number(b.weight ?? 1) - Number(a.weight ?? 1))
    .flatMap(({ hostName, originHostHeader }) => {
      const host = foldCase(String(hostName ?? ''));
      const hostHeader =
        typeof originHostHeader === 'string' && originHostHeader !== '' ? foldCase(originHostHeader) : host;
      return isOurs(host) && isOurs(hostHeader) ? [{ host, hostHeader }] : [];
    });
}

export class NoOrigin extends Error {}

/** The first that answers at all. */
async function firstOf(origins: readonly Origin[], ask: (origin: Origin) => Promise<EdgeAnswer>): Promise<EdgeAnswer> {
  let last: unknown;
  for (const origin of origins) {
    try {
      return await ask(origin);
    } catch (error) {
      last = error;
    }
  }
  throw new NoOrigin('no origin answered', { cause: last });
}
