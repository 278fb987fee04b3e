// Configurations of addresses in subnets, as interfaces, load balancers and private link services have them.

import type { Static } from 'typebox';
import { ArmError } from '../../../arm/errors.ts';
import { type ResourceId, sameId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { addressText, parseAddress } from './cidr.ts';
import type { Part } from './parts.ts';
import { checkPrivateAddress, demandRoom, type IpVersion, poolOf, takePrivateAddress } from './private-addresses.ts';
import { demandReference } from './references.ts';
import { reference, shaped } from './request-body.ts';
import { claimText, reservationsOf } from './reservations.ts';
import { textOf } from './text.ts';

export const configurationProperties = Type.Object({
  subnet: Type.Optional(reference),
  privateIPAddress: Type.Optional(Type.String()),
  privateIPAllocationMethod: Type.Optional(Type.String()),
  privateIPAddressVersion: Type.Optional(Type.Union([Type.Literal('IPv4'), Type.Literal('IPv6')])),
  primary: Type.Optional(Type.Boolean()),
  publicIPAddress: Type.Optional(reference),
  publicIPPrefix: Type.Optional(reference),
  loadBalancerBackendAddressPools: Type.Optional(Type.Array(reference)),
  loadBalancerInboundNatRules: Type.Optional(Type.Array(reference)),
  applicationSecurityGroups: Type.Optional(Type.Array(reference)),
});

export type Configuration = Static<typeof configurationProperties>;

export interface ConfigurationPlace {
  readonly owner: ResourceId;
  readonly segment: string;
  readonly location: string;
  readonly current: ResourceRecord | undefined;
  readonly member: string;
}

/**
 * What is kept of one configuration: the address it has stays while its subnet does. Throws for subnets and addresses that cannot be
 * had.
 */
export async function checkedConfiguration(
  world: World,
  { owner, segment, location, current, member }: ConfigurationPlace,
  { name, body }: Part,
): Promise<{ readonly given: Configuration; readonly kept: JsonObject }> {
  const { provisioningState: _, ...plain } = (body.properties ?? {}) as JsonObject;
  const given = shaped(configurationProperties, plain);
  if (given.subnet === undefined) return { given, kept: plain };
  const id = `${owner.text}/${segment}/${name}`;
  const subnet = await demandReference(world, given.subnet.id, {
    type: 'microsoft.network/virtualnetworks/subnets',
    by: owner,
  });
  await demandSameRegion(world, owner, subnet, location);
  const before = propertiesBefore(current, member, name);
  const stays = before?.subnet !== undefined && sameId(textOf((before.subnet as JsonObject).id), given.subnet.id);
  const method = given.privateIPAllocationMethod ?? 'Dynamic';
  const { privateIPAddress: given_, ...rest } = plain;
  if (method.toLowerCase() === 'static') {
    if (given.privateIPAddress === undefined)
      throw new ArmError(
        400,
        'PrivateIPAddressNotSpecified',
        `IP configuration ${id} has Static allocation and no private IP address.`,
      );
    await checkPrivateAddress(world, subnet, id, given.privateIPAddress);
  } else if (!stays) await demandRoom(world, subnet, 1);
  const address = method.toLowerCase() === 'static' ? given_ : stays ? before?.privateIPAddress : undefined;
  return {
    given,
    kept: {
      ...rest,
      privateIPAllocationMethod: method.toLowerCase() === 'static' ? 'Static' : 'Dynamic',
      privateIPAddressVersion: given.privateIPAddressVersion ?? 'IPv4',
      ...(address === undefined ? {} : { privateIPAddress: address }),
    },
  };
}

async function demandSameRegion(
  world: World,
  owner: ResourceId,
  subnet: ResourceRecord,
  location: string,
): Promise<void> {
  const network = subnet.parent === undefined ? undefined : await world.resources.read(subnet.parent);
  const place = network?.body.resource.location;
  if (place !== undefined && place !== location)
    throw new ArmError(
      400,
      'InvalidResourceReference',
      `Resource ${subnet.resource.id} referenced by resource ${owner.text} was not found. Please make sure that the referenced resource ` +
        'exists, and that both resources are in the same region.',
    );
}

function propertiesBefore(current: ResourceRecord | undefined, member: string, name: string): JsonObject | undefined {
  const list = current?.resource.properties?.[member];
  if (!Array.isArray(list)) return undefined;
  const item = (list as readonly JsonObject[]).find((one) => one.name === name);
  return item?.properties as JsonObject | undefined;
}

/** Gets an address for every configuration in a subnet and gives back what is no longer used. The list with the addresses in it. */
export async function settleConfigurations(
  world: World,
  owner: ResourceId,
  list: Json | undefined,
): Promise<readonly JsonObject[]> {
  const kept = new Set<string>();
  const settled: JsonObject[] = [];
  for (const item of (Array.isArray(list) ? list : []) as readonly JsonObject[]) {
    const { properties = {} } = item as { readonly properties?: JsonObject };
    const subnetId = (properties.subnet as JsonObject | undefined)?.id;
    const subnet = typeof subnetId === 'string' ? await world.resources.read(subnetId) : undefined;
    if (subnet === undefined) {
      settled.push(item);
      continue;
    }
    const { privateIPAllocationMethod, privateIPAddress, privateIPAddressVersion } = properties;
    const wanted =
      privateIPAllocationMethod === 'Static' && typeof privateIPAddress === 'string' ? privateIPAddress : undefined;
    const address = await takePrivateAddress(
      world,
      subnet.body,
      textOf(item.id),
      wanted,
      (privateIPAddressVersion as IpVersion | undefined) ?? 'IPv4',
    );
    const parsed = parseAddress(address);
    kept.add(claimText(poolOf(subnet.body.resource.id), parsed === undefined ? address : addressText(parsed)));
    settled.push({ ...item, properties: { ...properties, privateIPAddress: address } });
  }
  await (await reservationsOf(world.store)).keepOnly(owner.key, kept);
  return settled;
}
