// Which requests go to a resource provider, with which right, and what is refused before it hears of them.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { requestedVersion } from '../arm/api-version.ts';
import type { Answer, ArmCall, Method } from '../arm/call.ts';
import type { Dispatched } from '../arm/dispatch.ts';
import type { Endpoints, Served } from './endpoints.ts';

/** A request for a provider. */
export interface Target extends Served {
  /** Spelt as the endpoint does. */
  readonly namespace: string;
  /** The resource; for lists and actions, what they stand on. Undefined at the root of the tenant. */
  readonly id: ResourceId | undefined;
  readonly kind: 'resource' | 'list' | 'action';
  readonly action: string;
}

export interface Handlers {
  /** Whether the namespace was a provider's once: its resources may be here although nobody serves them now. */
  isKnown(namespace: string): boolean;
  forward(call: ArmCall, target: Target): Promise<Answer>;
  operations(call: ArmCall, namespace: string): Promise<Answer>;
}

/** Clients that started an operation follow it, whatever their rights: the provider knows who started it. */
const pollForm = /^locations\/[a-z]*operation[a-z]*(?:status|statuses|result|results|s)$/;

const verbs: { readonly [method in Method]: string } = {
  GET: 'read',
  HEAD: 'read',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'delete',
  POST: 'action',
};

/** Undefined for namespaces that no endpoint has. Throws for types, methods and versions that there are not. */
export function dispatchRemote(
  endpoints: Endpoints,
  handlers: Handlers,
  method: Method,
  segments: readonly string[],
  query: { readonly [name: string]: string },
): Dispatched | undefined {
  const at = segments.findLastIndex((segment) => foldCase(segment) === 'providers');
  const asked = at === -1 ? '' : (segments[at + 1] ?? '');
  if (asked === '' || segments.length < at + 3) return undefined;
  const [first] = endpoints.of(asked);
  if (first === undefined) {
    if (!handlers.isKnown(asked)) return undefined;
    throw unserved(asked);
  }
  const { namespace } = first;
  const words = segments.slice(at + 2);
  const apiVersion = requestedVersion(query['api-version']);
  if (at === 0 && words.length === 1 && foldCase(words[0] ?? '') === 'operations') {
    if (method !== 'GET') throw notSupported(method);
    return { apiVersion, run: (call) => handlers.operations(call, namespace) };
  }
  const front = frontOf(segments.slice(0, at));
  const target = targetOf(endpoints, namespace, method, words, front, apiVersion);
  checkVersion(target, apiVersion);
  return {
    apiVersion,
    ...(needsOf(target, front) ?? {}),
    run: (call) => handlers.forward(call, target),
  };
}

/** Providers serve the tenant, subscriptions and groups. */
function frontOf(segments: readonly string[]): ResourceId | undefined {
  if (segments.length === 0) return undefined;
  const parsed = parseResourceId(`/${segments.join('/')}`);
  if (parsed.ok && parsed.id.types.length === 0) return parsed.id;
  throw new ArmError(404, 'InvalidResourceType', 'The resource provider has no resources that extend others.');
}

function targetOf(
  endpoints: Endpoints,
  namespace: string,
  method: Method,
  words: readonly string[],
  front: ResourceId | undefined,
  apiVersion: string,
): Target {
  const isWhole = words.length % 2 === 0;
  const types = words.filter((_, index) => index % 2 === 0);
  const idFor = (count: number): ResourceId | undefined => {
    if (count === 0) return front;
    const text = `${front?.text ?? ''}/providers/${namespace}/${words.slice(0, count).join('/')}`;
    const parsed = parseResourceId(text);
    if (parsed.ok) return parsed.id;
    throw new ArmError(
      400,
      'InvalidResourceName',
      `The resource name in the request path is not valid: ${parsed.message}.`,
    );
  };
  const demand = (names: readonly string[]): Served => {
    const found = endpoints.find(namespace, names.join('/'));
    if (found) return found;
    throw new ArmError(
      404,
      'InvalidResourceType',
      `The resource type '${names.join('/').slice(0, 200)}' could not be found in the namespace '${namespace}' for api version '${apiVersion}'.`,
    );
  };
  if (isWhole) {
    const served = demand(types);
    if (method === 'POST') throw notSupported(method);
    const action = `${namespace}/${served.type.type}/${verbs[method]}`;
    return { ...served, namespace, id: idFor(words.length), kind: 'resource', action };
  }
  if (method === 'POST') {
    const own = words.length > 1 ? endpoints.find(namespace, types.slice(0, -1).join('/')) : undefined;
    const served = own ?? demand(types);
    const action = `${namespace}/${types.join('/')}/action`;
    return { ...served, namespace, id: idFor(words.length - 1), kind: 'action', action };
  }
  const served = demand(types);
  if (method !== 'GET') throw notSupported(method);
  const action = `${namespace}/${served.type.type}/read`;
  return { ...served, namespace, id: idFor(words.length - 1), kind: 'list', action };
}

function needsOf(
  { kind, type, action, id }: Target,
  front: ResourceId | undefined,
): Pick<Dispatched, 'needs'> | undefined {
  if (pollForm.test(foldCase(type.type))) return undefined;
  // Lists of a subscription or group show what may be seen of them.
  if (kind === 'list' && type.tracked && id?.types.length === 0) return undefined;
  return { needs: { action, scope: (id ?? front)?.text ?? '/' } };
}

function checkVersion({ type }: Target, apiVersion: string): void {
  if (type.apiVersions.some((version) => version === foldCase(apiVersion))) return;
  throw new ArmError(
    400,
    'NoRegisteredProviderFound',
    `No registered resource provider found for API version '${apiVersion}' for type '${type.type}'. ` +
      `The supported api-versions are '${type.apiVersions.join(', ')}'.`,
  );
}

export function unserved(namespace: string): ArmError {
  return new ArmError(
    503,
    'ServiceUnavailable',
    `No endpoint of the resource provider '${namespace.slice(0, 128)}' is registered at the moment.`,
    { retryAfterSeconds: 5 },
  );
}

function notSupported(method: string): ArmError {
  return new ArmError(405, 'HttpMethodNotSupported', `The HTTP method '${method}' is not supported at this path.`);
}
