// Whose object is it: owner references between objects and the works that applied them.
import { createHash } from 'node:crypto';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { refersTo } from '../kube/owner.ts';
import { apiVersionOf } from '../kube/resource.ts';
import { type AppliedManifestWork, appliedManifestWorks, type DeleteOption, type ResourceMeta } from './work.ts';

/** Names where works come from: the SHA-256 of the broker's or hub's address, exactly as it is configured. */
export function hubHash(address: string): string {
  return createHash('sha256').update(address).digest('hex');
}

export function appliedName(hash: string, workName: string): string {
  return `${hash}-${workName}`;
}

const nameForm = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;
const longestName = 253;

/** Whether a work of this name can have a record: its name becomes part of the record's. */
export function canBeRecorded(hash: string, workName: string): boolean {
  return nameForm.test(workName) && appliedName(hash, workName).length <= longestName;
}

/** Several works may own one object, so none of them is its controller. */
export function ownerReference(applied: AppliedManifestWork): OwnerReference {
  const { name = '', uid = '' } = applied.metadata;
  return { apiVersion: apiVersionOf(appliedManifestWorks), kind: appliedManifestWorks.kind, name, uid };
}

/** Whether the work that applies an object also owns it, so that the object goes when the work goes. */
export function isOwnedByWork(meta: ResourceMeta, option: DeleteOption | undefined): boolean {
  switch (option?.propagationPolicy) {
    case 'Orphan':
      return false;
    case 'SelectivelyOrphan':
      return !(option.selectivelyOrphans?.orphaningRules ?? []).some(
        (rule) =>
          (rule.group ?? '') === meta.group &&
          (rule.resource ?? '') === meta.resource &&
          (rule.namespace ?? '') === meta.namespace &&
          (rule.name ?? '') === meta.name,
      );
    default:
      return true;
  }
}

type References = readonly OwnerReference[] | undefined;

/** The references with ours, or without it; the very list it got when nothing changes. */
export function withOwnership(references: References, owner: OwnerReference, owned: boolean): References {
  const has = hasOwner(references, owner);
  if (has === owned) return references;
  return owned ? [...(references ?? []), owner] : references?.filter(({ uid }) => uid !== owner.uid);
}

export function hasOwner(references: References, owner: OwnerReference): boolean {
  return references?.some(({ uid }) => uid === owner.uid) ?? false;
}

/** Whether another work owns the object too. */
export function hasOtherWork(object: KubeObject, owner: OwnerReference): boolean {
  return (object.metadata.ownerReferences ?? []).some(
    (each) => each.uid !== owner.uid && refersTo(each, appliedManifestWorks),
  );
}
