// Subnets: ranges within the address space of their network.

import { ArmError } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseChild } from './base-type.ts';
import { alignedText, type Cidr, containment, contains, overlapAmong, parseCidr } from './cidr.ts';
import { type Part, partsOf, touchOwner } from './parts.ts';
import { countPrivateAddresses } from './private-addresses.ts';
import { demandReference, parentId } from './references.ts';
import { demandAtMost, namedPart, ownProperties, reference, shaped, texts } from './request-body.ts';
import { textOf } from './text.ts';
import { asReferences, idsOfType, referencesOf, userPart, usersOf } from './users.ts';

export const subnetParts = { member: 'subnets', segment: 'subnets', absent: 'keep' } as const;

const properties = Type.Object({
  addressPrefix: Type.Optional(Type.String()),
  addressPrefixes: Type.Optional(texts),
  networkSecurityGroup: Type.Optional(reference),
  routeTable: Type.Optional(reference),
  natGateway: Type.Optional(reference),
  serviceEndpoints: Type.Optional(
    Type.Array(Type.Object({ service: Type.Optional(Type.String()), locations: Type.Optional(texts) })),
  ),
  delegations: Type.Optional(
    Type.Array(namedPart(Type.Object({ serviceName: Type.Optional(Type.String()) }, { additionalProperties: true }))),
  ),
  privateEndpointNetworkPolicies: Type.Optional(Type.String()),
  privateLinkServiceNetworkPolicies: Type.Optional(Type.String()),
});

const policies = ['Enabled', 'Disabled', 'NetworkSecurityGroupEnabled', 'RouteTableEnabled'];
const readOnly = [
  'ipConfigurations',
  'ipConfigurationProfiles',
  'privateEndpoints',
  'serviceAssociationLinks',
  'resourceNavigationLinks',
  'purpose',
];

/** Of one subnet, and of one network. */
export const maxPrefixes = 500;

/** The ranges that a subnet's body asks for. Throws what Azure says to malformed ones. */
export function subnetRanges(id: string, body: JsonObject): readonly Cidr[] {
  const given = shaped(Type.Object({ properties: Type.Optional(properties) }), body).properties ?? {};
  const list = given.addressPrefixes ?? (given.addressPrefix === undefined ? [] : [given.addressPrefix]);
  if (list.length === 0)
    throw new ArmError(
      400,
      'InvalidAddressPrefixFormat',
      `Address prefix string for resource ${id} cannot be null or empty.`,
    );
  demandAtMost(maxPrefixes, list, `addressPrefixes of resource ${id}`);
  return list.map((text) => checkedRange(id, text));
}

/** Throws for a text that is no range, and for bits behind the prefix. */
export function checkedRange(id: string, text: string): Cidr {
  const range = parseCidr(text);
  if (range === undefined)
    throw new ArmError(
      400,
      'InvalidAddressPrefixFormat',
      `Address prefix ${text.slice(0, 64)} of resource ${id} is not formatted correctly. It should follow CIDR notation, for example 10.0.0.0/24.`,
    );
  if (!range.isAligned)
    throw new ArmError(
      400,
      'InvalidCIDRNotation',
      `The address prefix ${text} in resource ${id} has an invalid CIDR notation. For the given prefix length, the address prefix should be ${alignedText(range)}.`,
    );
  return range;
}

export interface NamedRanges {
  readonly name: string;
  readonly ranges: readonly Cidr[];
}

/** Throws when a subnet is outside of its network, too small, or when two overlap. The ranges of the network do not overlap. */
export function checkSubnets(network: string, space: readonly Cidr[], subnets: readonly NamedRanges[]): void {
  const isInside = containment(space);
  for (const { name, ranges } of subnets) {
    for (const range of ranges) {
      if (!isInside(range))
        throw new ArmError(
          400,
          'NetcfgSubnetRangeOutsideVnet',
          `Subnet '${name}' is not valid because its IP address range is outside the IP address range of virtual network '${network}'.`,
        );
      if (range.version === 4 ? range.length > 29 : range.length !== 64)
        throw new ArmError(
          400,
          'NetcfgInvalidSubnet',
          `Subnet '${name}' is not valid in virtual network '${network}'.`,
        );
    }
  }
  const all = subnets.flatMap(({ name, ranges }) => ranges.map((range) => ({ name, range })));
  const found = overlapAmong(all, ({ range }) => range);
  if (found === undefined) return;
  const [{ name }, next] = found;
  throw new ArmError(
    400,
    'NetcfgSubnetRangesOverlap',
    `Subnet '${next.name}' is not valid because its IP address range overlaps with that of an existing subnet in virtual network '${network}'` +
      `${next.name === name ? '' : ` ('${name}')`}.`,
  );
}

export function namedRanges(network: string, { name, body }: Part): NamedRanges {
  return { name, ranges: subnetRanges(`${network}/subnets/${name}`, body) };
}

/** The address space of a network. */
export function spaceOf(network: ArmResource): readonly Cidr[] {
  const { addressSpace } = network.properties ?? {};
  const prefixes = (addressSpace as JsonObject | undefined)?.addressPrefixes;
  return Array.isArray(prefixes) ? prefixes.flatMap((text) => parseCidr(textOf(text)) ?? []) : [];
}

async function prepare(request: PrepareRequest): Promise<Prepared> {
  const { world, id, body, current, within } = request;
  const given = shaped(properties, ownProperties(body, []) as JsonObject);
  const ranges = subnetRanges(id.text, body);
  const networkId = parentId(id.text);
  const network = within ?? (await world.resources.read(networkId))?.body.resource;
  if (network === undefined) throw new ArmError(404, 'ResourceNotFound', `The resource '${networkId}' was not found.`);
  // Within a write of the network, the network has looked at all of its subnets.
  if (within === undefined) {
    const others: NamedRanges[] = [];
    for (const { resource } of await partsOfNetwork(world, id, network))
      others.push({ name: resource.name, ranges: subnetRanges(resource.id, resource) });
    checkSubnets(network.name, spaceOf(network), [...others, { name: id.name, ranges }]);
  }
  await checkInUse(world, current, ranges);
  const own = { type: '', by: id, location: network.location };
  const linked = [
    [given.networkSecurityGroup, 'microsoft.network/networksecuritygroups'],
    [given.routeTable, 'microsoft.network/routetables'],
    [given.natGateway, 'microsoft.network/natgateways'],
  ] as const;
  for (const [link, type] of linked) if (link) await demandReference(world, link.id, { ...own, type });
  const kept: { [member: string]: Json | undefined } = ownProperties(body, readOnly);
  // Newer versions let the list stand alone; older clients read the single member.
  if (given.addressPrefixes?.length === 1 && given.addressPrefix === undefined) {
    kept.addressPrefix = given.addressPrefixes[0];
    delete kept.addressPrefixes;
  }
  kept.delegations = delegations(id, given.delegations ?? []);
  kept.privateEndpointNetworkPolicies = policy(
    id,
    'privateEndpointNetworkPolicies',
    given.privateEndpointNetworkPolicies,
    'Disabled',
  );
  kept.privateLinkServiceNetworkPolicies = policy(
    id,
    'privateLinkServiceNetworkPolicies',
    given.privateLinkServiceNetworkPolicies,
    'Enabled',
  );
  if (given.serviceEndpoints !== undefined)
    kept.serviceEndpoints = given.serviceEndpoints.map((endpoint) => ({
      service: endpoint.service ?? '',
      locations: endpoint.locations ?? [network.location ?? ''],
      provisioningState: 'Succeeded',
    }));
  return {
    resource: { properties: kept },
    references: referencesOf(id, kept),
    ...(within === undefined ? { also: [touchOwner(network)] } : {}),
  };
}

async function partsOfNetwork(world: World, id: ResourceId, network: ArmResource): Promise<readonly ResourceRecord[]> {
  const parsed = await world.resources.list({ parent: network.id, type: id.type });
  return parsed.filter(({ resource }) => foldCase(resource.name) !== foldCase(id.name));
}

/** A subnet that addresses are taken from keeps its ranges. */
async function checkInUse(world: World, current: ResourceRecord | undefined, ranges: readonly Cidr[]): Promise<void> {
  if (current === undefined) return;
  const before = subnetRanges(current.resource.id, current.resource);
  const lost = before.find((range) => !ranges.some((next) => contains(next, range)));
  if (lost === undefined || (await countPrivateAddresses(world, current.resource.id)) === 0) return;
  throw new ArmError(
    400,
    'InUsePrefixCannotBeDeleted',
    `IpPrefix ${lost.text} on Subnet ${current.resource.name} has active allocations and cannot be deleted.`,
  );
}

function policy(id: ResourceId, member: string, given: string | undefined, otherwise: string): string {
  if (given === undefined) return otherwise;
  const found = policies.find((one) => foldCase(one) === foldCase(given));
  if (found !== undefined) return found;
  throw new ArmError(
    400,
    'InvalidRequestFormat',
    `Cannot parse the request: '${given.slice(0, 64)}' is not a value of '${member}' in resource ${id.text}.`,
  );
}

interface GivenDelegation {
  readonly name?: string;
  readonly properties?: { readonly serviceName?: string };
}

function delegations(id: ResourceId, given: readonly GivenDelegation[]): readonly JsonObject[] {
  return given.map(({ name, properties: inner }) => {
    const serviceName = inner?.serviceName;
    if (serviceName === undefined || !/^[a-z0-9]+(\.[a-z0-9]+)+\/[a-z0-9/]+$/i.test(serviceName))
      throw new ArmError(
        400,
        'SubnetDelegationServiceNameInvalid',
        `Invalid service name ${(serviceName ?? '').slice(0, 100)} for delegation ${name ?? ''} in subnet ${id.name}.`,
      );
    return {
      name: name ?? serviceName,
      id: `${id.text}/delegations/${name ?? serviceName}`,
      type: 'Microsoft.Network/virtualNetworks/subnets/delegations',
      properties: {
        serviceName,
        actions: ['Microsoft.Network/virtualNetworks/subnets/join/action'],
        provisioningState: 'Succeeded',
      },
    };
  });
}

const interfaces = 'microsoft.network/networkinterfaces';
const endpoints = 'microsoft.network/privateendpoints';

async function show(world: World, record: ResourceRecord): Promise<ArmResource> {
  const { resource } = record;
  const users = await usersOf(world, resource.id);
  const configurations = users
    .filter(({ type }) => type === interfaces || type === 'microsoft.network/loadbalancers')
    .map((user) => userPart(user, resource.id));
  const privateEndpoints = idsOfType(users, endpoints);
  return {
    ...resource,
    properties: {
      ...resource.properties,
      ...(configurations.length === 0 ? {} : { ipConfigurations: asReferences(configurations) }),
      ...(privateEndpoints.length === 0
        ? {}
        : { privateEndpoints: asReferences(privateEndpoints), purpose: 'PrivateEndpoints' }),
    },
  };
}

export function subnetInUse({ name, key }: ResourceId, users: readonly ResourceRecord[]): ArmError {
  const shown = users.slice(0, 20).map((user) => userPart(user, key));
  return new ArmError(
    400,
    'InUseSubnetCannotBeDeleted',
    `Subnet ${name} is in use by ${shown.join(', ')} and cannot be deleted. In order to delete the subnet, delete all the resources within ` +
      'the subnet. See aka.ms/deletesubnet.',
  );
}

export const subnets: ResourceType = {
  ...baseChild,
  type: 'virtualNetworks/subnets',
  prepare,
  show,
  inUse: subnetInUse,
  actions: {
    preparenetworkpolicies: { asynchronous: true, run: async () => undefined },
    unpreparenetworkpolicies: { asynchronous: true, run: async () => undefined },
  },
};

/** Subnets of a network, for those that know the network's id alone. */
export async function subnetsOf(world: World, network: ResourceId): Promise<readonly ResourceRecord[]> {
  return partsOf(world, network, subnetParts);
}
