// The rules that every network security group has, whatever its own are.
import type { JsonObject } from '../kernel/record.ts';

const rules = [
  [
    'AllowVnetInBound',
    'Allow inbound traffic from all VMs in VNET',
    '*',
    'VirtualNetwork',
    'VirtualNetwork',
    'Allow',
    65000,
    'Inbound',
  ],
  [
    'AllowAzureLoadBalancerInBound',
    'Allow inbound traffic from azure load balancer',
    '*',
    'AzureLoadBalancer',
    '*',
    'Allow',
    65001,
    'Inbound',
  ],
  ['DenyAllInBound', 'Deny all inbound traffic', '*', '*', '*', 'Deny', 65500, 'Inbound'],
  [
    'AllowVnetOutBound',
    'Allow outbound traffic from all VMs to all VMs in VNET',
    '*',
    'VirtualNetwork',
    'VirtualNetwork',
    'Allow',
    65000,
    'Outbound',
  ],
  [
    'AllowInternetOutBound',
    'Allow outbound traffic from all VMs to Internet',
    '*',
    '*',
    'Internet',
    'Allow',
    65001,
    'Outbound',
  ],
  ['DenyAllOutBound', 'Deny all outbound traffic', '*', '*', '*', 'Deny', 65500, 'Outbound'],
] as const;

export function defaultRules(group: string): readonly JsonObject[] {
  return rules.map(([name, description, protocol, source, destination, access, priority, direction]) => ({
    name,
    id: `${group}/defaultSecurityRules/${name}`,
    type: 'Microsoft.Network/networkSecurityGroups/defaultSecurityRules',
    properties: {
      provisioningState: 'Succeeded',
      description,
      protocol,
      sourcePortRange: '*',
      destinationPortRange: '*',
      sourceAddressPrefix: source,
      destinationAddressPrefix: destination,
      access,
      priority,
      direction,
      sourcePortRanges: [],
      destinationPortRanges: [],
      sourceAddressPrefixes: [],
      destinationAddressPrefixes: [],
    },
  }));
}
