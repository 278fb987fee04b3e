// How large values of a schema can be, from what it says or from what fits into one request.
import type { Schema } from '../../schema/schema.ts';
import { escapeName } from '../field-names.ts';
import type { Size } from './amounts.ts';
import { type FieldPath, namesOf } from './field-paths.ts';

/** The most that a request may have, in bytes. */
const largestRequest = 3 * 1024 * 1024;
/** What text takes at least: its quotes. */
const quotes = 2;
/** In UTF-8. */
const bytesPerCharacter = 4;

export interface Declared {
  /** How many characters, items or entries a value has at most; nothing where it cannot be counted. */
  readonly most: number;
  /** How many bytes of JSON a value takes at least. */
  readonly smallest: number;
  /** By the names that expressions use. */
  readonly fields?: ReadonlyMap<string, Declared>;
  /** Of lists and maps, what is in them. */
  readonly each?: Declared;
  readonly key?: Declared;
}

const scalars: ReadonlyMap<string | undefined, Declared> = new Map([
  ['boolean', { most: 0, smallest: 4 }],
  ['number', { most: 0, smallest: 1 }],
  ['integer', { most: 0, smallest: 1 }],
]);

/** Text that stands for times is as long as those are written. */
const times: ReadonlyMap<string | undefined, Declared> = new Map([
  ['duration', { most: 32, smallest: 3 }],
  ['date', { most: 12, smallest: 12 }],
  ['date-time', { most: 32, smallest: 21 }],
]);

const longestText = largestRequest - quotes;
/** The keys of maps are not estimated. */
const mapKey: Declared = { most: 0, smallest: quotes };

const known = new WeakMap<Schema, Declared | 'none'>();
const knownRoots = new WeakMap<Schema, Declared | 'none'>();

/** What a schema declares; undefined where expressions know nothing of it. `root`: of a whole object. */
export function declaredBy(schema: Schema, root = false): Declared | undefined {
  const cache = root ? knownRoots : known;
  let found = cache.get(schema);
  if (found === undefined) {
    found = declare(schema, root) ?? 'none';
    cache.set(schema, found);
  }
  return found === 'none' ? undefined : found;
}

function declare(schema: Schema, root: boolean): Declared | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    const { maxLength } = schema;
    return { most: maxLength === undefined ? longestText : bounded(maxLength) * bytesPerCharacter, smallest: 1 };
  }
  switch (schema.type) {
    case 'array':
      return list(schema);
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? map(schema, schema.additionalProperties)
        : object(root ? withOwnMembers(schema) : schema);
    case 'string':
      return text(schema);
    default:
      return scalars.get(schema.type);
  }
}

const bounded = (limit: number): number => Math.max(0, limit);

/** What stands within another schema. */
const within = (schema: Schema): Declared | undefined =>
  declaredBy(schema, schema['x-kubernetes-embedded-resource'] === true);

function list({ items, maxItems }: Schema): Declared | undefined {
  const each = items && within(items);
  if (!each) return undefined;
  const fitting = Math.floor((largestRequest - 2) / (each.smallest + 1));
  return { most: maxItems === undefined ? fitting : bounded(maxItems), smallest: 2, each };
}

function map({ maxProperties }: Schema, values: Schema): Declared | undefined {
  const each = within(values);
  if (!each) return undefined;
  const fitting = Math.floor((largestRequest - 2) / (each.smallest + 6));
  return { most: maxProperties === undefined ? fitting : bounded(maxProperties), smallest: 2, each, key: mapKey };
}

const name: Schema = { type: 'string' };

/** Every object has a version, a kind and a name, even where its schema leaves them out. */
function withOwnMembers(schema: Schema): Schema {
  const { properties = {} } = schema;
  const { apiVersion, kind, metadata } = properties;
  const texts = [apiVersion, kind, metadata?.properties?.name, metadata?.properties?.generateName];
  if (metadata?.type === 'object' && texts.every((each) => each?.type === 'string')) return schema;
  return {
    ...schema,
    properties: {
      ...properties,
      apiVersion: name,
      kind: name,
      metadata: { type: 'object', properties: { name, generateName: name } },
    },
  };
}

function object({ properties = {}, required = [] }: Schema): Declared {
  const fields = new Map<string, Declared>();
  const needed = new Set(required);
  let smallest = 2;
  for (const [member, schema] of Object.entries(properties)) {
    const declared = within(schema);
    if (!declared) continue;
    const field = escapeName(member);
    if (field !== undefined) fields.set(field, declared);
    // What has a default need not be sent.
    const sent = needed.has(member) && (schema.default === undefined || schema.default === null);
    if (sent) smallest += Buffer.byteLength(member) + declared.smallest + 4;
  }
  return { most: 0, smallest, fields };
}

function text({ format, maxLength, enum: values }: Schema): Declared {
  const time = times.get(format);
  if (time) return time;
  if (maxLength !== undefined) {
    return { most: bounded(maxLength) * (format === 'byte' ? 1 : bytesPerCharacter), smallest: quotes };
  }
  if (format === 'byte' || !values?.length) return { most: longestText, smallest: quotes };
  const lengths = values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0));
  return { most: Math.max(...lengths), smallest: quotes };
}

/** The size of what a path leads to. */
export function sizeAt(root: Declared, path: FieldPath): Size | undefined {
  let found: Declared | undefined = root;
  for (const step of namesOf(path)) {
    if (step === '@items' || step === '@values') found = found.each;
    else if (step === '@keys') found = found.key;
    else found = found.fields?.get(step);
    if (!found) return undefined;
  }
  return { least: 0, most: found.most };
}

/** How often values of a schema fit into one request, for what stands in lists and maps that nothing bounds. */
export const occurrences = ({ smallest }: Declared): number => Math.floor(largestRequest / (smallest + 1));
