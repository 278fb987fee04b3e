// What must be set on the server itself for the plugins to work: the router, request ids, and errors that happen before routing.
import { type FastifyServerOptions, LogController } from 'fastify';
import { clientErrorHandler } from '../kit/client-error.ts';
import { type AnswerOptions, sendError } from './error-answers.ts';
import { newArmRequest, newRequestId, requestLogger } from './ids.ts';
import { originForm } from './request.ts';
import { logRequest } from './request-log.ts';

/** For errors that happen before a scope is known; those of scopes go by the scope's own options. */
export type ArmServerOptions = Partial<AnswerOptions>;

/** Give these to `fastify()`, with the product's own beside them. */
export function armServerOptions(given: ArmServerOptions = {}) {
  const options: AnswerOptions = { bodyTooLargeStatus: 400, output: { indent: 0, finalNewline: false }, ...given };
  return {
    genReqId: newRequestId,
    // The framework's own lines are off: request-log.ts writes the one line.
    logController: new LogController({ requestIdLogLabel: 'requestId', disableRequestLogging: true }),
    childLoggerFactory: requestLogger,
    // A connection kept alive while the server drains is served, not refused with a body of another shape.
    return503OnClosing: false,
    routerOptions: {
      // Literal segments match whatever their case; parameters keep the case they came in.
      caseSensitive: false,
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      // Checked by path-parameters.ts with a proper error; this only has to be longer than any valid name.
      maxParamLength: 4096,
    },
    rewriteUrl: (request: { readonly url?: string | undefined }): string => routable(request.url ?? '/'),
    frameworkErrors: (error, request, reply) => {
      request.arm = newArmRequest(request);
      reply.header('x-ms-request-id', request.arm.requestId);
      reply.header('x-ms-correlation-request-id', request.arm.correlationId);
      reply.raw.once('finish', () => logRequest(request, reply, reply.statusCode));
      return sendError(error, request, reply, options);
    },
    clientErrorHandler,
  } satisfies FastifyServerOptions;
}

/**
 * What the router is given. A target that is no path is made one that the router refuses as malformed. Capital I with a dot is the one letter whose lower-case form is longer, which would shift the router's parameters against the path. A
 * path with it is made one that the router refuses as malformed.
 */
function routable(target: string): string {
  const url = originForm(target);
  if (!url.startsWith('/')) return '/%';
  return url.includes('%') && /%c4%b0/i.test(url.split('?', 1)[0] ?? '') ? '/%' : url;
}
