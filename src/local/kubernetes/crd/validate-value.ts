// Values against the schema of a custom resource, in the server's words. On an update, what has not changed is not looked at
// again, so that objects from before a stricter schema can still be changed elsewhere.
import type { JsonObject, JsonValue } from '../object.ts';
import { equalJson } from '../patch/json-tree.ts';
import { isObject } from '../schema/decode.ts';
import { invalidType, invalidValue, notSupported, required, shown, tooLong, tooMany } from '../schema/field-errors.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { correlatedItems } from './correlate.ts';
import { hasFormat } from './formats.ts';
import { pattern } from './patterns.ts';
import { memberSchema } from './prune.ts';

/** Where a value stands: in the error's field, and in its text. They differ for the status subresource. */
export interface Place {
  readonly field: string;
  readonly body: string;
}

const memberOf = ({ field, body }: Place, name: string): Place => ({
  field: field === '' ? name : `${field}.${name}`,
  body: body === '' ? name : `${body}.${name}`,
});
const itemOf = ({ field, body }: Place, index: number): Place => ({
  field: `${field}[${index}]`,
  body: `${body}[${index}]`,
});

export function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** All that is wrong with a value. `old` is what stood in its place before; undefined where nothing did. */
export function validateValue(
  value: JsonValue,
  schema: Schema,
  place: Place,
  old?: JsonValue | undefined,
): FieldError[] {
  if (old !== undefined && equalJson(value, old)) return [];
  const errors: FieldError[] = [];
  check(value, schema, place, old, errors);
  return errors;
}

function check(value: JsonValue, schema: Schema, place: Place, old: JsonValue | undefined, errors: FieldError[]): void {
  checkType(value, schema, place, errors);
  if (value === null && schema.nullable) return;
  checkCombinations(value, schema, place, errors);
  if (typeof value === 'string') checkString(value, schema, place, errors);
  else if (typeof value === 'number') checkNumber(value, schema, place, errors);
  else if (Array.isArray(value)) checkArray(value, schema, place, old, errors);
  else if (isObject(value)) checkObject(value, schema, place, old, errors);
  if (schema.enum && !schema.enum.some((allowed) => equalJson(allowed, value))) {
    const supported = schema.enum.map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed)));
    errors.push(notSupported(place.field, value, supported));
  }
}

function checkType(value: JsonValue, schema: Schema, { field, body }: Place, errors: FieldError[]): void {
  const wanted = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  if (wanted.length === 0) return;
  const type = typeName(value);
  if (type === 'null' && schema.nullable) return;
  if (wanted.includes(type) || (type === 'integer' && wanted.includes('number'))) return;
  errors.push({
    type: 'FieldValueTypeInvalid',
    field: field === '' ? '<nil>' : field,
    message: `Invalid value: "${type}": ${body} in body must be of type ${wanted.join(',')}: "${type}"`,
  });
}

const characters = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

function checkString(value: string, schema: Schema, { field, body }: Place, errors: FieldError[]): void {
  const { minLength, maxLength, format } = schema;
  if (maxLength !== undefined && value.length > maxLength && characters(value) > maxLength) {
    errors.push(tooLong(field, maxLength));
  } else if (minLength !== undefined && characters(value) < minLength) {
    errors.push(invalidValue(field, value, `${body} in body should be at least ${minLength} chars long`));
  } else if (schema.pattern !== undefined && !pattern(schema.pattern).matcher(value).find()) {
    errors.push(invalidValue(field, value, `${body} in body should match '${schema.pattern}'`));
  }
  if (format !== undefined && !hasFormat(format, value)) {
    errors.push(invalidType(field, value, `${body} in body must be of type ${format}: ${shown(value)}`));
  }
}

function checkNumber(value: number, schema: Schema, { field, body }: Place, errors: FieldError[]): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    errors.push(invalidValue(field, value, `${body} in body should be a multiple of ${multipleOf}`));
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    const text = exclusiveMaximum ? 'less than' : 'less than or equal to';
    errors.push(invalidValue(field, value, `${body} in body should be ${text} ${maximum}`));
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    const text = exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    errors.push(invalidValue(field, value, `${body} in body should be ${text} ${minimum}`));
  }
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Number.isInteger(times) || Math.abs(times - Math.round(times)) < 1e-9 * Math.abs(times);
}

function checkArray(
  value: readonly JsonValue[],
  schema: Schema,
  place: Place,
  old: JsonValue | undefined,
  errors: FieldError[],
): void {
  const { items, minItems, maxItems } = schema;
  if (items) {
    const before = correlatedItems(schema, old);
    value.forEach((item, index) => {
      errors.push(...validateValue(item, items, itemOf(place, index), before(item)));
    });
  }
  if (minItems !== undefined && value.length < minItems) {
    errors.push(
      invalidValue(place.field, value.length, `${place.body} in body should have at least ${minItems} items`),
    );
  }
  if (maxItems !== undefined && value.length > maxItems) errors.push(tooMany(place.field, value.length, maxItems));
}

function checkObject(
  value: JsonObject,
  schema: Schema,
  place: Place,
  old: JsonValue | undefined,
  errors: FieldError[],
): void {
  const { minProperties, maxProperties } = schema;
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) errors.push(required(memberOf(place, name).field));
  }
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  if (embedded) {
    for (const name of ['apiVersion', 'kind']) {
      if (!Object.hasOwn(value, name)) errors.push(required(memberOf(place, name).field));
    }
  }
  const before = isObject(old) ? old : {};
  let count = 0;
  for (const [member, content] of Object.entries(value)) {
    count += 1;
    const child = memberSchema(schema, member);
    if (child === undefined || child === true) continue;
    const was = Object.hasOwn(before, member) ? before[member] : undefined;
    errors.push(...validateValue(content, child, memberOf(place, member), was));
  }
  if (minProperties !== undefined && count < minProperties) {
    errors.push(
      invalidValue(place.field, count, `${place.body} in body should have at least ${minProperties} properties`),
    );
  }
  if (maxProperties !== undefined && count > maxProperties) errors.push(tooMany(place.field, count, maxProperties));
}

/** An error about a combination of schemas is about no field. */
const combination = (text: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: '<nil>',
  message: `Invalid value: "": ${text}`,
});

function checkCombinations(value: JsonValue, schema: Schema, place: Place, errors: FieldError[]): void {
  const { anyOf, oneOf, allOf, not } = schema;
  if (!anyOf && !oneOf && !allOf && !not) return;
  const name = JSON.stringify(place.body);
  const tried = (schemas: readonly Schema[]): FieldError[][] =>
    schemas.map((each) => validateValue(value, each, place));
  const nearest = (results: readonly FieldError[][]): FieldError[] =>
    results.reduce((best, each) => (each.length < best.length ? each : best), results[0] ?? []);
  if (anyOf) {
    const results = tried(anyOf);
    if (!results.some((found) => found.length === 0)) {
      errors.push(combination(`${name} must validate at least one schema (anyOf)`), ...nearest(results));
    }
  }
  if (oneOf) {
    const results = tried(oneOf);
    const good = results.filter((found) => found.length === 0).length;
    if (good !== 1) {
      const found = good === 0 ? 'Found none valid' : `Found ${good} valid alternatives`;
      errors.push(combination(`${name} must validate one and only one schema (oneOf). ${found}`));
      if (good === 0) errors.push(...nearest(results));
    }
  }
  if (allOf) {
    const results = tried(allOf);
    const bad = results.filter((found) => found.length > 0);
    if (bad.length > 0) {
      const none = bad.length === results.length ? '. None validated' : '';
      errors.push(...bad.flat(), combination(`${name} must validate all the schemas (allOf)${none}`));
    }
  }
  if (not && validateValue(value, not, place).length === 0) {
    errors.push(combination(`${name} must not validate the schema (not)`));
  }
}
