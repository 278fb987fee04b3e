// What the server does with objects of a custom resource: reads them by their schema, completes them, checks them.

import { hasRules, validateRules } from '../cel/rules.ts';
import type { JsonObject, JsonValue, KubeObject } from '../object.ts';
import { decodeAs, isObject } from '../schema/decode.ts';
import { invalidValue } from '../schema/field-errors.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest, type FieldError, forbidden, StatusError } from '../status.ts';
import { validateMetadata, validateMetadataUpdate } from '../types/metadata.ts';
import type { Strategy, Subresource } from '../types/resource-type.ts';
import { completeObject } from './defaults.ts';
import type { DefinitionVersion } from './definition.ts';
import { jsonPath } from './json-path.ts';
import { validateListTypes } from './list-types.ts';
import { type MetadataReader, prune } from './prune.ts';
import { typeName, validateValue } from './validate-value.ts';

export interface CustomKind {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly version: DefinitionVersion;
  readonly schema: Schema;
  /** Whether the definition is on its way out: nothing new is taken. */
  readonly terminating: boolean;
}

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Reads an object's own metadata. Wrong types are refused, unknown members named. */
function readMetadata(body: JsonObject, title: string, unknown: string[]): JsonObject {
  const { metadata } = body;
  if (metadata === undefined || metadata === null) return {};
  if (!isObject(metadata)) {
    const type = typeName(metadata);
    throw badRequest(
      `${title}: json: cannot unmarshal ${type === 'integer' ? 'number' : type === 'boolean' ? 'bool' : type} into Go value of type v1.ObjectMeta`,
    );
  }
  const read = decodeAs(objectMeta, metadata, title);
  unknown.push(...read.unknown.map((path) => `metadata.${path}`));
  return read.value;
}

/** Metadata of objects within objects: what is wrong goes without a word. */
const lenientMetadata =
  (unknown: string[]): MetadataReader =>
  (metadata, path) => {
    if (!isObject(metadata)) return undefined;
    const kept: JsonObject = {};
    for (const [member, content] of Object.entries(metadata)) {
      try {
        const { value, unknown: strange } = decodeAs(objectMeta, { [member]: content }, '');
        unknown.push(...strange.map((name) => `${path}.${name}`));
        Object.assign(kept, value);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
      }
    }
    return kept;
  };

/** A copy of an object cut down to a schema, under another version's name. */
export function prunedTo(object: KubeObject, apiVersion: string, schema: Schema): KubeObject {
  const { apiVersion: _was, kind, metadata, ...rest } = object;
  return { apiVersion, kind, metadata, ...(prune(rest as JsonObject, schema, lenientMetadata([])) as JsonObject) };
}

/** The same, with the defaults of the schema. */
export function completedBy(object: KubeObject, apiVersion: string, schema: Schema): KubeObject {
  const { kind, metadata, ...rest } = prunedTo(object, apiVersion, schema);
  completeObject(rest as unknown as JsonObject, schema);
  return { ...rest, apiVersion, kind, metadata };
}

function decodeCustom(custom: CustomKind, body: JsonObject): { object: KubeObject; unknown: string[] } {
  const { group, kind, version, schema } = custom;
  const title = `${kind} in version "${version.name}" cannot be handled as a ${kind}`;
  const unknown: string[] = [];
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = body;
  const metadata = readMetadata(body, title, unknown);
  const content = prune(rest, schema, lenientMetadata(unknown), unknown) as JsonObject;
  completeObject(content, schema);
  return {
    object: { apiVersion: `${group}/${version.name}`, kind, metadata, ...content } as KubeObject,
    unknown: unknown.sort(),
  };
}

/** Errors after which rules cannot be evaluated safely. */
const blocking = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const notChecked: FieldError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

const json = (object: KubeObject): JsonObject => object as unknown as JsonObject;

/** The schema's checks of the whole object, then the rules. */
function checkContent(schema: Schema, object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const errors = validateValue(json(object), schema, { field: '', body: '' }, old && json(old));
  return checkListsAndRules(schema, object, old, errors);
}

function checkListsAndRules(
  schema: Schema,
  object: KubeObject,
  old: KubeObject | undefined,
  found: readonly FieldError[],
): FieldError[] {
  const errors = [...found];
  if (!old || validateListTypes(json(old), schema).length === 0) {
    errors.push(...validateListTypes(json(object), schema));
  }
  const rules = validateRules(schema, json(object), old && json(old));
  if (rules === undefined) return errors;
  if (errors.some(({ type }) => blocking.has(type))) errors.push(notChecked);
  else errors.push(...rules());
  return errors;
}

/** The checks of a status update: of the schema, only the part about the status. */
function checkStatus(schema: Schema, object: KubeObject, old: KubeObject): FieldError[] {
  const part = schema.properties?.status;
  const status = json(object).status;
  const errors =
    part && status !== undefined ? validateValue(status, part, { field: 'status', body: '' }, json(old).status) : [];
  return checkListsAndRules(schema, object, old, errors);
}

/** A change of the status leaves everything else as it was. */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  const { managedFields } = object.metadata;
  const { status } = object;
  for (const member of Object.keys(object)) delete object[member];
  Object.assign(object, old, { metadata: { ...old.metadata } });
  if (managedFields) object.metadata.managedFields = managedFields;
  if (status === undefined) delete object.status;
  else object.status = status;
}

/** Replicas that are scaled cannot be fewer than none. */
function checkScale({ subresources }: DefinitionVersion, object: KubeObject): FieldError[] {
  const { specReplicasPath, statusReplicasPath } = subresources?.scale ?? {};
  return [specReplicasPath, statusReplicasPath].flatMap((path) => {
    const [value] = path === undefined ? [] : jsonPath(path)(object);
    return path !== undefined && typeof value === 'number' && value < 0
      ? [invalidValue(path, value, 'should be a non-negative integer')]
      : [];
  });
}

const fieldText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value);

/** What field selectors may ask, by `spec.a`. */
function selectableFields({ selectableFields: selectable }: DefinitionVersion): Strategy['fields'] {
  if (!selectable || selectable.length === 0) return undefined;
  const found = selectable.map(({ jsonPath: path }) => [path.replace(/^\./, ''), jsonPath(path)] as const);
  return (object) => Object.fromEntries(found.map(([name, find]) => [name, fieldText(find(object)[0])]));
}

const contentDiffers = (object: KubeObject, old: KubeObject): boolean => {
  const { metadata: _one, ...now } = object;
  const { metadata: _other, ...before } = old;
  return JSON.stringify(sorted(now as JsonObject)) !== JSON.stringify(sorted(before as JsonObject));
};

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name] ?? null)]),
  );
}

export function customStrategy(custom: CustomKind): Strategy {
  const { schema, version, namespaced, terminating } = custom;
  const hasStatus = version.subresources?.status !== undefined;
  const fields = selectableFields(version);
  return {
    decode: (body) => decodeCustom(custom, body),
    prepareCreate(object) {
      if (terminating) {
        throw forbidden(
          { group: custom.group, resource: custom.plural },
          object.metadata.name ?? '',
          'create not allowed while custom resource definition is terminating',
        );
      }
      if (hasStatus) delete object.status;
    },
    prepareUpdate(object, old) {
      if (!hasStatus) return;
      if (old.status === undefined) delete object.status;
      else object.status = old.status;
    },
    validate: (object) => [
      ...validateMetadata(object, { namespaced }),
      ...checkContent(schema, object, undefined),
      ...checkScale(version, object),
    ],
    validateUpdate: (object, old) => [
      ...validateMetadataUpdate(object, old),
      ...checkContent(schema, object, old),
      ...checkScale(version, object),
    ],
    ...(fields ? { fields } : {}),
    ...(hasRules(schema) ? { takesTurns: true } : {}),
    ...(hasStatus ? {} : { generation: contentDiffers }),
  };
}

/** The subresources that a version asks for. */
export function customSubresources(version: DefinitionVersion, schema: Schema): Record<string, Subresource> {
  const { status, scale } = version.subresources ?? {};
  const made: Record<string, Subresource> = {};
  if (status) {
    made.status = {
      kind: 'status',
      prepareUpdate: keepAllButStatus,
      validateUpdate: (object, old) => [...validateMetadataUpdate(object, old), ...checkStatus(schema, object, old)],
    };
  }
  if (scale) {
    made.scale = {
      kind: 'scale',
      specReplicas: scale.specReplicasPath,
      statusReplicas: scale.statusReplicasPath,
      ...(scale.labelSelectorPath ? { selector: scale.labelSelectorPath } : {}),
    };
  }
  return made;
}
