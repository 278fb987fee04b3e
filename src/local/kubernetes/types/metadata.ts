// What every object's metadata must look like, on create and on update.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ObjectMeta } from '../object.ts';
import { forbiddenField, invalidBy, invalidValue, required, tooLong } from '../schema/field-errors.ts';
import { labelName, labelValue, type NameRule, qualifiedName, subdomainName } from '../schema/names.ts';
import type { FieldError } from '../status.ts';

const mostAnnotationBytes = 256 * 1024;

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  if (!labels) return [];
  return Object.entries(labels).flatMap(([key, value]) => [
    ...invalidBy(field, key, qualifiedName(key)),
    ...invalidBy(field, value, labelValue(value)),
  ]);
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  field: string,
): FieldError[] {
  if (!annotations) return [];
  const found: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    found.push(...invalidBy(field, key, qualifiedName(key.toLowerCase())));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > mostAnnotationBytes) found.push(tooLong(field, mostAnnotationBytes));
  return found;
}

function validateOwners(owners: ObjectMeta['ownerReferences'], field: string): FieldError[] {
  const found: FieldError[] = [];
  let controller = '';
  for (const owner of owners ?? []) {
    const version = owner.apiVersion.split('/').at(-1) ?? '';
    if (!version) found.push(invalidValue(`${field}.apiVersion`, owner.apiVersion, 'version must not be empty'));
    for (const member of ['kind', 'name', 'uid'] as const) {
      if (!owner[member]) found.push(invalidValue(`${field}.${member}`, owner[member], 'must not be empty'));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      found.push(invalidValue(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (!owner.controller) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller) {
      found.push(
        invalidValue(
          field,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
        ),
      );
    } else controller = name;
  }
  return found;
}

function validateFinalizers(finalizers: readonly string[] | undefined, field: string): FieldError[] {
  const found = (finalizers ?? []).flatMap((finalizer) => invalidBy(field, finalizer, qualifiedName(finalizer)));
  if (finalizers?.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    found.push(invalidValue(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return found;
}

function validateManagedFields(entries: ObjectMeta['managedFields'], field: string): FieldError[] {
  return (entries ?? []).flatMap((entry, index) => {
    const at = `${field}[${index}]`;
    const found: FieldError[] = [];
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      found.push(invalidValue(`${at}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`'));
    }
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
      found.push(invalidValue(`${at}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'));
    }
    if (Buffer.byteLength(entry.manager ?? '') > 128) found.push(tooLong(`${at}.manager`, 128));
    return found;
  });
}

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** Most built-in types want finalizers to be the server's own or to have a domain. */
function validateQualified(finalizers: readonly string[] | undefined, field: string): FieldError[] {
  return (finalizers ?? []).flatMap((finalizer, index) =>
    finalizer.includes('/') || standardFinalizers.includes(finalizer)
      ? []
      : [
          invalidValue(
            `${field}[${index}]`,
            finalizer,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );
}

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule?: NameRule;
  /** Finalizers without a domain are refused but for the server's own. */
  readonly qualifiedFinalizers?: boolean;
  /** Where the metadata stands. Left out: `metadata`. */
  readonly field?: string;
}

/** The checks of a new object's metadata. */
export function validateMetadata({ metadata }: Pick<KubeObject, 'metadata'>, rules: MetadataRules): FieldError[] {
  const { namespaced, nameRule = subdomainName, field = 'metadata' } = rules;
  const { name, generateName, namespace, generation } = metadata;
  const found: FieldError[] = [];
  if (generateName) found.push(...invalidBy(`${field}.generateName`, generateName, nameRule(generateName, true)));
  if (name) found.push(...invalidBy(`${field}.name`, name, nameRule(name, false)));
  else found.push(required(`${field}.name`, 'name or generateName is required'));
  if (!namespaced) {
    if (namespace) found.push(forbiddenField(`${field}.namespace`, 'not allowed on this type'));
  } else if (namespace) found.push(...invalidBy(`${field}.namespace`, namespace, labelName(namespace, false)));
  else found.push(required(`${field}.namespace`));
  if (generation !== undefined && generation < 0) {
    found.push(invalidValue(`${field}.generation`, generation, 'must be greater than or equal to 0'));
  }
  return [
    ...found,
    ...validateLabels(metadata.labels, `${field}.labels`),
    ...validateAnnotations(metadata.annotations, `${field}.annotations`),
    ...validateOwners(metadata.ownerReferences, `${field}.ownerReferences`),
    ...validateFinalizers(metadata.finalizers, `${field}.finalizers`),
    ...validateManagedFields(metadata.managedFields, `${field}.managedFields`),
    ...(rules.qualifiedFinalizers ? validateQualified(metadata.finalizers, `${field}.finalizers`) : []),
  ];
}

/** Which metadata an update may not change. */
const fixed = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** The checks of an updated object's metadata. */
export function validateMetadataUpdate(
  { metadata }: KubeObject,
  { metadata: old }: KubeObject,
  rules: Pick<MetadataRules, 'qualifiedFinalizers'> = {},
): FieldError[] {
  const found: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((finalizer) => !old.finalizers?.includes(finalizer));
    if (added.length > 0) {
      const list = [...new Set(added)].sort().map((finalizer) => JSON.stringify(finalizer));
      found.push(
        forbiddenField(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list.join(', ')}}`,
        ),
      );
    }
  }
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    found.push(invalidValue('metadata.generation', metadata.generation ?? 0, 'must not be decremented'));
  }
  for (const member of fixed) {
    if ((metadata[member] ?? '') !== (old[member] ?? '')) {
      found.push(invalidValue(`metadata.${member}`, metadata[member] ?? null, 'field is immutable'));
    }
  }
  return [
    ...found,
    ...validateLabels(metadata.labels, 'metadata.labels'),
    ...validateAnnotations(metadata.annotations, 'metadata.annotations'),
    ...validateOwners(metadata.ownerReferences, 'metadata.ownerReferences'),
    ...validateManagedFields(metadata.managedFields, 'metadata.managedFields'),
    ...(rules.qualifiedFinalizers ? validateQualified(metadata.finalizers, 'metadata.finalizers') : []),
  ];
}

/** A field that an update may not change. */
export const immutable = (field: string, value: unknown, old: unknown, detail = 'field is immutable'): FieldError[] =>
  isDeepStrictEqual(value ?? null, old ?? null) ? [] : [invalidValue(field, value ?? null, detail)];
