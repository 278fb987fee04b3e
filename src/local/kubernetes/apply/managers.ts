// Who manages which fields: metadata.managedFields taken apart, changed and put together again.
import type { JsonObject, ManagedFieldsEntry } from '../object.ts';
import { isObject } from '../patch/json-tree.ts';
import { type FieldSet, isEmpty, sorted, unionAll } from './fieldset.ts';

/** One entry of managedFields. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly fields: FieldSet;
  /** As written; undefined when the manager came to own fields without changing the object. */
  readonly time: string | undefined;
  /** The entry as it was written, to be written again as it is while nothing in it changes. */
  readonly written?: ManagedFieldsEntry;
}

/** Entries by identity, see identityOf. */
export type Managers = Map<string, Manager>;

/** Update entries beyond this many are merged, oldest first. */
const maxUpdateManagers = 10;
const oldUpdates = 'ancient-changes';

type Identity = Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** What tells entries apart: an applier keeps its entry from one version of the API to the next. */
export const identityOf = ({ manager, operation, apiVersion, subresource }: Identity): string =>
  JSON.stringify({
    ...(manager ? { manager } : {}),
    operation,
    ...(operation === 'Update' && apiVersion ? { apiVersion } : {}),
    ...(subresource ? { subresource } : {}),
  });

/** The entries of an object's managedFields; undefined when they make no sense. */
export function decodeManagers(entries: unknown): Managers | undefined {
  const managers: Managers = new Map();
  if (entries === undefined || entries === null) return managers;
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries) {
    const manager = isObject(entry) ? decodeEntry(entry) : undefined;
    if (!manager) return undefined;
    managers.set(identityOf(manager), manager);
  }
  return managers;
}

function decodeEntry(entry: JsonObject): Manager | undefined {
  const { manager = '', operation, apiVersion = '', subresource = '', fieldsType, fieldsV1, time } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (fieldsType !== 'FieldsV1' || typeof manager !== 'string' || typeof apiVersion !== 'string') return undefined;
  if (typeof subresource !== 'string') return undefined;
  const fields = fieldsV1 ?? {};
  if (!isFieldSet(fields)) return undefined;
  return {
    manager,
    operation,
    apiVersion,
    subresource,
    fields,
    time: typeof time === 'string' ? time : undefined,
    written: entry as ManagedFieldsEntry,
  };
}

function isFieldSet(value: unknown): value is FieldSet {
  if (!isObject(value)) return false;
  for (const element in value) if (!isFieldSet(value[element])) return false;
  return true;
}

const seconds = (time: string | undefined): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000));
const order = <T>(a: T, b: T): number => (a === b ? 0 : a < b ? -1 : 1);

/** The entries as they are written: appliers first, then by age and name. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] {
  return [...managers.values()]
    .sort(
      (a, b) =>
        order(a.operation, b.operation) ||
        seconds(a.time) - seconds(b.time) ||
        order(a.manager, b.manager) ||
        order(a.apiVersion, b.apiVersion) ||
        order(a.subresource, b.subresource),
    )
    .map(encodeEntry);
}

function encodeEntry(entry: Manager): ManagedFieldsEntry {
  const { manager, operation, apiVersion, time, fields, subresource, written } = entry;
  if (written && written.fieldsV1 === fields && written.apiVersion === apiVersion && written.time === time) {
    return written;
  }
  return {
    ...(manager ? { manager } : {}),
    operation,
    ...(apiVersion ? { apiVersion } : {}),
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: sorted(fields) as JsonObject,
    ...(subresource ? { subresource } : {}),
  };
}

/** Sets an entry's fields, or drops it when none are left. */
export function setFields(managers: Managers, identity: string, fields: FieldSet): void {
  const before = managers.get(identity);
  if (!before) return;
  if (isEmpty(fields)) managers.delete(identity);
  else if (fields !== before.fields) managers.set(identity, { ...before, fields });
}

/** Merges the oldest update entries of each version into one, until there are no more than may be. */
export function capUpdateManagers(managers: Managers): void {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  let count = updaters.length;
  if (count <= maxUpdateManagers) return;
  updaters.sort(([a, one], [b, other]) => seconds(one.time) - seconds(other.time) || order(a, b));
  const firstOfVersion = new Map<string, string>();
  // United at the end, all at once: one after the other would copy what grows as often as there are entries.
  const merged = new Map<string, FieldSet[]>();
  for (const [identity, updater] of updaters) {
    if (count <= maxUpdateManagers) break;
    const first = firstOfVersion.get(updater.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(updater.apiVersion, identity);
      continue;
    }
    const bucket: Identity = {
      manager: oldUpdates,
      operation: 'Update',
      apiVersion: updater.apiVersion,
      subresource: '',
    };
    const key = identityOf(bucket);
    const oldest = managers.get(key) ?? managers.get(first);
    if (!managers.has(key)) managers.delete(first);
    managers.delete(identity);
    const parts = merged.get(key) ?? (oldest ? [oldest.fields] : []);
    merged.set(key, parts);
    parts.push(updater.fields);
    managers.set(key, { ...bucket, fields: updater.fields, time: updater.time });
    count -= 1;
  }
  for (const [key, parts] of merged) {
    const bucket = managers.get(key);
    if (bucket) managers.set(key, { ...bucket, fields: unionAll(parts) });
  }
}
