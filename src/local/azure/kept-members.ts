// What of a body is kept as it was sent, for types that have few rules of their own.
import type { Json, JsonObject } from './kernel/record.ts';

/** Written by the kernel, or by a type's own rules. */
const notKept = new Set(['id', 'name', 'type', 'systemData', 'etag', 'properties']);

/** The members beside `properties`: location, tags, sku, kind, identity, zones. Those that are null count as left out. */
export function membersBeside(body: JsonObject): { [member: string]: Json } {
  const kept: { [member: string]: Json } = {};
  for (const [name, value] of Object.entries(body))
    if (!notKept.has(name) && value !== null && value !== undefined) kept[name] = value;
  return kept;
}

/** The properties without nulls at their top and without the members that only the server writes. */
export function sentProperties(body: JsonObject, readOnly: readonly string[] = []): { [member: string]: Json } {
  const kept: { [member: string]: Json } = {};
  for (const [name, value] of Object.entries(objectOf(body.properties))) {
    if (value !== null && value !== undefined && name !== 'provisioningState' && !readOnly.includes(name))
      kept[name] = value;
  }
  return kept;
}

/** The value when it is an object, else an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
