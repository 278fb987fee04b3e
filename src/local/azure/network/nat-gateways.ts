// NAT gateways.

import { ArmError } from '../../../arm/errors.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseType, resourceGuid } from './base-type.ts';
import { demandPublicAddress } from './public-ip-addresses.ts';
import { demandReference } from './references.ts';
import { ownProperties, reference, shaped } from './request-body.ts';
import { skuOf, zonesOf } from './sku.ts';
import { textOf } from './text.ts';
import { asReferences, idsOfType, inUseError, referencesOf, usersOf } from './users.ts';

const properties = Type.Object({
  idleTimeoutInMinutes: Type.Optional(Type.Integer()),
  publicIpAddresses: Type.Optional(Type.Array(reference)),
  publicIpPrefixes: Type.Optional(Type.Array(reference)),
});

async function prepare({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const { properties: _, ...rest } = body;
  const kept = ownProperties(body, ['subnets', 'resourceGuid']);
  const given = shaped(properties, kept as JsonObject);
  const location = textOf(body.location);
  const idleTimeoutInMinutes = given.idleTimeoutInMinutes ?? 4;
  if (idleTimeoutInMinutes < 4 || idleTimeoutInMinutes > 120)
    throw new ArmError(
      400,
      'NatGatewayIdleTimeoutInvalid',
      `The idle timeout of NAT gateway ${id.text} is ${idleTimeoutInMinutes} minutes; it must be between 4 and 120.`,
    );
  for (const { id: address } of given.publicIpAddresses ?? []) {
    const { resource } = await demandPublicAddress(world, address, id, id.text, location);
    if ((resource.sku as JsonObject | undefined)?.name === 'Basic')
      throw new ArmError(
        400,
        'NatGatewayCannotUseBasicPublicIp',
        `NAT gateway ${id.text} cannot use the Basic SKU public IP address ${resource.id}.`,
      );
  }
  for (const { id: prefix } of given.publicIpPrefixes ?? [])
    await demandReference(world, prefix, { type: 'microsoft.network/publicipprefixes', by: id, location });
  const whole = { ...kept, idleTimeoutInMinutes, resourceGuid: resourceGuid(current) };
  return {
    resource: {
      ...rest,
      ...zonesOf(world, id, body),
      sku: skuOf(id, body, ['Standard', 'StandardV2']),
      properties: whole,
    },
    references: referencesOf(id, whole),
  };
}

async function show(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const subnets = idsOfType(await usersOf(world, resource.id), 'microsoft.network/virtualnetworks/subnets');
  return subnets.length === 0
    ? resource
    : { ...resource, properties: { ...resource.properties, subnets: asReferences(subnets) } };
}

export const natGateways: ResourceType = {
  ...baseType,
  type: 'natGateways',
  prepare,
  show,
  inUse: inUseError(
    'InUseNatGatewayCannotBeDeleted',
    'Nat gateway',
    'In order to delete the NAT gateway, remove the association with the subnet(s).',
  ),
};
