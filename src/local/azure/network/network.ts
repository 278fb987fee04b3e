// Names and addresses of the cloud, and where on this machine they lead.
import type { Store } from '../../../store/store.ts';
import { type Cloud, dataPlaneOf } from '../cloud.ts';
import type { Network, Target } from '../kernel/network.ts';
import type { Resources } from '../kernel/resources.ts';
import { parseAddress } from './cidr.ts';
import { createResolver } from './dns-resolver.ts';
import { takePublicAddress } from './public-addresses.ts';

export interface NetworkOptions {
  readonly cloud: Pick<Cloud, 'suffix'>;
  readonly store: Store;
  /** Asked when names are resolved, not before. */
  readonly resources: () => Pick<Resources, 'read'>;
  /** Where the cloud itself answers. */
  readonly listener: () => Target;
}

/** Labels in front of the suffix under which Resource Manager, Entra ID and Graph are known. */
const ownLabels = ['management', 'login', 'graph'];

export function createNetwork({ cloud, store, resources, listener }: NetworkOptions): Network {
  const attached = new Map<string, Target>();
  const resolveZones = createResolver({ store, resources });
  const isOwn = (host: string): boolean =>
    dataPlaneOf(cloud, host) !== undefined || ownLabels.some((label) => host === `${label}.${cloud.suffix}`);
  const isInside = (host: string): boolean => host === cloud.suffix || host.endsWith(`.${cloud.suffix}`);

  const network: Network = {
    allocatePublicAddress: (owner) => takePublicAddress(store, owner),
    async resolve(name, type) {
      const host = name.toLowerCase().replace(/\.$/, '');
      const found = await resolveZones(host, type);
      return found ?? (isInside(host) ? [] : undefined);
    },
    attach(address, port, target) {
      const key = placeOf(address, port);
      attached.set(key, target);
      return () => {
        if (attached.get(key) === target) attached.delete(key);
      };
    },
    async target(name, port) {
      const host = name.toLowerCase().replace(/\.$/, '');
      if (parseAddress(host)) return attached.get(placeOf(host, port));
      for (const type of ['A', 'AAAA'] as const) {
        for (const answer of (await resolveZones(host, type)) ?? []) {
          const target = answer.type === type ? attached.get(placeOf(answer.data, port)) : undefined;
          if (target) return target;
        }
      }
      return attached.get(placeOf(host, port)) ?? (isOwn(host) ? listener() : undefined);
    },
  };
  return network;
}

function placeOf(address: string, port: number): string {
  const parsed = parseAddress(address);
  return `${parsed ? `${parsed.version}:${parsed.value}` : address.toLowerCase()} ${port}`;
}
