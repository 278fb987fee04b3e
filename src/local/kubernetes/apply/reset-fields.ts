// Which fields a write through an endpoint leaves as they are, per built-in type; asked of a real server type by type.
import { type FieldSet, leaf, setOfMembers } from './fieldset.ts';

const status = setOfMembers(['status']);
const spec = setOfMembers(['spec']);
const specAndMetadata = setOfMembers(['spec'], ['metadata']);

/** By `group/plural/subresource`, where it is not the status on the main resource and the spec on the status. */
const exceptions: Readonly<Record<string, FieldSet>> = {
  '/pods/status': setOfMembers(['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']),
  'apps/deployments/status': setOfMembers(['spec'], ['metadata', 'labels']),
  'storage.k8s.io/volumeattachments/status': specAndMetadata,
  'apiregistration.k8s.io/apiservices/status': specAndMetadata,
  'admissionregistration.k8s.io/validatingadmissionpolicies/status': specAndMetadata,
  'apiextensions.k8s.io/customresourcedefinitions/status': specAndMetadata,
  'certificates.k8s.io/certificatesigningrequests/': setOfMembers(['spec'], ['status']),
  'certificates.k8s.io/certificatesigningrequests/status': setOfMembers(['spec'], ['status', 'conditions']),
  'certificates.k8s.io/certificatesigningrequests/approval': setOfMembers(['spec'], ['status', 'certificate']),
};

export interface Endpoint {
  readonly group: string;
  readonly plural: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** Whether the type has a status subresource. */
  readonly hasStatus: boolean;
  readonly custom: boolean;
}

/** The fields that a write through an endpoint leaves as they are. */
export function resetFieldsOf({ group, plural, subresource, hasStatus, custom }: Endpoint): FieldSet {
  const key = `${group}/${plural}/${subresource}`;
  const fields = !custom && Object.hasOwn(exceptions, key) ? exceptions[key] : undefined;
  if (fields) return fields;
  if (subresource === 'status') return spec;
  return subresource === '' && hasStatus ? status : leaf;
}
