// Form bodies and queries as the endpoints read them: every parameter once.
import type { FastifyInstance } from 'fastify';
import { aadsts } from './aadsts.ts';

export interface Form {
  /** Undefined when it is absent or empty. */
  get(name: string): string | undefined;
}

/** Throws 900144. */
export function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value === undefined) throw aadsts.missing(name);
  return value;
}

const bodyLimitBytes = 64 * 1024;
const parametersMax = 100;

/** Reads `a=b&c=d`. Throws 9002313 for a parameter given twice: readers would differ in which they take. */
export function readForm(text: string): Form {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (values.has(name) || values.size >= parametersMax) throw aadsts.malformed();
    values.set(name, value);
  }
  return { get: (name) => values.get(name) || undefined };
}

/** Makes form bodies, and nothing else, reach handlers of this scope as {@link Form}. */
export function formBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: bodyLimitBytes },
    (_request, body, done) => {
      try {
        done(null, readForm(String(body)));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  app.addContentTypeParser('*', (_request, _payload, done) => done(aadsts.notForm()));
}

/** The parameters of a request without a body are none. */
export function formOf(body: unknown): Form {
  return typeof body === 'object' && body !== null && 'get' in body ? (body as Form) : { get: () => undefined };
}
