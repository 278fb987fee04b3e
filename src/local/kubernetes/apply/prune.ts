// Taking out of a merged object what its applier has dropped from its configuration and nobody else owns.
import type { JsonObject } from '../object.ts';
import { fieldsOf } from './compare.ts';
import { difference, type FieldSet, intersection, isEmpty, leaf, union } from './fieldset.ts';
import { identityOf, type Manager, type Managers } from './managers.ts';
import { removeFields, withNamedFields } from './merge.ts';
import { atVersion, type TrackedType } from './ownership.ts';
import type { TypeNode } from './type-node.ts';

/** `last` is the applier's entry of the time before; `managers` already has its new one. */
export function prune(
  merged: JsonObject,
  type: TrackedType,
  managers: Managers,
  last: Manager | undefined,
): JsonObject {
  if (!last || isEmpty(last.fields)) return merged;
  // An applier may come back with another version of the API: what it owned is in the terms of the version before.
  const version = atVersion(type, last.apiVersion);
  if (!version) return merged;
  const whole = version.convert(merged);
  const { node } = version;
  const lastFields = withNamedFields(last.fields, node);
  const next = last.apiVersion === type.apiVersion ? managers.get(identityOf(last))?.fields : undefined;
  if (next && isEmpty(difference(lastFields, withNamedFields(next, node)))) return merged;
  const dropped = removeFields(whole, lastFields, node);
  const kept = addBackOwned(whole, dropped, last.apiVersion, type, managers);
  const pruned = addBackDangling(whole, kept, lastFields, node);
  if (last.apiVersion === type.apiVersion) return pruned;
  const back = atVersion({ ...type, apiVersion: last.apiVersion }, type.apiVersion);
  return back ? back.convert(pruned) : { ...pruned, apiVersion: type.apiVersion };
}

/** What was removed comes back where anyone, the applier's new configuration included, owns it. */
function addBackOwned(
  whole: JsonObject,
  dropped: JsonObject,
  apiVersion: string,
  type: TrackedType,
  managers: Managers,
): JsonObject {
  const owned = new Map<string, FieldSet>();
  for (const manager of managers.values()) {
    owned.set(manager.apiVersion, union(owned.get(manager.apiVersion) ?? leaf, manager.fields));
  }
  let result = dropped;
  const versions = [...owned].sort(([a], [b]) => Number(b === apiVersion) - Number(a === apiVersion));
  for (const [ownedVersion, fields] of versions) {
    const at = atVersion(type, ownedVersion);
    if (!at) continue;
    const same = ownedVersion === apiVersion;
    const wholeThere = same ? whole : at.convert(whole);
    const resultThere = same ? result : at.convert(result);
    const keep = union(withNamedFields(fieldsOf(resultThere, at.node), at.node), withNamedFields(fields, at.node));
    const remove = difference(withNamedFields(fieldsOf(wholeThere, at.node), at.node), keep);
    const added = removeFields(wholeThere, remove, at.node);
    const home = same ? undefined : atVersion({ ...type, apiVersion: ownedVersion }, apiVersion);
    result = home ? home.convert(added) : same ? added : result;
  }
  return result;
}

/** What was removed only because it was below something removed comes back, unless the applier owned it itself. */
function addBackDangling(whole: JsonObject, kept: JsonObject, lastFields: FieldSet, node: TypeNode): JsonObject {
  const inWhole = withNamedFields(fieldsOf(whole, node), node);
  const inKept = withNamedFields(fieldsOf(kept, node), node);
  return removeFields(whole, intersection(difference(inWhole, inKept), lastFields), node);
}
