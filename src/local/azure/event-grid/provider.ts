// Microsoft.EventGrid: namespaces with what their MQTT brokers need to know; topics, domains and subscriptions kept as resources.
import type { Provider, ResourceType } from '../kernel/provider.ts';
import { eventGridVersions } from './api-versions.ts';
import { namespaceChildren } from './namespace-children.ts';
import { namespaceName, namespaces } from './namespaces.ts';

const kept = (type: string, more: Partial<ResourceType> = {}): ResourceType => ({
  type,
  apiVersions: eventGridVersions,
  scope: 'resourceGroup',
  location: 'none',
  etags: false,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  ...more,
});

const placed = { location: 'required', patch: 'merge', name: namespaceName } as const;

export const eventGridProvider: Provider = {
  namespace: 'Microsoft.EventGrid',
  types: [
    namespaces,
    ...namespaceChildren,
    kept('namespaces/topics'),
    kept('namespaces/topics/eventSubscriptions'),
    kept('topics', placed),
    kept('topics/eventSubscriptions'),
    kept('domains', placed),
    kept('domains/topics'),
    kept('systemTopics', placed),
    kept('systemTopics/eventSubscriptions'),
    kept('eventSubscriptions', { scope: 'extension' }),
  ],
};
