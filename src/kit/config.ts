import type { Static, TSchema } from 'typebox';
import { type ConfigFile, ConfigFileError, isMapping, readConfigFile } from './config-file.ts';
import { type GivenFlag, readFlags } from './config-flags.ts';
import { allowedText, envPrefix, type Field, fieldsOf, isSection, type SettingSchema } from './config-schema.ts';
import { fromText, unreadable } from './config-text.ts';
import {
  type ConfigProblem,
  defaultOf,
  type Place,
  readSecretFile,
  readValue,
  refused,
  type Source,
  unknownKey,
  wrong,
} from './config-value.ts';
import { nearest } from './nearest.ts';

export interface ConfigInput {
  /** The command line after the command's name: `--listen-port 8443 --config aro.yaml`. */
  readonly flags?: readonly string[];
  /** `process.env`, as a rule. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The YAML file, unless `--config` or `ARO_CONFIG` name one. */
  readonly file?: string;
  /** Variables that begin with `ARO_` and belong to something else. */
  readonly otherEnv?: readonly string[];
}

/** The configuration was refused. `message` lists every problem, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map((problem) => `  ${lineOf(problem)}`);
    super(
      `the configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines.join('\n')}`,
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const configVariable = `${envPrefix}CONFIG`;

interface Given {
  readonly value: unknown;
}

/**
 * Configuration from flags, environment and file, in that order of precedence, then the schema's defaults. Text of flags
 * and variables is converted by the setting's type; what the file holds is taken as it is. Everything that was given is
 * checked, also what something stronger overrides. Throws {@link ConfigError} with all problems at once.
 */
export function loadConfig<Schema extends TSchema>(schema: Schema, input: ConfigInput): Static<Schema> {
  const fields = fieldsOf(schema);
  const problems: ConfigProblem[] = [];
  const env = input.env ?? {};
  const flags = readFlags(fields, input.flags ?? [], problems);
  const path = flags.file ?? env[configVariable] ?? input.file;

  const stronger = [fromFlags(flags.given, problems), fromEnv(fields, env, new Set(input.otherEnv), problems)];
  const file = path ? fromFile(schema as SettingSchema, fields, path, problems) : new Map<string, Given>();
  // What seems to be missing may well stand in a file that could not be read.
  if (!file) throw new ConfigError(problems);
  const layers: readonly ReadonlyMap<string, Given>[] = [...stronger, file];
  const given = (name: string): Given | undefined => layers.find((layer) => layer.has(name))?.get(name);
  const config = assemble(schema as SettingSchema, [], fields, given, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return config as Static<Schema>;
}

/** `listen.port (ARO_LISTEN_PORT): is "x", allowed is a whole number`. */
function lineOf({ name, source, text }: ConfigProblem): string {
  const where =
    source?.kind === 'file' ? `${source.path}${source.line === undefined ? '' : `:${source.line}`}` : source?.name;
  const label = [name, where && where !== name ? `(${where})` : ''].filter((part) => part !== '').join(' ');
  return label === '' ? text : `${label} ${text}`;
}

function fromFlags(given: readonly GivenFlag[], problems: ConfigProblem[]): Map<string, Given> {
  const values = new Map<string, Given>();
  for (const { field, name, texts, isFile } of given) {
    const place = placeOf(field, { kind: 'flag', name }, problems);
    const text = texts.join(',');
    values.set(field.name, { value: isFile ? readSecretFile(text, place) : readText(field, text, place) });
  }
  return values;
}

function fromEnv(
  fields: readonly Field[],
  env: Readonly<Record<string, string | undefined>>,
  other: ReadonlySet<string>,
  problems: ConfigProblem[],
): Map<string, Given> {
  const values = new Map<string, Given>();
  const byName = new Map(fields.filter((field) => field.form !== 'none').map((field) => [field.env, field]));
  const secretFiles = new Map(
    fields.filter((field) => field.form === 'secret').map((field) => [`${field.env}_FILE`, field]),
  );
  const known = [...byName.keys(), ...secretFiles.keys(), configVariable];
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith(envPrefix) || name === configVariable || other.has(name)) continue;
    const source: Source = { kind: 'env', name };
    const field = byName.get(name) ?? secretFiles.get(name);
    if (!field) {
      const near = nearest(name, known);
      problems.push({ name, source, text: `is not a setting${near ? `; did you mean ${near}?` : ''}` });
      continue;
    }
    const place = placeOf(field, source, problems);
    const isFile = !byName.has(name);
    if (values.has(field.name)) {
      problems.push({
        name: field.name,
        source,
        text: `is also given as ${isFile ? field.env : `${field.env}_FILE`}; keep one of them`,
      });
    }
    values.set(field.name, { value: isFile ? readSecretFile(text, place) : readText(field, text, place) });
  }
  return values;
}

/** Undefined for a file that cannot be read, which is then among the problems. */
function fromFile(
  schema: SettingSchema,
  fields: readonly Field[],
  path: string,
  problems: ConfigProblem[],
): Map<string, Given> | undefined {
  const values = new Map<string, Given>();
  let file: ConfigFile;
  try {
    file = readConfigFile(path);
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    problems.push({ name: '', source: { kind: 'file', path, line: error.line }, text: error.message });
    return undefined;
  }
  const byName = new Map(fields.map((field) => [field.name, field]));
  const sourceOf = (at: readonly (string | number)[]): Source => ({ kind: 'file', path, line: file.lineOf(at) });

  const walk = (section: SettingSchema, value: unknown, at: readonly string[]): void => {
    const place: Place = { path: at, sourceOf, problems };
    // A section whose settings are all commented out is empty.
    if (value === null) return;
    if (!isMapping(value)) {
      wrong(section, value, place);
      return;
    }
    const properties = section.properties ?? {};
    for (const [key, inner] of Object.entries(value)) {
      const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
      const innerPath = [...at, key];
      const field = byName.get(innerPath.join('.'));
      if (!known) unknownKey(key, Object.keys(properties), place);
      else if (isSection(known)) walk(known, inner, innerPath);
      else if (field) values.set(field.name, { value: readValue(known, inner, { ...place, path: innerPath }) });
    }
  };
  walk(schema, file.value, []);
  return values;
}

function readText(field: Field, text: string, place: Place): unknown {
  const value = fromText(field.schema, text);
  return value === unreadable ? wrong(field.schema, text, place) : readValue(field.schema, value, place);
}

function placeOf(field: Field, source: Source, problems: ConfigProblem[]): Place {
  return { path: field.path, sourceOf: () => source, problems };
}

/** Puts the object together: what was given, else the default; a section that is optional and not touched stays away. */
function assemble(
  section: SettingSchema,
  path: readonly string[],
  fields: readonly Field[],
  given: (name: string) => Given | undefined,
  problems: ConfigProblem[],
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(section.properties ?? {})) {
    const at = [...path, key];
    const name = at.join('.');
    const required = section.required?.includes(key) ?? false;
    if (isSection(schema)) {
      const touched = fields.some((field) => field.name.startsWith(`${name}.`) && given(field.name));
      if (required || touched) out[key] = assemble(schema, at, fields, given, problems);
      continue;
    }
    const found = given(name);
    if (found) {
      if (found.value !== refused) out[key] = found.value;
    } else if (schema.default !== undefined) out[key] = defaultOf(schema);
    else if (required) problems.push({ name, source: undefined, text: missing(fields, name, schema) });
  }
  return out;
}

function missing(fields: readonly Field[], name: string, schema: SettingSchema): string {
  const field = fields.find((one) => one.name === name);
  const ways =
    field === undefined || field.form === 'none'
      ? `${name} in the file`
      : `${field.flag}${field.form === 'secret' ? '-file' : ''}, ${field.env}, or ${name} in the file`;
  return `is required: set ${ways} to ${allowedText(schema)}`;
}
