// Telling providers about subscriptions: `PUT /subscriptions/<id>?api-version=2.0` when one registers, unregisters or changes state.
// What a provider was told last is kept; what it should know follows from the subscription. The difference is sent until it is taken.
import { foldCase } from '../../../arm/resource-id.ts';
import type { Logger } from '../../../kit/log.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Store } from '../../../store/store.ts';
import type { Subscription, Subscriptions } from '../kernel/subscriptions.ts';
import type { Endpoint } from './endpoint.ts';

/** In the words of the contract between Resource Manager and providers. */
export type LifecycleState = 'Registered' | 'Unregistered' | 'Warned' | 'Suspended' | 'Deleted';

export interface LifecycleBody {
  readonly state: LifecycleState;
  readonly registrationDate: string;
  readonly properties: {
    readonly tenantId: string;
    readonly locationPlacementId: string;
    readonly quotaId: string;
    readonly registeredFeatures: readonly { readonly name: string; readonly state: string }[];
    readonly spendingLimit: string;
  };
}

interface Told {
  readonly endpoint: string;
  readonly subscriptionId: string;
  readonly registrationDate: string;
  /** The body that was taken, as text. */
  readonly body: string;
}

export interface Lifecycle {
  /** Sends what is to be sent about a subscription now; throws when it was not taken. */
  ensure(endpoint: Endpoint, subscriptionId: string): Promise<void>;
  /** Looks at all subscriptions and endpoints soon. */
  changed(): void;
  stop(): Promise<void>;
}

export interface LifecycleOptions {
  readonly store: Store;
  readonly subscriptions: Subscriptions;
  readonly endpoints: () => readonly Endpoint[];
  readonly now: () => number;
  readonly logger: Logger;
  /** Throws when the provider did not take it. */
  readonly send: (endpoint: Endpoint, subscriptionId: string, body: LifecycleBody) => Promise<void>;
}

const firstRetryMs = 500;
const longestRetryMs = 60_000;

export async function createLifecycle(options: LifecycleOptions): Promise<Lifecycle> {
  const { store, subscriptions, endpoints, now, logger, send } = options;
  const container = await store.container<Told>({ name: 'front_door_lifecycle' });
  const told = new Map<string, Told>();
  for (let continuation: string | undefined, isFirst = true; isFirst || continuation !== undefined; isFirst = false) {
    const page = await container.query({ limit: 1000, ...(continuation === undefined ? {} : { continuation }) });
    for (const { body } of page.documents) told.set(keyOf(body.endpoint, body.subscriptionId), body);
    continuation = page.continuation;
  }
  const sending = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** What the provider should have been told; undefined when it need not know of the subscription. */
  const wanted = (endpoint: Endpoint, subscription: Subscription): LifecycleBody | undefined => {
    const before = told.get(keyOf(endpoint.name, subscription.subscriptionId));
    const isRegistered = subscriptions.isRegistered(subscription.subscriptionId, endpoint.namespace);
    if (!isRegistered && before === undefined) return undefined;
    return {
      state: stateOf(subscription, isRegistered),
      registrationDate: before?.registrationDate ?? new Date(now()).toUTCString(),
      properties: {
        tenantId: subscription.tenantId,
        locationPlacementId: 'Public_2014-09-01',
        quotaId: 'PayAsYouGo_2014-09-01',
        registeredFeatures: featuresOf(subscription, endpoint.namespace),
        spendingLimit: 'Off',
      },
    };
  };
  const keep = async (entry: Told): Promise<void> => {
    const key = { partition: entry.subscriptionId, id: entry.endpoint };
    try {
      await container.update(key, () => entry);
    } catch (error) {
      if (!isStoreError(error, 'NotFound')) throw error;
      await container.create(key, entry);
    }
    told.set(keyOf(entry.endpoint, entry.subscriptionId), entry);
  };
  /** The body that is still to be sent; undefined when nothing is. */
  const owed = (endpoint: Endpoint, subscriptionId: string): LifecycleBody | undefined => {
    const subscription = subscriptions.find(subscriptionId);
    const body = subscription && wanted(endpoint, subscription);
    const before = told.get(keyOf(endpoint.name, foldCase(subscriptionId)));
    return body === undefined || before?.body === JSON.stringify(body) ? undefined : body;
  };
  const deliver = async (endpoint: Endpoint, subscriptionId: string): Promise<void> => {
    for (let body = owed(endpoint, subscriptionId); body !== undefined; body = owed(endpoint, subscriptionId)) {
      await send(endpoint, subscriptionId, body);
      const { registrationDate } = body;
      await keep({ endpoint: endpoint.name, subscriptionId, registrationDate, body: JSON.stringify(body) });
    }
  };
  /** One at a time for each provider and subscription, so that the last word is the last state; those who come meanwhile wait for it. */
  const ensure = async (endpoint: Endpoint, given: string): Promise<void> => {
    const subscriptionId = foldCase(given);
    const key = keyOf(endpoint.name, subscriptionId);
    for (let there = sending.get(key); there !== undefined; there = sending.get(key)) await there;
    if (owed(endpoint, subscriptionId) === undefined) return;
    const work = deliver(endpoint, subscriptionId).finally(() => sending.delete(key));
    sending.set(key, work);
    await work;
  };
  const round = async (retryMs: number): Promise<void> => {
    let failures = 0;
    for (const endpoint of endpoints()) {
      for (const { subscriptionId } of subscriptions.list()) {
        try {
          await ensure(endpoint, subscriptionId);
        } catch (err) {
          failures++;
          logger.debug(
            { err, endpoint: endpoint.name, subscriptionId },
            'a provider was not told of a subscription yet',
          );
        }
      }
    }
    if (failures > 0) plan(retryMs, Math.min(longestRetryMs, retryMs * 2));
  };
  const plan = (delayMs: number, retryMs: number): void => {
    if (isStopped) return;
    clearTimeout(timer);
    timer = setTimeout(() => void round(retryMs), delayMs);
    timer.unref();
  };

  return {
    ensure,
    changed: () => plan(0, firstRetryMs),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await Promise.allSettled(sending.values());
    },
  };
}

function keyOf(endpoint: string, subscriptionId: string): string {
  return `${endpoint} ${subscriptionId}`;
}

const states: { readonly [state in Subscription['state']]: LifecycleState } = {
  Enabled: 'Registered',
  Warned: 'Warned',
  PastDue: 'Warned',
  Disabled: 'Suspended',
  Deleted: 'Deleted',
};

function stateOf({ state }: Subscription, isRegistered: boolean): LifecycleState {
  return isRegistered || state === 'Deleted' ? states[state] : 'Unregistered';
}

function featuresOf({ features }: Subscription, namespace: string): LifecycleBody['properties']['registeredFeatures'] {
  const own = `${foldCase(namespace)}/`;
  return Object.entries(features)
    .filter(([name]) => foldCase(name).startsWith(own))
    .map(([name, state]) => ({ name, state }));
}
