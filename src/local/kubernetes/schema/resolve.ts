// Walking schemas: built-ins refer to definitions by name (`$ref`), custom resources are written out whole.
import { definition } from './definitions.ts';
import type { Schema } from './schema.ts';

const targets = new WeakMap<Schema, Schema>();

/**
 * The schema itself, or the definition it refers to. What stands beside `$ref` (default, patch strategy, map type) belongs to
 * the reference and is read there. The same reference always gives the same object, so that others may cache by it.
 */
export function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  let target = targets.get(schema);
  if (!target) {
    target = definition(schema.$ref);
    targets.set(schema, target);
  }
  return target;
}

/** The schema of an object's member as written there (not resolved): a property, else that of additional members, else undefined. */
export function childSchema(schema: Schema, member: string): Schema | undefined {
  const { properties, additionalProperties } = resolve(schema);
  if (properties && Object.hasOwn(properties, member)) return properties[member];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** The schema of an array's items as written there (not resolved). */
export function itemSchema(schema: Schema): Schema | undefined {
  return resolve(schema).items;
}
