import type { TSchema } from 'typebox';
import { allowedText, type Field, fieldsOf } from './config-schema.ts';

/** A schema as documentation for a terminal: every setting with its flag, variable, what is allowed and its default. */
export function describeConfig(schema: TSchema): string {
  const lines = [
    'Settings, strongest first: flags, environment, the YAML file named by --config or ARO_CONFIG, defaults.',
    '',
  ];
  for (const field of fieldsOf(schema)) lines.push(...describe(field), '');
  return lines.join('\n').trimEnd();
}

function describe(field: Field): string[] {
  const { schema, name, required } = field;
  const standing =
    schema.default !== undefined ? `default ${JSON.stringify(schema.default)}` : required ? 'required' : 'optional';
  return [
    `  ${name}: ${allowedText(schema)} (${standing})`,
    ...(schema.description ? [`      ${schema.description}`] : []),
    `      ${ways(field).join('   ')}`,
  ];
}

function ways({ flag, env, form }: Field): string[] {
  if (form === 'none') return ['in the file only'];
  if (form === 'secret') return [`${flag}-file`, env, `${env}_FILE`];
  return [form === 'boolean' ? `${flag}, --no-${flag.slice(2)}` : flag, env];
}
