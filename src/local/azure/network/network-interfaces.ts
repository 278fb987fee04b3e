// Network interfaces: addresses in subnets for machines and private endpoints.

import { createHash } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { type ResourceId, sameId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { EffectEvent, Prepared, PrepareRequest, ProviderRoute, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseType, resourceGuid } from './base-type.ts';
import { isGoing } from './going.ts';
import { type Configuration, checkedConfiguration, settleConfigurations } from './ip-configurations.ts';
import { ownedPartRoutes } from './owned-part-routes.ts';
import { namedItems, ownedItems, type Part } from './parts.ts';
import { demandPublicAddress } from './public-ip-addresses.ts';
import { demandReference, findPart, invalidReference, parentId } from './references.ts';
import { ownProperties, reference, shaped, texts } from './request-body.ts';
import { reservationsOf } from './reservations.ts';
import { textOf } from './text.ts';
import { referencesOf, usersOf } from './users.ts';

const properties = Type.Object({
  networkSecurityGroup: Type.Optional(reference),
  enableAcceleratedNetworking: Type.Optional(Type.Boolean()),
  enableIPForwarding: Type.Optional(Type.Boolean()),
  dnsSettings: Type.Optional(
    Type.Object({ dnsServers: Type.Optional(texts), internalDnsNameLabel: Type.Optional(Type.String()) }),
  ),
});

const readOnly = [
  'resourceGuid',
  'virtualMachine',
  'macAddress',
  'primary',
  'hostedWorkloads',
  'tapConfigurations',
  'vnetEncryptionSupported',
];
const member = 'ipConfigurations';
const machineTypes: ReadonlySet<string> = new Set([
  'microsoft.compute/virtualmachines',
  'microsoft.compute/virtualmachinescalesets/virtualmachines',
]);

async function prepare({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const { properties: _, ...rest } = body;
  const { ipConfigurations, ...plain } = ownProperties(body, readOnly);
  const given = shaped(properties, plain as JsonObject);
  const location = textOf(body.location);
  if (given.networkSecurityGroup)
    await demandReference(world, given.networkSecurityGroup.id, {
      type: 'microsoft.network/networksecuritygroups',
      by: id,
      location,
    });
  const items = namedItems(id, { member }, ipConfigurations);
  if (items.length === 0)
    throw new ArmError(
      400,
      'NetworkInterfaceMustHaveIpConfigurations',
      `Network interface ${id.text} must have at least one IP configuration.`,
    );
  const checked: Part[] = [];
  for (const item of items) {
    const { given: configuration, kept } = await checkedConfiguration(
      world,
      { owner: id, segment: member, location, current, member },
      item,
    );
    if (configuration.subnet === undefined)
      throw new ArmError(
        400,
        'SubnetNotSpecified',
        `IP configuration ${id.text}/${member}/${item.name} must name a subnet.`,
      );
    await checkLinks(world, id, `${id.text}/${member}/${item.name}`, location, configuration);
    checked.push({
      ...item,
      body: { ...item.body, properties: { ...kept, primary: kept.primary ?? items.length === 1 } },
    });
  }
  if (!checked.some(({ body: part }) => (part.properties as JsonObject).primary === true) && checked[0])
    checked[0] = withPrimary(checked[0]);
  const whole: JsonObject = {
    ...plain,
    enableAcceleratedNetworking: given.enableAcceleratedNetworking ?? false,
    enableIPForwarding: given.enableIPForwarding ?? false,
    disableTcpStateTracking: plain.disableTcpStateTracking ?? false,
    nicType: plain.nicType ?? 'Standard',
    auxiliaryMode: plain.auxiliaryMode ?? 'None',
    auxiliarySku: plain.auxiliarySku ?? 'None',
    dnsSettings: { ...given.dnsSettings, dnsServers: given.dnsSettings?.dnsServers ?? [], appliedDnsServers: [] },
    hostedWorkloads: [],
    tapConfigurations: [],
    resourceGuid: resourceGuid(current),
    ipConfigurations: ownedItems(id, 'Microsoft.Network/networkInterfaces', member, member, checked),
  };
  return { resource: { ...rest, properties: whole }, references: referencesOf(id, whole) };
}

function withPrimary(part: Part): Part {
  return { ...part, body: { ...part.body, properties: { ...(part.body.properties as JsonObject), primary: true } } };
}

async function checkLinks(
  world: World,
  id: ResourceId,
  part: string,
  location: string,
  given: Configuration,
): Promise<void> {
  if (given.publicIPAddress) await demandPublicAddress(world, given.publicIPAddress.id, id, part, location);
  for (const { id: pool } of given.loadBalancerBackendAddressPools ?? [])
    await demandReference(world, pool, { type: 'microsoft.network/loadbalancers/backendaddresspools', by: id });
  for (const { id: rule } of given.loadBalancerInboundNatRules ?? [])
    await demandReference(world, rule, { type: 'microsoft.network/loadbalancers/inboundnatrules', by: id });
  for (const { id: group } of given.applicationSecurityGroups ?? [])
    await demandReference(world, group, { type: 'microsoft.network/applicationsecuritygroups', by: id, location });
}

async function effect(world: World, { kind, id, record }: EffectEvent): Promise<JsonObject | undefined> {
  if (kind === 'delete') {
    await (await reservationsOf(world.store)).keepOnly(id.key, new Set());
    return undefined;
  }
  return { ipConfigurations: await settleConfigurations(world, id, record.resource.properties?.ipConfigurations) };
}

async function show(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const machine = (await usersOf(world, resource.id)).find(({ type }) => machineTypes.has(type));
  if (machine === undefined) return resource;
  const profile = machine.resource.properties?.networkProfile as JsonObject | undefined;
  const links = (profile?.networkInterfaces ?? []) as readonly JsonObject[];
  const own = links.find(({ id }) => typeof id === 'string' && sameId(id, resource.id));
  return {
    ...resource,
    properties: {
      ...resource.properties,
      virtualMachine: { id: machine.resource.id },
      primary: (own?.properties as JsonObject | undefined)?.primary ?? links.length === 1,
      macAddress: macAddress(resource.id),
    },
  };
}

/** One of Microsoft's, the same for the same interface. */
function macAddress(id: string): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(id.toLowerCase()).digest();
  return ['00', '0D', '3A', ...[a, b, c].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase())].join('-');
}

/** The interface of a private endpoint or link service goes with it. */
async function beforeDelete(world: World, { resource }: ResourceRecord): Promise<void> {
  const { privateEndpoint, privateLinkService } = resource.properties ?? {};
  for (const [owner, code, what] of [
    [privateEndpoint, 'NicInUseWithPrivateEndpoint', 'private endpoint'],
    [privateLinkService, 'NicInUseWithPrivateLinkService', 'private link service'],
  ] as const) {
    const id = (owner as JsonObject | undefined)?.id;
    if (typeof id !== 'string' || (await isGoing(world, id))) continue;
    throw new ArmError(
      400,
      code,
      `Network interface ${resource.id} is used by ${what} ${id} and cannot be deleted on its own.`,
    );
  }
}

export const networkInterfaces: ResourceType = {
  ...baseType,
  type: 'networkInterfaces',
  asynchrony: { create: 'none', update: 'none', delete: 'operation' },
  prepare,
  effect,
  show,
  beforeDelete,
  // Pools and rules of load balancers may go: the interface is no longer of them then. What it stands for takes it along.
  holds: (name) =>
    !/\.loadBalancer(BackendAddressPools|InboundNatRules)\[|^properties\.private(Endpoint|LinkService)\./.test(name),
  inUse: (id, users) =>
    new ArmError(
      400,
      'NicInUse',
      `Network Interface ${id.text} is used by existing resource ${users[0]?.resource.id ?? ''}. In order to delete the network interface, ` +
        'it must be dissociated from the resource. To learn more, see aka.ms/deletenic.',
    ),
  actions: {
    effectiveroutetable: { asynchronous: true, run: async () => ({ value: [] }) },
    effectivenetworksecuritygroups: { asynchronous: true, run: async () => ({ value: [] }) },
  },
};

export const networkInterfaceRoutes: readonly ProviderRoute[] = ownedPartRoutes('networkInterfaces', [member]);

/** The configuration of an interface that an id names. Throws when there is none. */
export async function demandConfiguration(world: World, id: string, by: ResourceId): Promise<JsonObject> {
  const owner = await world.resources.read(parentId(id));
  const part = owner && findPart(owner.body.resource, member, id);
  if (part === undefined) throw invalidReference(id, by);
  return part;
}
