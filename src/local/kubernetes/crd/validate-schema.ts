// What the schema of a custom resource may say: structural, so that values can be pruned and completed by it.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { validateRuleDeclarations } from '../cel/declarations.ts';
import type { JsonValue } from '../object.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../schema/field-errors.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { PatternError, pattern } from './patterns.ts';
import { prune } from './prune.ts';
import { validateValue } from './validate-value.ts';

/** What schemas may also carry in JSON, all of it refused. */
interface Unsupported {
  readonly id?: string;
  readonly definitions?: object;
  readonly dependencies?: object;
  readonly patternProperties?: object;
  readonly additionalItems?: JsonValue;
}

const unsupported: readonly (keyof Unsupported | '$ref')[] = [
  'id',
  '$ref',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
];

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const isScalar = (schema: Schema): boolean => schema.type !== 'object' && schema.type !== 'array';

/** Structure-only members that schemas within anyOf and the like may not have. */
const structuralOnly: readonly (readonly [member: keyof Schema, text: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

/** Schemas that nothing was wrong with, by their content: many clusters get the same. */
const accepted = new Set<string>();
const mostAccepted = 10_000;

/**
 * Checks a schema from its root. `path` is where it stands in the definition. `unchanged`: whether the definition had it before; then
 * rules that were taken at another time stay, whatever they cost.
 */
export function validateSchema(schema: Schema, path: string, unchanged = () => false): FieldError[] {
  const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  if (accepted.has(key)) return [];
  const errors = checkRoot(schema, path, false);
  if (errors.length > 0) return unchanged() ? checkRoot(schema, path, true) : errors;
  if (accepted.size >= mostAccepted) accepted.clear();
  accepted.add(key);
  return [];
}

function checkRoot(schema: Schema, path: string, dear: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.type !== 'object') {
    errors.push(
      schema.type
        ? invalidValue(`${path}.type`, schema.type, 'must be object at the root')
        : required(`${path}.type`, 'must not be empty at the root'),
    );
  }
  checkOwnMembers(schema, path, errors);
  checkStructure(schema, path, errors);
  if (errors.length === 0) errors.push(...validateRuleDeclarations(schema, path, dear));
  return errors;
}

const isNameRule = (metadata: Schema): boolean => {
  const { type: _type, properties = {}, description: _description, required: _required, ...rest } = metadata;
  return (
    Object.keys(rest).length === 0 &&
    Object.keys(properties).every((name) => name === 'name' || name === 'generateName')
  );
};

/** What a schema says of members that every object has. */
function checkOwnMembers(schema: Schema, path: string, errors: FieldError[]): void {
  for (const member of ['apiVersion', 'kind'] as const) {
    const type = schema.properties?.[member]?.type;
    if (type !== undefined && type !== 'string') {
      errors.push(invalidValue(`${path}.properties[${member}].type`, type, 'must be string'));
    }
  }
  const metadata = schema.properties?.metadata;
  if (!metadata) return;
  if (metadata.type !== undefined && metadata.type !== 'object') {
    errors.push(invalidValue(`${path}.properties[metadata].type`, metadata.type, 'must be object'));
  }
  if (!isNameRule(metadata)) {
    errors.push(
      forbiddenField(
        `${path}.properties[metadata]`,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
  }
}

function checkStructure(schema: Schema, path: string, errors: FieldError[]): void {
  checkPlain(schema, path, errors);
  checkExtensions(schema, path, errors);
  checkDefault(schema, path, errors);
  const { properties, additionalProperties, items } = schema;
  const populated = properties !== undefined && Object.keys(properties).length > 0;
  if (populated && additionalProperties !== undefined && additionalProperties !== false) {
    errors.push(
      forbiddenField(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    );
  }
  for (const [name, child] of Object.entries(properties ?? {})) {
    needType(child, `${path}.properties[${name}]`, 'object fields', errors);
    checkStructure(child, `${path}.properties[${name}]`, errors);
  }
  if (typeof additionalProperties === 'object') {
    needType(additionalProperties, `${path}.additionalProperties`, 'object fields', errors);
    checkStructure(additionalProperties, `${path}.additionalProperties`, errors);
  }
  if (Array.isArray(items)) {
    errors.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'));
  } else if (items) {
    needType(items, `${path}.items`, 'array items', errors);
    checkStructure(items, `${path}.items`, errors);
  } else if (schema.type === 'array') errors.push(required(`${path}.items`, 'must be specified'));
  checkJunctors(schema, path, errors, schema['x-kubernetes-int-or-string'] === true);
}

function needType(schema: Schema, path: string, what: string, errors: FieldError[]): void {
  const free = schema['x-kubernetes-preserve-unknown-fields'] || schema['x-kubernetes-int-or-string'];
  if (!schema.type && !free && schema.$ref === undefined) {
    errors.push(required(`${path}.type`, `must not be empty for specified ${what}`));
  }
}

/** What holds of schemas everywhere. */
function checkPlain(schema: Schema & Unsupported, path: string, errors: FieldError[]): void {
  for (const member of unsupported) {
    const value = schema[member];
    if (value !== undefined && value !== '') {
      errors.push(forbiddenField(`${path}.${member}`, `${member} is not supported`));
    }
  }
  if (schema.uniqueItems) {
    errors.push(
      forbiddenField(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  }
  const type: string | undefined = schema.type;
  if (type === 'null') {
    errors.push(forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  } else if (type !== undefined && type !== '' && !types.includes(type)) {
    errors.push(notSupported(`${path}.type`, type, types));
  }
  if (schema.pattern === undefined) return;
  try {
    pattern(schema.pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const detail = `must be a valid regular expression, but isn't: ${error.message}`;
    errors.push(invalidValue(`${path}.pattern`, schema.pattern, detail));
  }
}

function checkExtensions(schema: Schema, path: string, errors: FieldError[]): void {
  const { type } = schema;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'];
  if (preserves === false) {
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  if (schema['x-kubernetes-embedded-resource']) {
    if (type !== 'object') {
      const detail = 'must be object if x-kubernetes-embedded-resource is true';
      errors.push(type ? invalidValue(`${path}.type`, type, detail) : required(`${path}.type`, detail));
    }
    if (!preserves && Object.keys(schema.properties ?? {}).length === 0) {
      const detail =
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
      errors.push(required(`${path}.properties`, detail));
    }
  }
  const mapType: string | undefined = schema['x-kubernetes-map-type'];
  if (mapType !== undefined) {
    if (type !== 'object') errors.push(wrongType(path, type, 'object', 'x-kubernetes-map-type'));
    if (mapType !== 'atomic' && mapType !== 'granular') {
      errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
    }
  }
  checkListType(schema, path, errors);
}

function wrongType(path: string, type: string | undefined, wanted: string, extension: string): FieldError {
  const detail = `must be ${wanted} if ${extension} is specified`;
  return type ? invalidValue(`${path}.type`, type, detail) : required(`${path}.type`, detail);
}

function checkListType(schema: Schema, path: string, errors: FieldError[]): void {
  const listType: string | undefined = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (listType === undefined) {
    if (keys.length > 0) {
      errors.push(required(`${path}.x-kubernetes-list-type`, 'must be map if x-kubernetes-list-map-keys is non-empty'));
    }
    return;
  }
  if (schema.type !== 'array') errors.push(wrongType(path, schema.type, 'array', 'x-kubernetes-list-type'));
  if (!['atomic', 'set', 'map'].includes(listType)) {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']));
  }
  const items = schema.items ?? {};
  if (listType === 'map') checkListMap(items, keys, path, errors);
  else if (keys.length > 0) {
    errors.push(
      invalidValue(
        `${path}.x-kubernetes-list-type`,
        listType,
        'must be map if x-kubernetes-list-map-keys is non-empty',
      ),
    );
  }
  if (listType === 'set') checkSet(items, `${path}.items`, errors);
}

function checkSet(items: Schema, path: string, errors: FieldError[]): void {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const member = items.type === 'object' ? 'x-kubernetes-map-type' : 'x-kubernetes-list-type';
  if (!isScalar(items) && items[member] !== 'atomic') {
    errors.push(invalidValue(`${path}.${member}`, items[member] ?? null, detail));
  }
}

function checkListMap(items: Schema, keys: readonly string[], path: string, errors: FieldError[]): void {
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(
      items.type ? invalidValue(`${path}.items.type`, items.type, detail) : required(`${path}.items.type`, detail),
    );
  }
  const properties = items.properties ?? {};
  if (keys.some((key) => !Object.hasOwn(properties, key))) {
    errors.push(invalidValue(at, keys, 'entries must all be names of item properties'));
    return;
  }
  for (const [index, key] of keys.entries()) {
    const child = properties[key] ?? {};
    if (keys.indexOf(key) < index)
      errors.push(invalidValue(`${at}[${index}]`, key, 'must not contain duplicate entries'));
    if (!isScalar(child)) {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalidValue(`${path}.items.properties[${key}].type`, child.type, detail));
    }
    if (!items.required?.includes(key) && child.default === undefined) {
      errors.push(
        required(
          `${path}.items.properties[${key}].default`,
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      );
    }
  }
}

/** A default is a value like any other: complete in itself, known to the schema, valid. */
function checkDefault(schema: Schema, path: string, errors: FieldError[]): void {
  const { default: value } = schema;
  if (value === undefined || value === null) return;
  const at = `${path}.default`;
  const kept = prune(value, schema, (metadata) => metadata);
  if (!isDeepStrictEqual(kept, value)) {
    errors.push(invalidValue(at, value, 'must not have unknown fields'));
    return;
  }
  try {
    errors.push(...validateValue(value, schema, { field: at, body: '' }));
  } catch (error) {
    // The expression is refused where it stands.
    if (!(error instanceof PatternError)) throw error;
  }
}

const intOrString = [{ type: 'integer' }, { type: 'string' }];
const isIntOrString = (schemas: readonly Schema[] | undefined): boolean => isDeepStrictEqual(schemas, intOrString);

function checkJunctors(schema: Schema, path: string, errors: FieldError[], either: boolean): void {
  const { anyOf, oneOf, allOf, not } = schema;
  // The two types of int-or-string may be written out.
  if (!(either && isIntOrString(anyOf))) {
    anyOf?.forEach((child, index) => {
      checkValueOnly(child, `${path}.anyOf[${index}]`, errors);
    });
  }
  oneOf?.forEach((child, index) => {
    checkValueOnly(child, `${path}.oneOf[${index}]`, errors);
  });
  allOf?.forEach((child, index) => {
    const named = either && isIntOrString(child.anyOf) ? { ...child, anyOf: [] } : child;
    checkValueOnly(named, `${path}.allOf[${index}]`, errors);
  });
  if (not) checkValueOnly(not, `${path}.not`, errors);
}

/** Schemas within anyOf, oneOf, allOf and not only restrict values. */
function checkValueOnly(schema: Schema, path: string, errors: FieldError[]): void {
  checkPlain(schema, path, errors);
  for (const [member, text] of structuralOnly) {
    const value = schema[member];
    const empty =
      value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0);
    if (!empty) errors.push(forbiddenField(`${path}.${member}`, text));
  }
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    checkValueOnly(child, `${path}.properties[${name}]`, errors);
  }
  if (schema.items && !Array.isArray(schema.items)) checkValueOnly(schema.items, `${path}.items`, errors);
  checkJunctors(schema, path, errors, false);
}
