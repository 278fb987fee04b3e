// Public addresses with their DNS labels.

import { ArmError } from '../../../arm/errors.ts';
import { idKey, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { EffectEvent, Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseType, resourceGuid } from './base-type.ts';
import {
  hasAddressOfPrefix,
  releaseAddressOfPrefix,
  releasePublicAddress,
  takeAddressOfPrefix,
} from './public-addresses.ts';
import { demandReference } from './references.ts';
import { ownProperties, reference, shaped } from './request-body.ts';
import { reservationsOf } from './reservations.ts';
import { skuOf, zonesOf } from './sku.ts';
import { textOf } from './text.ts';
import { referencesOf, userPart, usersOf } from './users.ts';

const properties = Type.Object({
  publicIPAllocationMethod: Type.Optional(Type.Union([Type.Literal('Static'), Type.Literal('Dynamic')])),
  publicIPAddressVersion: Type.Optional(Type.Union([Type.Literal('IPv4'), Type.Literal('IPv6')])),
  idleTimeoutInMinutes: Type.Optional(Type.Integer()),
  dnsSettings: Type.Optional(
    Type.Object({ domainNameLabel: Type.Optional(Type.String()), reverseFqdn: Type.Optional(Type.String()) }),
  ),
  publicIPPrefix: Type.Optional(reference),
});

/** The pool of DNS labels: full names, each of one address. */
export const labelPool = 'dns labels';

export function labelName(world: Pick<World, 'cloud'>, location: string, label: string): string {
  return `${label}.${location}.cloudapp.${world.cloud.suffix}`.toLowerCase();
}

const labelForm = /^[a-z][a-z0-9-]{1,61}[a-z0-9]$/;

export function isLabel(label: string): boolean {
  return labelForm.test(label);
}

async function prepare({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const { properties: _, ...rest } = body;
  const kept = ownProperties(body, ['resourceGuid', 'ipConfiguration', 'ipAddress', 'natGateway']);
  const given = shaped(properties, kept as JsonObject);
  const sku = skuOf(id, body, ['Basic', 'Standard', 'StandardV2']);
  const isStandard = sku.name !== 'Basic';
  const method = given.publicIPAllocationMethod ?? (isStandard ? 'Static' : 'Dynamic');
  if (isStandard && method === 'Dynamic')
    throw new ArmError(
      400,
      'StandardSkuPublicIPAddressMustBeStatic',
      `Standard sku publicIp ${id.text} must have AllocationMethod set to Static.`,
    );
  const before = current?.resource.sku as JsonObject | undefined;
  if (before !== undefined && before.name !== sku.name && sku.name === 'Basic')
    throw new ArmError(
      400,
      'PublicIpAddressSkuDowngradeNotSupported',
      `The SKU of public IP address ${id.text} cannot be changed from ${textOf(before.name)} to ${sku.name}.`,
    );
  const idle = given.idleTimeoutInMinutes ?? 4;
  if (idle < 4 || idle > 30)
    throw new ArmError(
      400,
      'InvalidIdleTimeout',
      `The idle timeout of resource ${id.text} is ${idle} minutes; it must be between 4 and 30.`,
    );
  const location = textOf(body.location);
  if (given.publicIPPrefix) {
    const { resource } = await demandReference(world, given.publicIPPrefix.id, {
      type: 'microsoft.network/publicipprefixes',
      by: id,
      location,
    });
    const { ipPrefix } = resource.properties ?? {};
    if (typeof ipPrefix === 'string' && !(await hasAddressOfPrefix(world.store, id.key, ipPrefix)))
      throw prefixIsFull(id);
  }
  const label = given.dnsSettings?.domainNameLabel;
  if (label !== undefined) await checkLabel(world, id, location, label);
  const ipAddress = current?.resource.properties?.ipAddress;
  const whole = {
    ...kept,
    publicIPAllocationMethod: method,
    publicIPAddressVersion: given.publicIPAddressVersion ?? 'IPv4',
    idleTimeoutInMinutes: idle,
    ipTags: kept.ipTags ?? [],
    resourceGuid: resourceGuid(current),
    ...(typeof ipAddress === 'string' ? { ipAddress } : {}),
    ...(label === undefined
      ? {}
      : { dnsSettings: { ...given.dnsSettings, domainNameLabel: label, fqdn: labelName(world, location, label) } }),
  };
  return {
    resource: { ...rest, ...zonesOf(world, id, body), sku, properties: whole },
    references: referencesOf(id, whole),
  };
}

async function checkLabel(world: World, id: ResourceId, location: string, label: string): Promise<void> {
  if (!isLabel(label))
    throw new ArmError(
      400,
      'InvalidDomainNameLabel',
      `The domain name label ${label.slice(0, 64)} is invalid. It must conform to the following regular expression: ^[a-z][a-z0-9-]{1,61}[a-z0-9]$.`,
    );
  const holder = await (await reservationsOf(world.store)).owner(labelPool, labelName(world, location, label));
  if (holder !== undefined && holder !== id.key) throw labelTaken(world, location, label);
}

function labelTaken(world: World, location: string, label: string): ArmError {
  return new ArmError(
    400,
    'DnsRecordInUse',
    `DNS record ${labelName(world, location, label)} is already used by another public IP.`,
  );
}

/** Addresses are had for as long as the resource lives; labels for as long as it has them. */
async function effect(world: World, { kind, id, record }: EffectEvent): Promise<JsonObject | undefined> {
  const { properties: kept = {}, location = '' } = record.resource;
  const reservations = await reservationsOf(world.store);
  const prefix = await prefixOf(world, kept);
  if (kind === 'delete') {
    await reservations.release(labelPool, id.key);
    if (prefix === undefined) await releasePublicAddress(world.store, id.key);
    else await releaseAddressOfPrefix(world.store, id.key, prefix);
    return undefined;
  }
  const label = (kept.dnsSettings as JsonObject | undefined)?.domainNameLabel;
  const name = typeof label === 'string' ? labelName(world, location, label) : undefined;
  for (const held of await reservations.held(labelPool, id.key))
    if (held !== name) await reservations.release(labelPool, id.key, held);
  if (name !== undefined && !(await reservations.take(labelPool, name, id.key)))
    throw labelTaken(world, location, textOf(label));
  if (prefix === undefined) return { ipAddress: await world.network.allocatePublicAddress(id.key) };
  const ipAddress = await takeAddressOfPrefix(world.store, id.key, prefix);
  if (ipAddress === undefined) throw prefixIsFull(id);
  return { ipAddress };
}

function prefixIsFull(id: ResourceId): ArmError {
  return new ArmError(
    400,
    'PublicIPPrefixHasNoAvailableAddresses',
    `The public IP prefix that ${id.text} names has no addresses left.`,
  );
}

async function prefixOf(world: World, properties: JsonObject): Promise<string | undefined> {
  const id = (properties.publicIPPrefix as JsonObject | undefined)?.id;
  if (typeof id !== 'string') return undefined;
  const prefix = (await world.resources.read(idKey(id)))?.body.resource.properties?.ipPrefix;
  return typeof prefix === 'string' ? prefix : undefined;
}

const gateways = 'microsoft.network/natgateways';

async function show(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const users = await usersOf(world, resource.id);
  const gateway = users.find(({ type }) => type === gateways);
  const user = users.find(({ type }) => type !== gateways);
  return {
    ...resource,
    properties: {
      ...resource.properties,
      ...(user === undefined ? {} : { ipConfiguration: { id: userPart(user, resource.id) } }),
      ...(gateway === undefined ? {} : { natGateway: { id: gateway.resource.id } }),
    },
  };
}

/** The record of a public address that a part of a resource is to use. Throws when another part has it. */
export async function demandPublicAddress(
  world: World,
  text: string,
  by: ResourceId,
  part: string,
  location: string | undefined,
): Promise<ResourceRecord> {
  const record = await demandReference(world, text, { type: 'microsoft.network/publicipaddresses', by, location });
  for (const user of await usersOf(world, record.resource.id)) {
    const holder = userPart(user, record.resource.id);
    if (idKey(holder) === idKey(part) || idKey(user.resource.id) === by.key) continue;
    throw new ArmError(
      400,
      'PublicIPAddressInUse',
      `Resource ${part} is referencing public IP address ${record.resource.id} that is already allocated to resource ${holder}.`,
    );
  }
  return record;
}

export const publicIpAddresses: ResourceType = {
  ...baseType,
  type: 'publicIPAddresses',
  prepare,
  effect,
  show,
  inUse: (id, users) =>
    new ArmError(
      400,
      'PublicIPAddressCannotBeDeleted',
      `Public IP address ${id.text} can not be deleted since it is still allocated to resource ${users
        .slice(0, 5)
        .map((user) => userPart(user, id.key))
        .join(
          ', ',
        )}. In order to delete the public IP, disassociate/detach the Public IP address from the resource. To learn how to do ` +
        'this, see aka.ms/deletepublicip.',
    ),
};
