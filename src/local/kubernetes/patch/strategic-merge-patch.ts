// Strategic merge patch: a merge patch that knows from the schema how lists are merged. Only for built-in types; a type without
// a schema that says so has none.
import type { JsonObject, JsonValue } from '../object.ts';
import { childSchema, itemSchema } from '../schema/resolve.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest } from '../status.ts';
import { getMember, isObject, setMember } from './json-tree.ts';
import { goJsonKind, goPrint, unmergeable } from './refused-patch.ts';

const patchDirective = '$patch';
const retainKeysDirective = '$retainKeys';
const orderPrefix = '$setElementOrder/';
const deletePrefix = '$deleteFromPrimitiveList/';

/**
 * The target with the patch merged in; shares what did not change with the target, which itself is not changed. The result may
 * have members of the wrong type where the patch had: decoding it is the caller's next step anyway.
 */
export function applyStrategicMergePatch(target: JsonObject, body: unknown, schema: Schema): JsonObject {
  if (body === null) return target;
  if (!isObject(body)) {
    throw badRequest(`json: cannot unmarshal ${goJsonKind(body)} into Go value of type map[string]interface {}`);
  }
  return mergeObject(target, body, schema);
}

interface ListMeta {
  readonly merges: boolean;
  /** Empty for lists of scalars. */
  readonly mergeKey: string;
  readonly items: Schema | undefined;
}

function listMeta(schema: Schema | undefined): ListMeta {
  return {
    merges: strategies(schema).includes('merge'),
    mergeKey: schema?.['x-kubernetes-patch-merge-key'] ?? '',
    items: schema && itemSchema(schema),
  };
}

const strategies = (schema: Schema | undefined): string[] => schema?.['x-kubernetes-patch-strategy']?.split(',') ?? [];

function mergeObject(original: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = getMember(patch, patchDirective);
  if (directive !== undefined) {
    if (directive === 'delete') return {};
    if (directive !== 'replace') throw unknownDirective(directive, patch);
    const { [patchDirective]: _, ...rest } = patch;
    return rest;
  }

  const result = retainKeys(original, patch);
  const ordered = new Set<string>();
  for (const member of Object.keys(patch)) {
    if (!member.startsWith(orderPrefix)) continue;
    const list = member.slice(orderPrefix.length);
    const merged = mergeOrdered(
      getMember(result, list),
      getMember(patch, list),
      patch[member] as JsonValue,
      schema && childSchema(schema, list),
    );
    if (merged) {
      setMember(result, list, merged);
      ordered.add(list);
    }
  }

  // Members first: what the same patch adds to a list and deletes from it is deleted.
  for (const member of Object.keys(patch)) {
    if (member === retainKeysDirective || member.startsWith(orderPrefix) || member.startsWith(deletePrefix)) continue;
    if (ordered.has(member)) continue;
    const value = patch[member] as JsonValue;
    if (value === null) {
      delete result[member];
      continue;
    }
    const before = getMember(result, member);
    setMember(result, member, mergeValue(before, value, schema && childSchema(schema, member)));
  }
  for (const member of Object.keys(patch)) {
    if (!member.startsWith(deletePrefix)) continue;
    const list = member.slice(deletePrefix.length);
    const before = getMember(result, list);
    const gone = patch[member];
    if (Array.isArray(before) && Array.isArray(gone)) {
      const values = new Set(gone);
      setMember(
        result,
        list,
        before.filter((item) => !values.has(item)),
      );
    }
  }
  return result;
}

function mergeValue(before: JsonValue | undefined, value: JsonValue, schema: Schema | undefined): JsonValue {
  if (isObject(before) && isObject(value)) {
    return strategies(schema).includes('replace') ? value : mergeObject(before, value, schema);
  }
  if (Array.isArray(before) && Array.isArray(value)) {
    const meta = listMeta(schema);
    return meta.merges ? mergeList(before, value, meta) : value;
  }
  return withoutDirectives(value);
}

/** A copy of the original with only the members that `$retainKeys` names, where the patch has it. */
function retainKeys(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = getMember(patch, retainKeysDirective);
  if (keys === undefined) return { ...original };
  if (!Array.isArray(keys)) throw badRequest('invalid patch format of retainKeys');
  const retained = new Set(keys);
  for (const member of Object.keys(patch)) {
    const directive =
      member === retainKeysDirective || member.startsWith(orderPrefix) || member.startsWith(deletePrefix);
    if (!directive && patch[member] !== null && !retained.has(member)) {
      throw badRequest('invalid patch format of retainKeys');
    }
  }
  const result: JsonObject = {};
  for (const member of Object.keys(original)) {
    if (retained.has(member)) setMember(result, member, original[member] as JsonValue);
  }
  return result;
}

/** A list with `$setElementOrder` beside it; undefined when neither side has the list. */
function mergeOrdered(
  original: JsonValue | undefined,
  patch: JsonValue | undefined,
  order: JsonValue,
  schema: Schema | undefined,
): JsonValue[] | undefined {
  for (const value of [order, original ?? [], patch ?? []]) {
    if (!Array.isArray(value)) throw unmergeable(`expected a []interface {}, but received a ${goPrint(value)}`);
  }
  const orderList = order as JsonValue[];
  const originalList = original as JsonValue[] | null | undefined;
  const patchList = patch as JsonValue[] | null | undefined;
  const meta = listMeta(schema);
  if (patchList) checkOrder(patchList, orderList, meta.mergeKey);
  const merged = !patchList
    ? originalList
    : !originalList
      ? (withoutDirectives(patchList) as JsonValue[])
      : meta.merges
        ? mergeList(originalList, patchList, meta)
        : patchList;
  if (!merged) return undefined;
  return inOrder(merged, orderList, originalList ?? [], meta.mergeKey);
}

/** The patch's items must stand in the order that `$setElementOrder` says; deletions do not count. */
function checkOrder(patch: JsonValue[], order: JsonValue[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const rest = mergeKey
    ? patch.filter((item) => !(isObject(item) && getMember(item, patchDirective) === 'delete'))
    : patch;
  let next = 0;
  for (const place of order) {
    const item = rest[next];
    if (item !== undefined && sameItem(item, place, mergeKey)) next += 1;
  }
  if (next < rest.length) {
    throw unmergeable(
      `The order in patch list:\n${goPrint(patch)}\n doesn't match $setElementOrder list:\n${goPrint(order)}\n`,
    );
  }
}

function mergeList(original: JsonValue[], patch: JsonValue[], { mergeKey, items }: ListMeta): JsonValue[] {
  if (original.length === 0 && patch.length === 0) return original;
  const kinds = new Set([...original, ...patch].map(goJsonKind));
  if (kinds.size > 1) {
    throw unmergeable(`list element types are not identical: ${goPrint([original, patch])}`);
  }
  if (!kinds.has('object')) {
    return inOrder([...new Set([...original, ...patch])], patch, original, '');
  }
  if (!mergeKey) throw unmergeable('cannot merge lists without merge key');
  const directed = applyItemDirectives(original as JsonObject[], patch as JsonObject[], mergeKey);
  const merged = [...directed.original];
  const places = new Map<string, number>();
  merged.forEach((item, index) => {
    const key = itemKey(item, mergeKey);
    if (!places.has(key)) places.set(key, index);
  });
  for (const item of directed.patch) {
    if (getMember(item, mergeKey) === undefined) throw noMergeKey(item, mergeKey);
    const key = itemKey(item, mergeKey);
    const index = places.get(key) ?? merged.length;
    const found = merged[index];
    merged[index] = found ? mergeObject(found, item, items) : item;
    places.set(key, index);
  }
  return inOrder(merged, directed.patch, directed.original, mergeKey);
}

/** Carries out `$patch` in items: deletes from the original, or makes the patch's plain items the whole list. */
function applyItemDirectives(
  original: JsonObject[],
  patch: JsonObject[],
  mergeKey: string,
): { original: JsonObject[]; patch: JsonObject[] } {
  const deleted = new Set<string>();
  let replace = false;
  const plain: JsonObject[] = [];
  for (const item of patch) {
    const directive = getMember(item, patchDirective);
    if (directive === undefined) plain.push(item);
    else if (directive === 'delete') {
      if (getMember(item, mergeKey) === undefined) throw noMergeKey(item, mergeKey);
      deleted.add(itemKey(item, mergeKey));
    } else if (directive === 'replace') replace = true;
    else if (directive === 'merge') throw unmergeable('merging lists cannot yet be specified in the patch');
    else throw unknownDirective(directive, item);
  }
  if (replace) return { original: plain, patch: [] };
  return { original: original.filter((item) => !deleted.has(itemKey(item, mergeKey))), patch: plain };
}

/**
 * Puts a merged list in order: items that `order` names in that order, the others in the order of the live list; an other item
 * comes before the first named one that it precedes in the live list.
 */
function inOrder(merged: JsonValue[], order: JsonValue[], live: JsonValue[], mergeKey: string): JsonValue[] {
  if (mergeKey) {
    for (const item of [...merged, ...order]) {
      if (!isObject(item) || getMember(item, mergeKey) === undefined) throw noMergeKey(item, mergeKey);
    }
  }
  const place = (list: JsonValue[]) => {
    const places = new Map<string, number>();
    list.forEach((item, index) => {
      const key = itemKey(item, mergeKey);
      if (!places.has(key)) places.set(key, index);
    });
    return (item: JsonValue): number => places.get(itemKey(item, mergeKey)) ?? -1;
  };
  const inList = place(order);
  const inLive = place(live);
  const named = merged.filter((item) => inList(item) >= 0).sort((a, b) => inList(a) - inList(b));
  const others = merged.filter((item) => inList(item) < 0).sort((a, b) => inLive(a) - inLive(b));
  const result: JsonValue[] = [];
  let next = 0;
  for (const item of named) {
    const at = inLive(item);
    for (let other = others[next]; other !== undefined; other = others[next]) {
      const otherAt = inLive(other);
      if (at < 0 || otherAt < 0 || otherAt >= at) break;
      result.push(other);
      next += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

const itemKey = (item: JsonValue, mergeKey: string): string =>
  JSON.stringify(mergeKey && isObject(item) ? getMember(item, mergeKey) : item);

const sameItem = (a: JsonValue, b: JsonValue, mergeKey: string): boolean =>
  itemKey(a, mergeKey) === itemKey(b, mergeKey);

/** A value the target did not have: nulls and directives in it mean nothing. Items that are to be deleted are not added. */
function withoutDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value
      .filter((item) => !(isObject(item) && Object.hasOwn(item, patchDirective)))
      .map((item) => withoutDirectives(item));
  }
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const member of Object.keys(value)) {
    const content = value[member] as JsonValue;
    if (content === null || member === patchDirective || member === retainKeysDirective) continue;
    if (member.startsWith(orderPrefix) || member.startsWith(deletePrefix)) continue;
    setMember(result, member, withoutDirectives(content));
  }
  return result;
}

const noMergeKey = (item: JsonValue, key: string): Error =>
  unmergeable(`map: ${goPrint(item)} does not contain declared merge key: ${key}`);

function unknownDirective(directive: JsonValue, patch: JsonObject): Error {
  const shown = typeof directive === 'string' ? directive : `%!s(${goTyped(directive)})`;
  return unmergeable(`unknown patch type: ${shown} in map: ${goPrint(patch)}`);
}

const goTyped = (value: JsonValue): string =>
  typeof value === 'number'
    ? `${Number.isInteger(value) ? 'int64' : 'float64'}=${value}`
    : `${typeof value === 'boolean' ? 'bool' : 'map'}=${goPrint(value)}`;
