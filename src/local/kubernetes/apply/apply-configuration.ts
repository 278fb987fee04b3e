// Server-side apply.
import type { JsonObject, JsonValue, KubeObject } from '../object.ts';
import { equalJson, isObject, setMember } from '../patch/json-tree.ts';
import { unmergeable } from '../patch/refused-patch.ts';
import { badRequest, StatusError } from '../status.ts';
import { compareObjects, fieldsOf } from './compare.ts';
import { difference, type FieldSet, isEmpty, pathsOf, recursiveDifference, sorted, union } from './fieldset.ts';
import { ItemError } from './list-items.ts';
import { decodeManagers, identityOf, type Manager, type Managers } from './managers.ts';
import { mergeObjects, withoutEmptied } from './merge.ts';
import { compareWithManagers, followSchema, type TrackedType, tracked, typeNodeOf } from './ownership.ts';
import { prune } from './prune.ts';
import { scaleVersion, separateScaled } from './scaled-fields.ts';
import { asJson, emptyObject, update, withManagers } from './track-update.ts';
import { configurationErrors, errorText } from './validate.ts';

export interface Apply {
  readonly type: TrackedType;
  /** The object as it is; undefined when there is none and applying creates it. */
  readonly live: KubeObject | undefined;
  /** The applied configuration: the fields its manager has an opinion on. */
  readonly config: JsonObject;
  readonly manager: string;
  /** Takes fields from other managers instead of refusing. */
  readonly force: boolean;
  /** RFC 3339, in seconds. */
  readonly now: string;
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Owns what an object had before anyone applied to it, when that had not been tracked. */
const beforeFirstApply = 'before-first-apply';

/**
 * The live object with the configuration merged in and metadata.managedFields as they are then. Defaults are not filled in yet.
 * Fields that this manager applied before, does not apply now and nobody else owns are gone. Changing what others own is refused
 * with 409 and a cause per field, unless forced. Applying what is already so changes nothing but, perhaps, who owns it.
 */
export function applyConfiguration({ type, live, config, manager, force, now }: Apply): KubeObject {
  checkConfiguration(config, type);
  const managers = decodeManagers(live?.metadata.managedFields);
  if (!managers) throw new StatusError(500, 'InternalError', 'failed to decode managed fields');
  const before = live ? asJson(live) : emptyObject(type);
  let applied: JsonObject;
  try {
    if (managers.size === 0 && live) update(type, undefined, live, managers, beforeFirstApply, now);
    applied = apply(type, before, config, managers, manager, force, now);
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    throw unmergeable(`failed to create typed live object (${objectText(before, type)}): ${error.message}`);
  }
  separateScaled(type, managers);
  const result = withManagers(applied as unknown as KubeObject, managers);
  return manager === 'kubectl' && type.subresource === '' ? withLastApplied(result, config) : result;
}

function checkConfiguration(config: JsonObject, type: TrackedType): void {
  const { apiVersion = '', kind = '', metadata } = config;
  if (apiVersion !== type.apiVersion || kind !== type.kind) {
    const version = typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw badRequest(`invalid object type: ${version}, Kind=${kind}`);
  }
  if (isObject(metadata) && metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const errors = configurationErrors(config, typeNodeOf(type));
  if (errors.length > 0) {
    throw unmergeable(`failed to create typed patch object (${objectText(config, type)}): ${errorText(errors)}`);
  }
}

/** `default/web; apps/v1, Kind=Deployment`, as messages name an object. */
function objectText({ metadata }: JsonObject, { apiVersion, kind }: TrackedType): string {
  const { name = '', namespace = '' } = isObject(metadata) ? metadata : {};
  return `${namespace}/${name}; ${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function apply(
  type: TrackedType,
  live: JsonObject,
  config: JsonObject,
  managers: Managers,
  manager: string,
  force: boolean,
  now: string,
): JsonObject {
  const { apiVersion, subresource } = type;
  const node = typeNodeOf(type);
  followSchema(managers, type);
  const identity = identityOf({ manager, operation: 'Apply', apiVersion, subresource });
  const last = managers.get(identity);
  const fields = recursiveDifference(fieldsOf(config, node), type.reset);
  const entry: Manager = { manager, operation: 'Apply', apiVersion, subresource, fields, time: last?.time };
  managers.set(identity, entry);

  const merged = prune(mergeObjects(live, config, node), type, managers, last);
  const changes = compareWithManagers(live, merged, type, managers, identity, true);
  if (changes.conflicts.size > 0 && !force) {
    const refused = manager === 'kubectl' ? withoutOwnLastApplied(changes.conflicts, live, type) : changes.conflicts;
    if (refused.size > 0) throw conflictError(refused, managers, type);
  }
  changes.settle();

  const same = !changes.changed && equalButForNothing(live, merged, type.custom);
  const owned = tracked(fields);
  if (isEmpty(owned)) managers.delete(identity);
  else managers.set(identity, { ...entry, fields: owned, time: same ? last?.time : now });
  return same ? live : type.custom ? merged : withoutEmptied(merged);
}

/** Whether two objects in which no field differs are the same: the order of lists may not be. */
function equalButForNothing(a: JsonValue | undefined, b: JsonValue | undefined, custom: boolean): boolean {
  if (custom) return equalJson(a, b);
  if (isNothing(a) && isNothing(b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equalButForNothing(item, b[index], custom));
  }
  if (!isObject(a) || !isObject(b)) return a === b || (isNothing(a) && isNothing(b));
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((member) =>
    equalButForNothing(
      Object.hasOwn(a, member) ? a[member] : undefined,
      Object.hasOwn(b, member) ? b[member] : undefined,
      custom,
    ),
  );
}

const isNothing = (value: JsonValue | undefined): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** `"web" with subresource "status" using apps/v1`, as messages name a manager. */
function managerText({ manager, operation, apiVersion, subresource }: Manager, { scaled }: TrackedType): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : '');
  return operation === 'Update' ? `${name} using ${scaled ? scaleVersion : apiVersion}` : name;
}

function conflictError(conflicts: ReadonlyMap<string, FieldSet>, managers: Managers, type: TrackedType): StatusError {
  const found = [...conflicts.keys()].sort().flatMap((identity) => {
    const manager = managers.get(identity);
    const set = conflicts.get(identity);
    return manager && set ? [{ name: managerText(manager, type), paths: pathsOf(sorted(set)) }] : [];
  });
  const causes = found.flatMap(({ name, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field })),
  );
  const [only] = causes;
  const message =
    only && causes.length === 1
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${found
          .map(({ name, paths }) => [`conflicts with ${name}:`, ...paths.map((path) => `- ${path}`)].join('\n'))
          .join('\n')}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

/** kubectl may take over what it once applied on the client's side, where that is still so. */
function withoutOwnLastApplied(
  conflicts: ReadonlyMap<string, FieldSet>,
  live: JsonObject,
  type: TrackedType,
): ReadonlyMap<string, FieldSet> {
  const own = lastAppliedFields(live, type);
  if (!own) return conflicts;
  const rest = new Map<string, FieldSet>();
  for (const [identity, set] of conflicts) {
    const left = difference(set, own);
    if (!isEmpty(left)) rest.set(identity, left);
  }
  return rest;
}

function lastAppliedFields(live: JsonObject, type: TrackedType): FieldSet | undefined {
  const text = annotationsOf(live)[lastApplied];
  if (typeof text !== 'string' || text === '') return undefined;
  let last: unknown;
  try {
    last = JSON.parse(text);
  } catch {
    return undefined;
  }
  const node = typeNodeOf(type);
  if (!isObject(last) || last.apiVersion !== type.apiVersion || configurationErrors(last, node).length > 0) {
    return undefined;
  }
  const { added, modified, removed } = compareObjects(last, live, node);
  return difference(fieldsOf(last, node), union(added, union(modified, removed)));
}

function annotationsOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  return isObject(metadata) && isObject(metadata.annotations) ? metadata.annotations : {};
}

const maxAnnotationBytes = 256 * 1024;

/** Keeps the annotation of client-side apply in step, on objects that have it, so that both ways of applying can be mixed. */
function withLastApplied(object: KubeObject, config: JsonObject): KubeObject {
  const annotations = object.metadata.annotations;
  if (!annotations?.[lastApplied]) return object;
  const text = `${sortedJson(withoutAnnotation(config))}\n`;
  const { [lastApplied]: _, ...others } = annotations;
  const size = Object.entries(others).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  const fits = size + lastApplied.length + text.length <= maxAnnotationBytes;
  return {
    ...object,
    metadata: { ...object.metadata, annotations: fits ? { ...others, [lastApplied]: text } : others },
  };
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const { metadata } = config;
  if (!isObject(metadata) || !isObject(metadata.annotations)) return config;
  const { [lastApplied]: _, ...annotations } = metadata.annotations;
  const { annotations: __, ...rest } = metadata;
  return { ...config, metadata: Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest };
}

/** JSON with members in order of name and markup escaped, as Go writes it. */
function sortedJson(value: JsonValue): string {
  const ordered = (content: JsonValue): JsonValue => {
    if (Array.isArray(content)) return content.map(ordered);
    if (!isObject(content)) return content;
    const result: JsonObject = {};
    for (const member of Object.keys(content).sort()) setMember(result, member, ordered(content[member] as JsonValue));
    return result;
  };
  return JSON.stringify(ordered(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
