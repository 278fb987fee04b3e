// Volumes, claims and the group storage.k8s.io.
import { accepted, claim, object, refused, type TypeCases, updated } from './case.ts';

export const storageCases: TypeCases = {
  accepted: [
    accepted(
      'v1/persistentvolumes',
      object({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } }),
    ),
    accepted('v1/persistentvolumeclaims', object(claim)),
    accepted('storage.k8s.io/v1/storageclasses', object(undefined, { provisioner: 'example.com/p' })),
    accepted('storage.k8s.io/v1/csidrivers', object({})),
    accepted('storage.k8s.io/v1/csinodes', object({ drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['a'] }] })),
    accepted(
      'storage.k8s.io/v1/volumeattachments',
      object({ attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } }),
    ),
    accepted(
      'storage.k8s.io/v1/csistoragecapacities',
      object(undefined, { storageClassName: 's', capacity: '1024Mi' }),
    ),
    accepted(
      'storage.k8s.io/v1/volumeattributesclasses',
      object(undefined, { driverName: 'd', parameters: { a: 'b' } }),
    ),
  ],
  refusedCreates: [
    refused('empty', 'v1/persistentvolumes', object({})),
    refused(
      'no source',
      'v1/persistentvolumes',
      object({ capacity: { storage: '1Gi' }, accessModes: ['X'], persistentVolumeReclaimPolicy: 'X' }),
    ),
    refused('empty', 'v1/persistentvolumeclaims', object({})),
    refused(
      'access mode',
      'v1/persistentvolumeclaims',
      object({ accessModes: ['X'], resources: { requests: { storage: '0' } }, storageClassName: 'A_' }),
    ),
    refused('empty', 'storage.k8s.io/v1/storageclasses', object(undefined)),
    refused(
      'fields',
      'storage.k8s.io/v1/storageclasses',
      object(undefined, { provisioner: 'a b', reclaimPolicy: 'X', volumeBindingMode: 'X', parameters: { '': 'a' } }),
    ),
    refused(
      'drivers',
      'storage.k8s.io/v1/csinodes',
      object({ drivers: [{ name: '', nodeID: '', topologyKeys: [''] }] }),
    ),
    refused('empty', 'storage.k8s.io/v1/volumeattachments', object({})),
    refused('driver', 'storage.k8s.io/v1/csidrivers', object({ fsGroupPolicy: 'X', volumeLifecycleModes: ['X'] })),
  ],
  refusedUpdates: [
    updated('provisioner', 'storage.k8s.io/v1/storageclasses', object(undefined, { provisioner: 'a' }), {
      provisioner: 'b',
      reclaimPolicy: 'Retain',
      parameters: { a: 'b' },
    }),
    updated('claim', 'v1/persistentvolumeclaims', object(claim), {
      spec: { accessModes: ['ReadOnlyMany'], volumeMode: 'Block' },
    }),
    updated(
      'volume source',
      'v1/persistentvolumes',
      object({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } }),
      { spec: { hostPath: { path: '/y' } } },
    ),
    updated(
      'attachment',
      'storage.k8s.io/v1/volumeattachments',
      object({ attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } }),
      { spec: { attacher: 'b' } },
    ),
    updated('driver', 'storage.k8s.io/v1/csidrivers', object({}), { spec: { volumeLifecycleModes: ['Ephemeral'] } }),
  ],
};
