// Volumes and claims are not removed under those who use them: a finalizer keeps them until a controller lets them go.
import type { AdmissionPlugin } from '../registry/admission.ts';

const finalizers: Readonly<Record<string, string>> = {
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
};

export const storageInUsePlugin: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  waits: false,
  concerns: ({ operation, type, subresource }) =>
    operation === 'CREATE' && subresource === '' && Object.hasOwn(finalizers, type.storage),
  mutate({ object, type }) {
    const finalizer = finalizers[type.storage];
    if (!object || finalizer === undefined) return;
    const present = object.metadata.finalizers ?? [];
    if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer];
  },
};
