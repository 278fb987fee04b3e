// storage.k8s.io/v1.
import { declare, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'storage.k8s.io';

export const storageTypes: readonly ResourceType[] = [
  declare(group, { kind: 'CSIDriver', plural: 'csidrivers', namespaced: false }),
  declare(group, { kind: 'CSINode', plural: 'csinodes', namespaced: false, strategy: { generation: false } }),
  declare(group, {
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    singular: 'csistoragecapacity',
    namespaced: true,
    strategy: { generation: false },
  }),
  declare(group, {
    kind: 'StorageClass',
    plural: 'storageclasses',
    shortNames: ['sc'],
    namespaced: false,
    strategy: { generation: false },
  }),
  declare(group, {
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    namespaced: false,
    subresources: { status },
    strategy: { generation: false },
  }),
  declare(group, {
    kind: 'VolumeAttributesClass',
    plural: 'volumeattributesclasses',
    shortNames: ['vac'],
    namespaced: false,
    strategy: { generation: false },
  }),
];
