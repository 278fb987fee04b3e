// Virtual networks, with their subnets and peerings.
import { ArmError } from '../../../arm/errors.ts';
import { parseResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ProviderRoute, ResourceType } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { networkVersions } from './api-versions.ts';
import { baseType, resourceGuid } from './base-type.ts';
import { overlapAmong } from './cidr.ts';
import { planParts, showWithParts } from './parts.ts';
import { peeringParts } from './peerings.ts';
import { availableAddresses, countPrivateAddresses, prefixesOf } from './private-addresses.ts';
import { demandAtMost, ownProperties, shaped, texts } from './request-body.ts';
import { checkedRange, checkSubnets, maxPrefixes, namedRanges, subnetInUse, subnetParts } from './subnets.ts';
import { referencesOf } from './users.ts';

const properties = Type.Object({
  addressSpace: Type.Optional(Type.Object({ addressPrefixes: Type.Optional(texts) })),
  dhcpOptions: Type.Optional(Type.Object({ dnsServers: Type.Optional(texts) })),
  enableDdosProtection: Type.Optional(Type.Boolean()),
  flowTimeoutInMinutes: Type.Optional(Type.Integer({ minimum: 4, maximum: 30 })),
});

async function prepare(request: PrepareRequest): Promise<Prepared> {
  const { id, body, current } = request;
  const { subnets: _, virtualNetworkPeerings: __, ...plain } = ownProperties(body, ['resourceGuid']);
  const given = shaped(properties, plain as JsonObject);
  const prefixes = given.addressSpace?.addressPrefixes ?? [];
  if (prefixes.length === 0)
    throw new ArmError(
      400,
      'InvalidAddressSpaceNotSpecified',
      `Virtual network ${id.text} has no address space: give at least one prefix in properties.addressSpace.addressPrefixes.`,
    );
  demandAtMost(maxPrefixes, prefixes, `addressPrefixes of resource ${id.text}`);
  const space = prefixes.map((prefix) => checkedRange(id.text, prefix));
  for (const range of space) {
    if (range.version === 4 && range.length > 29)
      throw new ArmError(
        400,
        'NetcfgInvalidVirtualNetworkSite',
        `Address prefix ${range.text} of virtual network '${id.name}' is too small: /29 is the least.`,
      );
  }
  const [one, other] = overlapAmong(space, (range) => range) ?? [];
  if (one && other)
    throw new ArmError(
      400,
      'NetcfgInvalidAddressSpace',
      `The address space of virtual network '${id.name}' is not valid: ${one.text} and ${other.text} overlap.`,
    );
  const subnets = await planParts(request, subnetParts);
  checkSubnets(
    id.name,
    space,
    subnets.parts.map((part) => namedRanges(id.text, part)),
  );
  const peerings = await planParts(request, peeringParts);
  const kept = {
    ...plain,
    resourceGuid: resourceGuid(current),
    addressSpace: { addressPrefixes: prefixes },
    ...(given.dhcpOptions === undefined ? {} : { dhcpOptions: { dnsServers: given.dhcpOptions.dnsServers ?? [] } }),
    enableDdosProtection: given.enableDdosProtection ?? false,
    privateEndpointVNetPolicies: plain.privateEndpointVNetPolicies ?? 'Disabled',
  };
  return {
    resource: { ...withoutProperties(body), properties: kept },
    references: referencesOf(id, kept),
    also: [...subnets.also, ...peerings.also],
  };
}

function withoutProperties({ properties: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

export const virtualNetworks: ResourceType = {
  ...baseType,
  type: 'virtualNetworks',
  prepare,
  show: (world, record, apiVersion) => showWithParts(world, record, apiVersion, [subnetParts, peeringParts]),
  inUse: subnetInUse,
};

/** Reads of a network that are no resources. */
export const virtualNetworkRoutes: readonly ProviderRoute[] = [
  {
    method: 'GET',
    scope: 'resourceGroup',
    path: 'virtualNetworks/{network}/CheckIPAddressAvailability',
    apiVersions: networkVersions,
    action: 'Microsoft.Network/virtualNetworks/checkIpAddressAvailability/read',
    async run({ world, on, parameters, query }) {
      const subnets = await subnetsAt(
        world,
        `${on?.text ?? ''}/providers/Microsoft.Network/virtualNetworks/${parameters.network}`,
      );
      const wanted = query.ipaddress ?? '';
      const available: string[] = [];
      for (const subnet of subnets) {
        const { isFree, others } = await availableAddresses(world, subnet, wanted);
        if (isFree) return { available: true };
        available.push(...others);
      }
      return { available: false, availableIPAddresses: available.slice(0, 5) };
    },
  },
  {
    method: 'GET',
    scope: 'resourceGroup',
    path: 'virtualNetworks/{network}/usages',
    apiVersions: networkVersions,
    action: 'Microsoft.Network/virtualNetworks/usages/read',
    async run({ world, on, parameters }) {
      const subnets = await subnetsAt(
        world,
        `${on?.text ?? ''}/providers/Microsoft.Network/virtualNetworks/${parameters.network}`,
      );
      const value: JsonObject[] = [];
      for (const subnet of subnets) {
        const size = prefixesOf(subnet).reduce((sum, { first, last }) => sum + Number(last - first) - 4, 0);
        value.push({
          id: subnet.resource.id,
          currentValue: await countPrivateAddresses(world, subnet.resource.id),
          limit: size,
          name: { value: 'SubnetSpace', localizedValue: 'Subnet size and usage' },
          unit: 'Count',
        });
      }
      return { value };
    },
  },
];

async function subnetsAt(world: PrepareRequest['world'], network: string) {
  const parsed = parseResourceId(network);
  if (!parsed.ok) throw new ArmError(400, 'InvalidResourceName', 'The name of the virtual network is not valid.');
  const { id } = parsed;
  await world.resources.show(id);
  return world.resources.list({ parent: id.key, type: 'Microsoft.Network/virtualNetworks/subnets' });
}
