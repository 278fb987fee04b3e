// Route tables and their routes.

import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseChild, baseType, resourceGuid } from './base-type.ts';
import { parseAddress, parseCidr } from './cidr.ts';
import { type Part, planParts, showWithParts, touchOwner } from './parts.ts';
import { parentId } from './references.ts';
import { ownProperties, shaped } from './request-body.ts';
import { textOf } from './text.ts';
import { asReferences, idsOfType, inUseError, usersOf } from './users.ts';

const routeParts = { member: 'routes', segment: 'routes', absent: 'remove' } as const;

const routeProperties = Type.Object({
  addressPrefix: Type.String(),
  nextHopType: Type.String(),
  nextHopIpAddress: Type.Optional(Type.String()),
});

const hops = ['VirtualNetworkGateway', 'VnetLocal', 'Internet', 'VirtualAppliance', 'None'];

async function prepareRoute({ world, id, body, within }: PrepareRequest): Promise<Prepared> {
  const kept = ownProperties(body, ['hasBgpOverride']);
  const { addressPrefix, nextHopType, nextHopIpAddress } = shaped(routeProperties, kept as JsonObject);
  if (!parseCidr(addressPrefix)?.isAligned && !/^[a-z][a-z0-9.]*$/i.test(addressPrefix))
    throw new ArmError(
      400,
      'InvalidAddressPrefixFormat',
      `Address prefix ${addressPrefix.slice(0, 64)} of resource ${id.text} is not formatted correctly. It should follow CIDR notation, for example 10.0.0.0/24.`,
    );
  const hop = hops.find((one) => foldCase(one) === foldCase(nextHopType));
  if (hop === undefined)
    throw new ArmError(
      400,
      'InvalidRequestFormat',
      `Cannot parse the request: '${nextHopType.slice(0, 64)}' is not a value of 'nextHopType' in route ${id.name}.`,
    );
  if (hop === 'VirtualAppliance' && (nextHopIpAddress === undefined || !parseAddress(nextHopIpAddress)))
    throw new ArmError(
      400,
      'InvalidNextHopIpAddress',
      `Route ${id.text} leads to a virtual appliance and has no valid next hop IP address.`,
    );
  const table = within ?? (await world.resources.read(parentId(id.text)))?.body.resource;
  if (table === undefined)
    throw new ArmError(404, 'ResourceNotFound', `The resource '${parentId(id.text)}' was not found.`);
  if (within === undefined) {
    const others = await world.resources.list({ parent: table.id, type: id.type });
    checkRoutes([
      ...others
        .filter(({ resource }) => foldCase(resource.name) !== foldCase(id.name))
        .map(({ resource }) => ({ name: resource.name, body: resource })),
      { name: id.name, body: { properties: kept } },
    ]);
  }
  return {
    resource: { properties: { ...kept, nextHopType: hop, hasBgpOverride: false } },
    ...(within === undefined ? { also: [touchOwner(table)] } : {}),
  };
}

function checkRoutes(routes: readonly Part[]): void {
  const seen = new Map<string, string>();
  for (const { name, body } of routes) {
    const prefix = textOf((body.properties as JsonObject | undefined)?.addressPrefix);
    const other = seen.get(prefix);
    if (other !== undefined)
      throw new ArmError(
        400,
        'RouteConflict',
        `Route ${name} conflicts with route ${other}. Routes cannot have the same AddressPrefix.`,
      );
    seen.set(prefix, name);
  }
}

async function prepare(request: PrepareRequest): Promise<Prepared> {
  const { body, current } = request;
  const { properties: _, ...rest } = body;
  const routes = await planParts(request, routeParts);
  checkRoutes(routes.parts);
  const { routes: __, ...plain } = ownProperties(body, ['resourceGuid', 'subnets']);
  return {
    resource: {
      ...rest,
      properties: {
        ...plain,
        disableBgpRoutePropagation: plain.disableBgpRoutePropagation ?? false,
        resourceGuid: resourceGuid(current),
      },
    },
    also: routes.also,
  };
}

async function show(world: World, record: ResourceRecord, apiVersion: string): Promise<ArmResource> {
  const table = await showWithParts(world, record, apiVersion, [routeParts]);
  const subnets = idsOfType(await usersOf(world, table.id), 'microsoft.network/virtualnetworks/subnets');
  return subnets.length === 0
    ? table
    : { ...table, properties: { ...table.properties, subnets: asReferences(subnets) } };
}

export const routeTables: ResourceType = {
  ...baseType,
  type: 'routeTables',
  prepare,
  show,
  inUse: inUseError(
    'InUseRouteTableCannotBeDeleted',
    'Route table',
    'In order to delete the route table, remove the association with the subnet(s).',
  ),
};

export const routes: ResourceType = { ...baseChild, type: 'routeTables/routes', prepare: prepareRoute };
