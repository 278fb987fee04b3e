// Objects written out as the server's encoder does: members of types in the order of their declaration, those of maps by name.
import type { JsonObject, JsonValue } from '../object.ts';
import { isObject } from './decode.ts';
import { type Kind, shapeOf } from './shapes/shape.ts';

/** The object with its members in order. Members that the definition does not have come last; the object is not changed. */
export function inGoOrder(definition: string, object: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const { name, kind } of shapeOf(definition)) {
    const value = object[name];
    if (value !== undefined) result[name] = ordered(kind, value);
  }
  return { ...result, ...without(object, result) };
}

function without(object: JsonObject, taken: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !Object.hasOwn(taken, name)));
}

function ordered(kind: Kind, value: JsonValue): JsonValue {
  if (kind.is === 'struct' && isObject(value)) return inGoOrder(kind.name, value);
  if (kind.is === 'list' && Array.isArray(value)) return value.map((item) => ordered(kind.of, item));
  if (kind.is === 'map' && isObject(value)) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([name, item]) => [name, ordered(kind.of, item)]));
  }
  return value;
}
