// Merging an applied configuration into the live object, and taking out of it what nobody owns any more.
import type { JsonObject, JsonValue } from '../object.ts';
import { isObject, setMember } from '../patch/json-tree.ts';
import { shapeOf } from './compare.ts';
import { type FieldSet, isEmpty, leaf, type MutableFieldSet } from './fieldset.ts';
import { itemElement } from './list-items.ts';
import { type ListType, type MapType, type TypeNode, typeOf } from './type-node.ts';

type Value = JsonValue | undefined;

/** The live object with the configuration merged in: its scalars and atomic parts win, lists are merged by item. */
export function mergeObjects(live: JsonObject, config: JsonObject, type: TypeNode): JsonObject {
  const merged = merge(live, config, type);
  return isObject(merged) ? merged : {};
}

function merge(live: Value, config: Value, type: TypeNode): Value {
  if (config === undefined) return live;
  const shape = shapeOf(type, config);
  if (shape === 'map' && type.map && !type.map.atomic) return mergeMaps(live, config, type.map);
  if (shape === 'list' && type.list && !type.list.atomic) return mergeLists(live, config, type.list);
  return config;
}

function mergeMaps(live: Value, config: JsonValue, type: MapType): Value {
  const into = isObject(live) ? live : undefined;
  const from = isObject(config) ? config : undefined;
  if (isNothing(into) && isNothing(from)) return config;
  const result: JsonObject = { ...into };
  for (const member of Object.keys(from ?? {})) {
    const child = typeOf(type, member);
    const value = from?.[member] as JsonValue;
    const before = into && Object.hasOwn(into, member) ? into[member] : undefined;
    const merged = child ? merge(before, value, child) : value;
    if (merged === undefined) delete result[member];
    else setMember(result, member, merged);
  }
  return result;
}

const isNothing = (map: JsonObject | undefined): boolean => map === undefined || Object.keys(map).length === 0;

/**
 * Items of the configuration in its order, the others of the live list where they stood relative to the shared ones. Items the
 * live list has twice are replaced by the configuration's.
 */
function mergeLists(live: Value, config: JsonValue, type: ListType): Value {
  const left = Array.isArray(live) ? live : [];
  const right = Array.isArray(config) ? config : [];
  if (left.length === 0 && right.length === 0) return config;
  const leftElements = left.map((item) => itemElement(type, item));
  const rightElements = right.map((item) => itemElement(type, item));
  const inLeft = new Map<string, Value>();
  leftElements.forEach((element, index) => {
    inLeft.set(element, inLeft.has(element) ? undefined : left[index]);
  });
  const inRight = new Map(rightElements.map((element, index) => [element, right[index]]));
  const shared = rightElements.filter((element) => inLeft.has(element));
  const taken = new Set<string>();
  const result: JsonValue[] = [];
  let nextShared = 0;
  let l = 0;
  let r = 0;
  const take = (element: string): void => {
    taken.add(element);
    const merged = merge(inLeft.get(element), inRight.get(element), type.element);
    if (merged !== undefined) result.push(merged);
    if (shared[nextShared] === element) nextShared += 1;
    r += 1;
  };
  while (l < left.length || r < right.length) {
    const leftElement = leftElements[l];
    const rightElement = rightElements[r];
    if (leftElement !== undefined && rightElement !== undefined) {
      if (leftElement === rightElement) {
        take(rightElement);
        l += 1;
        continue;
      }
      const awaited = shared[nextShared];
      if (inRight.has(leftElement) && awaited !== undefined && awaited !== leftElement) {
        // A shared item whose turn comes later, in the configuration's order.
        l += 1;
        continue;
      }
    }
    if (leftElement !== undefined) {
      if (!inRight.has(leftElement)) {
        result.push(left[l] as JsonValue);
        l += 1;
        continue;
      }
      if (taken.has(leftElement)) l += 1;
    }
    if (rightElement !== undefined) take(rightElement);
  }
  return result;
}

/** Stand for a map or list that had all its content removed but is itself still owned. */
const emptiedMap: JsonObject = Object.freeze({});
const emptiedList: JsonValue[] = Object.freeze([]) as unknown as JsonValue[];

/**
 * The object without what removeFields left empty. Custom resources keep that: null, which a kube-apiserver leaves there, is no
 * valid value of theirs. In built-in types it is as good as absent.
 */
export function withoutEmptied(object: JsonObject): JsonObject {
  let result = object;
  for (const member of Object.keys(object)) {
    const value = object[member] as JsonValue;
    if (value === emptiedMap || value === emptiedList) {
      if (result === object) result = { ...object };
      delete result[member];
      continue;
    }
    const rest = Array.isArray(value) ? listWithoutEmptied(value) : isObject(value) ? withoutEmptied(value) : value;
    if (rest === value) continue;
    if (result === object) result = { ...object };
    setMember(result, member, rest);
  }
  return result;
}

function listWithoutEmptied(list: JsonValue[]): JsonValue[] {
  let changed = false;
  const result = list.map((item) => {
    const rest = Array.isArray(item) ? listWithoutEmptied(item) : isObject(item) ? withoutEmptied(item) : item;
    changed ||= rest !== item;
    return rest;
  });
  return changed ? result : list;
}

/** The object without the fields and items of a set. */
export function removeFields(object: JsonObject, remove: FieldSet, type: TypeNode): JsonObject {
  if (isEmpty(remove)) return object;
  const rest = removeFrom(object, remove, type);
  return isObject(rest) ? rest : {};
}

const ends = (node: FieldSet): boolean => '.' in node || isEmpty(node);

function removeFrom(value: JsonValue, remove: FieldSet, type: TypeNode): JsonValue {
  const shape = shapeOf(type, value);
  if (shape === 'map' && type.map) {
    return type.map.atomic || !isObject(value) ? emptiedMap : removeFromMap(value, remove, type.map);
  }
  if (shape === 'list' && type.list) {
    return type.list.atomic || !Array.isArray(value) ? emptiedList : removeFromList(value, remove, type.list);
  }
  return value;
}

function removeFromMap(map: JsonObject, remove: FieldSet, type: MapType): JsonValue {
  const result: JsonObject = {};
  let any = false;
  for (const member of Object.keys(map)) {
    const value = map[member] as JsonValue;
    const node = remove[`f:${member}`];
    const child = typeOf(type, member);
    let rest: Value = value;
    if (node) rest = ends(node) || !child ? undefined : removeFrom(value, node, child);
    if (rest === undefined) continue;
    any = true;
    setMember(result, member, rest);
  }
  return any ? result : emptiedMap;
}

function removeFromList(list: readonly JsonValue[], remove: FieldSet, type: ListType): JsonValue {
  const result: JsonValue[] = [];
  for (const item of list) {
    const node = remove[itemElement(type, item)];
    if (!node) result.push(item);
    else if (!ends(node)) result.push(removeFrom(item, node, type.element));
  }
  return result.length > 0 ? result : emptiedList;
}

/** The set with every member that the schema names and that the set has something below added to it. */
export function withNamedFields(set: FieldSet, type: TypeNode | undefined): FieldSet {
  const result: MutableFieldSet = {};
  for (const element in set) {
    const node = set[element];
    if (!node || element === '.') continue;
    if (isEmpty(node)) {
      result[element] = leaf;
      continue;
    }
    const name = element.startsWith('f:') ? element.slice(2) : undefined;
    const named = name === undefined ? undefined : type?.map?.named(name);
    const child = name === undefined ? type?.list?.element : (named ?? type?.map?.element);
    const below = withNamedFields(node, child);
    result[element] = named || '.' in node ? { '.': leaf, ...below } : below;
  }
  return result;
}
