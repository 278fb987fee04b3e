// Pods that nobody will end: their node is gone, or they ended and there are very many of them.
import type { HostedCluster } from '../clusters.ts';
import type { Entry } from '../objects/objects.ts';
import { type Controller, itself, type Key, wholeCluster } from './controller.ts';
import { type Hands, isNotFound } from './hands.ts';
import { nodes, pods } from './kinds.ts';
import { isFinished } from './pods.ts';

/** A node that goes may come back under its name; its pods wait for that long. */
const quarantineMs = 40_000;
/** Pods that have ended are kept for people to look at, up to this many in a cluster. */
const mostFinished = 12_500;

/** Since when the node of a pod is missing, by uid. Not kept: after a restart the wait begins anew. */
const missing = new WeakMap<HostedCluster, Map<string, number>>();

const isOver = ({ fields }: Entry): boolean =>
  fields?.['status.phase'] === 'Succeeded' || fields?.['status.phase'] === 'Failed';

async function removeOrphan(hands: Hands, { namespace, name }: Key): Promise<{ afterMs: number } | undefined> {
  const pod = hands.get(pods, namespace, name);
  const node = pod?.spec.nodeName;
  if (!pod || !node || hands.get(nodes, '', node)) return undefined;
  const { uid = '' } = pod.metadata;
  const known = missing.get(hands.cluster) ?? new Map<string, number>();
  missing.set(hands.cluster, known);
  const since = known.get(uid) ?? hands.now();
  known.set(uid, since);
  const ending = pod.metadata.deletionTimestamp !== undefined;
  const left = since + (ending ? 0 : quarantineMs) - hands.now();
  if (left > 0) return { afterMs: left };
  known.delete(uid);
  if (!isFinished(pod)) {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: hands.timestamp(),
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
    };
    try {
      await hands.setStatus(pods, pod, {
        ...pod.status,
        phase: 'Failed',
        conditions: [...(pod.status?.conditions ?? []), condition],
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  await hands.remove(pods, pod, { gracePeriodSeconds: 0 });
  return undefined;
}

async function removeFinished(hands: Hands): Promise<void> {
  const finished = hands.entries(pods).filter(isOver);
  const excess = finished.length - mostFinished;
  if (excess <= 0) return;
  const oldest = finished.sort((one, other) => one.revision - other.revision).slice(0, excess);
  for (const entry of oldest) await hands.remove(pods, hands.read(pods, entry), { gracePeriodSeconds: 0 });
}

export const podGarbageCollector: Controller = {
  name: 'pod-garbage-collector',
  triggers: {
    [pods.type.storage]: (change, reader) => {
      const { kind, entry, before } = change;
      if (kind === 'DELETED') {
        missing.get(reader.cluster)?.delete(entry.uid);
        return [];
      }
      const node = entry.fields?.['spec.nodeName'];
      if (node && !reader.cluster.objects.get(nodes.type.storage, '', node)) return itself(change, reader);
      return isOver(entry) &&
        !(before && isOver(before)) &&
        reader.cluster.objects.count(pods.type.storage) > mostFinished
        ? [wholeCluster]
        : [];
    },
    [nodes.type.storage]: ({ kind, entry }, reader) =>
      kind === 'DELETED' ? reader.entries(pods).filter(({ fields }) => fields?.['spec.nodeName'] === entry.name) : [],
  },
  async reconcile(hands, key) {
    if (key.name !== '') return removeOrphan(hands, key);
    await removeFinished(hands);
    return undefined;
  },
};
