// What a request asks for: which right it needs at which scope, and who answers it. Paths of Resource Manager's own come first, then
// paths that providers declare, then operations, then resources of any type.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import type { ProviderRoute } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { checkOwnVersion, requestedVersion } from './api-version.ts';
import { type Answer, type ArmCall, type Method, ok, optionalBody } from './call.ts';
import { listChildren, listType } from './collection-requests.ts';
import { operationPath, pollOperation } from './operations.ts';
import { checkPlace, segmentsOf, type Target, targetOf } from './path.ts';
import type { KnownType, Registry } from './registry.ts';
import { resourceHandlers, runAction } from './resource-requests.ts';
import type { RouteTable } from './routes.ts';

/** A request whose kind is known. */
export interface Dispatched {
  readonly apiVersion: string;
  /** The right that is needed; undefined where every caller of the tenant may ask, or the list itself shows only what may be seen. */
  readonly needs?: { readonly action: string; readonly scope: string };
  run(call: ArmCall): Promise<Answer>;
}

export interface Dispatcher {
  /** Throws ArmError for paths, methods and api-versions that there are not. */
  dispatch(method: Method, segments: readonly string[], query: { readonly [name: string]: string }): Dispatched;
}

/** Requests that others answer; undefined for those that are not theirs. */
export type DispatchElsewhere = (...asked: Parameters<Dispatcher['dispatch']>) => Dispatched | undefined;

export function createDispatcher(registry: Registry, own: RouteTable, elsewhere?: DispatchElsewhere): Dispatcher {
  const routes = providerRoutes(registry);
  return {
    dispatch(method, segments, query) {
      const found = own.match(method, segments);
      if (found) {
        checkPlace(segments);
        const { route, match } = found;
        const apiVersion = requestedVersion(query['api-version']);
        checkOwnVersion(apiVersion, route.apiVersions);
        return {
          apiVersion,
          ...(route.action === undefined
            ? {}
            : { needs: { action: route.action, scope: scopeOf(match.on, segments) } }),
          run: (call) => route.run(call, match),
        };
      }
      const remote = elsewhere?.(method, segments, query);
      if (remote) return remote;
      const target = targetOf(segments);
      const others = (): readonly Method[] => own.methods(segments);
      if (target === undefined) throw unknownPath(method, others());
      const apiVersion = requestedVersion(query['api-version']);
      const declared = routes.match(method, segments);
      if (declared) {
        checkRouteVersion(declared.route, apiVersion);
        return {
          apiVersion,
          needs: { action: declared.route.action, scope: scopeOf(declared.on, segments) },
          run: (call) => runRoute(call, declared),
        };
      }
      return generic(registry, method, target, apiVersion, query, others);
    },
  };
}

function generic(
  registry: Registry,
  method: Method,
  target: Target,
  apiVersion: string,
  query: { readonly [name: string]: string },
  others: () => readonly Method[],
): Dispatched {
  if (target.kind === 'resource') {
    const { id } = target;
    const operation = method === 'GET' ? operationPath(id, query) : undefined;
    if (operation) return { apiVersion, run: (call) => pollOperation(call, operation) };
    if (id.types.length === 0 && id.resourceGroup === undefined) throw unknownPath(method, others());
    const known = registry.demand(id, apiVersion);
    if (method === 'POST') throw notSupported(method);
    const needs = { action: rightOf(method, known), scope: id.text };
    return { apiVersion, needs, run: (call) => resourceHandlers[method](call, id, known) };
  }
  if (target.kind === 'collection') {
    const { on, provider, type } = target;
    const known = registry.demandType(provider, type, apiVersion);
    if (method !== 'GET') throw notSupported(method);
    return { apiVersion, run: (call) => listType(call, on, known) };
  }
  if (target.id.types.length === 0) throw unknownPath(method, others());
  return below(registry, method, target.id, target.word, apiVersion);
}

function below(registry: Registry, method: Method, id: ResourceId, word: string, apiVersion: string): Dispatched {
  if (method === 'POST') {
    const known = registry.demand(id, apiVersion);
    const action = known.type.actions?.[foldCase(word)];
    if (action === undefined)
      throw new ArmError(
        404,
        'InvalidResourceType',
        `The action '${word.slice(0, 128)}' could not be found on the resource type '${known.fullType}' for api version '${apiVersion}'.`,
      );
    const name = action.action ?? `${known.fullType}/${word}/action`;
    return { apiVersion, needs: { action: name, scope: id.text }, run: (call) => runAction(call, id, known, word) };
  }
  const known = registry.demandType(id.provider ?? '', [...id.types, word].join('/'), apiVersion);
  if (method !== 'GET') throw notSupported(method);
  return {
    apiVersion,
    needs: { action: `${known.fullType}/read`, scope: id.text },
    run: (call) => listChildren(call, id, known),
  };
}

const verbs: { readonly [method in Exclude<Method, 'POST'>]: string } = {
  GET: 'read',
  HEAD: 'read',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'delete',
};

/** Groups have their rights under the subscription's name. */
function rightOf(method: Exclude<Method, 'POST'>, known: KnownType): string {
  const type =
    foldCase(known.fullType) === groupType ? 'Microsoft.Resources/subscriptions/resourceGroups' : known.fullType;
  return `${type}/${verbs[method]}`;
}

const groupType = 'microsoft.resources/resourcegroups';

/** The id that a path stands on: given, or the subscription or group in front of it; the root of the tenant for others. */
function scopeOf(on: ResourceId | undefined, segments: readonly string[]): string {
  if (on) return on.text;
  if (foldCase(segments[0] ?? '') !== 'subscriptions' || segments.length < 2) return '/';
  const isInGroup = foldCase(segments[2] ?? '') === 'resourcegroups' && segments.length >= 4;
  return `/${segments.slice(0, isInGroup ? 4 : 2).join('/')}`;
}

interface Declared {
  readonly route: ProviderRoute;
  readonly on: ResourceId | undefined;
  readonly parameters: { readonly [name: string]: string };
}

/** The paths that providers declare, found by namespace. */
function providerRoutes(registry: Registry): {
  match(method: Method, segments: readonly string[]): Declared | undefined;
} {
  const parts = new Map<ProviderRoute, readonly string[]>();
  for (const { routes } of registry.namespaces) for (const route of routes) parts.set(route, segmentsOf(route.path));

  const fit = (route: ProviderRoute, words: readonly string[]): { readonly [name: string]: string } | undefined => {
    const pattern = parts.get(route) ?? [];
    if (pattern.length !== words.length) return undefined;
    const parameters: Record<string, string> = {};
    for (const [at, part] of pattern.entries()) {
      const word = words[at] ?? '';
      if (part.startsWith('{')) parameters[part.slice(1, -1)] = word;
      else if (foldCase(word) !== foldCase(part)) return undefined;
    }
    return parameters;
  };

  return {
    match(method, segments) {
      const at = segments.findLastIndex((segment) => foldCase(segment) === 'providers');
      if (at === -1) return undefined;
      const namespace = registry.namespace(segments[at + 1] ?? '');
      if (namespace === undefined || namespace.routes.length === 0) return undefined;
      const words = segments.slice(at + 2);
      for (const route of namespace.routes) {
        const parameters = route.method === method ? fit(route, words) : undefined;
        const scope = parameters && scopeFor(route, segments.slice(0, at));
        if (scope) return { route, on: scope.on, parameters };
      }
      return undefined;
    },
  };
}

/** Whether a route may stand behind these segments. */
function scopeFor(route: ProviderRoute, front: readonly string[]): { readonly on: ResourceId | undefined } | undefined {
  if (front.length === 0)
    return route.scope === 'tenant' || route.scope === 'extension' ? { on: undefined } : undefined;
  const target = targetOf(front);
  if (target?.kind !== 'resource') return undefined;
  const { id } = target;
  const isPlain = id.types.length === 0;
  const fits = {
    tenant: false,
    subscription: isPlain && id.resourceGroup === undefined,
    resourceGroup: isPlain && id.resourceGroup !== undefined,
    extension: true,
  } as const;
  return fits[route.scope] ? { on: id } : undefined;
}

function checkRouteVersion(route: ProviderRoute, apiVersion: string): void {
  const asked = foldCase(apiVersion);
  if (route.apiVersions.some((version) => foldCase(version) === asked)) return;
  throw new ArmError(
    400,
    'NoRegisteredProviderFound',
    `No registered resource provider found for API version '${apiVersion}' for '${route.path}'. ` +
      `The supported api-versions are '${route.apiVersions.join(', ')}'.`,
  );
}

async function runRoute(call: ArmCall, { route, on, parameters }: Declared): Promise<Answer> {
  const body: JsonObject | undefined = optionalBody(call);
  const result = await route.run({
    world: call.world,
    ...(on?.subscriptionId === undefined ? {} : { subscriptionId: on.subscriptionId }),
    ...(on?.resourceGroup === undefined ? {} : { resourceGroup: on.resourceGroup }),
    ...(on === undefined ? {} : { on }),
    parameters,
    apiVersion: call.apiVersion,
    query: call.query,
    body,
    caller: call.caller,
  });
  return result === undefined ? { status: 204 } : ok(result);
}

function notSupported(method: string): ArmError {
  return new ArmError(405, 'HttpMethodNotSupported', `The HTTP method '${method}' is not supported at this path.`);
}

/** The path is not repeated: it is the caller's text. */
function unknownPath(method: string, others: readonly Method[]): ArmError {
  if (others.length === 0)
    return new ArmError(404, 'NotFound', 'No resource or operation of Resource Manager has the requested path.');
  return new ArmError(405, 'HttpMethodNotSupported', `The HTTP method '${method}' is not supported at this path.`, {
    headers: { allow: others.join(', ') },
  });
}
