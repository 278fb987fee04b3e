// Lets a request pass or not by the state of its subscription, as a table: state × kind of request.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ArmError } from './errors.ts';
import { quotable } from './query.ts';

export interface Subscription {
  readonly state: string;
  /** The tenant it belongs to; stands in for an absent `x-ms-home-tenant-id`. */
  readonly tenantId?: string;
}

/** Passes, or is refused with this status and the code InvalidSubscriptionState. */
export type GateVerdict = 'allow' | 400 | 409;

export interface GateRow {
  readonly read: GateVerdict;
  /** PUT and PATCH. */
  readonly write: GateVerdict;
  readonly delete: GateVerdict;
  /** POST. */
  readonly action: GateVerdict;
}

export interface SubscriptionGateOptions {
  /** Undefined when the subscription was never registered. */
  readonly lookup: (subscriptionId: string) => Subscription | undefined | Promise<Subscription | undefined>;
  readonly states: Readonly<Record<string, GateRow>>;
  /** For a subscription that is not known. */
  readonly missing: GateRow;
  /** For a state that the table does not have. */
  readonly other: GateRow;
}

const kinds: Readonly<Record<string, keyof GateRow>> = {
  GET: 'read',
  HEAD: 'read',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'delete',
};

/** Applies to routes with a `:subscriptionId`, unless they say otherwise (`config.arm.subscriptionGate`). */
export function subscriptionGate(app: FastifyInstance, options: SubscriptionGateOptions): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { subscriptionId } = request.params as { readonly subscriptionId?: string };
    if (subscriptionId === undefined || request.arm.route.subscriptionGate === false) {
      done();
      return;
    }
    try {
      const found = options.lookup(subscriptionId.toLowerCase());
      if (found instanceof Promise) {
        found.then((subscription) => done(judge(request, subscriptionId, subscription, options)), done);
      } else {
        done(judge(request, subscriptionId, found, options));
      }
    } catch (error) {
      done(error as Error);
    }
  });
}

function judge(
  request: FastifyRequest,
  subscriptionId: string,
  subscription: Subscription | undefined,
  options: SubscriptionGateOptions,
): ArmError | undefined {
  const row = subscription === undefined ? options.missing : rowOf(subscription.state, options);
  const verdict = row[kinds[request.method] ?? 'action'];
  if (verdict !== 'allow' && request.arm.route.subscriptionGate !== 'lookup') {
    const state = subscription === undefined ? 'not registered' : `in state '${quotable(subscription.state)}'`;
    const message = `The request is not allowed because the subscription '${subscriptionId}' is ${state}.`;
    return new ArmError(verdict, 'InvalidSubscriptionState', message);
  }
  request.arm.subscription = subscription;
  request.arm.homeTenantId ??= subscription?.tenantId;
  return undefined;
}

function rowOf(state: string, options: SubscriptionGateOptions): GateRow {
  return (Object.hasOwn(options.states, state) ? options.states[state] : undefined) ?? options.other;
}
