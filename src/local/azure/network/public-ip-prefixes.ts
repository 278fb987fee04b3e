// Prefixes that public addresses can be taken from.

import { ArmError } from '../../../arm/errors.ts';
import { Type } from '../../../arm/type.ts';
import type { EffectEvent, Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseType, resourceGuid } from './base-type.ts';
import { releasePublicPrefix, takePublicPrefix } from './public-addresses.ts';
import { ownProperties, shaped } from './request-body.ts';
import { skuOf, zonesOf } from './sku.ts';
import { textOf } from './text.ts';
import { asReferences, idsOfType, inUseError, usersOf } from './users.ts';

const properties = Type.Object({ prefixLength: Type.Optional(Type.Integer()) });

function prepare({ world, id, body, current }: PrepareRequest): Prepared {
  const { properties: _, ...rest } = body;
  const kept = ownProperties(body, [
    'ipPrefix',
    'publicIPAddresses',
    'resourceGuid',
    'loadBalancerFrontendIpConfiguration',
  ]);
  const before = current?.resource.properties;
  const prefixLength = shaped(properties, kept as JsonObject).prefixLength ?? before?.prefixLength ?? 28;
  if (typeof prefixLength !== 'number' || prefixLength < 28 || prefixLength > 31)
    throw new ArmError(
      400,
      'PublicIPPrefixInvalidPrefixLength',
      `The prefix length ${textOf(prefixLength)} of ${id.text} is not valid: it must be between 28 and 31.`,
    );
  if (before !== undefined && before.prefixLength !== prefixLength)
    throw new ArmError(
      400,
      'PublicIPPrefixLengthCannotBeChanged',
      `The prefix length of ${id.text} cannot be changed.`,
    );
  return {
    resource: {
      ...rest,
      ...zonesOf(world, id, body),
      sku: skuOf(id, body, ['Standard', 'StandardV2']),
      properties: {
        ...kept,
        prefixLength,
        publicIPAddressVersion: kept.publicIPAddressVersion ?? 'IPv4',
        ipTags: kept.ipTags ?? [],
        resourceGuid: resourceGuid(current),
        ...(typeof before?.ipPrefix === 'string' ? { ipPrefix: before.ipPrefix } : {}),
      },
    },
  };
}

async function effect(world: World, { kind, id, record }: EffectEvent): Promise<JsonObject | undefined> {
  if (kind === 'delete') return void (await releasePublicPrefix(world.store, id.key));
  const { prefixLength = 28 } = record.resource.properties ?? {};
  return { ipPrefix: await takePublicPrefix(world.store, id.key, Number(prefixLength)) };
}

async function show(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const users = idsOfType(await usersOf(world, resource.id), 'microsoft.network/publicipaddresses');
  return users.length === 0
    ? resource
    : { ...resource, properties: { ...resource.properties, publicIPAddresses: asReferences(users) } };
}

export const publicIpPrefixes: ResourceType = {
  ...baseType,
  type: 'publicIPPrefixes',
  prepare,
  effect,
  show,
  inUse: inUseError('InUsePublicIpPrefixCannotBeDeleted', 'Public IP prefix', 'Delete these addresses first.'),
};
