import type { KubeObject, ObjectKey, UntypedObject } from './object.ts';

/** Addresses one resource of the API, such as `deployments` of `apps/v1`. The type is that of its objects. */
export interface ResourceRef<T extends KubeObject = UntypedObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly kind: string;
  /** Never set: it only carries the type of the objects. */
  readonly object?: T;
}

/** A resource whose reference is written by hand, with the type of its objects. */
export function resource<T extends KubeObject = UntypedObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): ResourceRef<T> {
  const { group, version } = groupVersion(apiVersion);
  return { group, version, plural, kind, namespaced: scope === 'Namespaced' };
}

/** `v1` or `apps/v1`. */
export function apiVersionOf(ref: Pick<ResourceRef, 'group' | 'version'>): string {
  return ref.group === '' ? ref.version : `${ref.group}/${ref.version}`;
}

/** Takes `apps/v1` apart. */
export function groupVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  if (slash === -1) return { group: '', version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** `deployments.apps`, or `pods`: how Kubernetes itself names a resource in messages. */
export function resourceText(ref: Pick<ResourceRef<KubeObject>, 'group' | 'plural'>): string {
  return ref.group === '' ? ref.plural : `${ref.plural}.${ref.group}`;
}

export interface PathParts extends Partial<ObjectKey> {
  readonly subresource?: string;
}

/**
 * The path of a collection, or of one object when `name` is given. Without `namespace`, a namespaced resource's collection is
 * that of all namespaces. Throws TypeError for an address that cannot be: it would otherwise reach another object than meant.
 */
export function resourcePath(ref: ResourceRef<KubeObject>, parts: PathParts = {}): string {
  const { namespace = '', name, subresource } = parts;
  const what = resourceText(ref);
  if (name !== undefined && ref.namespaced && namespace === '') {
    throw new TypeError(`${what} "${name}": a namespace is needed`);
  }
  let path = `${groupPath(ref)}/`;
  if (ref.namespaced && namespace !== '') path += `namespaces/${segment(namespace, what)}/`;
  path += ref.plural;
  if (name !== undefined) path += `/${segment(name, what)}`;
  if (subresource !== undefined)
    path += `/${subresource
      .split('/')
      .map((part) => segment(part, what))
      .join('/')}`;
  return path;
}

/** `/api/v1` or `/apis/apps/v1`. */
export function groupPath(ref: Pick<ResourceRef, 'group' | 'version'>): string {
  return ref.group === '' ? `/api/${ref.version}` : `/apis/${ref.group}/${ref.version}`;
}

/** Names go into the path encoded; `.` and `..` would be resolved away by whoever reads the URL. */
function segment(value: string, what: string): string {
  if (value === '' || value === '.' || value === '..' || value.includes('/')) {
    throw new TypeError(`${what}: ${JSON.stringify(value)} cannot be a name`);
  }
  return encodeURIComponent(value);
}
