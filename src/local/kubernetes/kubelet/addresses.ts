// Addresses of simulated pods, unique within their cluster.
import type { HostedCluster } from '../clusters.ts';

interface Range {
  readonly used: Set<string>;
  next: number;
}

/** 10.128.0.0/9 but for its first and last address. */
const first = 1;
const last = (1 << 23) - 2;
const text = (offset: number): string => `10.${128 + (offset >> 16)}.${(offset >> 8) & 255}.${offset & 255}`;

export interface PodAddresses {
  take(cluster: HostedCluster): string;
  release(cluster: HostedCluster, address: string): void;
  forget(cluster: HostedCluster): void;
}

/** Knows the addresses in use from the pods that have them, so nothing is kept beside the objects. */
export function createPodAddresses(): PodAddresses {
  const ranges = new WeakMap<HostedCluster, Range>();

  function rangeOf(cluster: HostedCluster): Range {
    let range = ranges.get(cluster);
    if (!range) {
      const used = new Set<string>();
      for (const { fields } of cluster.objects.list('/pods')) {
        const address = fields?.['status.podIP'];
        if (address) used.add(address);
      }
      range = { used, next: first };
      ranges.set(cluster, range);
    }
    return range;
  }

  return {
    take(cluster) {
      const range = rangeOf(cluster);
      for (;;) {
        const address = text(range.next);
        range.next = range.next >= last ? first : range.next + 1;
        if (range.used.has(address)) continue;
        range.used.add(address);
        return address;
      }
    },
    release: (cluster, address) => ranges.get(cluster)?.used.delete(address),
    forget: (cluster) => ranges.delete(cluster),
  };
}
