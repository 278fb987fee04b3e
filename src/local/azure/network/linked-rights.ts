// The rights on other resources that a body needs: who may write an interface may not on that account put it into anybody's subnet.
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { JsonObject } from '../kernel/record.ts';
import { isWithin, maxReferences, tooManyReferences } from '../kernel/references.ts';

export interface LinkedRight {
  readonly id: string;
  readonly action: string;
}

/** By folded type, or by type and the member that names it where that decides. */
const actions: { readonly [target: string]: string } = {
  'microsoft.network/virtualnetworks': 'Microsoft.Network/virtualNetworks/join/action',
  'microsoft.network/virtualnetworks remoteVirtualNetwork': 'Microsoft.Network/virtualNetworks/peer/action',
  'microsoft.network/virtualnetworks/subnets': 'Microsoft.Network/virtualNetworks/subnets/join/action',
  'microsoft.network/networksecuritygroups': 'Microsoft.Network/networkSecurityGroups/join/action',
  'microsoft.network/routetables': 'Microsoft.Network/routeTables/join/action',
  'microsoft.network/natgateways': 'Microsoft.Network/natGateways/join/action',
  'microsoft.network/publicipaddresses': 'Microsoft.Network/publicIPAddresses/join/action',
  'microsoft.network/publicipprefixes': 'Microsoft.Network/publicIPPrefixes/join/action',
  'microsoft.network/ddosprotectionplans': 'Microsoft.Network/ddosProtectionPlans/join/action',
  'microsoft.network/serviceendpointpolicies': 'Microsoft.Network/serviceEndpointPolicies/join/action',
  'microsoft.network/applicationsecuritygroups':
    'Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action',
  'microsoft.network/applicationsecuritygroups sourceApplicationSecurityGroups':
    'Microsoft.Network/applicationSecurityGroups/joinNetworkSecurityRule/action',
  'microsoft.network/applicationsecuritygroups destinationApplicationSecurityGroups':
    'Microsoft.Network/applicationSecurityGroups/joinNetworkSecurityRule/action',
  'microsoft.network/networkinterfaces': 'Microsoft.Network/networkInterfaces/join/action',
  'microsoft.network/loadbalancers/frontendipconfigurations':
    'Microsoft.Network/loadBalancers/frontendIPConfigurations/join/action',
  'microsoft.network/loadbalancers/backendaddresspools':
    'Microsoft.Network/loadBalancers/backendAddressPools/join/action',
  'microsoft.network/loadbalancers/inboundnatrules': 'Microsoft.Network/loadBalancers/inboundNatRules/join/action',
  'microsoft.network/loadbalancers/inboundnatpools': 'Microsoft.Network/loadBalancers/inboundNatPools/join/action',
  'microsoft.network/loadbalancers/probes': 'Microsoft.Network/loadBalancers/probes/join/action',
  'microsoft.network/privatednszones': 'Microsoft.Network/privateDnsZones/join/action',
  'microsoft.compute/diskencryptionsets': 'Microsoft.Compute/diskEncryptionSets/read',
  'microsoft.compute/availabilitysets': 'Microsoft.Compute/availabilitySets/read',
  'microsoft.compute/proximityplacementgroups': 'Microsoft.Compute/proximityPlacementGroups/read',
  'microsoft.compute/disks': 'Microsoft.Compute/disks/write',
  'microsoft.compute/disks sourceResourceId': 'Microsoft.Compute/disks/beginGetAccess/action',
  'microsoft.compute/snapshots': 'Microsoft.Compute/snapshots/beginGetAccess/action',
  'microsoft.compute/virtualmachines sourceVirtualMachine': 'Microsoft.Compute/virtualMachines/read',
  'microsoft.compute/images': 'Microsoft.Compute/images/read',
  'microsoft.compute/galleries/images': 'Microsoft.Compute/galleries/images/read',
  'microsoft.compute/galleries/images/versions': 'Microsoft.Compute/galleries/images/versions/read',
  'microsoft.keyvault/vaults': 'Microsoft.KeyVault/vaults/deploy/action',
};

/** Members that tell who uses the resource: clients send them back, and nothing is made of them. */
const shown: { readonly [type: string]: readonly string[] } = {
  'microsoft.network/networksecuritygroups': ['subnets', 'networkInterfaces'],
  'microsoft.network/routetables': ['subnets'],
  'microsoft.network/natgateways': ['subnets'],
  'microsoft.network/publicipaddresses': ['ipConfiguration', 'natGateway'],
  'microsoft.network/publicipprefixes': ['publicIPAddresses', 'loadBalancerFrontendIpConfiguration'],
  'microsoft.network/privateendpoints': ['networkInterfaces'],
  'microsoft.network/privatelinkservices': ['networkInterfaces', 'privateEndpointConnections'],
};

/**
 * The rights on other resources that a body needs, by the ids in it. Parts of the resource that is written need none. Throws when there
 * are more ids than a body may have.
 */
export function joinRights(body: JsonObject, id: ResourceId): readonly LinkedRight[] {
  const ignored = shown[foldCase(id.type)] ?? [];
  const rights = new Map<string, LinkedRight>();
  const level: { readonly value: unknown; readonly within: string }[] = [];
  const properties = body.properties;
  if (typeof properties === 'object' && properties !== null)
    for (const [name, value] of Object.entries(properties))
      if (!ignored.includes(name)) level.push({ value: { [name]: value }, within: '' });
  for (let next = level.pop(); next !== undefined; next = level.pop()) {
    const { value, within } = next;
    const isList = Array.isArray(value);
    for (const [name, member] of Object.entries(value as object)) {
      if (typeof member === 'object' && member !== null) level.push({ value: member, within: isList ? within : name });
      else if (typeof member === 'string' && !isList && (name === 'id' || name.endsWith('Id'))) {
        const right = rightOn(member, name === 'id' ? within : name, id);
        if (right !== undefined) rights.set(`${right.action} ${foldCase(right.id)}`, right);
        if (rights.size > maxReferences) throw tooManyReferences();
      }
    }
  }
  return [...rights.values()];
}

function rightOn(text: string, member: string, by: ResourceId): LinkedRight | undefined {
  if (!text.startsWith('/')) return undefined;
  const parsed = parseResourceId(text);
  if (!parsed.ok || isWithin(parsed.id.key, by.key)) return undefined;
  const type = foldCase(parsed.id.type);
  const action = actions[`${type} ${member}`] ?? actions[type];
  return action === undefined ? undefined : { id: parsed.id.text, action };
}
