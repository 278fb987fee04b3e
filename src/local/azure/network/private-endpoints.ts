// Private endpoints: an interface in a subnet that stands for a service elsewhere.

import { randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, idKey, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { clientName } from '../authorization/client-name.ts';
import { type DataPlane, dataPlaneHost } from '../cloud.ts';
import type { CallerIdentity, EffectEvent, Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { networkVersions } from './api-versions.ts';
import { baseType, resourceGuid } from './base-type.ts';
import { joinRights, type LinkedRight } from './linked-rights.ts';
import { namedItems } from './parts.ts';
import { findConnection, interfaceOf, removeInterface } from './private-link-services.ts';
import { demandReference } from './references.ts';
import { ownProperties, reference, shaped, texts } from './request-body.ts';
import { isSystem, systemCaller } from './system-caller.ts';
import { textOf } from './text.ts';
import { asReferences, inUseError, referencesOf } from './users.ts';

const properties = Type.Object({ subnet: reference, customNetworkInterfaceName: Type.Optional(Type.String()) });
const connectionProperties = Type.Object({
  privateLinkServiceId: Type.String(),
  groupIds: Type.Optional(texts),
  requestMessage: Type.Optional(Type.String()),
});

const members = ['privateLinkServiceConnections', 'manualPrivateLinkServiceConnections'] as const;
const serviceType = 'microsoft.network/privatelinkservices';

async function prepare({ world, id, body, current, caller }: PrepareRequest): Promise<Prepared> {
  const { properties: _, ...rest } = body;
  const kept = ownProperties(body, ['networkInterfaces', 'customDnsConfigs', 'resourceGuid']);
  const given = shaped(properties, kept as JsonObject);
  const location = textOf(body.location);
  await demandReference(world, given.subnet.id, { type: 'microsoft.network/virtualnetworks/subnets', by: id });
  const connections: { [member: string]: Json } = {};
  let count = 0;
  for (const member of members) {
    connections[member] = namedItems(id, { member }, kept[member]).map(({ name, body: part }) => {
      count++;
      return connectionOf(id, member, name, part);
    });
    for (const item of connections[member] as readonly JsonObject[])
      await demandTarget(world, id, caller, textOf((item.properties as JsonObject).privateLinkServiceId), member);
  }
  if (count === 0)
    throw new ArmError(
      400,
      'PrivateEndpointMustHaveConnection',
      `Private endpoint ${id.text} must have at least one private link service connection.`,
    );
  const before = current?.resource.properties ?? {};
  const interfaceId =
    before.networkInterfaces === undefined && given.customNetworkInterfaceName
      ? interfaceOf(id, {}).replace(/[^/]+$/, given.customNetworkInterfaceName)
      : interfaceOf(id, before);
  const whole: JsonObject = {
    ...kept,
    ...connections,
    ipConfigurations: kept.ipConfigurations ?? [],
    customNetworkInterfaceName: given.customNetworkInterfaceName ?? '',
    connectionId: before.connectionId ?? randomUUID(),
    resourceGuid: resourceGuid(current),
    networkInterfaces: asReferences([interfaceId]),
  };
  return {
    resource: { ...rest, properties: whole },
    references: referencesOf(id, { ...whole, connections: [] }),
    also: [
      {
        kind: 'put',
        id: interfaceId,
        body: {
          location,
          properties: {
            privateEndpoint: { id: id.text },
            ipConfigurations: [
              {
                name: `privateEndpointIpConfig.${textOf(whole.connectionId)}`,
                properties: { subnet: { id: given.subnet.id }, ...staticAddress(kept.ipConfigurations) },
              },
            ],
          },
        },
      },
    ],
  };
}

/** An endpoint may ask for an address by its own list of configurations. */
function staticAddress(list: Json | undefined): JsonObject {
  const [first] = (Array.isArray(list) ? list : []) as readonly JsonObject[];
  const address = (first?.properties as JsonObject | undefined)?.privateIPAddress;
  return typeof address === 'string' ? { privateIPAddress: address, privateIPAllocationMethod: 'Static' } : {};
}

function connectionOf(id: ResourceId, member: string, name: string, part: JsonObject): JsonObject {
  const {
    provisioningState: _,
    privateLinkServiceConnectionState: __,
    ...plain
  } = (part.properties ?? {}) as JsonObject;
  shaped(connectionProperties, plain);
  return {
    name,
    id: `${id.text}/${member}/${name}`,
    type: `Microsoft.Network/privateEndpoints/${member}`,
    properties: { ...plain, groupIds: plain.groupIds ?? [], provisioningState: 'Succeeded' },
  };
}

/** What approves connections to a resource of a type, and so makes them without being asked for. */
function approvalOf(id: ResourceId): LinkedRight {
  return { id: id.text, action: `${id.type}/privateEndpointConnectionsApproval/action` };
}

/** Automatic connections to resources. Private link services may let in whole subscriptions, which `demandTarget` looks at. */
function approvalRights(body: JsonObject): readonly LinkedRight[] {
  const list = (body.properties as JsonObject | undefined)?.[members[0]];
  return (Array.isArray(list) ? (list as readonly Json[]) : []).flatMap((item) => {
    const target = isRecord(item) && isRecord(item.properties) ? item.properties.privateLinkServiceId : undefined;
    const parsed = typeof target === 'string' ? parseResourceId(target) : undefined;
    return parsed?.ok && foldCase(parsed.id.type) !== serviceType ? [approvalOf(parsed.id)] : [];
  });
}

/** Throws when the target cannot be connected to. Who has no right on it is not told whether it is there. */
async function demandTarget(
  world: World,
  by: ResourceId,
  caller: CallerIdentity,
  target: string,
  member: (typeof members)[number],
): Promise<void> {
  const parsed = parseResourceId(target);
  if (parsed.ok && !isSystem(caller)) {
    const isManual = member !== members[0];
    const { action } = isManual ? { action: `${parsed.id.type}/read` } : approvalOf(parsed.id);
    const { allowed } = await world.access.check(caller, action, parsed.id.text);
    if (!allowed && foldCase(parsed.id.type) === serviceType) {
      const service = (await world.resources.read(parsed.id.key))?.body.resource;
      if (service !== undefined && letsIn(service, isManual ? 'visibility' : 'autoApproval', by)) return;
      throw new ArmError(
        403,
        'LinkedAuthorizationFailed',
        `The client '${clientName(caller)}' with object id '${caller.objectId}' has permission to perform action ` +
          `'Microsoft.Network/privateEndpoints/write' on scope '${by.text}'; however, it does not have permission to perform action(s) ` +
          `'${action}' on the linked scope(s) '${parsed.id.text}' (respectively) or the linked scope(s) are invalid.`,
      );
    }
    if (!allowed && isManual) return;
  }
  const isKnown =
    parsed.ok && world.providers.some(({ namespace }) => foldCase(namespace) === foldCase(parsed.id.provider ?? ''));
  if (parsed.ok && (!isKnown || (await world.resources.read(parsed.id.key)))) return;
  throw new ArmError(
    400,
    'PrivateLinkServiceNotFound',
    `Private link service ${target.slice(0, 400)} referenced by private endpoint ${by.text} was not found.`,
  );
}

interface Connection {
  readonly service: string;
  readonly isManual: boolean;
  readonly message: string;
}

/** The connections to private link services of ours. */
function serviceConnections({ resource }: ResourceRecord): readonly Connection[] {
  return members.flatMap((member) =>
    ((resource.properties?.[member] ?? []) as readonly JsonObject[]).flatMap((item) => {
      const { privateLinkServiceId, requestMessage } = (item.properties ?? {}) as JsonObject;
      const parsed = parseResourceId(textOf(privateLinkServiceId));
      return parsed.ok && foldCase(parsed.id.type) === serviceType
        ? [{ service: parsed.id.text, isManual: member !== members[0], message: textOf(requestMessage ?? '') }]
        : [];
    }),
  );
}

async function effect(world: World, { kind, id, record }: EffectEvent): Promise<undefined> {
  const options = { apiVersion: networkVersions[0] ?? '', caller: systemCaller(world), faults: [] };
  for (const { service, isManual, message } of serviceConnections(record)) {
    const owner = await world.resources.read(service);
    const there = await findConnection(world, service, id.key);
    if (kind === 'delete') {
      const parsed = there && parseResourceId(there.id);
      if (parsed?.ok) await world.resources.delete(parsed.id, options);
      continue;
    }
    if (owner === undefined || there !== undefined) continue;
    const name = `${id.name}.${textOf(record.resource.properties?.connectionId)}`;
    const parsed = parseResourceId(`${owner.body.resource.id}/privateEndpointConnections/${name}`);
    if (!parsed.ok) continue;
    const status = approval(owner.body.resource, id, isManual);
    await world.resources.put(
      parsed.id,
      {
        properties: {
          privateEndpoint: { id: record.resource.id },
          privateEndpointLocation: record.resource.location ?? '',
          linkIdentifier: textOf(
            100_000_000 + (Number.parseInt(textOf(record.resource.properties?.connectionId).slice(0, 6), 16) || 0),
          ),
          privateLinkServiceConnectionState: {
            status,
            description: status === 'Approved' ? 'Auto Approved' : message,
            actionsRequired: 'None',
          },
        },
      },
      options,
    );
  }
  if (kind === 'delete') await removeInterface(world, record);
  return undefined;
}

/** Approved at once for subscriptions that the service lists, and for its own when no approval was asked for. */
function approval(service: ArmResource, endpoint: ResourceId, isManual: boolean): 'Approved' | 'Pending' {
  const isListed = letsIn(service, 'autoApproval', endpoint);
  const isSame = foldCase(service.id).startsWith(`/subscriptions/${foldCase(endpoint.subscriptionId ?? '')}/`);
  return isListed || (isSame && !isManual) ? 'Approved' : 'Pending';
}

/** Whether a service lists the subscription of an endpoint. */
function letsIn({ properties: of }: ArmResource, list: 'autoApproval' | 'visibility', endpoint: ResourceId): boolean {
  const listed = (of?.[list] as JsonObject | undefined)?.subscriptions;
  const own = foldCase(endpoint.subscriptionId ?? '');
  return (
    Array.isArray(listed) &&
    (listed as readonly Json[]).some((one) => typeof one === 'string' && (one === '*' || foldCase(one) === own))
  );
}

async function show(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const lists: { [member: string]: Json } = {};
  const targets: string[] = [];
  for (const member of members) {
    const shown: JsonObject[] = [];
    for (const item of (resource.properties?.[member] ?? []) as readonly JsonObject[]) {
      const of = (item.properties ?? {}) as JsonObject;
      const target = textOf(of.privateLinkServiceId);
      targets.push(target);
      shown.push({
        ...item,
        properties: { ...of, privateLinkServiceConnectionState: await stateOf(world, target, resource.id, member) },
      });
    }
    lists[member] = shown;
  }
  const addresses = await addressesOf(world, resource);
  const customDnsConfigs = targets.flatMap((target) => {
    const fqdn = hostOf(world, target);
    return fqdn === undefined || addresses.length === 0 ? [] : [{ fqdn, ipAddresses: addresses }];
  });
  const { connectionId: _, ...rest } = resource.properties ?? {};
  return { ...resource, properties: { ...rest, ...lists, customDnsConfigs } };
}

/** Of a service of ours what its owner said; others approve what was connected by right, and leave requests waiting. */
async function stateOf(
  world: World,
  target: string,
  endpoint: string,
  member: (typeof members)[number],
): Promise<JsonObject> {
  const parsed = parseResourceId(target);
  if (!parsed.ok || foldCase(parsed.id.type) !== serviceType)
    return member !== members[0]
      ? { status: 'Pending', description: 'Awaiting approval', actionsRequired: 'None' }
      : { status: 'Approved', description: 'Auto-Approved', actionsRequired: 'None' };
  const connection = await findConnection(world, target, endpoint);
  const state = connection?.properties?.privateLinkServiceConnectionState;
  return (state as JsonObject | undefined) ?? { status: 'Disconnected', description: '', actionsRequired: 'None' };
}

/** The addresses of an endpoint's interface. */
export async function addressesOf(world: World, { properties: of }: ArmResource): Promise<readonly string[]> {
  const addresses: string[] = [];
  for (const { id } of (of?.networkInterfaces ?? []) as readonly JsonObject[]) {
    const document = typeof id === 'string' ? await world.resources.read(idKey(id)) : undefined;
    for (const item of (document?.body.resource.properties?.ipConfigurations ?? []) as readonly JsonObject[]) {
      const address = (item.properties as JsonObject | undefined)?.privateIPAddress;
      if (typeof address === 'string') addresses.push(address);
    }
  }
  return addresses;
}

const planes: { readonly [type: string]: DataPlane } = {
  'microsoft.keyvault/vaults': 'vault',
  'microsoft.storage/storageaccounts': 'blob',
  'microsoft.containerregistry/registries': 'registry',
  'microsoft.eventgrid/namespaces': 'eventGrid',
  'microsoft.dbforpostgresql/flexibleservers': 'postgres',
  'microsoft.documentdb/databaseaccounts': 'documents',
};

/** The host name under which clients know what an endpoint stands for. */
export function hostOf(world: Pick<World, 'cloud'>, target: string): string | undefined {
  const parsed = parseResourceId(target);
  const plane = parsed.ok ? planes[foldCase(parsed.id.type)] : undefined;
  return parsed.ok && plane !== undefined ? dataPlaneHost(world.cloud, plane, parsed.id.name) : undefined;
}

export const privateEndpoints: ResourceType = {
  ...baseType,
  type: 'privateEndpoints',
  linkedAccess: (body, id) => [...joinRights(body, id), ...approvalRights(body)],
  prepare,
  effect,
  show,
  holds: (name) => name.startsWith('properties.subnet.'),
  inUse: inUseError('InUsePrivateEndpointCannotBeDeleted', 'Private endpoint', 'Delete them first.'),
};
