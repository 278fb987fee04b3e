// What a change of an object does to the sets of those who manage its fields.
import type { JsonObject, KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { type Comparison, compareObjects } from './compare.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmpty,
  leaf,
  recursiveDifference,
  setOfMembers,
  union,
} from './fieldset.ts';
import { type Managers, setFields } from './managers.ts';
import { rootNode, type TypeNode, typeOf } from './type-node.ts';

/** What is being written: the type as served, and through which endpoint. */
export interface TrackedType {
  /** Such as `apps/v1`. Objects given and returned are of this version. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Schema;
  /** Whether it is a custom resource. */
  readonly custom: boolean;
  /** Fields that a write through this endpoint does not change, whatever it says of them; see resetFieldsOf. */
  readonly reset: FieldSet;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** The number of replicas, where it is written through a Scale. */
  readonly scaled?: FieldSet;
  /**
   * The other versions of a resource that has several; undefined when there is no such version (any more): what was managed in
   * it is forgotten.
   */
  readonly version?: (apiVersion: string) => OtherVersion | undefined;
}

export interface OtherVersion {
  readonly schema: Schema;
  /** To this version, from whichever the object's apiVersion says. */
  readonly convert: (object: KubeObject) => KubeObject;
}

/** Never tracked: they belong to the server or say which object it is. */
const untracked = setOfMembers(
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((member) => ['metadata', member]),
);

export const tracked = (fields: FieldSet): FieldSet => difference(fields, untracked);

export const typeNodeOf = (type: TrackedType): TypeNode => rootNode(type.schema, type.custom);

/** One version of what is being written, both states of the object in it. */
interface Versioned {
  readonly node: TypeNode;
  convert(object: JsonObject): JsonObject;
}

/** The type at another version; undefined when there is none. */
export function atVersion(type: TrackedType, apiVersion: string): Versioned | undefined {
  if (apiVersion === type.apiVersion) return { node: typeNodeOf(type), convert: (object) => object };
  const other = type.version?.(apiVersion);
  if (!other) return undefined;
  return {
    node: rootNode(other.schema, type.custom),
    convert: (object) => other.convert(object as unknown as KubeObject) as unknown as JsonObject,
  };
}

/**
 * Sets as the schema now has it: where a part of the object has become one field, an owner of anything in it owns it. Built-in
 * schemas do not change under the objects.
 */
export function followSchema(managers: Managers, type: TrackedType): void {
  if (!type.custom) return;
  for (const [identity, { apiVersion, fields }] of managers) {
    const node = apiVersion === type.apiVersion ? typeNodeOf(type) : atVersion(type, apiVersion)?.node;
    if (node) setFields(managers, identity, collapsed(fields, node));
  }
}

function collapsed(set: FieldSet, node: TypeNode): FieldSet {
  let result = set;
  for (const element in set) {
    const below = set[element];
    if (!below || element === '.' || isEmpty(below)) continue;
    const child = element.startsWith('f:') ? node.map && typeOf(node.map, element.slice(2)) : node.list?.element;
    if (!child) continue;
    const atomic = child.scalar === undefined && (child.map?.atomic || child.list?.atomic);
    const after = atomic && !('.' in below) ? leaf : collapsed(below, child);
    if (after !== below) result = { ...result, [element]: after };
  }
  return result;
}

export interface Conflicts {
  /** The fields of each manager that the change would take from it. */
  readonly conflicts: ReadonlyMap<string, FieldSet>;
  /** What changed, but for the fields that this endpoint does not change. */
  readonly comparison: Comparison;
  /** Whether anything changed at all. */
  readonly changed: boolean;
  /** Takes what the change changed or removed from the other managers. */
  settle(): void;
}

/**
 * Compares two states and says what that means to the managers other than `self`. Entries of versions gone are dropped. For
 * `literal` see compareObjects.
 */
export function compareWithManagers(
  before: JsonObject,
  after: JsonObject,
  type: TrackedType,
  managers: Managers,
  self: string,
  literal = false,
): Conflicts {
  const excluded = ({ added, modified, removed }: Comparison): Comparison => ({
    added: recursiveDifference(added, type.reset),
    modified: recursiveDifference(modified, type.reset),
    removed: recursiveDifference(removed, type.reset),
  });
  const all = compareObjects(before, after, typeNodeOf(type), literal);
  const comparison = excluded(all);
  const byVersion = new Map<string, Comparison>([[type.apiVersion, comparison]]);
  const conflicts = new Map<string, FieldSet>();
  const removed = new Map<string, FieldSet>();
  for (const [identity, { apiVersion, fields }] of managers) {
    if (identity === self) continue;
    let changes = byVersion.get(apiVersion);
    if (!changes) {
      const version = atVersion(type, apiVersion);
      if (!version) {
        managers.delete(identity);
        continue;
      }
      changes = excluded(compareObjects(version.convert(before), version.convert(after), version.node, literal));
      byVersion.set(apiVersion, changes);
    }
    const taken = union(intersection(fields, changes.modified), intersection(fields, changes.added));
    if (!isEmpty(taken)) conflicts.set(identity, taken);
    if (!isEmpty(changes.removed)) removed.set(identity, changes.removed);
  }
  return {
    conflicts,
    comparison,
    changed: !isEmpty(all.added) || !isEmpty(all.modified) || !isEmpty(all.removed),
    settle() {
      for (const identity of [...managers.keys()]) {
        const fields = managers.get(identity)?.fields ?? leaf;
        setFields(
          managers,
          identity,
          difference(difference(fields, conflicts.get(identity) ?? leaf), removed.get(identity) ?? leaf),
        );
      }
    },
  };
}
