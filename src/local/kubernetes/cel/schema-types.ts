// What schemas of custom resources say of the types in expressions, and how values of them are read.
import type { JsonValue } from '../object.ts';
import { isObject } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';
import { escapeName } from './field-names.ts';
import { mappingOf, mapShape, type Reader, readAny, type Shape, scalarReader } from './json-values.ts';
import { type CelType, dyn, listOf, mapOf, text } from './types.ts';
import { CelError, type CelValue, isMapping, List, Uint } from './values.ts';

export interface SchemaType {
  readonly type: CelType;
  readonly read: Reader;
}

const anything: SchemaType = { type: dyn, read: readAny };

const stringTypes: Readonly<Record<string, CelType['kind']>> = {
  byte: 'bytes',
  duration: 'duration',
  date: 'timestamp',
  'date-time': 'timestamp',
};

const known = new WeakMap<Schema, SchemaType>();
const knownRoots = new WeakMap<Schema, SchemaType>();

/** The type of a schema. `root`: of a whole object, which has a version, a kind and a name whatever its schema says. */
export function schemaType(schema: Schema, root = false): SchemaType {
  const cache = root ? knownRoots : known;
  let found = cache.get(schema);
  if (!found) {
    found = makeType(root ? asResource(schema) : schema);
    cache.set(schema, found);
  }
  return found;
}

const named: Schema = {
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
};

const asResource = (schema: Schema): Schema => ({
  ...schema,
  properties: { ...schema.properties, apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: named },
});

function makeType(schema: Schema): SchemaType {
  if (schema['x-kubernetes-int-or-string']) return anything;
  switch (schema.type) {
    case 'object':
      return objectType(schema['x-kubernetes-embedded-resource'] ? asResource(schema) : schema);
    case 'array':
      return arrayType(schema);
    case 'integer':
      return scalar('int', undefined);
    case 'number':
      return scalar('double', undefined);
    case 'boolean':
      return scalar('bool', undefined);
    case 'string':
      return scalar(stringTypes[schema.format ?? ''] ?? 'string', schema.format);
    default:
      return anything;
  }
}

const scalar = (kind: CelType['kind'], format: string | undefined): SchemaType => ({
  type: { kind } as CelType,
  read: scalarReader(kind, format),
});

let objects = 0;

function objectType(schema: Schema): SchemaType {
  const { properties = {}, additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    const value = schemaType(additionalProperties);
    const shape = mapShape((json) => value.read(json));
    return { type: mapOf(text, value.type), read: (json) => (isObject(json) ? mappingOf(json, shape) : refused(json)) };
  }
  const members = new Map<string, string>();
  const fields = new Map<string, string>();
  for (const name of Object.keys(properties)) {
    const field = escapeName(name);
    if (field === undefined) continue;
    members.set(field, name);
    fields.set(name, field);
  }
  objects += 1;
  const name = `selfType${objects}`;
  const shape: Shape = {
    name,
    member: (field) => members.get(field),
    // What has no name in expressions still counts when objects are compared.
    field: (member) => fields.get(member) ?? member,
    reader: (member) => schemaType(properties[member] ?? {}).read,
  };
  return {
    type: {
      kind: 'object',
      name,
      field(field) {
        const member = members.get(field);
        return member === undefined ? undefined : schemaType(properties[member] ?? {}).type;
      },
    },
    read: (json) => (isObject(json) ? mappingOf(json, shape) : refused(json)),
  };
}

function refused(json: JsonValue): CelValue {
  if (json === null) return null;
  throw new CelError('invalid data, expected another type');
}

/** Text that is the same for equal items. */
function identityText(item: CelValue): string {
  if (item instanceof Uint) return `n${item.value}`;
  if (item instanceof List) return `[${item.items.map(identityText).join(',')}]`;
  if (isMapping(item)) {
    const entries = item.keys().map((key) => `${identityText(key)}:${identityText(item.get(key) ?? null)}`);
    return `{${entries.sort().join(',')}}`;
  }
  if (typeof item === 'object' && item !== null && 'nanos' in item) return `t${item.nanos}`;
  return `${typeof item === 'bigint' ? 'number' : typeof item} ${String(item)}`;
}

/** Of lists that are sets or maps, what tells items apart. */
function identityOf(schema: Schema): ((item: CelValue) => string) | undefined {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return identityText;
  if (type !== 'map') return undefined;
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeName(key) ?? key);
  return (item) => (isMapping(item) ? keys.map((key) => identityText(item.get(key) ?? null)).join('\n') : '');
}

function arrayType(schema: Schema): SchemaType {
  const items = schemaType(schema.items ?? {});
  const identity = identityOf(schema);
  return {
    type: listOf(items.type),
    read: (json) => (Array.isArray(json) ? new List(json.map(items.read), identity) : refused(json)),
  };
}
