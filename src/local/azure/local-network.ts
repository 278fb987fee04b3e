// Names of the cloud's own services, all of which lead to its one TLS port, and what is attached to public addresses.
import { createHash } from 'node:crypto';
import { type Cloud, dataPlaneOf } from './cloud.ts';
import type { Network, Target } from './kernel/network.ts';

const ownLabels = ['management', 'login', 'graph'];

/** `listener` is where the cloud itself answers. */
export function localNetwork(cloud: Pick<Cloud, 'suffix'>, listener: () => Target): Network {
  const attached = new Map<string, Target>();
  const isOwn = (host: string): boolean =>
    dataPlaneOf(cloud, host) !== undefined || ownLabels.some((label) => host === `${label}.${cloud.suffix}`);
  return {
    // 198.18.0.0/15 is set aside for tests: nothing on the internet has such an address.
    async allocatePublicAddress(owner) {
      const [a = 0, b = 0, c = 0] = createHash('sha256').update(owner.toLowerCase()).digest();
      return `198.${18 + (a & 1)}.${b}.${Math.max(1, c)}`;
    },
    async resolve(name) {
      return name.toLowerCase().endsWith(`.${cloud.suffix}`) ? [] : undefined;
    },
    attach(address, port, target) {
      const key = `${address}:${port}`;
      attached.set(key, target);
      return () => {
        if (attached.get(key) === target) attached.delete(key);
      };
    },
    async target(host, port) {
      return attached.get(`${host}:${port}`) ?? (isOwn(host.toLowerCase()) ? listener() : undefined);
    },
  };
}
