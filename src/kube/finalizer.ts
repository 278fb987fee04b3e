// Finalizers: what has to be cleaned up before an object may go.
import type { CallOptions, KubeClient } from './client.ts';
import { isConflict, isNotFound } from './kube-error.ts';
import { type KubeObject, keyOf } from './object.ts';
import type { ResourceRef } from './resource.ts';

export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

export function isBeingDeleted(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/**
 * Sees to it that the object has the finalizer and returns the object as it is then. Do this, and wait for it, before making
 * anything that has to be cleaned up. Throws when the object is gone or being deleted: nothing may be made for it any more.
 */
export async function addFinalizer<T extends KubeObject>(
  client: KubeClient,
  ref: ResourceRef<T>,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T> {
  const changed = await change(client, ref, object, options, (current) => {
    if (hasFinalizer(current, finalizer)) return undefined;
    if (isBeingDeleted(current)) {
      throw new Error(`${ref.kind} ${current.metadata.name}: ${finalizer} cannot be added, it is being deleted`);
    }
    return [...(current.metadata.finalizers ?? []), finalizer];
  });
  return changed;
}

/** Takes the finalizer off; the object may be gone right after, or already. Do this last. */
export async function removeFinalizer<T extends KubeObject>(
  client: KubeClient,
  ref: ResourceRef<T>,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<void> {
  try {
    await change(client, ref, object, options, (current) => {
      if (current.metadata.uid !== object.metadata.uid || !hasFinalizer(current, finalizer)) return undefined;
      return (current.metadata.finalizers ?? []).filter((each) => each !== finalizer);
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

const attempts = 5;

/**
 * Writes the list whole, but only onto the version it was made from: two writers would otherwise lose each other's. An object
 * from an informer may be old, so a conflict is settled by reading it afresh.
 */
async function change<T extends KubeObject>(
  client: KubeClient,
  ref: ResourceRef<T>,
  object: T,
  options: CallOptions,
  next: (current: T) => readonly string[] | undefined,
): Promise<T> {
  const key = keyOf(object);
  let current = object;
  for (let attempt = 1; ; attempt++) {
    const finalizers = next(current);
    if (finalizers === undefined) return current;
    const { uid, resourceVersion } = current.metadata;
    try {
      return await client.patch(ref, key, 'merge', { metadata: { uid, resourceVersion, finalizers } }, options);
    } catch (error) {
      if (!isConflict(error) || attempt >= attempts) throw error;
      current = await client.get(ref, key, options);
    }
  }
}
