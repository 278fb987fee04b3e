// Claims to volumes.
import { declare, status } from '../declare.ts';

export const persistentVolumeClaims = declare('', {
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  subresources: { status },
  strategy: { generation: false },
});
