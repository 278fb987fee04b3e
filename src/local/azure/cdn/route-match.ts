// Which route of an endpoint a path takes, and where it leads at the origin.
import type { JsonObject } from '../kernel/record.ts';

export interface MatchedRoute {
  readonly properties: JsonObject;
  /** What of the path the pattern names before its `*`. */
  readonly prefix: string;
}

/** The most specific pattern wins: one without `*` over all others, then the longest. Matching ignores case. */
export function matchRoute(routes: readonly JsonObject[], path: string): MatchedRoute | undefined {
  const lower = path.toLowerCase();
  let best: (MatchedRoute & { readonly rank: number }) | undefined;
  for (const properties of routes) {
    if (properties.enabledState === 'Disabled') continue;
    const patterns = Array.isArray(properties.patternsToMatch) ? properties.patternsToMatch : ['/*'];
    for (const pattern of patterns) {
      if (typeof pattern !== 'string') continue;
      const folded = pattern.toLowerCase();
      const isOpen = folded.endsWith('*');
      const prefix = isOpen ? folded.slice(0, -1) : folded;
      const fits = isOpen ? lower.startsWith(prefix) || `${lower}/` === prefix : lower === folded;
      const rank = isOpen ? prefix.length : Number.MAX_SAFE_INTEGER;
      if (fits && (best === undefined || rank > best.rank)) best = { properties, prefix, rank };
    }
  }
  return best;
}

/** An origin path takes the place of what the pattern names. */
export function originPath({ properties, prefix }: MatchedRoute, path: string): string {
  const { originPath: given } = properties;
  if (typeof given !== 'string' || given === '') return path;
  const base = given.replace(/\/+$/, '');
  const rest = path.slice(prefix.length);
  return `${base.startsWith('/') ? base : `/${base}`}/${rest.replace(/^\/+/, '')}`;
}
