// The apps of the cloud: one for its own names and one for each data plane, all made alike.
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { armServerOptions } from '../../arm/server-options.ts';
import type { Logger } from '../../kit/log.ts';

/** Routes check bodies with src/arm/check-body.ts; the compilers that the framework has for it are slow to load. */
function noCompiler(): never {
  throw new Error('routes of the embedded Azure have no schemas: check the body in the handler');
}

/** An app that writes neither a line nor a logger of its own for every request: a cloud on one machine is asked all the time. */
export function newApp(logger: Logger): FastifyInstance {
  return Fastify({
    ...armServerOptions(),
    childLoggerFactory: (own: FastifyBaseLogger) => own,
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    loggerInstance: logger as FastifyBaseLogger,
  });
}

/** For apps that are not a service with a form of errors of its own. */
export function answerUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: { code: 'NotFound', message: 'No service of this cloud has the requested path.' } }),
  );
}
