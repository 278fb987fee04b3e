// What every Kubernetes object has. All other members are plain JSON that the client keeps as it came.

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

/**
 * Any object of any kind. A type of its own for a kind extends this one and names the members its code uses; members that it
 * does not name are still there, and are written back as they were read.
 */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** An object whose members are read without a type of their own. */
export interface UntypedObject extends KubeObject {
  [member: string]: unknown;
}

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface KubeList<T extends KubeObject = UntypedObject> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** Names one object of a resource. `namespace` is left out, or empty, where the resource has none. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** The key of an object that the server has named. */
export function keyOf(object: KubeObject): { readonly namespace: string; readonly name: string } {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' };
}

/** `namespace/name`, or `name`: for logs and for people. */
export function keyText(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name;
}
