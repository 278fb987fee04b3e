// What a write changed, field by field.
import type { JsonObject, JsonValue } from '../object.ts';
import { equalJson, isObject } from '../patch/json-tree.ts';
import { type FieldSet, leaf, type MutableFieldSet, unionBelow } from './fieldset.ts';
import { itemElement } from './list-items.ts';
import { type ListType, type MapType, type TypeNode, typeOf } from './type-node.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** The changes at and below one path; a member is left out where there are none. */
interface Changes {
  added?: FieldSet;
  modified?: FieldSet;
  removed?: FieldSet;
}

interface MutableChanges {
  added?: MutableFieldSet;
  modified?: MutableFieldSet;
  removed?: MutableFieldSet;
}

type Value = JsonValue | undefined;

/**
 * Compares two states of an object. `literal` takes the empty lists, empty maps and nulls of the later state for what they are,
 * as they are in what comes out of a merge and has not been decoded. Throws ItemError when a list has items that cannot be known.
 */
export function compareObjects(before: JsonObject, after: JsonObject, type: TypeNode, literal = false): Comparison {
  const changes = compare(before, after, type, literal);
  return { added: changes?.added ?? leaf, modified: changes?.modified ?? leaf, removed: changes?.removed ?? leaf };
}

export type Shape = 'map' | 'list' | 'scalar';

/** How a value of a type is to be taken: as what it is, where the type allows that, else as the first thing the type allows. */
export function shapeOf(type: TypeNode, value: Value): Shape {
  if (value !== null && value !== undefined) {
    const shape = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : 'scalar';
    if (type[shape]) return shape;
  }
  return type.map ? 'map' : type.scalar ? 'scalar' : 'list';
}

function compare(before: Value, after: Value, type: TypeNode, literal: boolean): Changes | undefined {
  if (before === after) return undefined;
  const shapeBefore = shapeOf(type, before);
  const shapeAfter = shapeOf(type, after);
  if (after === undefined) return compareAs(shapeBefore, before, after, type, literal);
  const changes = compareAs(shapeAfter, before, after, type, literal);
  if (before === undefined || shapeBefore === shapeAfter) return changes;
  return joined(compareAs(shapeBefore, before, after, type, literal), changes);
}

/** Both accounts of a value that changed its shape. */
function joined(a: Changes | undefined, b: Changes | undefined): Changes | undefined {
  if (!a || !b) return a ?? b;
  const both: Changes = {};
  for (const kind of ['added', 'modified', 'removed'] as const) {
    const [one, other] = [a[kind], b[kind]];
    if (one && other) both[kind] = unionBelow(one, other);
    else if (one ?? other) both[kind] = (one ?? other) as FieldSet;
  }
  return both;
}

function compareAs(shape: Shape, before: Value, after: Value, type: TypeNode, literal: boolean): Changes | undefined {
  if (shape === 'map' && type.map) return compareMaps(before, after, type.map, literal);
  if (shape === 'list' && type.list) return compareLists(before, after, type.list, literal);
  return compareLeaves(before, after);
}

function compareLeaves(before: Value, after: Value): Changes | undefined {
  if (before === undefined) return { added: leaf };
  if (after === undefined) return { removed: leaf };
  return equalJson(before, after) ? undefined : { modified: leaf };
}

/** What there is to say of a path that is not a leaf: it came or went as a whole. */
function ofPath(before: Value, after: Value): MutableChanges | undefined {
  if (before === undefined) return { added: { '.': leaf } };
  return after === undefined ? { removed: { '.': leaf } } : undefined;
}

function addTo(changes: MutableChanges | undefined, element: string, child: Changes): MutableChanges {
  const result = changes ?? {};
  if (child.added) {
    result.added ??= {};
    result.added[element] = child.added;
  }
  if (child.modified) {
    result.modified ??= {};
    result.modified[element] = child.modified;
  }
  if (child.removed) {
    result.removed ??= {};
    result.removed[element] = child.removed;
  }
  return result;
}

const nothing: JsonObject = {};

function compareMaps(before: Value, after: Value, type: MapType, literal: boolean): Changes | undefined {
  const mapBefore = isObject(before) ? before : undefined;
  const mapAfter = isObject(after) ? after : undefined;
  if (type.atomic || (isEmptyMap(mapBefore, type) && isEmptyMap(mapAfter, type))) return compareLeaves(before, after);
  let changes = ofPath(before, after);
  const visit = (member: string): void => {
    const child = typeOf(type, member);
    if (!child) return;
    const childBefore = mapBefore && memberValue(mapBefore, member, child, type, false);
    const childAfter = mapAfter && memberValue(mapAfter, member, child, type, literal);
    const childChanges = compare(childBefore, childAfter, child, literal);
    if (childChanges) changes = addTo(changes, `f:${member}`, childChanges);
  };
  for (const member in mapBefore ?? nothing) visit(member);
  for (const member in mapAfter ?? nothing) if (!mapBefore || !Object.hasOwn(mapBefore, member)) visit(member);
  if (type.zero && (!mapBefore || !mapAfter)) {
    const given = mapBefore ?? mapAfter ?? nothing;
    for (const member of type.zero.keys()) if (!Object.hasOwn(given, member)) visit(member);
  }
  return changes && trimmed(changes);
}

/** A path that came or went with nothing below it is a leaf. */
function trimmed(changes: MutableChanges): Changes {
  if (changes.added && onlyItself(changes.added)) changes.added = leaf;
  if (changes.removed && onlyItself(changes.removed)) changes.removed = leaf;
  return changes;
}

function onlyItself(node: FieldSet): boolean {
  for (const element in node) if (element !== '.') return false;
  return true;
}

const isEmptyMap = (map: JsonObject | undefined, type: MapType): boolean => {
  if (!map) return true;
  for (const _ in map) return false;
  return type.zero === undefined;
};

/** A member's value as the server has it once decoded. */
function memberValue(map: JsonObject, member: string, type: TypeNode, parent: MapType, literal: boolean): Value {
  const value = Object.hasOwn(map, member) ? map[member] : undefined;
  if (!parent.builtIn || !parent.struct) return value;
  if (value === undefined || (value === null && !literal)) return parent.zero?.get(member);
  if (literal || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value) ? value.length > 0 : !type.map || type.map.struct || Object.keys(value).length > 0) {
    return value;
  }
  return parent.zero?.has(member) ? value : undefined;
}

function compareLists(before: Value, after: Value, type: ListType, literal: boolean): Changes | undefined {
  const listBefore = Array.isArray(before) ? before : undefined;
  const listAfter = Array.isArray(after) ? after : undefined;
  if (type.atomic || ((listBefore?.length ?? 0) === 0 && (listAfter?.length ?? 0) === 0)) {
    return compareLeaves(before, after);
  }
  let changes = ofPath(before, after);
  const itemsBefore = itemsByElement(listBefore, type);
  const itemsAfter = itemsByElement(listAfter, type);
  const visit = (element: string, one: readonly JsonValue[], other: readonly JsonValue[]): void => {
    const child = compareItems(one, other, type, literal);
    if (child) changes = addTo(changes, element, child);
  };
  for (const [element, items] of itemsBefore) visit(element, items, itemsAfter.get(element) ?? []);
  for (const [element, items] of itemsAfter) if (!itemsBefore.has(element)) visit(element, [], items);
  return changes && trimmed(changes);
}

function itemsByElement(list: readonly JsonValue[] | undefined, type: ListType): Map<string, JsonValue[]> {
  const items = new Map<string, JsonValue[]>();
  for (const item of list ?? []) {
    const element = itemElement(type, item);
    const same = items.get(element);
    if (same) same.push(item);
    else items.set(element, [item]);
  }
  return items;
}

/** Items known by the same element. Where there are several (objects of old may have them) they count as one leaf. */
function compareItems(
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  type: ListType,
  literal: boolean,
): Changes | undefined {
  if (before.length <= 1 && after.length <= 1) return compare(before[0], after[0], type.element, literal);
  if (before.length > 1 && after.length > 1) {
    return equalJson([...before], [...after]) ? undefined : { modified: leaf };
  }
  if (before.length > 1)
    return { ...(after[0] === undefined ? {} : compare(undefined, after[0], type.element, literal)), removed: leaf };
  return { ...(before[0] === undefined ? {} : compare(before[0], undefined, type.element, literal)), added: leaf };
}

/** Every field of a configuration, as its applier owns them. */
export function fieldsOf(object: JsonObject, type: TypeNode): FieldSet {
  const set: MutableFieldSet = {};
  if (type.map) mapFields(object, type.map, set);
  return set;
}

/** The fields below a value; undefined when the value itself is the field. */
function fieldsBelow(value: JsonValue, type: TypeNode): MutableFieldSet | undefined {
  const shape = shapeOf(type, value);
  const below: MutableFieldSet = {};
  if (shape === 'map' && type.map && !type.map.atomic) {
    if (isObject(value)) mapFields(value, type.map, below);
    return below;
  }
  if (shape === 'list' && type.list && !type.list.atomic) {
    if (Array.isArray(value)) listFields(value, type.list, below);
    return below;
  }
  return undefined;
}

function mapFields(map: JsonObject, type: MapType, into: MutableFieldSet): void {
  for (const member of Object.keys(map)) {
    const value = map[member] as JsonValue;
    const named = type.named(member);
    const child = named ?? type.element;
    if (!child) continue;
    const below = fieldsBelow(value, child);
    const itself = !below || !named || value === null || (isObject(value) && Object.keys(value).length === 0);
    put(into, `f:${member}`, itself, below);
  }
}

function listFields(list: readonly JsonValue[], type: ListType, into: MutableFieldSet): void {
  for (const [element, items] of itemsByElement(list, type)) {
    put(into, element, true, items.length === 1 ? fieldsBelow(items[0] as JsonValue, type.element) : undefined);
  }
}

function put(into: MutableFieldSet, element: string, itself: boolean, below: MutableFieldSet | undefined): void {
  let empty = true;
  for (const _ in below) {
    empty = false;
    break;
  }
  if (empty || !below) {
    if (itself) into[element] = leaf;
    return;
  }
  into[element] = itself ? { '.': leaf, ...below } : below;
}
