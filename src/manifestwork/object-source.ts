// Works that are objects in a namespace of a cluster.
import type { KubeClient } from '../kube/client.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../kube/finalizer.ts';
import { withoutManagedFields } from '../kube/informer.ts';
import type { Informers } from '../kube/informers.ts';
import { isConflict, isNotFound } from '../kube/kube-error.ts';
import { keyOf } from '../kube/object.ts';
import { objects } from '../kube/source.ts';
import { type ManifestWork, manifestWorks, workFinalizer } from './work.ts';
import type { WorkSource } from './work-source.ts';

export interface ObjectSourceOptions {
  /** Of the cluster that has the works; it need not be the one they are applied to. */
  readonly client: KubeClient;
  readonly informers: Informers;
  readonly namespace: string;
}

/** What the engine writes itself, the status and the finalizer, is not told. */
const specChanged = (old: ManifestWork, work: ManifestWork): boolean =>
  old.metadata.generation !== work.metadata.generation ||
  old.metadata.deletionTimestamp !== work.metadata.deletionTimestamp ||
  (hasFinalizer(old, workFinalizer) && !hasFinalizer(work, workFinalizer)) ||
  JSON.stringify(old.metadata.labels) !== JSON.stringify(work.metadata.labels);

export function createObjectSource({ client, informers, namespace }: ObjectSourceOptions): WorkSource {
  const informer = informers.informer(manifestWorks, { namespace, transform: withoutManagedFields });
  return {
    changes: objects(informer, { update: specChanged }),
    get: (name) => informer.get({ namespace, name }),
    get complete() {
      return informer.synced;
    },
    addFinalizer: (work, signal) => addFinalizer(client, manifestWorks, work, workFinalizer, { signal }),
    removeFinalizer: (work, signal) => removeFinalizer(client, manifestWorks, work, workFinalizer, { signal }),
    async writeStatus(work, status, signal) {
      const { uid, resourceVersion } = work.metadata;
      await client.patch(
        manifestWorks,
        keyOf(work),
        'merge',
        { metadata: { uid, resourceVersion }, status },
        { subresource: 'status', signal },
      );
    },
    async expire(work, signal) {
      const { uid } = work.metadata;
      try {
        await client.delete(manifestWorks, keyOf(work), { signal, ...(uid ? { preconditions: { uid } } : {}) });
      } catch (error) {
        // Gone, or another work of that name by now.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
  };
}
