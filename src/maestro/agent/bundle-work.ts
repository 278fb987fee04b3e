// A bundle as the ManifestWork that it is on the agent's side, and back.

import {
  type ManifestWork,
  type ManifestWorkSpec,
  type ManifestWorkStatus,
  workFinalizer,
} from '../../manifestwork/work.ts';
import { manifestBundles } from '../protocol/event-type.ts';
import type { ManifestBundle, ManifestBundleStatus } from '../protocol/manifest-bundle.ts';
import type { SpecMessage } from '../protocol/messages.ts';
import type { ObjectMeta } from '../protocol/object-meta.ts';
import { statusHash } from '../protocol/status-hash.ts';

export const originalSourceLabel = 'cloudevents.open-cluster-management.io/originalsource';
const dataTypeAnnotation = 'cloudevents.open-cluster-management.io/datatype';

/** The work that a message asks for: with a deletion time where the bundle is to be deleted. */
export function workOf(message: SpecMessage): ManifestWork {
  const { metadata = {}, resourceId, resourceVersion, bundle } = message;
  const isDeleted = isDeletion(message);
  const deletionTimestamp = (message.deletionTimestamp ?? new Date()).toISOString();
  return {
    metadata: {
      name: workName(message),
      namespace: message.clusterName,
      uid: resourceId,
      generation: resourceVersion,
      labels: { ...metadata.labels, [originalSourceLabel]: message.source },
      annotations: { ...metadata.annotations, [dataTypeAnnotation]: manifestBundles },
      ...(typeof metadata.creationTimestamp === 'string' ? { creationTimestamp: metadata.creationTimestamp } : {}),
      ...(isDeleted ? { deletionTimestamp, finalizers: [workFinalizer] } : {}),
    },
    spec: bundle === undefined ? {} : specOf(bundle),
  };
}

/** The server makes it the bundle's id, so that the names of two sources cannot collide. */
export function workName({ metadata, resourceId }: Pick<SpecMessage, 'metadata' | 'resourceId'>): string {
  return metadata?.name || resourceId;
}

export function isDeletion(message: SpecMessage): boolean {
  return message.deletionTimestamp !== undefined || message.action === 'delete_request';
}

function specOf({ manifests, deleteOption, manifestConfigs, executer }: ManifestBundle): ManifestWorkSpec {
  return {
    workload: { manifests },
    ...(deleteOption === undefined ? {} : { deleteOption }),
    ...(manifestConfigs === undefined ? {} : { manifestConfigs }),
    ...(executer === undefined ? {} : { executor: executer }),
  };
}

export function bundleStatus(status: ManifestWorkStatus | undefined): ManifestBundleStatus {
  return { conditions: status?.conditions ?? [], resourceStatus: status?.resourceStatus?.manifests ?? [] };
}

const hashes = new WeakMap<ManifestWorkStatus, string>();

/** A status is not changed, so its hash is made once. */
export function hashOf(status: ManifestWorkStatus): string {
  let hash = hashes.get(status);
  if (hash === undefined) {
    hash = statusHash(bundleStatus(status));
    hashes.set(status, hash);
  }
  return hash;
}

/** What a status event tells of the work itself. */
export function metadataOf({ metadata }: ManifestWork): ObjectMeta {
  const { name, namespace, uid, generation, labels, annotations, finalizers, creationTimestamp } = metadata;
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(generation === undefined ? {} : { generation }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
}
