// Query parameters. Their names are case-insensitive in ARM, and one given twice has no meaning that all readers agree on.
import type { FastifyRequest } from 'fastify';
import { invalidParameter } from './errors.ts';

/**
 * The one value of a parameter, whatever the case of its name; undefined when it is absent.
 * Throws InvalidParameter when it is given more than once.
 */
export function queryParameter(request: FastifyRequest, name: string): string | undefined {
  const wanted = name.toLowerCase();
  const query = request.query as Readonly<Record<string, unknown>>;
  let found: string | undefined;
  for (const given in query) {
    if (given !== wanted && (given.length !== wanted.length || given.toLowerCase() !== wanted)) continue;
    const value = query[given];
    if (found !== undefined || typeof value !== 'string') {
      throw invalidParameter(`The query parameter '${name}' is given more than once.`, name);
    }
    found = value;
  }
  return found;
}

/** Text of the caller's that may stand in a message: printable, one line, short. */
export function quotable(text: string, maxLength = 64): string {
  const clean = text.replace(/[^\x20-\x7e\u00a0-\ud7ff]/g, '?');
  return clean.length > maxLength ? `${clean.slice(0, maxLength)}…` : clean;
}
