// What every Kubernetes object has. Everything else in it is plain JSON that the server keeps as it came.
import type { ObjectMeta as ClientObjectMeta } from '../../kube/object.ts';

export type { OwnerReference } from '../../kube/object.ts';

export type JsonValue = null | boolean | number | string | JsonValue[] | { [member: string]: JsonValue };
export type JsonObject = { [member: string]: JsonValue };

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: 'FieldsV1';
  fieldsV1?: JsonObject;
  subresource?: string;
}

export interface ObjectMeta extends Omit<ClientObjectMeta, 'managedFields'> {
  managedFields?: ManagedFieldsEntry[];
  /** Was once set by servers; they drop it now. */
  selfLink?: string;
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [member: string]: unknown;
}
