// The simulated nodes of an agent pool.
import { createHash } from 'node:crypto';
import type { HostedCluster } from '../../kubernetes/clusters.ts';
import { contextOf, isNotFound, readerOf } from '../../kubernetes/controllers/hands.ts';
import { nodes } from '../../kubernetes/controllers/kinds.ts';
import { addNode } from '../../kubernetes/kubelet/add-node.ts';
import { objectOf, textOf } from '../kept-members.ts';
import type { JsonObject } from '../kernel/record.ts';

const poolLabel = 'kubernetes.azure.com/agentpool';

/** Adds the nodes that are missing and removes those that are too many, the last ones first. Asked again it does nothing. */
export async function syncNodes(
  cluster: HostedCluster,
  pool: string,
  properties: JsonObject,
  place: string,
): Promise<void> {
  const wanted = Number(properties.count ?? 0);
  const names = Array.from({ length: wanted }, (_, at) => nodeName(cluster.name, pool, at));
  const zones = Array.isArray(properties.availabilityZones) ? properties.availabilityZones : [];
  for (const [at, name] of names.entries()) {
    const zone = zones.length > 0 ? `${place}-${String(zones[at % zones.length])}` : '0';
    await addNode(cluster, {
      name,
      labels: {
        [poolLabel]: pool,
        agentpool: pool,
        'kubernetes.azure.com/mode': (textOf(properties.mode) ?? 'User').toLowerCase(),
        'node.kubernetes.io/instance-type': textOf(properties.vmSize) ?? '',
        'topology.kubernetes.io/region': place,
        'topology.kubernetes.io/zone': zone,
        ...(objectOf(properties.nodeLabels) as { readonly [name: string]: string }),
      },
      taints: taintsOf(properties.nodeTaints),
      capacity: capacityOf(textOf(properties.vmSize) ?? '', Number(properties.maxPods ?? 110)),
    });
  }
  await cluster.firstUse();
  const kept = new Set(names);
  const context = contextOf(cluster, { name: 'kubelet', manager: 'agent-pools', user: 'system:azure-cloud-provider' });
  for (const { metadata } of readerOf(cluster).list(nodes)) {
    if (metadata.labels?.[poolLabel] !== pool || kept.has(metadata.name ?? '')) continue;
    try {
      await cluster.registry.delete(context, nodes.type, { namespace: '', name: metadata.name ?? '' }, {});
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** `aks-system-12345678-vmss00000a`, as machines of a scale set are called. */
function nodeName(cluster: string, pool: string, at: number): string {
  const number = createHash('sha256').update(`${cluster}/${pool}`).digest().readUInt32BE(0) % 100_000_000;
  return `aks-${pool}-${String(number).padStart(8, '0')}-vmss${at.toString(36).padStart(6, '0')}`;
}

const gibPerCore: { readonly [family: string]: number } = { B: 4, D: 4, E: 8, F: 2, L: 8, M: 16 };

/** What a size promises by its name: `Standard_E8ds_v5` has 8 cores of the memory-rich family. */
function capacityOf(vmSize: string, pods: number): { readonly [resource: string]: string } {
  const [, family = 'D', digits = '4'] = /^[A-Za-z]+_([A-Z])[A-Z]*(\d+)/.exec(vmSize) ?? [];
  const cores = Math.max(1, Number(digits));
  return { cpu: String(cores), memory: `${cores * (gibPerCore[family] ?? 4)}Gi`, pods: String(pods) };
}

/** `key=value:Effect`. */
function taintsOf(
  value: unknown,
): readonly { readonly key: string; readonly value?: string; readonly effect: string }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((text) => {
    const [, key, , taint, effect] =
      /^([^=:]+)(=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(String(text)) ?? [];
    return key === undefined || effect === undefined
      ? []
      : [{ key, ...(taint === undefined ? {} : { value: taint }), effect }];
  });
}
