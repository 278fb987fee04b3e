// Deletes objects that a work has applied and does not want any more.
import type { KubeClient } from '../kube/client.ts';
import { isConflict, isNotFound } from '../kube/kube-error.ts';
import type { OwnerReference, UntypedObject } from '../kube/object.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { writeOwners } from './apply-manifest.ts';
import { hasOtherWork, hasOwner } from './ownership.ts';
import type { AppliedResource } from './work.ts';

export interface Removal {
  /** Deleted, and held by finalizers: look again. */
  readonly pending: readonly AppliedResource[];
  /** Could not be looked at or deleted: try again. */
  readonly failed: readonly { readonly resource: AppliedResource; readonly error: unknown }[];
}

const attempts = 4;
const together = 8;

/**
 * Deletes what the work owns alone. What it does not own stays, and so does another object that has come in its place; of what
 * another work owns too, only this work's reference is removed.
 */
export async function removeResources(
  client: KubeClient,
  resources: readonly AppliedResource[],
  owner: OwnerReference,
  signal: AbortSignal,
): Promise<Removal> {
  const pending: AppliedResource[] = [];
  const failed: { readonly resource: AppliedResource; readonly error: unknown }[] = [];
  const waiting = [...resources];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      try {
        const left = await removeOne(client, next, owner, signal);
        if (left) pending.push(left);
      } catch (error) {
        signal.throwIfAborted();
        failed.push({ resource: next, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(together, waiting.length) }, worker));
  return { pending, failed };
}

/** The address of an applied resource; its kind is not known and not needed. */
export function refOf(applied: AppliedResource): ResourceRef {
  const { group, version, resource, namespace } = applied;
  return { group, version, plural: resource, namespaced: namespace !== '', kind: '' };
}

async function removeOne(
  client: KubeClient,
  resource: AppliedResource,
  owner: OwnerReference,
  signal: AbortSignal,
): Promise<AppliedResource | undefined> {
  const ref = refOf(resource);
  for (let attempt = 1; ; attempt++) {
    try {
      const object = await client.find(ref, resource, { signal });
      if (!object || !hasOwner(object.metadata.ownerReferences, owner)) return undefined;
      if (hasOtherWork(object, owner)) {
        const others = object.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.uid) ?? [];
        await writeOwners(client, ref, object, others, signal);
        return undefined;
      }
      return await deleteOwned(client, ref, resource, object, signal);
    } catch (error) {
      // Also where the whole resource is gone, with its definition.
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || attempt >= attempts) throw error;
    }
  }
}

async function deleteOwned(
  client: KubeClient,
  ref: ResourceRef,
  resource: AppliedResource,
  object: UntypedObject,
  signal: AbortSignal,
): Promise<AppliedResource | undefined> {
  const { uid = '', resourceVersion = '', deletionTimestamp } = object.metadata;
  // One that was planned has no uid yet; the reference to the work tells that it is this work's.
  if (resource.uid !== '' && resource.uid !== uid) return undefined;
  const known = { ...resource, uid };
  if (deletionTimestamp) return known;
  // The version as well: another work may have become an owner since.
  const left = await client.delete(ref, resource, {
    signal,
    propagationPolicy: 'Background',
    preconditions: { uid, resourceVersion },
  });
  return left?.metadata?.deletionTimestamp ? known : undefined;
}
