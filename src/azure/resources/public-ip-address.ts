import type { ResourceRequest } from '../arm-client.ts';
import { type Group, resourceIdIn } from './ids.ts';
import { networkVersion } from './virtual-network.ts';

/** A Standard address that stays the same. */
export function publicIpAddress(
  group: Group,
  name: string,
  options: { readonly location: string; readonly zones?: readonly string[] },
): ResourceRequest {
  const { location, zones } = options;
  return {
    id: resourceIdIn(group, 'Microsoft.Network/publicIPAddresses', name),
    apiVersion: networkVersion,
    body: {
      location,
      sku: { name: 'Standard', tier: 'Regional' },
      ...(zones === undefined ? {} : { zones }),
      properties: { publicIPAllocationMethod: 'Static', publicIPAddressVersion: 'IPv4' },
    },
  };
}
