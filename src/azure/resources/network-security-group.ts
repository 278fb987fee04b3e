import type { ResourceRequest } from '../arm-client.ts';
import { type Group, resourceIdIn } from './ids.ts';
import { networkVersion } from './virtual-network.ts';

export interface SecurityRule {
  readonly name: string;
  /** 100 to 4096; the lowest number that fits decides. */
  readonly priority: number;
  readonly access: 'Allow' | 'Deny';
  readonly direction: 'Inbound' | 'Outbound';
  readonly protocol: 'Tcp' | 'Udp' | '*';
  /** Everything when left out. */
  readonly source?: string;
  readonly destination?: string;
  /** A port, a range or `*`. */
  readonly port: string;
}

export function networkSecurityGroup(
  group: Group,
  name: string,
  options: { readonly location: string; readonly rules: readonly SecurityRule[] },
): ResourceRequest {
  return {
    id: resourceIdIn(group, 'Microsoft.Network/networkSecurityGroups', name),
    apiVersion: networkVersion,
    body: {
      location: options.location,
      properties: {
        securityRules: options.rules.map(({ name: ruleName, source = '*', destination = '*', port, ...rule }) => ({
          name: ruleName,
          properties: {
            ...rule,
            sourceAddressPrefix: source,
            sourcePortRange: '*',
            destinationAddressPrefix: destination,
            destinationPortRange: port,
          },
        })),
      },
    },
  };
}
