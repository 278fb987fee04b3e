// The subscriptions of the cloud. There are few of them and every request asks for one, so all are held in memory beside the store.

export type SubscriptionState = 'Enabled' | 'Warned' | 'PastDue' | 'Disabled' | 'Deleted';
export type RegistrationState = 'NotRegistered' | 'Registering' | 'Registered' | 'Unregistering';

export interface Subscription {
  /** A GUID in lower case. */
  readonly subscriptionId: string;
  readonly displayName: string;
  readonly state: SubscriptionState;
  readonly tenantId: string;
  readonly tags: { readonly [name: string]: string };
  /** By folded namespace; those that are always registered, or never were, are left out. */
  readonly registrations: { readonly [namespace: string]: RegistrationState };
  /** State of preview features by `namespace/name`, spelt as they were asked for. */
  readonly features: { readonly [feature: string]: string };
  /** Names of tags that were made in advance, with the values made for them. */
  readonly tagNames?: { readonly [name: string]: readonly string[] };
}

export interface Subscriptions {
  /** Any case; undefined when there is none. */
  find(subscriptionId: string): Subscription | undefined;
  /** By id. */
  list(): readonly Subscription[];
  /** Makes it, or leaves the one that is there as it is. */
  ensure(
    subscription: Pick<Subscription, 'subscriptionId' | 'displayName'> & Partial<Subscription>,
  ): Promise<Subscription>;
  /** Written before it resolves. Undefined when there is none. */
  change(
    subscriptionId: string,
    change: (subscription: Subscription) => Subscription,
  ): Promise<Subscription | undefined>;
  /** Whether resources of a namespace may be written in it. */
  isRegistered(subscriptionId: string, namespace: string): boolean;
}
