// Owner references: which object another one belongs to, and goes with.
import { type KubeObject, keyText, type OwnerReference } from './object.ts';
import { apiVersionOf, groupVersion, type ResourceRef } from './resource.ts';

/** Somebody else already controls the object. */
export class AlreadyOwnedError extends Error {
  constructor(object: KubeObject, owner: OwnerReference) {
    const key = keyText({ namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' });
    super(`${object.kind ?? 'object'} ${key} is already controlled by ${owner.kind} ${owner.name}`);
    this.name = 'AlreadyOwnedError';
  }
}

/** The reference that makes `owner`, an object as the server sent it, the controller of another. */
export function controllerReference(ref: ResourceRef<KubeObject>, owner: KubeObject): OwnerReference {
  const { name, uid } = owner.metadata;
  if (!name || !uid) throw new TypeError(`an owner needs a name and a uid, which the server gives it: ${ref.kind}`);
  return { apiVersion: apiVersionOf(ref), kind: ref.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * The object with `owner` as its controller. Throws {@link AlreadyOwnedError} when it has another one, and TypeError when
 * the owner lives in a namespace that is not the object's: garbage collection would take the owner for missing.
 */
export function withController<T extends KubeObject>(object: T, ref: ResourceRef<KubeObject>, owner: KubeObject): T {
  const namespace = owner.metadata.namespace ?? '';
  if (namespace !== '' && namespace !== (object.metadata.namespace ?? '')) {
    throw new TypeError(
      `${ref.kind} ${keyText({ namespace, name: owner.metadata.name ?? '' })} can own objects of its own namespace only`,
    );
  }
  const reference = controllerReference(ref, owner);
  const current = controllerOf(object);
  if (current && current.uid !== reference.uid) throw new AlreadyOwnedError(object, current);
  const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== reference.uid);
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...others, reference] } };
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return owner.metadata.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;
}

/** Whether a reference is to an object of this resource, in whatever version. */
export function refersTo(reference: OwnerReference, ref: ResourceRef<KubeObject>): boolean {
  return reference.kind === ref.kind && groupVersion(reference.apiVersion).group === ref.group;
}

/** For an informer's index: objects by the uid of their controller. */
export function byController(object: KubeObject): readonly string[] {
  const owner = controllerOf(object);
  return owner ? [owner.uid] : [];
}
