// Finds what is wrong with a value by walking schema and value together. The compiled check says whether; this says what.
import { createRequire } from 'node:module';
import { countedMax, type FieldError, fieldMessage, memberOf } from './field-error.ts';

// As in check-body.ts: the library is loaded when it is first needed.
const load = createRequire(import.meta.url);

/** The keywords that schemas here use. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  /** Its value, and whatever is inside it, is never shown. */
  readonly 'x-ms-secret'?: boolean;
  /** What to say instead of the bare pattern. */
  readonly 'x-ms-pattern-message'?: string;
}

/** Errors in the order of the schema's members, then of the value's unknown ones. Stops at one more than are counted. */
export function findErrors(schema: JsonSchema, value: unknown): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, '', { errors, secret: false });
  return errors;
}

/** What has been found so far, and whether the place is inside a secret. */
interface Search {
  readonly errors: FieldError[];
  readonly secret: boolean;
}

function isFull({ errors }: Search): boolean {
  return errors.length > countedMax;
}

/** One word of a secret in any part of a schema counts for the whole value, since each part would show it. */
function isSecret(schema: JsonSchema): boolean {
  if (schema['x-ms-secret'] === true) return true;
  return (schema.allOf?.some(isSecret) || schema.anyOf?.some(isSecret) || schema.oneOf?.some(isSecret)) ?? false;
}

function visit(schema: JsonSchema, value: unknown, target: string, outer: Search): void {
  if (isFull(outer)) return;
  const { errors } = outer;
  const search: Search = outer.secret || !isSecret(schema) ? outer : { errors, secret: true };
  const add = (message: string): void => void errors.push({ target, message });
  const shown = search.secret ? undefined : value;
  if (value === undefined) {
    add(fieldMessage.required());
    return;
  }
  if (value === null && schema.nullable === true) return;
  if (schema.type !== undefined && !hasType(schema.type, value)) {
    add(
      value === null && !search.secret
        ? fieldMessage.invalid(null, `must be ${article(schema.type)}, not null`)
        : fieldMessage.invalid(shown, `must be ${article(schema.type)}`),
    );
    return;
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) add(fieldMessage.unsupported(shown, schema.enum));
  if (schema.const !== undefined && schema.const !== value) add(fieldMessage.unsupported(shown, [schema.const]));
  if (typeof value === 'string') visitText(schema, value, shown, add);
  else if (typeof value === 'number') visitNumber(schema, value, shown, add);
  else if (Array.isArray(value)) visitArray(schema, value, target, search, add);
  else if (typeof value === 'object' && value !== null) {
    visitObject(schema, value as Readonly<Record<string, unknown>>, target, search, add);
  }
  for (const part of schema.allOf ?? []) visit(part, value, target, search);
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) visitUnion(branches, value, shown, target, search);
}

/** Reports the branch that the value comes nearest to, not every branch. */
function visitUnion(
  branches: readonly JsonSchema[],
  value: unknown,
  shown: unknown,
  target: string,
  { errors, secret }: Search,
): void {
  const constants = branches.map((branch) => branch.const);
  const outcomes = branches.map((branch) => {
    const found: FieldError[] = [];
    visit(branch, value, target, { errors: found, secret });
    return { branch, found };
  });
  if (outcomes.some(({ found }) => found.length === 0)) return;
  if (constants.every((constant) => constant !== undefined)) {
    errors.push({ target, message: fieldMessage.unsupported(shown, constants) });
    return;
  }
  const sameKind = outcomes.filter(({ branch }) => branch.type === undefined || hasType(branch.type, value));
  if (sameKind.length === 0) {
    const kinds = [...new Set(branches.map((branch) => article(branch.type ?? 'value')))];
    errors.push({ target, message: fieldMessage.invalid(shown, `must be ${kinds.join(' or ')}`) });
    return;
  }
  // A branch whose constants (its discriminator) all match is meant, whatever else is wrong in it.
  const distance = ({ branch, found }: (typeof outcomes)[number]): number =>
    found.length + 10 * countedMax * mismatchedConstants(branch, value);
  const nearest = sameKind.reduce((best, next) => (distance(next) < distance(best) ? next : best));
  const discriminator = discriminatorOf(sameKind.map(({ branch }) => branch));
  if (discriminator !== undefined && mismatchedConstants(nearest.branch, value) > 0) {
    const { name, constants } = discriminator;
    const given = own(value as object, name);
    const hidden = secret || sameKind.some(({ branch }) => isSecret(branch.properties?.[name] ?? {}));
    const message =
      given === undefined ? fieldMessage.required() : fieldMessage.unsupported(hidden ? undefined : given, constants);
    errors.push({ target: memberOf(target, name), message });
    return;
  }
  errors.push(...nearest.found.slice(0, countedMax + 1 - errors.length));
}

function mismatchedConstants(branch: JsonSchema, value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const [name, member] of Object.entries(branch.properties ?? {})) {
    if (member.const !== undefined && own(value, name) !== member.const) count++;
  }
  return count;
}

/** The member that tells the branches apart: one that is a constant in all of them. */
function discriminatorOf(
  branches: readonly JsonSchema[],
): { readonly name: string; readonly constants: readonly unknown[] } | undefined {
  const [first] = branches;
  for (const name of Object.keys(first?.properties ?? {})) {
    const constants = branches.map((branch) => branch.properties?.[name]?.const);
    if (constants.every((constant) => constant !== undefined)) return { name, constants: [...new Set(constants)] };
  }
  return undefined;
}

function visitText(schema: JsonSchema, value: string, shown: unknown, add: (message: string) => void): void {
  if (schema.maxLength !== undefined && value.length > schema.maxLength && lengthOf(value) > schema.maxLength) {
    add(fieldMessage.tooLong(schema.maxLength));
    return;
  }
  if (schema.minLength !== undefined && lengthOf(value) < schema.minLength) {
    add(
      value === ''
        ? fieldMessage.required()
        : fieldMessage.invalid(shown, `must have at least ${schema.minLength} characters`),
    );
    return;
  }
  if (schema.pattern !== undefined && !regExp(schema.pattern).test(value)) {
    add(fieldMessage.invalid(shown, schema['x-ms-pattern-message'] ?? `must match ${schema.pattern}`));
  }
  if (schema.format !== undefined && !hasFormat(schema.format, value)) {
    add(fieldMessage.invalid(shown, `must be a valid ${schema.format}`));
  }
}

const numberRules = [
  ['minimum', (value: number, limit: number) => value >= limit, 'greater than or equal to'],
  ['maximum', (value: number, limit: number) => value <= limit, 'less than or equal to'],
  ['exclusiveMinimum', (value: number, limit: number) => value > limit, 'greater than'],
  ['exclusiveMaximum', (value: number, limit: number) => value < limit, 'less than'],
  ['multipleOf', (value: number, limit: number) => value % limit === 0, 'a multiple of'],
] as const;

function visitNumber(schema: JsonSchema, value: number, shown: unknown, add: (message: string) => void): void {
  for (const [keyword, fits, words] of numberRules) {
    const limit = schema[keyword];
    if (limit !== undefined && !fits(value, limit)) add(fieldMessage.invalid(shown, `must be ${words} ${limit}`));
  }
}

function visitArray(
  schema: JsonSchema,
  value: readonly unknown[],
  target: string,
  search: Search,
  add: (message: string) => void,
): void {
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    add(fieldMessage.tooMany(value.length, schema.maxItems));
    return;
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    add(fieldMessage.invalid(value, `must have at least ${schema.minItems} items`));
  }
  const { items } = schema;
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      visit(items, item, `${target}[${index}]`, search);
      if (isFull(search)) return;
    }
  }
  if (schema.uniqueItems !== true) return;
  const hidden = search.secret || (items !== undefined && isSecret(items));
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const text = JSON.stringify(item);
    if (seen.has(text)) {
      search.errors.push({
        target: `${target}[${index}]`,
        message: fieldMessage.duplicate(hidden ? undefined : item),
      });
      if (isFull(search)) return;
    }
    seen.add(text);
  }
}

function visitObject(
  schema: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  target: string,
  search: Search,
  add: (message: string) => void,
): void {
  const { errors } = search;
  const properties = schema.properties ?? {};
  const required = new Set(schema.required ?? []);
  for (const [name, member] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) visit(member, value[name], memberOf(target, name), search);
    else if (required.has(name)) errors.push({ target: memberOf(target, name), message: fieldMessage.required() });
  }
  for (const name of required) {
    if (!Object.hasOwn(properties, name) && !Object.hasOwn(value, name)) {
      errors.push({ target: memberOf(target, name), message: fieldMessage.required() });
    }
  }
  const names = Object.keys(value);
  if (schema.maxProperties !== undefined && names.length > schema.maxProperties) {
    add(fieldMessage.tooMany(names.length, schema.maxProperties));
  }
  if (schema.minProperties !== undefined && names.length < schema.minProperties) {
    add(fieldMessage.invalid(value, `must have at least ${schema.minProperties} members`));
  }
  const others = schema.additionalProperties;
  if (others === undefined || others === true) return;
  for (const name of names) {
    if (isFull(search)) return;
    if (Object.hasOwn(properties, name)) continue;
    if (others === false)
      errors.push({ target: memberOf(target, name), message: fieldMessage.forbidden('unknown field') });
    else visit(others, value[name], `${target}[${memberOf('', name).replace(/^\[|\]$/g, '')}]`, search);
  }
}

function hasType(type: string | readonly string[], value: unknown): boolean {
  if (typeof type !== 'string') return type.some((one) => hasType(one, value));
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function article(type: string | readonly string[]): string {
  if (typeof type !== 'string') return type.map((one) => article(one)).join(' or ');
  if (type === 'null') return 'null';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function own(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** In characters as people count code points, which no longer text can exceed in UTF-16 units. */
function lengthOf(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const expressions = new Map<string, RegExp>();

function regExp(pattern: string): RegExp {
  let expression = expressions.get(pattern);
  if (!expression) {
    expression = new RegExp(pattern, 'u');
    expressions.set(pattern, expression);
  }
  return expression;
}

function hasFormat(format: string, value: string): boolean {
  const { Format } = load('typebox/format') as typeof import('typebox/format');
  return Format.Test(format, value);
}
