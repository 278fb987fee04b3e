// The subscriptions: kept in the store, held in memory for every request to ask.
import { foldCase } from '../../../arm/resource-id.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Store } from '../../../store/store.ts';
import type { Provider } from '../kernel/provider.ts';
import type { Subscription, Subscriptions } from '../kernel/subscriptions.ts';

const partition = 'subscriptions';

/** Opens the subscriptions that the store holds. */
export async function openSubscriptions(options: {
  readonly store: Store;
  readonly tenantId: string;
  readonly providers: readonly Provider[];
}): Promise<Subscriptions> {
  const { store, tenantId, providers } = options;
  const container = await store.container<Subscription>({ name: 'subscriptions' });
  const held = new Map<string, Subscription>();
  const hold = (document: Document<Subscription>): Subscription => {
    held.set(document.body.subscriptionId, document.body);
    return document.body;
  };
  let continuation: string | undefined;
  do {
    const page = await container.query({ partition, limit: 1000, ...(continuation ? { continuation } : {}) });
    page.documents.forEach(hold);
    continuation = page.continuation;
  } while (continuation !== undefined);
  const alwaysRegistered = new Set(
    providers.filter((provider) => provider.alwaysRegistered === true).map(({ namespace }) => foldCase(namespace)),
  );

  return {
    find: (subscriptionId) => held.get(foldCase(subscriptionId)),
    list: () => [...held.values()].sort((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1)),
    async ensure(given) {
      const subscriptionId = foldCase(given.subscriptionId);
      const there = held.get(subscriptionId);
      if (there) return there;
      const subscription: Subscription = {
        state: 'Enabled',
        tenantId,
        tags: {},
        registrations: {},
        features: {},
        ...given,
        subscriptionId,
      };
      try {
        return hold(await container.create({ partition, id: subscriptionId }, subscription));
      } catch (error) {
        if (!isStoreError(error, 'Exists')) throw error;
        return held.get(subscriptionId) ?? subscription;
      }
    },
    async change(subscriptionId, change) {
      const id = foldCase(subscriptionId);
      if (!held.has(id)) return undefined;
      return hold(await container.update({ partition, id }, change));
    },
    isRegistered(subscriptionId, namespace) {
      const folded = foldCase(namespace);
      if (alwaysRegistered.has(folded)) return true;
      const state = held.get(foldCase(subscriptionId))?.registrations[folded];
      return state === 'Registered' || state === 'Registering';
    },
  };
}
