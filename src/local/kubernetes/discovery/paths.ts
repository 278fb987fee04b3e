// The paths under which discovery and OpenAPI are found.
import { notAcceptable, StatusError } from '../status.ts';
import type { TypeTable } from '../types/resource-type.ts';
import {
  aggregatedDocument,
  type Document,
  groupDocument,
  groupListDocument,
  openapiV2,
  openapiV2Protobuf,
  openapiV3,
  openapiV3Index,
  resourceListDocument,
} from './documents.ts';
import { apiVersions } from './plain.ts';

export interface DiscoveryRequest {
  readonly table: TypeTable;
  /** `https://host:port` that clients use. */
  readonly url: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  header(name: string): string | undefined;
}

export interface DiscoveryAnswer {
  readonly status: number;
  /** Left out: the answer has no content. */
  readonly body?: object | Buffer | string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const json = 'application/json';

interface Wanted {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const acceptedTypes = (accept: string | undefined): Wanted[] =>
  (accept ?? '*/*').split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    return {
      type,
      parameters: new Map(parameters.map((each) => [each.split('=')[0] ?? '', each.split('=')[1] ?? ''] as const)),
    };
  });

const isJson = ({ type }: Wanted): boolean => ['application/json', 'application/*', '*/*'].includes(type);

/** The aggregated version that a client prefers to the plain form; undefined when it prefers the plain one. */
function aggregatedVersion(accept: string | undefined): 'v2' | 'v2beta1' | undefined {
  for (const wanted of acceptedTypes(accept)) {
    if (!isJson(wanted)) continue;
    const version = wanted.parameters.get('v');
    if (wanted.parameters.get('as') === 'APIGroupDiscoveryList') {
      if (version === 'v2' || version === 'v2beta1') return version;
    } else if (!wanted.parameters.has('as')) return undefined;
  }
  return undefined;
}

const missing = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

function plain(found: Document | undefined): DiscoveryAnswer {
  if (!found) throw missing();
  return { status: 200, body: found.bytes, contentType: json };
}

/** A document that may be kept by the client: with its hash in the address for good, else to be asked about. */
function cached(request: DiscoveryRequest, found: Document | undefined, contentType = json): DiscoveryAnswer {
  if (!found) throw missing();
  const etag = `"${found.hash}"`;
  const hash = request.query.get('hash');
  const headers: Record<string, string> = { etag, vary: 'Accept' };
  if (hash !== null && hash !== found.hash) {
    return { status: 301, body: '', headers: { location: `${request.path}?hash=${found.hash}` } };
  }
  if (hash !== null) headers['cache-control'] = 'public, max-age=31536000, immutable';
  if (request.header('if-none-match')?.includes(etag)) return { status: 304, headers };
  return { status: 200, body: found.bytes, contentType, headers };
}

function discovery(request: DiscoveryRequest, core: boolean, otherwise: () => DiscoveryAnswer): DiscoveryAnswer {
  const version = aggregatedVersion(request.header('accept'));
  if (!version) return otherwise();
  const type = `${json};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  const answer = cached(request, aggregatedDocument(request.table, core, version), type);
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'public' } };
}

/** The same under two names: the later one is what the media type was registered for. */
const protobufTypes = [
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
];

/** JSON, or protobuf for clients that know it and do not prefer JSON. */
function openapi2(request: DiscoveryRequest): DiscoveryAnswer {
  const wanted = acceptedTypes(request.header('accept')).find((one) => isJson(one) || protobufTypes.includes(one.type));
  if (!wanted) throw notAcceptable([json, ...protobufTypes]);
  if (!isJson(wanted)) return cached(request, openapiV2Protobuf(request.table), protobufTypes[0]);
  return cached(request, openapiV2(request.table));
}

const versionPath = /^\/(?:api|apis\/([^/]+))\/([^/]+)\/?$/;
const groupPath = /^\/apis\/([^/]+)\/?$/;
const openapiPath = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/;

/** Answers requests for discovery and OpenAPI; undefined for other paths. Refuses with StatusError. */
export function discoveryAnswer(request: DiscoveryRequest): DiscoveryAnswer | undefined {
  const { table, path } = request;
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  if (path === '/api' || path === '/api/') {
    return discovery(request, true, () => ({ status: 200, body: apiVersions(new URL(request.url).host) }));
  }
  if (path === '/apis' || path === '/apis/') return discovery(request, false, () => plain(groupListDocument(table)));
  if (path === '/openapi/v2' || path === '/openapi/v2/') return openapi2(request);
  if (path === '/openapi/v3' || path === '/openapi/v3/') return plain(openapiV3Index(table));
  const version = versionPath.exec(path);
  if (version) return plain(resourceListDocument(table, version[1] ?? '', version[2] ?? ''));
  const group = groupPath.exec(path);
  if (group) {
    const found = groupDocument(table, group[1] ?? '');
    return found
      ? plain(found)
      : { status: 404, body: '404 page not found\n', contentType: 'text/plain; charset=utf-8' };
  }
  const openapi = openapiPath.exec(path);
  if (openapi) {
    const found = openapiV3(table, openapi[1] ?? '', openapi[2] ?? '');
    return found ? cached(request, found) : { status: 404 };
  }
  return undefined;
}
