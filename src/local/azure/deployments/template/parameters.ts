// Parameters of a template: definitions, given values, defaults and constraints.
import { randomUUID } from 'node:crypto';
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import type { Budget } from '../expressions/budget.ts';
import { type FunctionTable, func } from '../expressions/environment.ts';
import { formatTime } from '../expressions/functions/dates.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { equal, isArray, isObject, memberNames, memberOf, typeName, wantText } from '../expressions/values.ts';
import { createContext, noRuntime, type Place } from './context.ts';
import { evaluateTree } from './evaluate-tree.ts';
import type { Template } from './template.ts';

export type ParameterType = 'String' | 'SecureString' | 'Int' | 'Bool' | 'Object' | 'SecureObject' | 'Array';

export interface ParameterValue {
  readonly name: string;
  readonly type: ParameterType;
  readonly value: Json;
}

const types: { readonly [folded: string]: ParameterType } = {
  string: 'String',
  securestring: 'SecureString',
  int: 'Int',
  bool: 'Bool',
  object: 'Object',
  secureobject: 'SecureObject',
  array: 'Array',
};

const details = 'Please see https://aka.ms/arm-create-parameter-file for usage details';

export function isSecure(type: ParameterType): boolean {
  return type === 'SecureString' || type === 'SecureObject';
}

/** A definition with what the user-defined types it refers to say; its own words win. */
function wholeDefinition(definition: JsonObject, template: Pick<Template, 'definitions'>, depth = 0): JsonObject {
  const reference = memberOf(definition, '$ref');
  if (typeof reference !== 'string') return definition;
  const name = /^#\/definitions\/(.+)$/.exec(reference)?.[1];
  const target = name === undefined || depth > 16 ? undefined : memberOf(template.definitions, name);
  if (!isObject(target))
    throw new TemplateError(`The type '${reference.slice(0, 200)}' is not defined in the template`);
  return { ...wholeDefinition(target, template, depth + 1), ...definition };
}

/** The type that a definition or output names; through user-defined types. Throws TemplateError. */
export function declaredType(definition: JsonObject, template: Pick<Template, 'definitions'>): ParameterType {
  const given = memberOf(wholeDefinition(definition, template), 'type');
  const type = typeof given === 'string' ? types[foldCase(given)] : undefined;
  if (type === undefined) {
    throw new TemplateError(
      `The type '${String(given).slice(0, 64)}' is not supported. Supported types are 'String, SecureString, Int, Bool, Object, SecureObject, Array'`,
    );
  }
  return type;
}

export interface ResolveOptions {
  readonly template: Template;
  /** As in the request: each with a `value`. */
  readonly given: JsonObject;
  readonly place: Place;
  readonly deployment: JsonObject;
  /** Epoch milliseconds, of `utcNow()`. */
  readonly now: number;
  readonly budget: Budget;
}

/** Values of all parameters. Throws TemplateError. Values of secure ones are in no message. */
export function resolveParameters(options: ResolveOptions): readonly ParameterValue[] {
  const { template, given, budget } = options;
  const unknown = Object.keys(given).filter((name) => memberOf(template.parameters, name) === undefined);
  if (unknown.length > 0) {
    throw new TemplateError(
      `The template parameters '${unknown.slice(0, 20).join(', ')}' in the parameters file are not valid; they are not present in the original template and can therefore not be provided at deployment time. The only supported parameters for this template are '${memberNames(template.parameters)}'. ${details}`,
    );
  }
  const values = new Map<string, Json>();
  const resolved: ParameterValue[] = [];
  const context = createContext({ ...options, parameters: values });
  const once = onceFunctions(options.now);
  const environment = context.environment(new Map(), (name) =>
    Object.hasOwn(once, name) ? once[name] : noRuntime(name),
  );
  for (const [name, own] of Object.entries(template.parameters)) {
    if (!isObject(own)) throw new TemplateError(`The template parameter '${name}' is not an object`);
    const definition = wholeDefinition(own, template);
    const type = declaredType(definition, template);
    const entry = memberOf(given, name);
    let value = isObject(entry) ? memberOf(entry, 'value') : undefined;
    if (entry !== undefined && !isObject(entry)) {
      throw new TemplateError(
        `The value for the template parameter '${name}' is not an object with a member 'value'. ${details}`,
      );
    }
    if (value === undefined || (value === null && memberOf(definition, 'nullable') !== true)) {
      const byDefault = memberOf(definition, 'defaultValue');
      if (byDefault !== undefined) value = evaluateTree(byDefault, environment);
      else if (memberOf(definition, 'nullable') === true) value = null;
      else throw new TemplateError(`The value for the template parameter '${name}' is not provided. ${details}`);
    }
    if (value !== null) {
      checkType(name, type, value);
      checkConstraints(name, type, value, definition, budget);
    }
    values.set(foldCase(name), value);
    resolved.push({ name, type, value });
  }
  return resolved;
}

/** Allowed in default values alone: elsewhere the same template would not give the same resources. */
function onceFunctions(now: number): FunctionTable {
  return {
    newguid: func(0, () => randomUUID()),
    utcnow: func([0, 1], ([format], call) =>
      formatTime(now, format === undefined ? 'yyyyMMddTHHmmssZ' : wantText(format, call)),
    ),
  };
}

const expected: { readonly [type in ParameterType]: readonly [words: string, holds: (value: Json) => boolean] } = {
  String: ['String, Uri', (value) => typeof value === 'string'],
  SecureString: ['String, Uri', (value) => typeof value === 'string'],
  Int: ['Integer', (value) => typeof value === 'number' && Number.isInteger(value)],
  Bool: ['Boolean', (value) => typeof value === 'boolean'],
  Object: ['Object', isObject],
  SecureObject: ['Object', isObject],
  Array: ['Array', isArray],
};

function checkType(name: string, type: ParameterType, value: Json): void {
  const [words, holds] = expected[type];
  if (!holds(value)) {
    throw new TemplateError(
      `Template parameter JToken type is not valid. Expected '${words}'. Actual '${typeName(value)}'. The parameter is '${name}'. ${details}`,
    );
  }
}

function checkConstraints(
  name: string,
  type: ParameterType,
  value: Json,
  definition: JsonObject,
  budget: Budget,
): void {
  const allowed = memberOf(definition, 'allowedValues');
  if (isArray(allowed)) {
    const one = (wanted: Json): boolean => allowed.some((choice) => equal(choice, wanted, budget));
    // Of an array each element must be allowed.
    if (!one(value) && !(isArray(value) && value.every(one))) {
      const shown = isSecure(type) || typeof value === 'object' ? '' : ` '${String(value).slice(0, 200)}'`;
      const choices = isSecure(type) ? '' : `: '${allowed.slice(0, 50).map(String).join(',')}'`;
      throw new TemplateError(
        `The provided value${shown} for the template parameter '${name}' is not valid. The parameter value is not part of the allowed value(s)${choices}`,
      );
    }
  }
  const length = typeof value === 'string' || isArray(value) ? value.length : undefined;
  const bounds = [
    [
      'minLength',
      length,
      (limit: number, actual: number) => actual >= limit,
      'Length of the value should be greater than or equal to',
    ],
    [
      'maxLength',
      length,
      (limit: number, actual: number) => actual <= limit,
      'Length of the value should be less than or equal to',
    ],
    [
      'minValue',
      value,
      (limit: number, actual: number) => actual >= limit,
      'The value should be greater than or equal to',
    ],
    [
      'maxValue',
      value,
      (limit: number, actual: number) => actual <= limit,
      'The value should be less than or equal to',
    ],
  ] as const;
  for (const [member, actual, holds, words] of bounds) {
    const limit = memberOf(definition, member);
    if (typeof limit === 'number' && typeof actual === 'number' && !holds(limit, actual)) {
      throw new TemplateError(
        `The provided value for the template parameter '${name}' is not valid. ${words} '${limit}'. ${details}`,
      );
    }
  }
}
