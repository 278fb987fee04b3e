// The priority classes of the system, which every cluster has from its start.
import { createHash } from 'node:crypto';
import { entryOf } from '../objects/entry.ts';
import type { Entry } from '../objects/objects.ts';

const storage = 'scheduling.k8s.io/priorityclasses';

const classes = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
];

/** Their entries, to be shared by all clusters. `createdAt` is RFC 3339 in whole seconds. */
export function systemPriorityClassEntries(createdAt: string): Entry[] {
  return classes.map(({ name, value, description }) => {
    const hex = createHash('sha256').update(`priority class ${name}`).digest('hex');
    const uid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    const object = {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name, uid, generation: 1, creationTimestamp: createdAt },
      value,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    };
    return entryOf(storage, object, undefined, { revision: 1, row: 0, before: undefined });
  });
}
