// Pruning: what a custom resource's schema does not name goes. A copy is made of everything that defaults may be put in.
import type { JsonObject, JsonValue } from '../object.ts';
import { isObject } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';

/** Sets a member of any name, `__proto__` included. */
export function put(object: JsonObject, member: string, value: JsonValue): void {
  if (member === '__proto__') {
    Object.defineProperty(object, member, { value, enumerable: true, writable: true, configurable: true });
  } else object[member] = value;
}

/** The schema of a member; true where the member is kept as it is, undefined where it goes. */
export function memberSchema(schema: Schema, member: string): Schema | true | undefined {
  const { properties, additionalProperties } = schema;
  if (properties && Object.hasOwn(properties, member)) return properties[member];
  if (typeof additionalProperties === 'object') return additionalProperties;
  return additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] ? true : undefined;
}

const ofEveryObject = new Set(['apiVersion', 'kind', 'metadata']);

/** Cuts the metadata of an object within the object down to what metadata has. Undefined where nothing is left. */
export type MetadataReader = (metadata: JsonValue, path: string) => JsonValue | undefined;

/**
 * A copy without what the schema does not name. `unknown` gets the paths of what went, `metadata` reads that of embedded
 * resources.
 */
export function prune(
  value: JsonValue,
  schema: Schema,
  metadata: MetadataReader,
  unknown: string[] = [],
  path = '',
): JsonValue {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return value;
    return value.map((item, index) => prune(item, items, metadata, unknown, `${path}[${index}]`));
  }
  if (!isObject(value)) return value;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const kept: JsonObject = {};
  for (const [member, content] of Object.entries(value)) {
    const at = path === '' ? member : `${path}.${member}`;
    if (embedded && ofEveryObject.has(member)) {
      const own = member === 'metadata' ? metadata(content, at) : content;
      if (own !== undefined) kept[member] = own;
      continue;
    }
    const found = memberSchema(schema, member);
    if (found === undefined) unknown.push(at);
    else put(kept, member, found === true ? content : prune(content, found, metadata, unknown, at));
  }
  return kept;
}
