// api-version negotiation, before the body is read.
import type { FastifyInstance } from 'fastify';
import type { ArmError } from './errors.ts';
import { queryParameter, quotable } from './query.ts';

export interface ApiVersionOptions {
  /** All versions the product has; a route may have fewer (`config.arm.apiVersions`) or take none (false). */
  readonly supported: readonly string[];
  /** The error for a request without one. The products word and code it differently. */
  readonly missing: () => ArmError;
  /** The error for one that is not supported here. `given` is safe to show. */
  readonly unknown: (given: string, supported: readonly string[]) => ArmError;
}

export function apiVersion(app: FastifyInstance, options: ApiVersionOptions): void {
  const bySpelling = new Map(options.supported.map((version) => [version.toLowerCase(), version]));
  app.addHook('onRequest', (request, _reply, done) => {
    const limited = request.arm.route.apiVersions;
    if (limited === false || request.is404) {
      done();
      return;
    }
    let given: string | undefined;
    try {
      given = queryParameter(request, 'api-version');
    } catch (error) {
      done(error as Error);
      return;
    }
    if (given === undefined || given === '') {
      done(options.missing());
      return;
    }
    const version = bySpelling.get(given) ?? bySpelling.get(given.toLowerCase());
    if (version === undefined || (limited !== undefined && !limited.includes(version))) {
      done(options.unknown(quotable(given), limited ?? options.supported));
      return;
    }
    request.arm.apiVersion = version;
    done();
  });
}
