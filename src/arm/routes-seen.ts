// Which methods a path has, to tell "no such path" from "not with this method". Only asked when no route matched.
import type { FastifyInstance } from 'fastify';

/** By server, since the scope that answers for unknown paths must know the routes of all. */
const seen = new WeakMap<object, Map<string, Set<string>>>();

/** Watches routes being added to this scope from here on; answers the methods that a path has on the server, in alphabetical order. */
export function routesSeen(app: FastifyInstance): (path: string) => readonly string[] {
  const patterns = seen.get(app.server) ?? new Map<string, Set<string>>();
  seen.set(app.server, patterns);
  app.addHook('onRoute', (route) => {
    const methods = patterns.get(route.url) ?? new Set<string>();
    for (const method of [route.method].flat()) methods.add(method.toUpperCase());
    patterns.set(route.url, methods);
  });
  return (path) => {
    const segments = segmentsOf(path);
    const found = new Set<string>();
    for (const [pattern, methods] of patterns) {
      if (fits(segmentsOf(pattern), segments)) for (const method of methods) found.add(method);
    }
    return [...found].sort();
  };
}

function segmentsOf(path: string): readonly string[] {
  return path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '');
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  const rest = pattern.at(-1) === '*';
  if (rest ? segments.length < pattern.length - 1 : segments.length !== pattern.length) return false;
  return pattern.every((part, index) => part === '*' || part.startsWith(':') || part === segments[index]);
}
