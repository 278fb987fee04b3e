// Field tracking of everything but server-side apply: create, update and the other patches.
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts';
import { equalJson, isObject } from '../patch/json-tree.ts';
import { isEmpty, union } from './fieldset.ts';
import { ItemError } from './list-items.ts';
import { capUpdateManagers, decodeManagers, encodeManagers, identityOf, type Managers } from './managers.ts';
import { compareWithManagers, followSchema, type TrackedType, tracked } from './ownership.ts';
import { isTracked, separateScaled } from './scaled-fields.ts';

export interface Update {
  readonly type: TrackedType;
  /** The object as it is; undefined when it is being created. */
  readonly live: KubeObject | undefined;
  /** As the client wants it, defaults filled in, before the server's own changes to it. */
  readonly object: KubeObject;
  /** The field manager. */
  readonly manager: string;
  /** RFC 3339, in seconds. */
  readonly now: string;
}

/**
 * The object with metadata.managedFields as they are after this write: the manager owns what it changed, nobody else owns that
 * any more, what was removed is owned by nobody. An entry's time changes only when its fields do. The client's own
 * managedFields count where they make sense; `[{}]` empties them, and an object without any stays without until it is applied.
 */
export function trackUpdate({ type, live, object, manager, now }: Update): KubeObject {
  const managers = managersFor(type, live, object);
  if ((managers.size > 0 && isTracked(type, managers)) || !live) {
    try {
      update(type, live, object, managers, manager, now);
    } catch (error) {
      // Items that cannot be told apart cannot be tracked. Whether they may be is for validation to say.
      if (!(error instanceof ItemError)) throw error;
    }
    capUpdateManagers(managers);
    separateScaled(type, managers);
  }
  return withManagers(object, managers);
}

/** Does to the managers what a change from `live` to `object` by `manager` does. */
export function update(
  type: TrackedType,
  live: KubeObject | undefined,
  object: KubeObject,
  managers: Managers,
  manager: string,
  now: string,
): void {
  const { apiVersion, subresource } = type;
  followSchema(managers, type);
  const before = live ? asJson(live) : emptyObject(type);
  const changes = compareWithManagers(before, asJson(object), type, managers, '');
  changes.settle();
  const taken = tracked(union(changes.comparison.modified, changes.comparison.added));
  if (isEmpty(taken)) return;
  const entry = { manager: manager || 'unknown', operation: 'Update', apiVersion, subresource } as const;
  const identity = identityOf(entry);
  const previous = managers.get(identity);
  // What is written through the scale subresource bears no time.
  const time = subresource === 'scale' ? previous?.time : now;
  managers.set(identity, { ...entry, fields: previous ? union(taken, previous.fields) : taken, time });
}

/** What a type's object is before anything is said of it. */
export const emptyObject = ({ custom, apiVersion, kind }: TrackedType): JsonObject =>
  custom ? { apiVersion, kind } : {};

export const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject;

function managersFor(type: TrackedType, live: KubeObject | undefined, object: KubeObject): Managers {
  const ofLive = (): Managers => decodeManagers(live?.metadata?.managedFields) ?? new Map();
  if (type.subresource !== '') return ofLive();
  const given: unknown = object.metadata?.managedFields;
  if (Array.isArray(given) && given.length === 1 && isObject(given[0]) && Object.keys(given[0]).length === 0) {
    return new Map();
  }
  const managers = decodeManagers(given);
  return managers && managers.size > 0 ? managers : ofLive();
}

/** The object with these managers in its metadata. */
export function withManagers(object: KubeObject, managers: Managers): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return {
    ...object,
    metadata: managers.size > 0 ? { ...metadata, managedFields: encodeManagers(managers) } : metadata,
  };
}

/**
 * The object with the live one's managedFields when nothing but times in them would change, so that a write that changes nothing
 * is seen to be one. To be called last, on the object as it would be stored.
 */
export function keepTimesOfNoChange(live: KubeObject, object: KubeObject): KubeObject {
  const { managedFields: before, ...metadataBefore } = live.metadata;
  const { managedFields: after, ...metadataAfter } = object.metadata;
  if (before === after || !before || !after || !sameButTimes(before, after)) return object;
  const same = equalJson(asJson({ ...live, metadata: metadataBefore }), asJson({ ...object, metadata: metadataAfter }));
  return same ? { ...object, metadata: { ...metadataAfter, managedFields: before } } : object;
}

function sameButTimes(a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean {
  const timeless = (entries: readonly ManagedFieldsEntry[]) =>
    entries.map(({ time: _, ...rest }) => rest as JsonObject);
  return a.length === b.length && equalJson(timeless(a), timeless(b));
}
