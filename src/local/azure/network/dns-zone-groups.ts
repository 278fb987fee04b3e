// Groups of private zones that a private endpoint writes its addresses to.

import { ArmError } from '../../../arm/errors.ts';
import { parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { EffectEvent, Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { privateDnsVersions } from './api-versions.ts';
import { baseChild } from './base-type.ts';
import { namedItems } from './parts.ts';
import { addressesOf, hostOf } from './private-endpoints.ts';
import { demandReference, parentId } from './references.ts';
import { ownProperties, shaped } from './request-body.ts';
import { systemCaller } from './system-caller.ts';
import { textOf } from './text.ts';
import { referencesOf } from './users.ts';

const member = 'privateDnsZoneConfigs';
const configuration = Type.Object({ privateDnsZoneId: Type.String() });

async function prepare({ world, id, body }: PrepareRequest): Promise<Prepared> {
  const kept = ownProperties(body, []);
  const items: JsonObject[] = [];
  const references: { [id: string]: string } = {};
  for (const [at, { name, body: part }] of namedItems(id, { member }, kept[member]).entries()) {
    const { recordSets: _, ...plain } = (part.properties ?? {}) as JsonObject;
    const { privateDnsZoneId } = shaped(configuration, plain);
    await demandReference(world, privateDnsZoneId, { type: 'microsoft.network/privatednszones', by: id });
    references[privateDnsZoneId] = `properties.${member}[${at}].properties.privateDnsZoneId`;
    items.push({ name, id: `${id.text}/${member}/${name}`, properties: plain });
  }
  if (items.length === 0)
    throw new ArmError(
      400,
      'PrivateDnsZoneConfigsMissing',
      `Private DNS zone group ${id.text} must name at least one zone.`,
    );
  const whole = { ...kept, [member]: items };
  return { resource: { properties: whole }, references: { ...referencesOf(id, whole), ...references } };
}

/** The record sets of a group: the zone, the name and the addresses of each. */
async function recordsOf(
  world: World,
  { resource }: ResourceRecord,
): Promise<
  readonly {
    readonly id: ResourceId;
    readonly name: string;
    readonly zone: string;
    readonly addresses: readonly string[];
  }[]
> {
  const endpoint = (await world.resources.read(parentId(resource.id)))?.body.resource;
  if (endpoint === undefined) return [];
  const addresses = await addressesOf(world, endpoint);
  const lists = ['privateLinkServiceConnections', 'manualPrivateLinkServiceConnections'].flatMap(
    (list) => (endpoint.properties?.[list] ?? []) as readonly JsonObject[],
  );
  const target = textOf((lists[0]?.properties as JsonObject | undefined)?.privateLinkServiceId ?? '');
  const name = (hostOf(world, target)?.split('.')[0] ?? target.split('/').at(-1) ?? '').toLowerCase();
  return ((resource.properties?.[member] ?? []) as readonly JsonObject[]).flatMap((item) => {
    const zone = textOf((item.properties as JsonObject | undefined)?.privateDnsZoneId);
    const parsed = parseResourceId(`${zone}/A/${name}`);
    return parsed.ok ? [{ id: parsed.id, name, zone: zone.split('/').at(-1) ?? '', addresses }] : [];
  });
}

async function effect(world: World, { kind, record }: EffectEvent): Promise<undefined> {
  const options = { apiVersion: privateDnsVersions[0] ?? '', caller: systemCaller(world), faults: [] };
  for (const { id, addresses } of await recordsOf(world, record)) {
    if (kind === 'delete') await world.resources.delete(id, options);
    else
      await world.resources.put(
        id,
        {
          properties: {
            ttl: 10,
            aRecords: addresses.map((ipv4Address) => ({ ipv4Address })),
            metadata: { creator: `created by private endpoint with resource guid ${record.resource.name}` },
          },
        },
        options,
      );
  }
  return undefined;
}

async function show(world: World, record: ResourceRecord): Promise<ArmResource> {
  const { resource } = record;
  const records = await recordsOf(world, record);
  const items = ((resource.properties?.[member] ?? []) as readonly JsonObject[]).map((item, at) => {
    const one = records[at];
    const recordSets: Json =
      one === undefined
        ? []
        : [
            {
              recordType: 'A',
              recordSetName: one.name,
              fqdn: `${one.name}.${one.zone}`,
              ttl: 10,
              ipAddresses: one.addresses,
              provisioningState: 'Succeeded',
            },
          ];
    return { ...item, properties: { ...(item.properties as JsonObject), recordSets } };
  });
  return { ...resource, properties: { ...resource.properties, [member]: items } };
}

export const privateDnsZoneGroups: ResourceType = {
  ...baseChild,
  type: 'privateEndpoints/privateDnsZoneGroups',
  prepare,
  effect,
  show,
};
