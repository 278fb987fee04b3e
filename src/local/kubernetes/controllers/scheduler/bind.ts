// Binding a pod to a node. It is not an update: no field manager, no generation, and only once.
import type { HostedCluster } from '../../clusters.ts';
import { storedObject } from '../../registry/served.ts';
import { timestamp } from '../../registry/timestamp.ts';
import { StatusError } from '../../status.ts';
import { copyOf } from '../hands.ts';
import { pods } from '../kinds.ts';
import { parsed } from '../parsed.ts';
import type { Condition, Pod } from '../shapes.ts';

const refused = (name: string, why: string): StatusError =>
  new StatusError(409, 'Conflict', `Operation cannot be fulfilled on pods/binding "${name}": ${why}`, {
    name,
    kind: 'pods/binding',
  });

/** Assigns the pod to the node. Refuses with NotFound, or Conflict when it is assigned or being deleted. */
export async function bindPod(
  cluster: HostedCluster,
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid?: string },
  nodeName: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { type } = pods;
  await cluster.objects.commit((transaction) => {
    const entry = transaction.get(type.storage, namespace, name);
    if (!entry) throw new StatusError(404, 'NotFound', `pods "${name}" not found`, { name, kind: 'pods' });
    const pod = copyOf(parsed<Pod>(entry));
    if (uid && uid !== entry.uid) {
      throw refused(name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${entry.uid}`);
    }
    if (pod.metadata.deletionTimestamp)
      throw refused(name, `pod ${name} is being deleted, cannot be assigned to a host`);
    if (pod.spec.nodeName) throw refused(name, `pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
    if (pod.spec.schedulingGates?.length) throw refused(name, `pod ${name} has non-empty .spec.schedulingGates`);
    pod.spec.nodeName = nodeName;
    if (Object.keys(annotations).length > 0) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
    const scheduled: Condition = {
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: timestamp(cluster.now()),
    };
    const others = (pod.status?.conditions ?? []).filter((condition) => condition.type !== 'PodScheduled');
    pod.status = { ...pod.status, conditions: [...others, scheduled] };
    const fields = type.strategy.fields?.(pod);
    transaction.put(type.storage, storedObject(type, pod), { fields });
  });
}
