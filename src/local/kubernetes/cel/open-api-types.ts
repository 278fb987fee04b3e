// Types of expressions by the schemas that the server publishes, built-in types included.
import { definition } from '../schema/definitions.ts';
import type { Schema } from '../schema/schema.ts';
import { escapeName } from './field-names.ts';
import { bool, type CelType, dyn, int, listOf, mapOf, text } from './types.ts';

const stringTypes: Readonly<Record<string, CelType>> = {
  byte: { kind: 'bytes' },
  date: { kind: 'timestamp' },
  'date-time': { kind: 'timestamp' },
  duration: { kind: 'duration' },
};

const known = new WeakMap<Schema, CelType>();

/** The type of a schema; what a field is, is looked up when it is asked for, since types refer to themselves. */
export function openApiType(schema: Schema): CelType {
  let found = known.get(schema);
  if (!found) {
    found = typeOf(schema);
    known.set(schema, found);
  }
  return found;
}

function typeOf(schema: Schema): CelType {
  const [only, ...more] = schema.allOf ?? [];
  if (schema.$ref !== undefined) return openApiType(definition(schema.$ref));
  if (only && more.length === 0) return openApiType(only);
  if (schema['x-kubernetes-int-or-string']) return dyn;
  switch (schema.type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return listOf(schema.items ? openApiType(schema.items) : dyn);
    case 'integer':
      return int;
    case 'number':
      return { kind: 'double' };
    case 'boolean':
      return bool;
    case 'string':
      return stringTypes[schema.format ?? ''] ?? text;
    default:
      return dyn;
  }
}

function objectType({ properties, additionalProperties }: Schema): CelType {
  if (typeof additionalProperties === 'object') return mapOf(text, openApiType(additionalProperties));
  if (!properties) return dyn;
  const fields = new Map(Object.entries(properties).map(([name, schema]) => [escapeName(name) ?? '', schema]));
  return {
    kind: 'object',
    name: 'object',
    field(name) {
      const schema = fields.get(name);
      return schema && openApiType(schema);
    },
  };
}
