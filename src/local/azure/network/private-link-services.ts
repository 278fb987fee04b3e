// Private link services and the connections that private endpoints have to them.

import { randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, idKey, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { EffectEvent, Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { networkVersions } from './api-versions.ts';
import { baseChild, baseType, resourceGuid } from './base-type.ts';
import { isGoing } from './going.ts';
import { checkedConfiguration } from './ip-configurations.ts';
import { namedItems, ownedItems, type Part, showWithParts } from './parts.ts';
import { demandReference, findPart, invalidReference, parentId } from './references.ts';
import { namedPart, ownProperties, reference, shaped, texts } from './request-body.ts';
import { isSystem, systemCaller } from './system-caller.ts';
import { textOf } from './text.ts';
import { asReferences, inUseError, referencesOf } from './users.ts';

const connectionParts = {
  member: 'privateEndpointConnections',
  segment: 'privateEndpointConnections',
  absent: 'keep',
} as const;

const properties = Type.Object({
  loadBalancerFrontendIpConfigurations: Type.Optional(Type.Array(reference)),
  ipConfigurations: Type.Optional(Type.Array(namedPart(Type.Object({}, { additionalProperties: true })))),
  visibility: Type.Optional(Type.Object({ subscriptions: Type.Optional(texts) })),
  autoApproval: Type.Optional(Type.Object({ subscriptions: Type.Optional(texts) })),
  enableProxyProtocol: Type.Optional(Type.Boolean()),
  fqdns: Type.Optional(texts),
  destinationIPAddress: Type.Optional(Type.String()),
});

const member = 'ipConfigurations';

async function prepare({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const { properties: _, ...rest } = body;
  const readOnly = ['alias', 'networkInterfaces', 'privateEndpointConnections', 'resourceGuid'];
  const kept = ownProperties(body, readOnly);
  const given = shaped(properties, kept as JsonObject);
  const location = textOf(body.location);
  const frontends = given.loadBalancerFrontendIpConfigurations ?? [];
  if (frontends.length === 0 && given.destinationIPAddress === undefined)
    throw new ArmError(
      400,
      'PrivateLinkServiceMustReferenceFrontendIPConfiguration',
      `Private link service ${id.text} must reference at least one load balancer frontend IP configuration.`,
    );
  for (const { id: frontend } of frontends) await demandFrontend(world, id, frontend, location);
  const items = namedItems(id, { member }, kept.ipConfigurations);
  if (items.length === 0)
    throw new ArmError(
      400,
      'PrivateLinkServiceMustHaveIpConfigurations',
      `Private link service ${id.text} must have at least one IP configuration.`,
    );
  const before = current?.resource.properties ?? {};
  const interfaceId = interfaceOf(id, before);
  const checked: Part[] = [];
  for (const [at, item] of items.entries()) {
    // The addresses are those of the interface that stands for the service.
    const place = { owner: demandId(interfaceId), segment: member, location, current: undefined, member };
    const { given: configuration, kept: plain } = await checkedConfiguration(world, place, item);
    if (configuration.subnet) await checkPolicies(world, id, configuration.subnet.id);
    checked.push({ ...item, body: { ...item.body, properties: { ...plain, primary: plain.primary ?? at === 0 } } });
  }
  const whole: JsonObject = {
    ...kept,
    enableProxyProtocol: given.enableProxyProtocol ?? false,
    visibility: { subscriptions: given.visibility?.subscriptions ?? [] },
    autoApproval: { subscriptions: given.autoApproval?.subscriptions ?? [] },
    fqdns: given.fqdns ?? [],
    resourceGuid: resourceGuid(current),
    alias: before.alias ?? `${id.name}.${randomUUID()}.${location}.azure.privatelinkservice`,
    networkInterfaces: asReferences([interfaceId]),
    ipConfigurations: ownedItems(id, 'Microsoft.Network/privateLinkServices', member, member, checked),
  };
  return {
    resource: { ...rest, properties: whole },
    references: referencesOf(id, whole),
    also: [
      {
        kind: 'put',
        id: interfaceId,
        body: {
          location,
          properties: {
            privateLinkService: { id: id.text },
            ipConfigurations: checked.map(({ name, body: part }) => ({ name, properties: part.properties ?? {} })),
          },
        },
      },
    ],
  };
}

function demandId(text: string): ResourceId {
  const parsed = parseResourceId(text);
  if (parsed.ok) return parsed.id;
  throw new ArmError(
    400,
    'InvalidResourceName',
    `'${text.slice(0, 200)}' is not a valid resource id: ${parsed.message}.`,
  );
}

/** The interface that stands for a service or an endpoint: named once. */
export function interfaceOf(id: ResourceId, before: JsonObject): string {
  const [there] = (before.networkInterfaces ?? []) as readonly JsonObject[];
  if (typeof there?.id === 'string') return there.id;
  const group = id.text.split('/').slice(0, 5).join('/');
  return `${group}/providers/Microsoft.Network/networkInterfaces/${id.name.slice(0, 38)}.nic.${randomUUID()}`;
}

/** Takes away the interface that stood for a resource which is going. */
export async function removeInterface(world: World, { resource }: ResourceRecord): Promise<void> {
  for (const { id } of (resource.properties?.networkInterfaces ?? []) as readonly JsonObject[]) {
    const document = typeof id === 'string' ? await world.resources.read(id) : undefined;
    if (document === undefined || document.body.operation !== undefined) continue;
    const parsed = parseResourceId(document.body.resource.id);
    if (parsed.ok)
      await world.resources.delete(parsed.id, {
        apiVersion: networkVersions[0] ?? '',
        caller: systemCaller(world),
        faults: [],
      });
  }
}

async function demandFrontend(world: World, by: ResourceId, id: string, location: string): Promise<void> {
  const owner = await demandReference(world, parentId(id), {
    type: 'microsoft.network/loadbalancers',
    by,
    location,
  });
  const frontend = findPart(owner.resource, 'frontendIPConfigurations', id);
  if (frontend === undefined) throw invalidReference(id, by);
  const sku = (owner.resource.sku as JsonObject | undefined)?.name;
  if (sku !== 'Standard')
    throw new ArmError(
      400,
      'PrivateLinkServiceCannotReferenceBasicLoadBalancer',
      `Private link service ${by.text} cannot reference the load balancer ${owner.resource.id}: only Standard load balancers are supported.`,
    );
}

async function checkPolicies(world: World, id: ResourceId, subnet: string): Promise<void> {
  const { properties: of } = (await world.resources.read(subnet))?.body.resource ?? {};
  if (of?.privateLinkServiceNetworkPolicies !== 'Enabled') return;
  throw new ArmError(
    400,
    'PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled',
    `Private link service ${id.text} cannot be created in a subnet ${subnet} since it has private link service network policies enabled.`,
  );
}

export const privateLinkServices: ResourceType = {
  ...baseType,
  type: 'privateLinkServices',
  prepare,
  show: (world, record, apiVersion) => showWithParts(world, record, apiVersion, [connectionParts]),
  async effect(world, { kind, record }: EffectEvent) {
    if (kind === 'delete') await removeInterface(world, record);
    return undefined;
  },
  // The interface goes with the service, and the service may go before its endpoints, which are disconnected then.
  holds: (name) => !name.startsWith('properties.networkInterfaces['),
  async beforeDelete(world, { resource }) {
    const connections = await world.resources.list({
      parent: resource.id,
      type: `${resource.type}/${connectionParts.segment}`,
    });
    if (connections.length === 0 || (await isGoing(world, groupOf(resource.id)))) return;
    throw new ArmError(
      400,
      'CannotDeletePrivateLinkServiceWithPrivateEndPointConnections',
      `Cannot delete Private link service ${resource.id} since it has ${connections.length} private endpoint connections: ` +
        `${connections
          .slice(0, 10)
          .map(({ resource: { name } }) => name)
          .join(', ')}.`,
    );
  },
  inUse: inUseError('InUsePrivateLinkServiceCannotBeDeleted', 'Private link service', 'Delete them first.'),
};

function groupOf(id: string): string {
  return id.split('/').slice(0, 5).join('/');
}

const connectionProperties = Type.Object({
  privateLinkServiceConnectionState: Type.Optional(
    Type.Object({
      status: Type.Optional(Type.String()),
      description: Type.Optional(Type.String()),
      actionsRequired: Type.Optional(Type.String()),
    }),
  ),
});

const states = ['Approved', 'Rejected', 'Pending', 'Disconnected'];

/** Who owns the service approves and rejects; connections themselves come with the endpoints. */
function prepareConnection({ id, body, current, caller }: PrepareRequest): Prepared {
  const given = shaped(connectionProperties, (body.properties ?? {}) as JsonObject);
  if (current === undefined && !isSystem(caller))
    throw new ArmError(404, 'NotFound', `Private endpoint connection ${id.text} was not found.`);
  const kept = isSystem(caller)
    ? { ...(body.properties as JsonObject) }
    : { ...current?.resource.properties, privateLinkServiceConnectionState: given.privateLinkServiceConnectionState };
  const before = current?.resource.properties?.privateLinkServiceConnectionState as JsonObject | undefined;
  const status = states.find(
    (one) => foldCase(one) === foldCase(given.privateLinkServiceConnectionState?.status ?? ''),
  );
  if (status === undefined)
    throw new ArmError(
      400,
      'InvalidPrivateLinkServiceConnectionStatus',
      `The status of private endpoint connection ${id.text} must be one of ${states.join(', ')}.`,
    );
  if (!isSystem(caller) && before?.status === 'Rejected' && status === 'Approved')
    throw new ArmError(
      400,
      'CannotApproveRejectedPrivateEndpointConnection',
      `Private endpoint connection ${id.text} was rejected and cannot be approved. Create another one.`,
    );
  const { provisioningState: _, ...plain } = kept as JsonObject;
  return {
    resource: {
      properties: {
        ...plain,
        privateLinkServiceConnectionState: {
          description: '',
          actionsRequired: 'None',
          ...given.privateLinkServiceConnectionState,
          status,
        },
      },
    },
    references: {},
  };
}

export const privateEndpointConnections: ResourceType = {
  ...baseChild,
  type: 'privateLinkServices/privateEndpointConnections',
  asynchrony: { create: 'none', update: 'none', delete: 'operation' },
  prepare: prepareConnection,
};

/** The connection of an endpoint to a service, if there is one. */
export async function findConnection(
  world: World,
  service: string,
  endpoint: string,
): Promise<ArmResource | undefined> {
  const connections = await world.resources.list({
    parent: service,
    type: 'Microsoft.Network/privateLinkServices/privateEndpointConnections',
  });
  return connections.find(({ resource: { properties: of } }) => {
    const id = (of?.privateEndpoint as JsonObject | undefined)?.id;
    return typeof id === 'string' && idKey(id) === idKey(endpoint);
  })?.resource;
}
