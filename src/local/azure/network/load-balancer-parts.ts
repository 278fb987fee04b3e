// Backend pools and inbound NAT rules of load balancers.

import { ArmError } from '../../../arm/errors.ts';
import { foldCase, idKey } from '../../../arm/resource-id.ts';
import type { EffectEvent, Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseChild } from './base-type.ts';
import { isGoing } from './going.ts';
import { touchOwner } from './parts.ts';
import { parentId } from './references.ts';
import { ownProperties } from './request-body.ts';
import { naming } from './rule-names.ts';
import { textOf } from './text.ts';
import { asReferences, referencesOf, userPart, usersOf } from './users.ts';

export const poolParts = { member: 'backendAddressPools', segment: 'backendAddressPools', absent: 'remove' } as const;
export const natRuleParts = { member: 'inboundNatRules', segment: 'inboundNatRules', absent: 'remove' } as const;

async function prepare(
  { world, id, body, within }: PrepareRequest,
  readOnly: readonly string[],
  defaults: JsonObject,
): Promise<Prepared> {
  const kept = { ...defaults, ...ownProperties(body, readOnly) };
  const owner = within ?? (await world.resources.read(parentId(id.text)))?.body.resource;
  if (owner === undefined)
    throw new ArmError(404, 'ResourceNotFound', `The resource '${parentId(id.text)}' was not found.`);
  return {
    resource: { properties: kept },
    references: referencesOf(id, kept),
    ...(within === undefined ? { also: [touchOwner(await withSiblings(world, owner, id.type, id.name, kept))] } : {}),
  };
}

/** The load balancer with its parts, this one among them: it looks at them all. */
async function withSiblings(
  world: World,
  owner: ArmResource,
  type: string,
  name: string,
  properties: JsonObject,
): Promise<ArmResource> {
  const lists: { [member: string]: Json } = {};
  for (const { member, segment } of [poolParts, natRuleParts]) {
    const fullType = `${owner.type}/${segment}`;
    const isOwn = foldCase(fullType) === foldCase(type);
    const parts = (await world.resources.list({ parent: owner.id, type: fullType }))
      .filter(({ resource }) => !isOwn || foldCase(resource.name) !== foldCase(name))
      .map(({ resource }) => resource as JsonObject);
    lists[member] = isOwn ? [...parts, { name, properties }] : parts;
  }
  return { ...owner, properties: { ...owner.properties, ...lists } };
}

async function showPool(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const users = await usersOf(world, resource.id);
  const configurations = users
    .filter(({ type }) => type === 'microsoft.network/networkinterfaces')
    .map((user) => userPart(user, resource.id));
  const owner = (await world.resources.read(parentId(resource.id)))?.body.resource.properties ?? {};
  const list = (member: string) => (owner[member] ?? []) as readonly JsonObject[];
  return {
    ...resource,
    properties: {
      ...resource.properties,
      ...(configurations.length === 0 ? {} : { backendIPConfigurations: asReferences(configurations) }),
      ...naming(resource.id, 'loadBalancingRules', list('loadBalancingRules')),
      ...naming(resource.id, 'outboundRules', list('outboundRules')),
    },
  };
}

/** A pool that a rule leads to stays while the rule does. */
async function beforePoolDelete(world: World, { resource }: ResourceRecord): Promise<void> {
  const owner = (await world.resources.read(parentId(resource.id)))?.body.resource;
  const rules = ['loadBalancingRules', 'outboundRules'].flatMap(
    (member) => (owner?.properties?.[member] ?? []) as readonly JsonObject[],
  );
  const { rules: names } = naming(resource.id, 'rules', rules) as {
    readonly rules?: readonly { readonly id: string }[];
  };
  if (names === undefined || (await isGoing(world, parentId(resource.id)))) return;
  throw new ArmError(
    400,
    'InUseBackendAddressPoolCannotBeDeleted',
    `Backend address pool ${resource.id} cannot be deleted because it is in use by ${names.map(({ id }) => id).join(', ')}.`,
  );
}

/** Interfaces that were in the pool or of the rule are no longer. */
async function effect(world: World, { kind, record }: EffectEvent): Promise<undefined> {
  if (kind !== 'delete') return undefined;
  const key = idKey(record.resource.id);
  for (const user of await usersOf(world, key)) {
    if (user.type !== 'microsoft.network/networkinterfaces') continue;
    await world.resources.change(user.resource.id, (there) => without(there, key));
  }
  return undefined;
}

function without(record: ResourceRecord, key: string): ResourceRecord {
  const { [key]: _, ...references } = record.references;
  const configurations = (record.resource.properties?.ipConfigurations ?? []) as readonly JsonObject[];
  const ipConfigurations = configurations.map((item) => {
    const properties: { [member: string]: Json | undefined } = { ...(item.properties as JsonObject | undefined) };
    for (const member of ['loadBalancerBackendAddressPools', 'loadBalancerInboundNatRules']) {
      const list = properties[member];
      if (Array.isArray(list))
        properties[member] = (list as readonly JsonObject[]).filter(({ id }) => idKey(textOf(id)) !== key);
    }
    return { ...item, properties };
  });
  return {
    ...record,
    references,
    resource: { ...record.resource, properties: { ...record.resource.properties, ipConfigurations } },
  };
}

export const backendAddressPools: ResourceType = {
  ...baseChild,
  type: 'loadBalancers/backendAddressPools',
  prepare: (request) =>
    prepare(
      request,
      ['backendIPConfigurations', 'loadBalancingRules', 'outboundRule', 'outboundRules', 'inboundNatRules'],
      {
        loadBalancerBackendAddresses: [],
      },
    ),
  show: showPool,
  beforeDelete: beforePoolDelete,
  effect,
};

export const inboundNatRules: ResourceType = {
  ...baseChild,
  type: 'loadBalancers/inboundNatRules',
  prepare: (request) =>
    prepare(request, ['backendIPConfiguration'], {
      idleTimeoutInMinutes: 4,
      enableFloatingIP: false,
      enableTcpReset: false,
    }),
  async show(world, { resource }) {
    const user = (await usersOf(world, resource.id)).find(({ type }) => type === 'microsoft.network/networkinterfaces');
    return user === undefined
      ? resource
      : {
          ...resource,
          properties: { ...resource.properties, backendIPConfiguration: { id: userPart(user, resource.id) } },
        };
  },
  effect,
};
