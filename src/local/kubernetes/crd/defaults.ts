// Defaults that schemas of custom resources give, and nulls that they do not take.
import type { JsonObject, JsonValue } from '../object.ts';
import { isObject } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';
import { memberSchema, put } from './prune.ts';

const withDefaults = new WeakMap<Schema, boolean>();

/** Whether there is a default anywhere below a schema. */
function hasDefaults(schema: Schema): boolean {
  let known = withDefaults.get(schema);
  if (known === undefined) {
    const { properties, items, additionalProperties } = schema;
    known =
      Object.values(properties ?? {}).some((child) => child.default !== undefined || hasDefaults(child)) ||
      (items !== undefined && hasDefaults(items)) ||
      (typeof additionalProperties === 'object' && hasDefaults(additionalProperties));
    withDefaults.set(schema, known);
  }
  return known;
}

const copied = (value: JsonValue): JsonValue =>
  typeof value === 'object' && value !== null ? structuredClone(value) : value;

/** Fills in what is missing, or null where null may not be. Changes the value. */
export function applyDefaults(value: JsonValue, schema: Schema): void {
  if (!hasDefaults(schema)) return;
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) applyDefaults(item, schema.items);
    return;
  }
  if (!isObject(value)) return;
  for (const [member, child] of Object.entries(schema.properties ?? {})) {
    if (child.default === undefined) continue;
    const present = Object.hasOwn(value, member);
    if (!present || (value[member] === null && !child.nullable)) put(value, member, copied(child.default));
  }
  for (const [member, content] of Object.entries(value)) {
    const child = memberSchema(schema, member);
    if (child !== undefined && child !== true) applyDefaults(content, child);
  }
}

/** Takes away members that are null and may not be. Changes the value. */
export function dropNulls(value: JsonValue, schema: Schema): void {
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) dropNulls(item, schema.items);
    return;
  }
  if (!isObject(value)) return;
  for (const [member, content] of Object.entries(value)) {
    const child = memberSchema(schema, member);
    if (child === undefined || child === true) continue;
    if (content === null) {
      if (!child.nullable && child.default === undefined && isTyped(child)) delete value[member];
    } else if (typeof content === 'object') dropNulls(content, child);
  }
}

const isTyped = (schema: Schema): boolean => schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true;

/** Both, on the members of a whole object. */
export function completeObject(object: JsonObject, schema: Schema): void {
  dropNulls(object, schema);
  applyDefaults(object, schema);
}
