// Adds simulated nodes to a cluster, for local use.
import type { HostedCluster } from '../clusters.ts';
import { contextOf, decoded, isAlreadyExists } from '../controllers/hands.ts';
import { nodes } from '../controllers/kinds.ts';

export interface NewNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** cpu, memory, pods and others; what a usual worker has unless given. */
  readonly capacity?: Readonly<Record<string, string>>;
}

/** Registers a node as its kubelet would. One of that name that is there is left as it is. */
export async function addNode(cluster: HostedCluster, { name, labels, taints, capacity }: NewNode): Promise<void> {
  const context = contextOf(cluster, { name: 'kubelet', manager: 'kubelet', user: `system:node:${name}` });
  const object = {
    metadata: {
      name,
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...labels,
      },
    },
    spec: { ...(taints ? { taints: taints.map((taint) => ({ ...taint })) } : {}) },
    status: { ...(capacity ? { capacity: { ...capacity }, allocatable: { ...capacity } } : {}) },
  };
  try {
    await cluster.firstUse();
    await cluster.registry.create(context, nodes.type, '', decoded(nodes.type, object));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
