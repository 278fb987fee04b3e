// Peerings of virtual networks: one on each side, connected when both are there.
import { ArmError } from '../../../arm/errors.ts';
import { idKey } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseChild, resourceGuid } from './base-type.ts';
import { overlapAmong } from './cidr.ts';
import { touchOwner } from './parts.ts';
import { demandReference, parentId } from './references.ts';
import { ownProperties, reference, shaped } from './request-body.ts';
import { spaceOf } from './subnets.ts';
import { referencesOf } from './users.ts';

export const peeringParts = {
  member: 'virtualNetworkPeerings',
  segment: 'virtualNetworkPeerings',
  absent: 'keep',
} as const;

const properties = Type.Object({
  remoteVirtualNetwork: reference,
  allowVirtualNetworkAccess: Type.Optional(Type.Boolean()),
  allowForwardedTraffic: Type.Optional(Type.Boolean()),
  allowGatewayTransit: Type.Optional(Type.Boolean()),
  useRemoteGateways: Type.Optional(Type.Boolean()),
});

const readOnly = ['peeringState', 'peeringSyncLevel', 'remoteAddressSpace', 'remoteVirtualNetworkAddressSpace'];

async function prepare({ world, id, body, current, within }: PrepareRequest): Promise<Prepared> {
  const kept = ownProperties(body, readOnly);
  const { remoteVirtualNetwork } = shaped(properties, kept as JsonObject);
  const network = within ?? (await world.resources.read(parentId(id.text)))?.body.resource;
  if (network === undefined)
    throw new ArmError(404, 'ResourceNotFound', `The resource '${parentId(id.text)}' was not found.`);
  const remote = await demandReference(world, remoteVirtualNetwork.id, {
    type: 'microsoft.network/virtualnetworks',
    by: id,
  });
  if (idKey(remote.resource.id) === idKey(network.id))
    throw new ArmError(400, 'CannotPeerVnetWithItself', `Cannot peer virtual network ${network.id} with itself.`);
  // Neither space overlaps with itself, so what overlaps is one of each.
  const [one, other] = overlapAmong([...spaceOf(network), ...spaceOf(remote.resource)], (range) => range) ?? [];
  if (one && other)
    throw new ArmError(
      400,
      'VnetAddressSpacesOverlap',
      `Cannot create or update peering ${id.text}. Virtual networks ${network.id} and ${remote.resource.id} cannot be peered because ` +
        `their address spaces overlap. Overlapping address prefixes: ${one.text}, ${other.text}`,
    );
  const whole = {
    ...kept,
    allowVirtualNetworkAccess: kept.allowVirtualNetworkAccess ?? true,
    allowForwardedTraffic: kept.allowForwardedTraffic ?? false,
    allowGatewayTransit: kept.allowGatewayTransit ?? false,
    useRemoteGateways: kept.useRemoteGateways ?? false,
    resourceGuid: resourceGuid(current),
    doNotVerifyRemoteGateways: kept.doNotVerifyRemoteGateways ?? false,
  };
  return {
    resource: { properties: whole },
    references: referencesOf(id, whole),
    ...(within === undefined ? { also: [touchOwner(network)] } : {}),
  };
}

async function show(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const remoteId = (resource.properties?.remoteVirtualNetwork as JsonObject | undefined)?.id;
  const remote = typeof remoteId === 'string' ? await world.resources.read(remoteId) : undefined;
  const back = remote
    ? (await world.resources.list({ parent: remote.body.resource.id, type: resource.type })).some(
        ({ references }) => references[idKey(parentId(resource.id))] !== undefined,
      )
    : false;
  const space = remote?.body.resource.properties?.addressSpace;
  return {
    ...resource,
    properties: {
      ...resource.properties,
      peeringState: remote === undefined ? 'Disconnected' : back ? 'Connected' : 'Initiated',
      peeringSyncLevel: back ? 'FullyInSync' : 'RemoteNotInSync',
      ...(space === undefined ? {} : { remoteAddressSpace: space, remoteVirtualNetworkAddressSpace: space }),
    },
  };
}

export const peerings: ResourceType = {
  ...baseChild,
  type: 'virtualNetworks/virtualNetworkPeerings',
  prepare,
  show,
  // A network may go although others are peered with it; they are disconnected then.
  holds: (member) => !member.startsWith('properties.remoteVirtualNetwork.'),
};
