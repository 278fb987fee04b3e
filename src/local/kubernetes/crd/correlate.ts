// Which item of the old list an item of the new one was.
import type { JsonValue } from '../object.ts';
import { isObject } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';

const none = (): undefined => undefined;

/** The keys of an item of a list of type map, as text; undefined for what cannot have any. */
export function itemKey(item: JsonValue, schema: Schema): string | undefined {
  if (!isObject(item)) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return JSON.stringify(keys.map((key) => item[key] ?? schema.items?.properties?.[key]?.default ?? null));
}

/** Gives what an item was before. Only items of lists of type map can be told. */
export function correlatedItems(
  schema: Schema,
  old: JsonValue | undefined,
): (item: JsonValue) => JsonValue | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return none;
  const before = new Map<string, JsonValue>();
  for (const item of old) {
    const key = itemKey(item, schema);
    if (key !== undefined) before.set(key, item);
  }
  return (item) => {
    const key = itemKey(item, schema);
    return key === undefined ? undefined : before.get(key);
  };
}
