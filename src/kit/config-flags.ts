import type { Field } from './config-schema.ts';
import type { ConfigProblem } from './config-value.ts';
import { nearest } from './nearest.ts';

/** A setting given by a flag. */
export interface GivenFlag {
  readonly field: Field;
  readonly name: string;
  /** More than one only for a list. */
  readonly texts: string[];
  /** The text is the path of a file that holds the secret. */
  readonly isFile: boolean;
}

export interface Flags {
  readonly given: readonly GivenFlag[];
  /** What `--config` names. */
  readonly file: string | undefined;
}

type Known = { readonly field: Field; readonly isFile: boolean; readonly fixed?: 'true' | 'false' };

/**
 * Reads `--name value`, `--name=value`, `--switch` and `--no-switch`. What is unknown, lacks its value or is given twice
 * is noted; values are not checked here.
 */
export function readFlags(fields: readonly Field[], args: readonly string[], problems: ConfigProblem[]): Flags {
  const known = knownFlags(fields);
  const given = new Map<string, GivenFlag>();
  let file: string | undefined;

  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    const equals = arg.indexOf('=');
    const name = equals === -1 ? arg : arg.slice(0, equals);
    const next = args[i + 1];
    const nextIsValue = equals === -1 && next !== undefined && !next.startsWith('--');
    const problem = (text: string): void => {
      problems.push({ name, source: { kind: 'flag', name }, text });
    };

    if (!name.startsWith('--')) {
      problems.push({
        name: '',
        source: undefined,
        text: `argument ${i + 1} is not a flag; settings are given as --name value`,
      });
      continue;
    }
    const flag = known.get(name);
    if (!flag && name !== '--config') {
      problem(refusal(name, fields, known));
      // Its value, if that is what follows, is left out: it would be reported as a second problem, in clear.
      if (nextIsValue) i++;
      continue;
    }
    const isSwitch = flag?.fixed === 'false' || (flag?.field.form === 'boolean' && next !== 'true' && next !== 'false');
    const text = equals !== -1 ? arg.slice(equals + 1) : isSwitch ? flag?.fixed : nextIsValue ? next : undefined;
    if (equals === -1 && !isSwitch && nextIsValue) i++;
    if (flag?.fixed === 'false' && equals !== -1) problem('takes no value');
    else if (text === undefined) problem('needs a value');
    else if (!flag) {
      if (file !== undefined) problem('is given more than once');
      file = text;
    } else {
      const before = given.get(flag.field.name);
      if (before && (flag.field.form !== 'list' || before.name !== name)) problem('is given more than once');
      else if (before) before.texts.push(text);
      else given.set(flag.field.name, { field: flag.field, name, texts: [text], isFile: flag.isFile });
    }
  }
  return { given: [...given.values()], file };
}

function knownFlags(fields: readonly Field[]): Map<string, Known> {
  const known = new Map<string, Known>();
  for (const field of fields) {
    if (field.form === 'none') continue;
    if (field.form === 'secret') known.set(`${field.flag}-file`, { field, isFile: true });
    else if (field.form === 'boolean') {
      known.set(field.flag, { field, isFile: false, fixed: 'true' });
      known.set(`--no-${field.flag.slice(2)}`, { field, isFile: false, fixed: 'false' });
    } else known.set(field.flag, { field, isFile: false });
  }
  return known;
}

function refusal(name: string, fields: readonly Field[], known: ReadonlyMap<string, Known>): string {
  const field = fields.find((one) => one.flag === name);
  if (field?.form === 'secret') {
    return `cannot be given on the command line, where others can see it; use ${name}-file or ${field.env}`;
  }
  if (field) return `can only be set in the file, as ${field.name}`;
  const near = nearest(name, [...known.keys(), '--config']);
  return `is not a known flag${near ? `; did you mean ${near}?` : ''}`;
}
