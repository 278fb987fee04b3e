// Subscriptions that tell of their changes.
import type { Subscriptions } from '../kernel/subscriptions.ts';

/** `changed` is called after every write. */
export function notifyingSubscriptions(subscriptions: Subscriptions, changed: () => void): Subscriptions {
  return {
    ...subscriptions,
    async ensure(subscription) {
      const ensured = await subscriptions.ensure(subscription);
      changed();
      return ensured;
    },
    async change(subscriptionId, change) {
      const result = await subscriptions.change(subscriptionId, change);
      changed();
      return result;
    },
  };
}
