// Server-side apply as controllers use it.
import type { Applied, ApplyOptions, KubeClient } from './client.ts';
import type { KubeObject } from './object.ts';
import { withController } from './owner.ts';
import type { ResourceRef } from './resource.ts';

export interface Owner {
  readonly resource: ResourceRef<KubeObject>;
  /** As the server sent it. */
  readonly object: KubeObject;
}

/**
 * Applies an object that belongs to another: it gets `owner` as its controller, goes when the owner goes, and fields are taken
 * over from whoever else set them. Applying what is already so changes nothing, not even the resourceVersion, so a reconcile
 * may do it each time. Throws KubeError (Invalid) when the object has another controller.
 */
export function applyOwned<T extends KubeObject>(
  client: KubeClient,
  owner: Owner,
  resource: ResourceRef<T>,
  object: Applied<T>,
  options: ApplyOptions,
): Promise<T> {
  const owned = withController(object as unknown as T, owner.resource, owner.object) as unknown as Applied<T>;
  return client.apply(resource, owned, { force: true, ...options });
}

/**
 * Applies `status`, and nothing else, of an object. The manager's name should not be that of its other fields, which would
 * be removed by an apply that does not hold them.
 */
export function applyStatus<T extends KubeObject>(
  client: KubeClient,
  resource: ResourceRef<T>,
  object: KubeObject,
  status: unknown,
  options: ApplyOptions,
): Promise<T> {
  const { name = '', namespace } = object.metadata;
  const applied = { metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, status };
  return client.apply(resource, applied as unknown as Applied<T>, { force: true, ...options, subresource: 'status' });
}
