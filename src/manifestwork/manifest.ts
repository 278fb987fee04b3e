// Reads one manifest: is it an object that can be applied, and where does it belong?
import { isRecord } from '../arm/record.ts';
import type { UntypedObject } from '../kube/object.ts';
import { groupVersion, type ResourceRef } from '../kube/resource.ts';
import type { AppliedResource, Manifest, ResourceMeta } from './work.ts';

/** A manifest that is not an object that can be applied. The message is for whoever wrote it. */
export class ManifestError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ManifestError';
  }
}

const longestName = 253;
const apiVersionForm = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const kindForm = /^[A-Za-z][A-Za-z0-9]*$/;
/** Names are checked by the server; these would become another path. */
const namePitfall = /^\.{0,2}$|[/%\0]/;

/** Members that the server gives, and that a manifest cannot decide. */
const serverMembers = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
];

/**
 * The object of a manifest, without what only the server decides. The manifest itself is not changed. Throws ManifestError.
 */
export function readManifest(manifest: Manifest): UntypedObject & { apiVersion: string; kind: string } {
  const { apiVersion, kind, metadata } = isRecord(manifest) ? manifest : {};
  if (typeof apiVersion !== 'string' || apiVersion.length > longestName || !apiVersionForm.test(apiVersion)) {
    throw new ManifestError('the manifest has no apiVersion that can be');
  }
  if (typeof kind !== 'string' || kind.length > longestName || !kindForm.test(kind)) {
    throw new ManifestError('the manifest has no kind that can be');
  }
  if (!isRecord(metadata)) throw new ManifestError('the manifest has no metadata');
  const { name, namespace = '' } = metadata;
  if (typeof name !== 'string' || name === '') {
    throw new ManifestError(
      metadata.generateName === undefined
        ? 'the manifest has no metadata.name'
        : 'the manifest has metadata.generateName, which cannot be applied twice; give it a metadata.name',
    );
  }
  if (name.length > longestName || namePitfall.test(name)) {
    throw new ManifestError('metadata.name of the manifest cannot be a name');
  }
  if (typeof namespace !== 'string' || (namespace !== '' && namePitfall.test(namespace))) {
    throw new ManifestError('metadata.namespace of the manifest cannot be a namespace');
  }
  const kept = Object.fromEntries(
    Object.entries(metadata).filter(([member, value]) => value !== null && !serverMembers.includes(member)),
  );
  const { metadata: _, ...content } = manifest;
  return { ...(withoutNullTimes(content) as Manifest), apiVersion, kind, metadata: { ...kept, name } };
}

/**
 * Writers in Go leave a null creation time in every template. Server-side apply would take it for a change each time. Recursion
 * is bounded: the depth of JSON is checked where it is read.
 */
function withoutNullTimes(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutNullTimes);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isRecord(value)) return value;
  let changed = false;
  const members = Object.entries(value).map(([name, member]) => {
    let next = withoutNullTimes(member);
    if (name === 'metadata' && isRecord(next) && next.creationTimestamp === null) {
      const { creationTimestamp: _, ...rest } = next;
      next = rest;
    }
    changed ||= next !== member;
    return [name, next];
  });
  return changed ? Object.fromEntries(members) : value;
}

/** What is known of a manifest before its resource is. */
export function unresolvedMeta(ordinal: number, manifest: Manifest): ResourceMeta {
  const { apiVersion, kind, metadata } = isRecord(manifest) ? manifest : {};
  const { name, namespace } = isRecord(metadata) ? metadata : {};
  const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, longestName) : '');
  const { group, version } = groupVersion(text(apiVersion));
  return { ordinal, group, version, kind: text(kind), resource: '', name: text(name), namespace: text(namespace) };
}

export function resolvedMeta(ordinal: number, ref: ResourceRef, object: UntypedObject): ResourceMeta {
  const { name = '', namespace = '' } = object.metadata;
  return {
    ordinal,
    group: ref.group,
    version: ref.version,
    kind: ref.kind,
    resource: ref.plural,
    name,
    namespace: ref.namespaced ? namespace : '',
  };
}

/** What makes two resources the same object, in whatever version. */
export function resourceKey(of: Pick<Partial<AppliedResource>, 'group' | 'resource' | 'namespace' | 'name'>): string {
  return `${of.group ?? ''}/${of.resource ?? ''}/${of.namespace ?? ''}/${of.name ?? ''}`;
}
