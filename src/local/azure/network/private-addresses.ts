// Addresses in subnets: interfaces, frontends and endpoints get them from here, and give them back.
import { ArmError } from '../../../arm/errors.ts';
import { idKey } from '../../../arm/resource-id.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { addressText, type Cidr, hasAddress, isReserved, parseAddress, parseCidr } from './cidr.ts';
import { reservationsOf } from './reservations.ts';

export type IpVersion = 'IPv4' | 'IPv6';

/** The ranges of a subnet. */
export function prefixesOf({ resource: { properties } }: Pick<ResourceRecord, 'resource'>): readonly Cidr[] {
  const { addressPrefix, addressPrefixes } = properties ?? {};
  const list = Array.isArray(addressPrefixes) ? (addressPrefixes as readonly unknown[]) : [addressPrefix];
  return list.flatMap((text) => (typeof text === 'string' ? (parseCidr(text) ?? []) : []));
}

/** The pool that the addresses of a subnet are of. */
export function poolOf(subnet: string): string {
  return `subnet ${idKey(subnet)}`;
}

/** Throws what Azure says to an address that cannot be had: malformed, outside of the subnet, reserved, taken. */
export async function checkPrivateAddress(
  world: World,
  subnet: ResourceRecord,
  owner: string,
  wanted: string,
): Promise<void> {
  const address = parseAddress(wanted);
  if (address === undefined)
    throw new ArmError(
      400,
      'InvalidIPAddressFormat',
      `IP address ${wanted.slice(0, 64)} of resource ${owner} has an invalid format.`,
    );
  const ranges = prefixesOf(subnet);
  const range = ranges.find((one) => hasAddress(one, address));
  const prefixes = ranges.map(({ text }) => text).join(', ');
  if (range === undefined)
    throw new ArmError(
      400,
      'PrivateIPAddressNotInSubnet',
      `Private static IP address ${wanted} does not belong to the range of subnet prefix ${prefixes}.`,
    );
  if (isReserved(range, address))
    throw new ArmError(
      400,
      'PrivateIPAddressInReservedRange',
      `Private static IP address ${wanted} falls within reserved IP range of subnet prefix ${range.text}.`,
    );
  const holder = await (await reservationsOf(world.store)).owner(poolOf(subnet.resource.id), addressText(address));
  if (holder !== undefined && holder !== idKey(owner)) throw allocated(owner, wanted, holder);
}

function allocated(owner: string, address: string, holder: string): ArmError {
  return new ArmError(
    400,
    'PrivateIPAddressIsAllocated',
    `IP configuration ${owner} is using the private IP address ${address} which is already allocated to resource ${holder}.`,
  );
}

/** An address of the subnet for an owner: the wanted one, else the one it has, else the first that is free. Asked again it gives the same. */
export async function takePrivateAddress(
  world: World,
  subnet: ResourceRecord,
  owner: string,
  wanted?: string,
  version: IpVersion = 'IPv4',
): Promise<string> {
  const reservations = await reservationsOf(world.store);
  const pool = poolOf(subnet.resource.id);
  const key = idKey(owner);
  if (wanted !== undefined) {
    await checkPrivateAddress(world, subnet, owner, wanted);
    const address = parseAddress(wanted);
    const text = address === undefined ? wanted : addressText(address);
    if (!(await reservations.take(pool, text, key)))
      throw allocated(owner, wanted, (await reservations.owner(pool, text)) ?? '');
    for (const other of await reservations.held(pool, key))
      if (other !== text) await reservations.release(pool, key, other);
    return wanted;
  }
  const ranges = prefixesOf(subnet).filter((range) => `IPv${range.version}` === version);
  for (const text of await reservations.held(pool, key)) {
    const address = parseAddress(text);
    if (address && ranges.some((range) => hasAddress(range, address))) return text;
  }
  const start = reservations.fullBelow.get(pool);
  const taken = start === undefined ? await reservations.taken(pool) : undefined;
  for (const range of ranges) {
    const first = start !== undefined && start > range.first && start <= range.last ? start : range.first + 4n;
    for (let value = first; value <= range.last; value++) {
      const address = { version: range.version, value };
      const text = addressText(address);
      if (isReserved(range, address) || taken?.has(text) || !(await reservations.take(pool, text, key))) continue;
      if (ranges.length === 1) reservations.fullBelow.set(pool, value + 1n);
      return text;
    }
  }
  if (start === undefined) throw subnetIsFull(subnet, ranges);
  // Something below may have been given back meanwhile.
  reservations.fullBelow.delete(pool);
  return takePrivateAddress(world, subnet, owner, wanted, version);
}

/** Throws when a subnet has no address left for so many more. */
export async function demandRoom(world: World, subnet: ResourceRecord, more: number): Promise<void> {
  const ranges = prefixesOf(subnet).filter(({ version }) => version === 4);
  const size = ranges.reduce((sum, { first, last }) => sum + (last - first + 1n - 5n), 0n);
  const taken = BigInt(await (await reservationsOf(world.store)).count(poolOf(subnet.resource.id)));
  if (ranges.length > 0 && taken + BigInt(more) > size) throw subnetIsFull(subnet, ranges, more);
}

function subnetIsFull({ resource }: ResourceRecord, ranges: readonly Cidr[], more = 1): ArmError {
  return new ArmError(
    400,
    'SubnetIsFull',
    `Subnet ${resource.name} with address prefix ${ranges.map(({ text }) => text).join(', ')} does not have enough capacity for ${more} IP addresses.`,
  );
}

/** Whether an address of the subnet is free, and some that are. */
export async function availableAddresses(
  world: World,
  subnet: ResourceRecord,
  wanted: string,
): Promise<{ readonly isFree: boolean; readonly others: readonly string[] }> {
  const taken = await (await reservationsOf(world.store)).taken(poolOf(subnet.resource.id));
  const others: string[] = [];
  for (const range of prefixesOf(subnet)) {
    for (let value = range.first + 4n; value <= range.last && others.length < 5; value++) {
      const address = { version: range.version, value };
      const text = addressText(address);
      if (!isReserved(range, address) && !taken.has(text)) others.push(text);
    }
  }
  const address = parseAddress(wanted);
  const isFree =
    address !== undefined &&
    prefixesOf(subnet).some((range) => hasAddress(range, address) && !isReserved(range, address)) &&
    !taken.has(addressText(address));
  return { isFree, others };
}

/** Gives back what an owner has in a subnet. */
export async function releasePrivateAddress(world: World, subnet: string, owner: string): Promise<void> {
  await (await reservationsOf(world.store)).release(poolOf(subnet), idKey(owner));
}

/** How many addresses of a subnet are in use. */
export async function countPrivateAddresses(world: World, subnet: string): Promise<number> {
  return (await reservationsOf(world.store)).count(poolOf(subnet));
}
