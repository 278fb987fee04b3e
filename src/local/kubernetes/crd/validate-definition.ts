// Definitions checked as the server checks them. It keeps what all versions have in common in one place, and names it there.
import { isDeepStrictEqual } from 'node:util';
import {
  duplicate,
  forbiddenField,
  invalidBy,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../schema/field-errors.ts';
import { dns1035Label, dns1123Subdomain } from '../schema/names.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { immutable } from '../types/metadata.ts';
import {
  type Definition,
  type DefinitionSpec,
  type DefinitionVersion,
  isTrue,
  type PrinterColumn,
  type ScalePaths,
} from './definition.ts';
import { simplePath } from './json-path.ts';
import { approvalOf } from './names.ts';
import { validateSchema } from './validate-schema.ts';

export function validateDefinition(definition: Definition): FieldError[] {
  const { spec, metadata, status } = definition;
  const errors: FieldError[] = [];
  if (metadata.name !== `${spec.names.plural}.${spec.group}`) {
    errors.push(invalidValue('metadata.name', metadata.name ?? '', 'must be spec.names.plural+"."+spec.group'));
  }
  return [
    ...errors,
    ...validateApproval(definition),
    ...validateSpec(spec),
    ...validateStored(spec, status?.storedVersions ?? null),
  ];
}

export function validateDefinitionUpdate(definition: Definition, old: Definition): FieldError[] {
  const { spec } = definition;
  const fixed = isTrue(old, 'Established')
    ? [
        ...immutable('spec.scope', spec.scope, old.spec.scope),
        ...immutable('spec.names.kind', spec.names.kind, old.spec.names.kind),
      ]
    : [];
  return [
    ...validateApproval(definition, old),
    ...validateSpec(spec, old.spec),
    ...fixed,
    ...immutable('spec.group', spec.group, old.spec.group),
    ...immutable('spec.names.plural', spec.names.plural, old.spec.names.plural),
    ...validateStored(spec, definition.status?.storedVersions ?? null),
  ];
}

const approvalField = 'metadata.annotations[api-approved.kubernetes.io]';
const approvalHelp = 'see https://github.com/kubernetes/enhancements/pull/1111';

function validateApproval(definition: Definition, old?: Definition): FieldError[] {
  const approval = approvalOf(definition);
  if (!approval || (old && isDeepStrictEqual(approvalOf(old), approval))) return [];
  if (approval.state === 'missing') {
    const detail = `protected groups must have approval annotation "api-approved.kubernetes.io", ${approvalHelp}`;
    return [required(approvalField, detail)];
  }
  if (approval.state !== 'invalid') return [];
  const detail = `protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", ${approvalHelp}`;
  return [invalidValue(approvalField, approval.text, detail)];
}

function validateSpec(spec: DefinitionSpec, old?: DefinitionSpec): FieldError[] {
  return [
    ...validateGroup(spec.group),
    ...validateScope(spec.scope),
    ...validateVersions(spec, old?.versions ?? []),
    ...validateNames(spec),
    ...validateConversion(spec),
    ...(spec.preserveUnknownFields
      ? [
          invalidValue(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
  ];
}

function validateGroup(group: string): FieldError[] {
  if (!group) return [required('spec.group')];
  const wrong = invalidBy('spec.group', group, dns1123Subdomain(group));
  if (wrong.length > 0) return wrong;
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

function validateScope(scope: string): FieldError[] {
  if (!scope) return [required('spec.scope')];
  return scope === 'Cluster' || scope === 'Namespaced'
    ? []
    : [notSupported('spec.scope', scope, ['Cluster', 'Namespaced'])];
}

function validateNames({ names }: DefinitionSpec): FieldError[] {
  const at = 'spec.names';
  const label = (member: string, value: string | undefined): FieldError[] =>
    value ? invalidBy(`${at}.${member}`, value, dns1035Label(value.toLowerCase())) : [required(`${at}.${member}`)];
  const lower = (member: string, value: string | undefined): FieldError[] =>
    value ? invalidBy(`${at}.${member}`, value, dns1035Label(value)) : [required(`${at}.${member}`)];
  const each = (member: string, values: readonly string[] | undefined): FieldError[] =>
    (values ?? []).flatMap((value, index) => invalidBy(`${at}.${member}[${index}]`, value, dns1035Label(value)));
  const same =
    names.kind !== '' && names.kind === names.listKind
      ? [invalidValue(`${at}.listKind`, names.listKind, 'kind and listKind may not be the same')]
      : [];
  return [
    ...lower('plural', names.plural),
    ...lower('singular', names.singular),
    ...label('kind', names.kind),
    ...label('listKind', names.listKind),
    ...same,
    ...each('shortNames', names.shortNames),
    ...each('categories', names.categories),
  ];
}

/** Versions as the server shows them: without what they have in common. */
const shownVersions = (versions: readonly DefinitionVersion[]): unknown =>
  versions.map(({ name, served, storage, deprecated = false, deprecationWarning = null }) => ({
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated,
    DeprecationWarning: deprecationWarning,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  }));

function validateVersions(spec: DefinitionSpec, old: readonly DefinitionVersion[]): FieldError[] {
  const versions = spec.versions ?? [];
  const errors = versions.flatMap(validateVersion);
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(invalidValue('spec.versions', shownVersions(versions), 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(invalidValue('spec.versions', shownVersions(versions), detail));
  }
  const [first] = versions;
  if (first) errors.push(...invalidBy('spec.version', first.name, dns1035Label(first.name)));
  return [...errors, ...validateParts(versions, old)];
}

function validateVersion(version: DefinitionVersion, index: number): FieldError[] {
  const at = `spec.versions[${index}]`;
  const { name, deprecated, deprecationWarning } = version;
  const errors = invalidBy(`${at}.name`, name, dns1035Label(name));
  if (deprecationWarning !== undefined && !deprecated) {
    errors.push(
      invalidValue(`${at}.deprecationWarning`, deprecationWarning, 'can only be set for deprecated versions'),
    );
  }
  if (deprecationWarning !== undefined && deprecationWarning.length > 256) {
    errors.push(invalidValue(`${at}.deprecationWarning`, deprecationWarning, 'must be <= 256 characters long'));
  }
  if (!version.schema?.openAPIV3Schema) errors.push(required(`${at}.schema.openAPIV3Schema`));
  return errors;
}

/** Runs a check on a part of every version, once at the common place where all versions have the same. */
function eachPart<Part>(
  versions: readonly DefinitionVersion[],
  part: (version: DefinitionVersion) => Part | undefined,
  common: string,
  own: string,
  check: (part: Part, path: string, version: DefinitionVersion) => FieldError[],
): FieldError[] {
  const [first] = versions;
  if (!first) return [];
  const parts = versions.map(part);
  if (parts.every((each) => isDeepStrictEqual(each, parts[0]))) {
    return parts[0] === undefined ? [] : check(parts[0], common, first);
  }
  return versions.flatMap((version, index) => {
    const found = parts[index];
    return found === undefined ? [] : check(found, `spec.versions[${index}].${own}`, version);
  });
}

function validateParts(versions: readonly DefinitionVersion[], old: readonly DefinitionVersion[]): FieldError[] {
  return [
    ...eachPart(
      versions,
      ({ schema }) => schema?.openAPIV3Schema,
      'spec.validation.openAPIV3Schema',
      'schema.openAPIV3Schema',
      (schema, path, { name }) => {
        const before = old.find((version) => version.name === name)?.schema?.openAPIV3Schema;
        return validateSchema(schema, path, () => before !== undefined && isDeepStrictEqual(schema, before));
      },
    ),
    ...eachPart(
      versions,
      ({ subresources }) => subresources?.scale,
      'spec.subresources.scale',
      'subresources.scale',
      validateScale,
    ),
    ...eachPart(
      versions,
      ({ additionalPrinterColumns }) => additionalPrinterColumns,
      'spec.additionalPrinterColumns',
      'additionalPrinterColumns',
      (columns, path) => columns.flatMap((column, index) => validateColumn(column, `${path}[${index}]`)),
    ),
    ...eachPart(
      versions,
      ({ selectableFields }) => selectableFields,
      'spec.selectableFields',
      'selectableFields',
      (fields, path, version) => validateSelectable(fields, path, version.schema?.openAPIV3Schema),
    ),
  ];
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'name', 'password'];

function validateColumn({ name, type, format, jsonPath }: PrinterColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!name) errors.push(required(`${path}.name`));
  if (!type) errors.push(required(`${path}.type`, `must be one of ${columnTypes.join(',')}`));
  else if (!columnTypes.includes(type)) {
    errors.push(invalidValue(`${path}.type`, type, `must be one of ${columnTypes.join(',')}`));
  }
  if (format && !columnFormats.includes(format)) {
    errors.push(invalidValue(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`));
  }
  return [...errors, ...validatePath(jsonPath, `${path}.JSONPath`)];
}

function validatePath(path: string | undefined, field: string): FieldError[] {
  if (!path) return [required(field)];
  return path.startsWith('.') ? [] : [invalidValue(field, path, 'must be a simple json path starting with .')];
}

function validateScale(scale: ScalePaths, path: string): FieldError[] {
  const under = (member: keyof ScalePaths, roots: readonly string[]): FieldError[] => {
    const value = scale[member];
    if (member === 'labelSelectorPath' && !value) return [];
    const wrong = validatePath(value, `${path}.${member}`);
    if (wrong.length > 0 || !value) return wrong;
    if (roots.some((root) => value.startsWith(`${root}.`))) return [];
    const where = roots.length > 1 ? `either ${roots.join(' or ')}` : roots[0];
    return [invalidValue(`${path}.${member}`, value, `should be a json path under ${where}`)];
  };
  return [
    ...under('specReplicasPath', ['.spec']),
    ...under('statusReplicasPath', ['.status']),
    ...under('labelSelectorPath', ['.spec', '.status']),
  ];
}

const mostSelectable = 8;

function validateSelectable(
  fields: readonly { readonly jsonPath: string }[],
  path: string,
  schema: Schema | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  fields.forEach(({ jsonPath }, index) => {
    const at = `${path}[${index}].jsonPath`;
    if (!jsonPath) errors.push(required(at));
    else if (seen.has(jsonPath)) errors.push(duplicate(at, jsonPath));
    else errors.push(...validateSelectablePath(jsonPath, at, schema));
    seen.add(jsonPath);
  });
  if (fields.length > mostSelectable) errors.push(tooMany(path, fields.length, mostSelectable));
  return errors;
}

function validateSelectablePath(path: string, at: string, schema: Schema | undefined): FieldError[] {
  const names = simplePath(path);
  if (!names) return [invalidValue(at, path, 'is an invalid path: does not refer to a valid field')];
  let found: Schema | undefined = names[0] === 'metadata' ? undefined : schema;
  for (const name of names) found = found?.properties?.[name];
  if (!found) return [invalidValue(at, path, 'is an invalid path: does not refer to a valid field')];
  if (['string', 'boolean', 'integer'].includes(found.type ?? '')) return [];
  const detail =
    'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
  return [invalidValue(at, path, detail)];
}

const reviewVersions = ['v1', 'v1beta1'];

function validateConversion({ conversion }: DefinitionSpec): FieldError[] {
  const at = 'spec.conversion';
  if (!conversion) return [];
  const { strategy, webhook } = conversion;
  const versions = webhook?.conversionReviewVersions ?? [];
  const errors: FieldError[] = [];
  if (!strategy) return [required(`${at}.strategy`)];
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [notSupported(`${at}.strategy`, strategy, ['None', 'Webhook'])];
  }
  if (strategy === 'None') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig) errors.push(forbiddenField(`${at}.webhookClientConfig`, detail));
    if (versions.length > 0) errors.push(forbiddenField(`${at}.conversionReviewVersions`, detail));
    return errors;
  }
  if (!webhook?.clientConfig) {
    errors.push(required(`${at}.webhookClientConfig`, 'required when strategy is set to Webhook'));
  } else errors.push(...validateClient(webhook.clientConfig, `${at}.webhookClientConfig`));
  if (versions.length === 0) errors.push(required(`${at}.conversionReviewVersions`));
  else if (!versions.some((version) => reviewVersions.includes(version))) {
    const detail = `must include at least one of ${reviewVersions.join(', ')}`;
    errors.push(invalidValue(`${at}.conversionReviewVersions`, versions, detail));
  }
  return errors;
}

type ClientConfig = NonNullable<NonNullable<NonNullable<DefinitionSpec['conversion']>['webhook']>['clientConfig']>;

function validateClient({ url, service }: ClientConfig, at: string): FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(at, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return validateUrl(url, `${at}.url`);
  const errors: FieldError[] = [];
  if (!service?.name) errors.push(required(`${at}.service.name`, 'service name is required'));
  if (!service?.namespace) errors.push(required(`${at}.service.namespace`, 'service namespace is required'));
  return errors;
}

const urlHelp = 'desired format: https://host[/path]';

function validateUrl(text: string, at: string): FieldError[] {
  const url = URL.parse(text);
  if (!url) return [invalidValue(at, text, `url must be a valid URL: ${urlHelp}`)];
  const errors: FieldError[] = [];
  if (url.protocol !== 'https:') {
    const detail = `'https' is the only allowed URL scheme; ${urlHelp}`;
    errors.push(invalidValue(at, url.protocol.slice(0, -1), detail));
  }
  if (url.username) {
    errors.push(invalidValue(at, url.username, 'user information is not permitted in the URL'));
  }
  if (url.hash) errors.push(invalidValue(at, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search) {
    errors.push(invalidValue(at, url.search.slice(1), 'query parameters are not permitted in the URL'));
  }
  return errors;
}

/** Every version that objects may still be stored in stays in the definition. */
export function validateStored({ versions = [] }: DefinitionSpec, stored: readonly string[] | null): FieldError[] {
  const at = 'status.storedVersions';
  if (!stored || stored.length === 0) return [invalidValue(at, null, 'must have at least one stored version')];
  const errors = stored.flatMap((name, index) =>
    versions.some((version) => version.name === name)
      ? []
      : [
          invalidValue(
            `${at}[${index}]`,
            name,
            `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
          ),
        ],
  );
  const storage = versions.findLast((version) => version.storage)?.name;
  if (storage !== undefined && !stored.includes(storage)) {
    errors.push(invalidValue(at, stored, `must have the storage version ${storage}`));
  }
  return errors;
}
