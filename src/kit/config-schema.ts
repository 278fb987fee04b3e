import { type TSchema, type TUnsafe, Type } from 'typebox';
import type { Secret } from './secret.ts';

/** What a setting's schema adds to JSON Schema: types that are written as text and read as something else. */
export type SpecialKind = 'secret' | 'duration' | 'bytes';

interface Described {
  readonly description: string;
}

/**
 * A secret. In the file it is text or `{ file: path }`, read when the configuration is loaded; in the environment
 * `<NAME>` holds the text or `<NAME>_FILE` the path; as a flag there is only `--<name>-file`, since other users of a
 * machine can see the command lines of its processes.
 */
export function secret(options: Described): TUnsafe<Secret> {
  return Type.Unsafe<Secret>({ ...options, 'x-config': 'secret' });
}

export interface DurationOptions extends Described {
  readonly minimumSeconds?: number;
  readonly maximumSeconds?: number;
  readonly default?: string;
}

/** A length of time, written with units (`30s`, `5m`, `1h30m`, `250ms`, `7d`) and read as seconds. */
export function duration(options: DurationOptions): TUnsafe<number> {
  const { minimumSeconds, maximumSeconds, ...rest } = options;
  return Type.Unsafe<number>({ ...rest, 'x-config': 'duration', minimum: minimumSeconds, maximum: maximumSeconds });
}

export interface BytesOptions extends Described {
  readonly minimumBytes?: number;
  readonly maximumBytes?: number;
  readonly default?: string;
}

/** A size, written with a unit (`512KiB`, `4MiB`, `10GB`, `100B`) and read as bytes. */
export function bytes(options: BytesOptions): TUnsafe<number> {
  const { minimumBytes, maximumBytes, ...rest } = options;
  return Type.Unsafe<number>({ ...rest, 'x-config': 'bytes', minimum: minimumBytes, maximum: maximumBytes });
}

/** The parts of JSON Schema that settings are written in. */
export interface SettingSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SettingSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: SettingSchema;
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly patternProperties?: Readonly<Record<string, SettingSchema>>;
  readonly required?: readonly string[];
  readonly 'x-config'?: SpecialKind;
}

/** How a setting is written as text in a flag or a variable; `none` can only stand in a file. */
export type TextForm = SpecialKind | 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'none';

/** One setting that has a name of its own in flags, environment and file. */
export interface Field {
  /** `listen.port` is `['listen', 'port']`. */
  readonly path: readonly string[];
  readonly name: string;
  readonly schema: SettingSchema;
  readonly form: TextForm;
  /** Every section above it and the setting itself are required. */
  readonly required: boolean;
  /** `ARO_LISTEN_PORT`. */
  readonly env: string;
  /** `--listen-port`. */
  readonly flag: string;
}

export const envPrefix = 'ARO_';

/** Every setting of a schema, in its order. Throws when two of them would share a flag or a variable. */
export function fieldsOf(schema: TSchema): readonly Field[] {
  const fields: Field[] = [];
  collect(schema as SettingSchema, [], true, fields);
  const byFlag = new Map<string, string>([['--config', 'the file itself']]);
  for (const field of fields) {
    for (const flag of field.form === 'secret' ? [field.flag, `${field.flag}-file`] : [field.flag]) {
      const other = byFlag.get(flag);
      if (other) throw new TypeError(`settings ${field.name} and ${other} are both ${flag}`);
      byFlag.set(flag, field.name);
    }
  }
  return fields;
}

function collect(schema: SettingSchema, path: readonly string[], required: boolean, into: Field[]): void {
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    const at = [...path, key];
    const needed = required && (schema.required?.includes(key) ?? false);
    if (isSection(inner)) {
      collect(inner, at, needed, into);
      continue;
    }
    const words = at.flatMap(wordsOf);
    into.push({
      path: at,
      name: at.join('.'),
      schema: inner,
      form: textForm(inner),
      required: needed,
      env: envPrefix + words.join('_').toUpperCase(),
      flag: `--${words.join('-')}`,
    });
  }
}

/** A section groups settings; it is an object with fixed keys. */
export function isSection(schema: SettingSchema): boolean {
  return schema.type === 'object' && schema.properties !== undefined && schema['x-config'] === undefined;
}

/** `tlsCertFile` is tls, cert, file; `maxURLs` is max, urls. */
function wordsOf(key: string): string[] {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_]/);
}

function textForm(schema: SettingSchema): TextForm {
  if (schema['x-config']) return schema['x-config'];
  const choices = choicesOf(schema);
  if (choices) return choices.every((choice) => typeof choice === 'string') ? 'string' : 'none';
  switch (schema.type) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return schema.type;
    case 'array':
      return schema.items && ['string', 'integer', 'number'].includes(textForm(schema.items)) ? 'list' : 'none';
    default:
      return 'none';
  }
}

/** The values of an enumeration, however it is spelled. */
export function choicesOf(schema: SettingSchema): readonly unknown[] | undefined {
  if (schema.enum) return schema.enum;
  if (schema.const !== undefined) return [schema.const];
  const choices = schema.anyOf?.map((one) => one.const);
  return choices?.every((choice) => choice !== undefined) ? choices : undefined;
}

/** What a setting may be, in words. */
export function allowedText(schema: SettingSchema): string {
  const choices = choicesOf(schema);
  if (choices) return `one of ${choices.map((choice) => String(choice)).join(', ')}`;
  const special = schema['x-config'];
  if (special === 'secret') return 'text, or { file: path }';
  if (special === 'duration') return `a duration such as 30s, 5m or 1h30m${limits(schema, (n) => `${n}s`)}`;
  if (special === 'bytes') return `a size such as 512KiB or 4MiB${limits(schema, (n) => `${n}B`)}`;
  switch (schema.type) {
    case 'integer':
      return `a whole number${limits(schema, String)}`;
    case 'number':
      return `a number${limits(schema, String)}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return `text${lengths(schema.minLength, schema.maxLength, 'characters')}${schema.pattern ? ` matching ${schema.pattern}` : ''}`;
    case 'array':
      return `a list${lengths(schema.minItems, schema.maxItems, 'entries')}${schema.items ? `, each ${allowedText(schema.items)}` : ''}`;
    case 'object':
      return schema.properties ? `a section with ${Object.keys(schema.properties).join(', ')}` : 'a map';
    default:
      return schema.anyOf ? schema.anyOf.map(allowedText).join(', or ') : 'a value';
  }
}

function limits(schema: SettingSchema, unit: (n: number) => string): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return ` from ${unit(minimum)} to ${unit(maximum)}`;
  if (minimum !== undefined) return ` of at least ${unit(minimum)}`;
  if (maximum !== undefined) return ` of at most ${unit(maximum)}`;
  if (exclusiveMinimum !== undefined) return ` over ${unit(exclusiveMinimum)}`;
  return exclusiveMaximum === undefined ? '' : ` under ${unit(exclusiveMaximum)}`;
}

function lengths(minimum: number | undefined, maximum: number | undefined, what: string): string {
  if (minimum !== undefined && maximum !== undefined) return ` of ${minimum} to ${maximum} ${what}`;
  if (minimum !== undefined) return ` of at least ${minimum} ${what}`;
  return maximum === undefined ? '' : ` of at most ${maximum} ${what}`;
}
