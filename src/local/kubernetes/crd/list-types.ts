// Lists that are sets or maps hold nothing twice.
import type { JsonObject, JsonValue } from '../object.ts';
import { isObject } from '../schema/decode.ts';
import { duplicate } from '../schema/field-errors.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { itemKey } from './correlate.ts';
import { memberSchema } from './prune.ts';

/** Text that is the same for equal values. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join(',')}}`;
}

function keysOf(item: JsonValue, schema: Schema): JsonObject {
  const shown: JsonObject = {};
  if (!isObject(item)) return shown;
  for (const key of [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort()) {
    const value = item[key];
    if (value !== undefined) shown[key] = value;
  }
  return shown;
}

function repeats(items: readonly JsonValue[], schema: Schema, path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  const seen = new Map<string, number>();
  const found: FieldError[] = [];
  items.forEach((item, index) => {
    const key = type === 'set' ? canonical(item) : itemKey(item, schema);
    if (key === undefined) return;
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    if (times === 1) found.push(duplicate(`${path}[${index}]`, type === 'set' ? item : keysOf(item, schema)));
  });
  return found;
}

/** The items that stand twice in any list where they may not. */
export function validateListTypes(value: JsonValue, schema: Schema, path = ''): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const inner = items ? value.flatMap((item, index) => validateListTypes(item, items, `${path}[${index}]`)) : [];
    return [...repeats(value, schema, path), ...inner];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([member, content]) => {
    if (typeof content !== 'object' || content === null) return [];
    const child = memberSchema(schema, member);
    if (child === undefined || child === true) return [];
    const named = schema.properties !== undefined && Object.hasOwn(schema.properties, member);
    return validateListTypes(
      content,
      child,
      named ? (path === '' ? member : `${path}.${member}`) : `${path}[${member}]`,
    );
  });
}
