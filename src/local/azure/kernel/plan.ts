// What a PUT or PATCH would write: every check that needs no commit, then the type's own `prepare`, for the resource and for those
// that are written with it.
import { checkBody } from '../../../arm/check-body.ts';
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { idKey, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { type IdentityType, mergeSystemData } from '../../../arm/system-data.ts';
import type { Document } from '../../../store/store.ts';
import type { KnownType } from './catalogue.ts';
import {
  canonicalId,
  demandFamily,
  type Family,
  groupBeingDeleted,
  groupKeyOf,
  parentKeyOf,
  type Read,
  readOnce,
} from './family.ts';
import type { Kernel } from './kernel.ts';
import { checkLocation } from './place.ts';
import type { CallerIdentity, Prepared } from './provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from './record.ts';
import { referencesIn } from './references.ts';
import { groupType } from './resource-group.ts';
import { maxKeyBytes, partitionOf, type StoredResource, usesOf } from './state.ts';
import { checkTags } from './tags.ts';

/** One resource to be written. Its state, and the operation on it, are added when it is. */
export interface PlannedPut {
  readonly id: ResourceId;
  readonly known: KnownType;
  readonly current: Document<StoredResource> | undefined;
  readonly record: StoredResource;
  readonly family: Family;
}

export interface Plan {
  /** The resource asked for comes first. */
  readonly puts: readonly [PlannedPut, ...PlannedPut[]];
  readonly deletes: readonly Document<StoredResource>[];
}

export interface Wanted {
  readonly id: ResourceId;
  readonly known: KnownType;
  readonly body: JsonObject;
  readonly apiVersion: string;
  readonly caller: CallerIdentity;
  /** Set for a PATCH of tags alone, which leaves everything else as it is. */
  readonly tagsOnly?: boolean;
}

/** Members of a body that are the server's; clients send back what they were given. */
const ownMembers: ReadonlySet<string> = new Set(['id', 'name', 'type', 'etag', 'systemData']);
/** A batch of the store holds 100; group, parent, operation and checks need some of them. */
const maxAlso = 90;

export async function planPut(
  kernel: Kernel,
  wanted: Wanted,
  current: Document<StoredResource> | undefined,
): Promise<Plan> {
  const planned = new Set<string>([wanted.id.key]);
  const read = readOnce(kernel.state);
  const { put, prepared } = await planOne(kernel, wanted, current, planned, read, undefined);
  const puts: [PlannedPut, ...PlannedPut[]] = [put];
  const deletes: Document<StoredResource>[] = [];
  const also = prepared?.also ?? [];
  if (also.length > maxAlso)
    throw new ArmError(
      400,
      'InvalidRequestContent',
      `The request writes ${also.length} resources at once; ${maxAlso} is the most. Write some of them on their own.`,
    );
  for (const write of also) {
    const parsed = parseResourceId(write.id);
    if (!parsed.ok || partitionOf(parsed.id) !== partitionOf(wanted.id) || planned.has(parsed.id.key))
      throw new ArmError(
        400,
        'InvalidRequestContent',
        `The resource '${write.id.slice(0, 200)}' cannot be written here.`,
      );
    const { id } = parsed;
    planned.add(id.key);
    const there = await read(id.key);
    if (write.kind === 'delete') {
      if (there) deletes.push(there);
      continue;
    }
    const known = kernel.catalogue.typeOf(id);
    const inner = { ...wanted, id, known, body: write.body };
    const within = parentKeyOf(id, known) === wanted.id.key ? put.record.resource : undefined;
    puts.push((await planOne(kernel, inner, there, planned, read, within)).put);
  }
  return { puts, deletes };
}

async function planOne(
  kernel: Kernel,
  wanted: Wanted,
  current: Document<StoredResource> | undefined,
  planned: ReadonlySet<string>,
  read: Read,
  within: ArmResource | undefined,
): Promise<{ readonly put: PlannedPut; readonly prepared: Prepared | undefined }> {
  const { id, known, apiVersion, caller } = wanted;
  const { definition } = known;
  const record = current?.body;
  if (record?.deleting && known.key === groupType) throw groupBeingDeleted(id.name);
  if (record?.operation !== undefined || record?.deleting) throw definition.busy?.(record) ?? anotherOperation(record);
  const family = await demandFamily(kernel, id, known, planned, read);
  if (current === undefined) checkName(id, known);
  const tags = checkTags(wanted.body.tags);
  const body = bodyOf(
    wanted.body,
    checkLocation(id, known, wanted.body.location, record, kernel.cloud.locations),
    tags,
  );
  if (definition.schema !== undefined && !wanted.tagsOnly) checkBody(definition.schema, body);
  const prepared = wanted.tagsOnly
    ? undefined
    : await definition.prepare?.({
        world: kernel.world(),
        id,
        apiVersion,
        body,
        current: record,
        caller,
        ...(within === undefined ? {} : { within }),
      });
  const resource = prepared?.resource ?? body;
  const properties = isRecord(resource.properties) ? (resource.properties as JsonObject) : undefined;
  const secrets = prepared?.secrets ?? (wanted.tagsOnly || !definition.prepare ? record?.secrets : undefined);
  const group = groupKeyOf(id);
  const parent = parentKeyOf(id, known);
  const references = wanted.tagsOnly
    ? (record?.references ?? {})
    : prepared === undefined
      ? referencesIn(id.key, properties)
      : folded(prepared.references ?? {});
  const kept: StoredResource = {
    kind: 'resource',
    type: known.key,
    ...(group === undefined ? {} : { group }),
    ...(parent === undefined ? {} : { parent }),
    resource: {
      id: record?.resource.id ?? canonicalId(id, known, family, within?.id),
      name: record?.resource.name ?? id.name,
      type: known.fullType,
      ...resource,
      ...(properties === undefined ? {} : { properties }),
    },
    ...(secrets === undefined ? {} : { secrets }),
    references,
    ...usesOf(references),
    systemData: mergeSystemData(record?.systemData, {}, new Date(kernel.clock.now()), {
      by: (caller.kind === 'User' ? caller.name : caller.appId) ?? caller.objectId,
      byType: identityTypes[caller.kind],
    }),
  };
  return { put: { id, known, current, record: kept, family }, prepared };
}

function folded(references: ResourceRecord['references']): ResourceRecord['references'] {
  const keys: { [id: string]: string } = {};
  for (const [id, member] of Object.entries(references)) keys[idKey(id)] = member;
  return keys;
}

const identityTypes: { readonly [kind in CallerIdentity['kind']]: IdentityType } = {
  User: 'User',
  ServicePrincipal: 'Application',
  ManagedIdentity: 'ManagedIdentity',
};

/** The body without the server's members, with the location and tags that are kept. */
function bodyOf(
  given: JsonObject,
  location: string | undefined,
  tags: { readonly [name: string]: string } | undefined,
): JsonObject {
  const body: { [member: string]: JsonObject[string] } = {};
  for (const [name, value] of Object.entries(given)) if (!ownMembers.has(name)) body[name] = value;
  if (location !== undefined) body.location = location;
  if (tags !== undefined) body.tags = tags;
  else delete body.tags;
  if (body.properties === null) delete body.properties;
  if (body.properties !== undefined && !isRecord(body.properties))
    throw new ArmError(
      400,
      'InvalidRequestContent',
      'The request content was invalid and could not be deserialized: the properties must be an object.',
      { target: 'properties' },
    );
  return body;
}

function checkName(id: ResourceId, { definition, fullType }: KnownType): void {
  if (definition.name !== undefined && !definition.name.form.test(id.name))
    throw new ArmError(
      400,
      'InvalidResourceName',
      `Resource name ${id.name} of type ${fullType} is invalid. ${definition.name.rule}`,
    );
  if (Buffer.byteLength(id.key) > maxKeyBytes)
    throw new ArmError(400, 'InvalidResourceName', `The resource id is longer than ${maxKeyBytes} bytes.`);
}

export function anotherOperation(record: ResourceRecord): ArmError {
  return new ArmError(
    409,
    'AnotherOperationInProgress',
    `Another operation on this or dependent resource is in progress: ${record.operation === undefined ? '' : `operation '${record.operation}' on `}'${record.resource.id}'.`,
    { retryAfterSeconds: 10 },
  );
}
