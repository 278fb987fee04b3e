// The ARM contract as one fastify plugin. Reading `armScope` from top to bottom tells what happens to a request, in this order.
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { type ApiVersionOptions, apiVersion } from './api-version.ts';
import { type Authenticate, authentication } from './authentication.ts';
import { body } from './body.ts';
import { errorAnswers } from './error-answers.ts';
import { ids } from './ids.ts';
import { type OutputOptions, output } from './output.ts';
import { type PathParameterTable, pathParameters } from './path-parameters.ts';
import { requestLog } from './request-log.ts';
import { type SubscriptionGateOptions, subscriptionGate } from './subscription-gate.ts';

/** Everything that differs between products. */
export interface ArmOptions {
  readonly authenticate: Authenticate;
  readonly pathParameters: PathParameterTable;
  readonly apiVersion: ApiVersionOptions;
  /** Left out where subscriptions have no state, such as an admin API. */
  readonly subscriptionGate?: SubscriptionGateOptions;
  readonly body: {
    readonly limitBytes: number;
    /** 64 when left out. */
    readonly maxDepth?: number;
    /** 400 when left out, as ARM clients know it. */
    readonly tooLargeStatus?: 400 | 413;
  };
  readonly output: OutputOptions;
  /** Status of a write that lost its race without a condition; 409 when left out. docs/arm.md says why there is a choice. */
  readonly lostRaceStatus?: 409 | 429;
  /**
   * Whether ARM may be told of the end of an operation at this address: `notificationAddresses()` with the hosts of the sender's client.
   * An address it does not accept is as if ARM had sent none. Left out: nobody is told.
   */
  readonly notificationAddress?: (address: string) => boolean;
  /** Whether this scope answers for paths that no route has; one scope of a server can. True when left out. */
  readonly unknownPaths?: boolean;
}

/**
 * A plugin for `app.register`: the hooks, then `routes` under them. It is encapsulated, so several products can stand on one
 * server, each with its own options. The server needs `armServerOptions()`.
 */
export function armScope(options: ArmOptions, routes: (app: FastifyInstance) => void): FastifyPluginCallback {
  const bodyTooLargeStatus = options.body.tooLargeStatus ?? 400;
  const answers = {
    bodyTooLargeStatus,
    lostRaceStatus: options.lostRaceStatus ?? 409,
    output: options.output,
    unknownPaths: options.unknownPaths ?? true,
  };
  return (app, _, done) => {
    output(app, options.output);
    errorAnswers(app, answers);
    // Each of these runs on a request in turn; the first that refuses ends it.
    ids(app);
    requestLog(app);
    authentication(app, options.authenticate, options.notificationAddress ?? (() => false));
    pathParameters(app, options.pathParameters);
    apiVersion(app, options.apiVersion);
    if (options.subscriptionGate) subscriptionGate(app, options.subscriptionGate);
    // Only now is the body read.
    body(app, { limitBytes: options.body.limitBytes, maxDepth: options.body.maxDepth ?? 64, bodyTooLargeStatus });
    routes(app);
    done();
  };
}
