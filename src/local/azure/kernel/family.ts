// What a resource stands on: its subscription, its group, the resource it is a child or an extension of.
import { ArmError, notFound } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { Document } from '../../../store/store.ts';
import type { KnownType } from './catalogue.ts';
import type { Kernel } from './kernel.ts';
import { readResource, type StoredResource } from './state.ts';

/** Folded id of the group a resource is in; undefined for groups themselves and what is in none. */
export function groupKeyOf(id: ResourceId): string | undefined {
  if (id.resourceGroup === undefined || id.types.length === 0) return undefined;
  return foldCase(`/subscriptions/${id.subscriptionId}/resourceGroups/${id.resourceGroup}`);
}

/** Folded id of what a resource is a child or an extension of: a resource, a group, a subscription, `/` for the tenant. */
export function parentKeyOf(id: ResourceId, known: KnownType): string | undefined {
  if (id.types.length > 1) return above(id.key, 2);
  if (known.definition.scope === 'extension' || id.extends !== undefined) return above(id.key, 4) || '/';
  return undefined;
}

function above(key: string, segments: number): string {
  return key.split('/').slice(0, -segments).join('/');
}

/** The documents that a write of a resource relies on. */
export interface Family {
  readonly group?: Document<StoredResource>;
  readonly parent?: Document<StoredResource>;
}

/** Throws when the subscription is unknown, may not be written, or does not use the namespace. */
export function demandSubscription(kernel: Kernel, id: ResourceId, known: KnownType): void {
  if (id.subscriptionId === undefined) return;
  const subscription = kernel.subscriptions.find(id.subscriptionId);
  if (subscription === undefined)
    throw new ArmError(404, 'SubscriptionNotFound', `The subscription '${id.subscriptionId}' could not be found.`);
  if (subscription.state === 'Disabled' || subscription.state === 'Deleted')
    throw new ArmError(
      409,
      'ReadOnlyDisabledSubscription',
      `The subscription '${id.subscriptionId}' is disabled and therefore marked as read only. You cannot perform any write actions ` +
        'on this subscription until it is re-enabled.',
    );
  if (id.types.length === 0 || kernel.subscriptions.isRegistered(id.subscriptionId, known.namespace)) return;
  const message =
    `The subscription is not registered to use namespace '${known.namespace}'. ` +
    'See https://aka.ms/rps-not-found for how to register subscriptions.';
  throw new ArmError(409, 'MissingSubscriptionRegistration', message, {
    details: [{ code: 'MissingSubscriptionRegistration', target: known.namespace, message }],
  });
}

/** Reads what the resource stands on. `planned` are those that the same batch writes. Throws what ARM says when something is missing. */
export async function demandFamily(
  kernel: Kernel,
  id: ResourceId,
  known: KnownType,
  planned: ReadonlySet<string>,
  read: Read,
): Promise<Family> {
  demandScope(id, known);
  const groupKey = groupKeyOf(id);
  const group = groupKey === undefined ? undefined : await read(groupKey);
  if (groupKey !== undefined) {
    if (group === undefined)
      throw new ArmError(404, 'ResourceGroupNotFound', `Resource group '${id.resourceGroup}' could not be found.`);
    if (group.body.deleting) throw groupBeingDeleted(id.resourceGroup ?? '');
  }
  const parentKey = parentKeyOf(id, known);
  if (parentKey === undefined || parentKey === groupKey || planned.has(parentKey)) return group ? { group } : {};
  const parsed = parseResourceId(parentKey);
  // Resources of providers that stand elsewhere are not known here.
  // Subscriptions are no documents, and they have been looked at.
  if (!parsed.ok || isSubscription(parsed.id) || kernel.catalogue.find(foldCase(parsed.id.type)) === undefined)
    return group ? { group } : {};
  const parent = await read(parentKey);
  if (parent === undefined || parent.body.deleting) throw parentNotFound(id, known, parentKey, parsed.id);
  return group ? { group, parent } : { parent };
}

function isSubscription({ types, resourceGroup }: ResourceId): boolean {
  return types.length === 0 && resourceGroup === undefined;
}

/** Reads a resource by its folded id, once for one plan. */
export type Read = (key: string) => Promise<Document<StoredResource> | undefined>;

export function readOnce(state: Kernel['state']): Read {
  const known = new Map<string, Promise<Document<StoredResource> | undefined>>();
  return (key) => {
    const there = known.get(key) ?? readResource(state, key);
    known.set(key, there);
    return there;
  };
}

/** Whether the id is where resources of the type are. */
function demandScope(id: ResourceId, { definition, fullType }: KnownType): void {
  const { scope } = definition;
  if (scope === 'extension' || id.types.length === 0 || id.extends !== undefined) return;
  const actual =
    id.resourceGroup !== undefined ? 'resourceGroup' : id.subscriptionId !== undefined ? 'subscription' : 'tenant';
  if (actual === scope) return;
  throw new ArmError(
    404,
    'InvalidResourceType',
    `The resource type '${fullType}' does not exist at this scope: it is one of the ${scopeWords[scope]}.`,
  );
}

const scopeWords = { tenant: 'tenant', subscription: 'subscription', resourceGroup: 'resource group' } as const;

export function groupBeingDeleted(name: string): ArmError {
  return new ArmError(
    409,
    'ResourceGroupBeingDeleted',
    `The resource group '${name}' is in deprovisioning state and cannot perform this operation.`,
  );
}

function parentNotFound(id: ResourceId, known: KnownType, parentKey: string, parent: ResourceId): ArmError {
  if (id.types.length === 1) return notFound(parent);
  const shown = id.text.slice(0, parentKey.length);
  return new ArmError(
    404,
    'ParentResourceNotFound',
    `Failed to perform 'write' on resource(s) of type '${known.definition.type}', because the parent resource '${shown}' could not be found.`,
  );
}

/** The id as the cloud spells it: names as they were first written, types as Azure writes them. */
export function canonicalId(id: ResourceId, known: KnownType, family: Family, parentId: string | undefined): string {
  const type = known.definition.type.slice(known.definition.type.lastIndexOf('/') + 1);
  if (id.types.length === 0) return `/subscriptions/${foldCase(id.subscriptionId ?? '')}/resourceGroups/${id.name}`;
  const parent = parentId ?? family.parent?.body.resource.id;
  if (id.types.length > 1) return `${parent ?? id.text.split('/').slice(0, -2).join('/')}/${type}/${id.name}`;
  const place =
    parent ??
    (id.extends === undefined
      ? (family.group?.body.resource.id ??
        (id.subscriptionId === undefined ? '' : `/subscriptions/${foldCase(id.subscriptionId)}`))
      : id.text.split('/').slice(0, -4).join('/'));
  return `${place}/providers/${known.namespace}/${type}/${id.name}`;
}
