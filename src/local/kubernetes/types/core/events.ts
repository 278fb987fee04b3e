// Events, which events.k8s.io serves from the same place.
import { declare } from '../declare.ts';

export const coreEvents = declare('', {
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  namespaced: true,
  strategy: { generation: false },
});
