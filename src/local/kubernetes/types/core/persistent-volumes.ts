// Volumes.
import { declare, status } from '../declare.ts';

export const persistentVolumes = declare('', {
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  subresources: { status },
  strategy: { generation: false },
});
