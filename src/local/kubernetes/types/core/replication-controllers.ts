// Replication controllers, the older replica sets.
import { declare, scale, status } from '../declare.ts';

export const replicationControllers = declare('', {
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  subresources: { scale, status },
});
