// events.k8s.io/v1: the events of core in another shape.
import { declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'events.k8s.io';

export const eventsTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    namespaced: true,
    storage: '/events',
    strategy: { generation: false },
  }),
];
