// Lists of resources: of a type at a scope or below a resource, and of everything in a subscription or group.
import { notFound } from '../../../arm/errors.ts';
import { buildResourceId, foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { ListQuery } from '../kernel/resources.ts';
import { type Answer, type ArmCall, ok } from './call.ts';
import { type Condition, matches, onlyType, parseFilter } from './filter.ts';
import { listPage } from './lists.ts';
import type { KnownType } from './registry.ts';
import { missing } from './resource-requests.ts';

/** Those of a type at a subscription, a group, or on a resource that it extends; undefined stands for the tenant. */
export async function listType(call: ArmCall, on: ResourceId | undefined, known: KnownType): Promise<Answer> {
  if (on !== undefined && (on.types.length > 0 || on.resourceGroup !== undefined)) await demandExists(call, on);
  return listOf(call, { ...scopeQuery(on), type: foldCase(known.fullType) }, known);
}

export async function listChildren(call: ArmCall, parent: ResourceId, known: KnownType): Promise<Answer> {
  await demandExists(call, parent);
  return listOf(call, { parent: parent.key, type: foldCase(known.fullType) }, known);
}

async function listOf(call: ArmCall, query: ListQuery, known: KnownType): Promise<Answer> {
  const may = await mayRead(call, `${known.fullType}/read`);
  return ok(
    await listPage(call, {
      query,
      accept: (record) => may(record.resource.id),
      show: (record) => call.world.resources.view(record, call.apiVersion),
    }),
  );
}

const shownMembers = ['kind', 'managedBy', 'sku', 'identity', 'plan', 'zones', 'extendedLocation'] as const;

/** `…/resources`: everything that has a place, whatever its type, in short. */
export async function listResources(call: ArmCall, on: ResourceId): Promise<Answer> {
  if (on.resourceGroup !== undefined) await demandExists(call, on);
  const filter = filterOf(call);
  const type = onlyType(filter);
  const expand = new Set((call.query.$expand ?? '').split(',').map((word) => foldCase(word.trim())));
  const may = await mayRead(call, undefined);
  const accept = async (record: ResourceRecord): Promise<boolean> => {
    const known = call.registry.type(record.type);
    if (known === undefined || known.type.location === 'none' || isGroupType(record.type)) return false;
    return (filter === undefined || matches(filter, filterable(record))) && (await may(record.resource.id));
  };
  return ok(
    await listPage(call, {
      query: { ...scopeQuery(on), ...(type === undefined ? {} : { type: foldCase(type) }) },
      accept,
      show: (record) => inShort(record, expand),
    }),
  );
}

/** The groups of a subscription; `$filter` looks at their tags and names. */
export async function listGroups(call: ArmCall, subscriptionId: string): Promise<Answer> {
  const filter = filterOf(call);
  const may = await mayRead(call, 'Microsoft.Resources/subscriptions/resourceGroups/read');
  return ok(
    await listPage(call, {
      query: { subscriptionId, type: groupType },
      accept: async (record) =>
        (filter === undefined || matches(filter, filterable(record))) && (await may(record.resource.id)),
      show: (record) => call.world.resources.view(record, call.apiVersion),
    }),
  );
}

/** Some clients send an empty one for none. */
function filterOf(call: ArmCall): Condition | undefined {
  const text = call.query.$filter?.trim() ?? '';
  return text === '' ? undefined : parseFilter(text);
}

const groupType = 'microsoft.resources/resourcegroups';

function isGroupType(type: string): boolean {
  return type === groupType;
}

function filterable(record: ResourceRecord) {
  const { name, type, location, tags } = record.resource;
  return { name, type, location, tags, resourceGroup: record.group?.split('/').at(-1) };
}

function inShort(record: ResourceRecord, expand: ReadonlySet<string>): JsonObject {
  const { id, name, type, location, tags, properties } = record.resource;
  const members = shownMembers.flatMap((member) =>
    record.resource[member] === undefined ? [] : [[member, record.resource[member]] as const],
  );
  const { createdAt, lastModifiedAt } = record.systemData ?? {};
  const state = properties?.provisioningState;
  return {
    id,
    name,
    type,
    ...(location === undefined ? {} : { location }),
    ...(tags === undefined ? {} : { tags }),
    ...Object.fromEntries(members),
    ...(expand.has('createdtime') && createdAt !== undefined ? { createdTime: createdAt } : {}),
    ...(expand.has('changedtime') && lastModifiedAt !== undefined ? { changedTime: lastModifiedAt } : {}),
    ...(expand.has('provisioningstate') && state !== undefined ? { provisioningState: state } : {}),
  };
}

function scopeQuery(on: ResourceId | undefined): ListQuery {
  if (on === undefined) return {};
  if (on.types.length > 0) return { parent: on.key };
  const { subscriptionId = '', resourceGroup } = on;
  return resourceGroup === undefined
    ? { subscriptionId: foldCase(subscriptionId) }
    : { subscriptionId: foldCase(subscriptionId), group: foldCase(buildResourceId({ subscriptionId, resourceGroup })) };
}

/**
 * Lists show what the caller may read. Who may read at the scope of the list may read all of it, so the single resources are asked about
 * only when not.
 */
async function mayRead(call: ArmCall, action: string | undefined): Promise<(id: string) => Promise<boolean> | boolean> {
  const { access } = call.world;
  const scope = scopeOf(call.segments);
  const wanted = action ?? 'Microsoft.Resources/subscriptions/resources/read';
  if ((await access.check(call.caller, wanted, scope)).allowed) return () => true;
  return async (id) => {
    const parsed = parseResourceId(id);
    const own = action ?? (parsed.ok ? `${parsed.id.type}/read` : wanted);
    return (await access.check(call.caller, own, id)).allowed;
  };
}

/** The subscription or group that a list stands in; the tenant's root for others. */
function scopeOf(segments: readonly string[]): string {
  if (foldCase(segments[0] ?? '') !== 'subscriptions') return '/';
  const isInGroup = foldCase(segments[2] ?? '') === 'resourcegroups' && segments.length > 4;
  return `/${segments.slice(0, isInGroup ? 4 : 2).join('/')}`;
}

async function demandExists(call: ArmCall, id: ResourceId): Promise<void> {
  if (await call.world.resources.read(id.key)) return;
  throw id.types.length === 0 ? notFound(id) : await missing(call, id);
}
