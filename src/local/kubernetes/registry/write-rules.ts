// Where built-in types differ in how they are written, as a real server shows. By storage type; everything else is as usual.
import type { StorageType } from '../objects/objects.ts';
import type { ResourceType } from '../types/resource-type.ts';

/** A PUT of one that is not there creates it. */
const createdByUpdate = new Set<StorageType>([
  '/endpoints',
  '/events',
  '/limitranges',
  '/services',
  'coordination.k8s.io/leases',
  'rbac.authorization.k8s.io/roles',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/clusterrolebindings',
]);

/** An update must name the resourceVersion it builds on. */
const conditionalOnly = new Set<StorageType>([
  'coordination.k8s.io/leases',
  'policy/poddisruptionbudgets',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/volumeattachments',
]);

/** A delete answers with the object instead of a Status. */
const answeredWithObject = new Set<StorageType>([
  '/persistentvolumeclaims',
  '/persistentvolumes',
  '/pods',
  '/podtemplates',
  '/resourcequotas',
  '/serviceaccounts',
  '/services',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
]);

/** Dependents stay when a delete does not say what becomes of them. */
const orphaning = new Set<StorageType>(['/replicationcontrollers', 'batch/jobs']);

export const createsOnUpdate = (type: ResourceType): boolean => createdByUpdate.has(type.storage);
export const needsResourceVersion = (type: ResourceType): boolean =>
  type.custom !== undefined || conditionalOnly.has(type.storage);
export const answersDeleteWithObject = (type: ResourceType): boolean => answeredWithObject.has(type.storage);
export const orphansByDefault = (type: ResourceType): boolean => orphaning.has(type.storage);
