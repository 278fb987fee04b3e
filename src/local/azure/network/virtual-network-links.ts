// Links of private zones to the networks in which their names are known.

import { foldCase, idKey } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { privateDnsVersions } from './api-versions.ts';
import { badRequest } from './dns-records.ts';
import { joinRights } from './linked-rights.ts';
import { demandReference } from './references.ts';
import { ownProperties, reference, shaped } from './request-body.ts';
import { textOf } from './text.ts';
import { referencesOf } from './users.ts';

const properties = Type.Object({ virtualNetwork: reference, registrationEnabled: Type.Optional(Type.Boolean()) });
const fullType = 'Microsoft.Network/privateDnsZones/virtualNetworkLinks';

async function prepare({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const { properties: _, ...rest } = body;
  const kept = ownProperties(body, ['virtualNetworkLinkState']);
  const given = shaped(properties, kept as JsonObject);
  const network = await demandReference(world, given.virtualNetwork.id, {
    type: 'microsoft.network/virtualnetworks',
    by: id,
  });
  const before = current?.resource.properties?.virtualNetwork as JsonObject | undefined;
  if (before !== undefined && idKey(textOf(before.id)) !== idKey(given.virtualNetwork.id))
    throw badRequest('The virtual network of a virtual network link cannot be changed.');
  for (const { type, resource } of await world.resources.list({ referencing: network.resource.id })) {
    if (type !== foldCase(fullType) || idKey(resource.id) === id.key) continue;
    const zone = resource.id.split('/').at(-3) ?? '';
    if (foldCase(zone) === foldCase(id.names[0] ?? ''))
      throw badRequest(
        'A virtual network cannot be linked to multiple zones with overlapping namespaces. You tried to link virtual network with ' +
          `'${id.names[0]}' and '${zone}' zones.`,
      );
    if (given.registrationEnabled === true && resource.properties?.registrationEnabled === true)
      throw badRequest(
        `The virtual network ${network.resource.id} is already linked to the private zone '${zone}' with registration enabled.`,
      );
  }
  const whole = {
    ...kept,
    registrationEnabled: given.registrationEnabled ?? false,
    resolutionPolicy: kept.resolutionPolicy ?? 'Default',
    virtualNetworkLinkState: given.registrationEnabled === true ? 'InProgress' : 'Completed',
  };
  return { resource: { ...rest, properties: whole }, references: referencesOf(id, whole) };
}

export const virtualNetworkLinks: ResourceType = {
  type: 'privateDnsZones/virtualNetworkLinks',
  apiVersions: privateDnsVersions,
  scope: 'resourceGroup',
  location: 'global',
  patch: 'tags',
  etagMember: true,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  linkedAccess: joinRights,
  prepare,
  // Registration begins with the link and ends when what is in the network has its names.
  effect: async (_world, { kind }) => (kind === 'delete' ? undefined : { virtualNetworkLinkState: 'Completed' }),
  // A network may go although zones are linked to it.
  holds: () => false,
};
