import { dirname, resolve } from 'node:path';
import { Check } from 'typebox/value';
import { ConfigFileError, isMapping, readSmallFile } from './config-file.ts';
import { allowedText, type SettingSchema } from './config-schema.ts';
import { parseBytes, parseDuration, unreadable } from './config-text.ts';
import { nearest } from './nearest.ts';
import { printable } from './printable.ts';
import { Secret } from './secret.ts';
import { isSensitiveName } from './sensitive-names.ts';

/** Where a value was given. */
export type Source =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string; readonly line: number | undefined };

/** One thing that is wrong with a configuration. */
export interface ConfigProblem {
  /** The setting's dotted name, or what stood in its place. */
  readonly name: string;
  readonly source: Source | undefined;
  /** What was given and what is allowed, in one sentence; never a secret's value. */
  readonly text: string;
}

/** A value on its way into the configuration: its place in the schema and where it came from. */
export interface Place {
  readonly path: readonly (string | number)[];
  sourceOf(path: readonly (string | number)[]): Source;
  readonly problems: ConfigProblem[];
}

/** Says that a value was refused; its problem has been noted. */
export const refused = Symbol('refused');

/** Checks a typed value against its schema as it is, noting every problem, and reads secrets, durations and sizes. */
export function readValue(schema: SettingSchema, value: unknown, place: Place): unknown {
  switch (schema['x-config']) {
    case 'secret':
      return readSecret(schema, value, place);
    case 'duration':
      return readAmount(schema, value, place, parseDuration);
    case 'bytes':
      return readAmount(schema, value, place, parseBytes);
    case undefined:
  }
  if (schema.type === 'object' && (schema.properties || schema.patternProperties))
    return readObject(schema, value, place);
  if (schema.type === 'array' && schema.items) return readList(schema, schema.items, value, place);
  return Check(schema, value) ? value : wrong(schema, value, place);
}

/** Notes a value that is not allowed. */
export function wrong(schema: SettingSchema, value: unknown, place: Place): typeof refused {
  return note(place, `is ${shown(schema, value, place)}, allowed is ${allowedText(schema)}`);
}

/** Notes a key that the schema does not have. The value is not shown: a misspelt key may hold a secret. */
export function unknownKey(key: string, known: Iterable<string>, place: Place): void {
  const names = [...known];
  const near = nearest(key, names);
  const inner = { ...place, path: [...place.path, key] };
  note(inner, `is not a setting${near ? `; did you mean ${near}?` : `; known here: ${names.join(', ')}`}`);
}

function readObject(schema: SettingSchema, value: unknown, place: Place): unknown {
  if (!isMapping(value)) return wrong(schema, value, place);
  const out: Record<string, unknown> = {};
  let bad = false;
  for (const [key, given] of Object.entries(value)) {
    const known = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    const inner = known ?? patternFor(schema, key);
    if (!inner) {
      unknownKey(key, Object.keys(schema.properties ?? {}), place);
      bad = true;
      continue;
    }
    const read = readValue(inner, given, { ...place, path: [...place.path, key] });
    if (read === refused) bad = true;
    else Object.defineProperty(out, key, { value: read, enumerable: true, configurable: true, writable: true });
  }
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(out, key) || Object.hasOwn(value, key)) continue;
    if (inner.default !== undefined) out[key] = defaultOf(inner);
    else if (schema.required?.includes(key)) {
      note({ ...place, path: [...place.path, key] }, `is missing, allowed is ${allowedText(inner)}`);
      bad = true;
    }
  }
  return bad ? refused : out;
}

function readList(schema: SettingSchema, items: SettingSchema, value: unknown, place: Place): unknown {
  const { items: _, ...around } = schema;
  if (!Array.isArray(value) || !Check(around, value)) return wrong(schema, value, place);
  const out = value.map((item, index) => readValue(items, item, { ...place, path: [...place.path, index] }));
  return out.includes(refused) ? refused : out;
}

function readAmount(
  schema: SettingSchema,
  value: unknown,
  place: Place,
  parse: (text: string) => number | typeof unreadable,
): unknown {
  const amount = typeof value === 'string' ? parse(value) : unreadable;
  if (amount === unreadable) return wrong(schema, value, place);
  const fits = amount >= (schema.minimum ?? 0) && amount <= (schema.maximum ?? Number.POSITIVE_INFINITY);
  return fits ? amount : wrong(schema, value, place);
}

function readSecret(schema: SettingSchema, value: unknown, place: Place): unknown {
  if (typeof value === 'string') {
    return value === '' ? note(place, 'is empty; give the secret or leave the setting out') : new Secret(value);
  }
  const isReference = isMapping(value) && typeof value.file === 'string' && Object.keys(value).length === 1;
  return isReference ? readSecretFile(String(value.file), place) : wrong(schema, value, place);
}

/** Reads a secret from a file, without the line break that editors and `echo` leave at its end. */
export function readSecretFile(path: string, place: Place): unknown {
  const source = place.sourceOf(place.path);
  const at = source.kind === 'file' ? resolve(dirname(source.path), path) : resolve(path);
  try {
    const text = readSmallFile(at).replace(/\r?\n$/, '');
    return text === '' ? note(place, `is to be read from ${at}, which is empty`) : new Secret(text);
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    return note(place, `is to be read from ${at}, which ${error.message}`);
  }
}

/** A default as the code gets it: durations and sizes are written as text in the schema, too. */
export function defaultOf(schema: SettingSchema): unknown {
  const { default: given } = schema;
  if (typeof given !== 'string') return structuredClone(given);
  const read =
    schema['x-config'] === 'duration'
      ? parseDuration(given)
      : schema['x-config'] === 'bytes'
        ? parseBytes(given)
        : given;
  if (read === unreadable) throw new TypeError(`the default ${given} is not ${allowedText(schema)}`);
  return read;
}

function patternFor(schema: SettingSchema, key: string): SettingSchema | undefined {
  for (const [pattern, inner] of Object.entries(schema.patternProperties ?? {})) {
    if (new RegExp(pattern, 'u').test(key)) return inner;
  }
  return undefined;
}

function note(place: Place, text: string): typeof refused {
  place.problems.push({ name: place.path.join('.'), source: place.sourceOf(place.path), text });
  return refused;
}

const longestShown = 80;

function shown(schema: SettingSchema, value: unknown, place: Place): string {
  if (value === null) return 'empty';
  const hidden = schema['x-config'] === 'secret' || place.path.some((step) => isSensitiveName(String(step)));
  if (hidden) return `[redacted] (${Array.isArray(value) ? 'a list' : typeof value})`;
  const text = JSON.stringify(printable(value)) ?? typeof value;
  return text.length > longestShown ? `${text.slice(0, longestShown)}...` : text;
}
