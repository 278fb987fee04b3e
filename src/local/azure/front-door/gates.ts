// What stops a request before it goes to a provider: the subscription, its registration, the group, locks, the location.
import { ArmError, notFound } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { buildResourceId, foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { Method } from '../arm/call.ts';
import { normalLocation } from '../kernel/place.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import type { Target } from './dispatch.ts';

const reading: ReadonlySet<Method> = new Set(['GET', 'HEAD']);

/** Throws what ARM says. */
export async function demandPlace(world: World, method: Method, target: Target): Promise<void> {
  const { id, namespace } = target;
  const { subscriptionId, resourceGroup } = id ?? {};
  if (subscriptionId === undefined) return;
  const subscription = world.subscriptions.find(subscriptionId);
  const isClosed = subscription?.state === 'Disabled' || subscription?.state === 'Deleted';
  if (isClosed && !reading.has(method) && method !== 'DELETE')
    throw new ArmError(
      409,
      'ReadOnlyDisabledSubscription',
      `The subscription '${subscriptionId}' is disabled and therefore marked as read only. You cannot perform any write actions ` +
        'on this subscription until it is re-enabled.',
    );
  if (!world.subscriptions.isRegistered(subscriptionId, namespace)) throw notRegistered(namespace);
  if (resourceGroup !== undefined) await demandGroup(world, method, subscriptionId, resourceGroup);
}

function notRegistered(namespace: string): ArmError {
  const message =
    `The subscription is not registered to use namespace '${namespace}'. ` +
    'See https://aka.ms/rps-not-found for how to register subscriptions.';
  return new ArmError(409, 'MissingSubscriptionRegistration', message, {
    details: [{ code: 'MissingSubscriptionRegistration', target: namespace, message }],
  });
}

async function demandGroup(world: World, method: Method, subscriptionId: string, resourceGroup: string): Promise<void> {
  const group = parseResourceId(buildResourceId({ subscriptionId, resourceGroup }));
  if (!group.ok) return;
  const record = (await world.resources.read(group.id.key))?.body;
  if (record === undefined) throw notFound(group.id);
  const isGoing = record.resource.properties?.provisioningState === 'Deleting';
  if (isGoing && (method === 'PUT' || method === 'PATCH'))
    throw new ArmError(
      409,
      'ResourceGroupBeingDeleted',
      `The resource group '${resourceGroup}' is in deprovisioning state and cannot perform this operation.`,
    );
}

const lockType = 'microsoft.authorization/locks';

/** Locks on the resource, or on what it is in, stop writes and deletes. */
export async function demandUnlocked(world: World, method: Method, id: ResourceId): Promise<void> {
  if (reading.has(method) || id.subscriptionId === undefined) return;
  const verb = method === 'DELETE' ? 'delete' : 'write';
  const scopes: string[] = [];
  for (const { parent, resource } of await world.resources.list({
    subscriptionId: id.subscriptionId,
    type: lockType,
  })) {
    if (parent === undefined || (verb === 'write' && resource.properties?.level !== 'ReadOnly')) continue;
    const isOver = id.key === parent || id.key.startsWith(`${parent}/`);
    if (isOver || (verb === 'delete' && parent.startsWith(`${id.key}/`))) scopes.push(parent);
  }
  if (scopes.length === 0) return;
  throw new ArmError(
    409,
    'ScopeLocked',
    `The scope '${id.text}' cannot perform ${verb} operation because following scope(s) are locked: '${scopes.slice(0, 20).join(',')}'. ` +
      'Please remove the lock and try again.',
  );
}

/** The location of a tracked resource that is written: given, one of the type's, and the one that it has. */
export function demandLocation(
  world: World,
  { type, namespace, id }: Target,
  body: unknown,
  record: ResourceRecord | undefined,
): void {
  const given = isRecord(body) ? body.location : undefined;
  if (typeof given !== 'string' || given === '')
    throw new ArmError(400, 'LocationRequired', 'The location property is required for this definition.', {
      target: 'location',
    });
  const location = normalLocation(given);
  const available = type.locations ?? world.cloud.locations.map(({ name }) => name);
  if (!available.includes(location))
    throw new ArmError(
      400,
      'LocationNotAvailableForResourceType',
      `The provided location '${given.slice(0, 128)}' is not available for resource type '${namespace}/${type.type}'. ` +
        `List of available regions for the resource type is '${available.join(',')}'.`,
    );
  const there = record?.resource.location;
  if (there !== undefined && foldCase(there) !== location)
    throw new ArmError(
      409,
      'InvalidResourceLocation',
      `The resource '${id?.name ?? ''}' already exists in location '${there}' in resource group '${id?.resourceGroup ?? ''}'. ` +
        `A resource with the same name cannot be created in location '${location}'. Please select a new resource name.`,
    );
}
