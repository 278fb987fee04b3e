// Paths that are Resource Manager's own, as a table: subscriptions, locations, providers, tags. Everything else is a resource of a
// provider, and generic.
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { Answer, ArmCall, Method } from './call.ts';

export interface RouteMatch {
  /** By the names in braces. */
  readonly parameters: { readonly [name: string]: string };
  /** For routes on any scope: the id before them; undefined for the tenant. */
  readonly on?: ResourceId | undefined;
}

export interface ArmRoute {
  readonly method: Method;
  /** `/subscriptions/{subscriptionId}/locations`; with `{scope}` in front it stands on any id. */
  readonly path: string;
  readonly apiVersions: readonly string[];
  /** What the caller must be allowed to do at the scope of the path; undefined where every caller of the tenant may ask. */
  readonly action?: string;
  run(call: ArmCall, match: RouteMatch): Promise<Answer>;
}

interface Compiled {
  readonly route: ArmRoute;
  /** A literal in lower case, or the name of a parameter. */
  readonly parts: readonly ({ readonly literal: string } | { readonly parameter: string })[];
  readonly scoped: boolean;
}

export interface RouteTable {
  match(
    method: string,
    segments: readonly string[],
  ): { readonly route: ArmRoute; readonly match: RouteMatch } | undefined;
  /** The methods that a path has, whatever was asked. */
  methods(segments: readonly string[]): readonly Method[];
}

/** Literals match in any case. The first route that fits wins. */
export function routeTable(routes: readonly ArmRoute[]): RouteTable {
  const byLength = new Map<number, Compiled[]>();
  const scoped: Compiled[] = [];
  for (const route of routes) {
    const compiled = compile(route);
    if (compiled.scoped) {
      scoped.push(compiled);
      continue;
    }
    const { length } = compiled.parts;
    byLength.set(length, [...(byLength.get(length) ?? []), compiled]);
  }

  const find = (
    segments: readonly string[],
    wanted: (route: ArmRoute) => boolean,
  ): { readonly route: ArmRoute; readonly match: RouteMatch } | undefined => {
    for (const { route, parts } of byLength.get(segments.length) ?? []) {
      const parameters = wanted(route) ? fit(parts, segments, 0) : undefined;
      if (parameters) return { route, match: { parameters } };
    }
    for (const { route, parts } of scoped) {
      const from = segments.length - parts.length;
      const parameters = from >= 0 && wanted(route) ? fit(parts, segments, from) : undefined;
      if (!parameters) continue;
      const on = from === 0 ? undefined : parseResourceId(`/${segments.slice(0, from).join('/')}`);
      if (on === undefined || on.ok) return { route, match: { parameters, on: on?.id } };
    }
    return undefined;
  };

  return {
    match: (method, segments) => find(segments, (route) => route.method === method),
    methods(segments) {
      const found = new Set<Method>();
      for (const { method } of routes) if (find(segments, (route) => route.method === method)) found.add(method);
      return [...found];
    },
  };
}

function compile(route: ArmRoute): Compiled {
  const words = route.path.split('/').filter((word) => word !== '');
  const isScoped = words[0] === '{scope}';
  const parts = (isScoped ? words.slice(1) : words).map((word) =>
    word.startsWith('{') ? { parameter: word.slice(1, -1) } : { literal: foldCase(word) },
  );
  return { route, parts, scoped: isScoped };
}

function fit(
  parts: Compiled['parts'],
  segments: readonly string[],
  from: number,
): { readonly [name: string]: string } | undefined {
  const parameters: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const segment = segments[from + at] ?? '';
    if ('parameter' in part) parameters[part.parameter] = segment;
    else if (segment.length !== part.literal.length || foldCase(segment) !== part.literal) return undefined;
  }
  return parameters;
}
