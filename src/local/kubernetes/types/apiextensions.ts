// Definitions of custom resources. What their schemas may say, and what becomes of them, is in crd/.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../object.ts';
import { invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { dns1035Label, dns1123Subdomain } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import { immutable } from './metadata.ts';
import type { ResourceType } from './resource-type.ts';
import { emptyStatus, keepAllButStatus, keepStatus } from './status.ts';

interface Names {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

interface Version {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: object };
}

interface Definition extends KubeObject {
  spec: {
    group: string;
    scope: string;
    names: Names;
    versions: Version[] | null;
    conversion?: {
      strategy: string;
      webhook?: {
        clientConfig?: { service?: { port?: number } };
        conversionReviewVersions?: string[] | null;
      };
    };
  };
  status: { storedVersions?: string[] | null; conditions?: { type: string; status: string }[] | null };
}

const joined = (field: string, value: string, messages: readonly string[], before = ''): FieldError[] =>
  messages.length > 0 ? [invalidValue(field, value, before + messages.join(','))] : [];

function validateNames(names: Names): FieldError[] {
  const found: FieldError[] = [];
  for (const member of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[member]) found.push(required(`spec.names.${member}`));
  }
  for (const member of ['plural', 'singular'] as const) {
    const name = names[member];
    if (name) found.push(...joined(`spec.names.${member}`, name, dns1035Label(name)));
  }
  for (const member of ['kind', 'listKind'] as const) {
    const name = names[member];
    if (name) {
      found.push(
        ...joined(
          `spec.names.${member}`,
          name,
          dns1035Label(name.toLowerCase()),
          'may have mixed case, but should otherwise match: ',
        ),
      );
    }
  }
  for (const member of ['shortNames', 'categories'] as const) {
    for (const [index, name] of (names[member] ?? []).entries()) {
      found.push(...joined(`spec.names.${member}[${index}]`, name, dns1035Label(name)));
    }
    if (member === 'shortNames' && names.kind && names.kind === names.listKind) {
      found.push(invalidValue('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'));
    }
  }
  return found;
}

/** Versions as the server shows them when it refuses them. */
const shownVersions = (versions: readonly Version[] | null): unknown =>
  versions?.map(({ name, served, storage, deprecated = false, deprecationWarning = null }) => ({
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated,
    DeprecationWarning: deprecationWarning,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  })) ?? null;

function validateVersions(versions: readonly Version[] | null): FieldError[] {
  const found: FieldError[] = [];
  const all = versions ?? [];
  for (const [index, { schema }] of all.entries()) {
    if (!schema?.openAPIV3Schema) found.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
  }
  for (const [index, { name }] of all.entries()) {
    found.push(...joined(`spec.versions[${index}].name`, name, dns1035Label(name)));
  }
  if (new Set(all.map(({ name }) => name)).size < all.length) {
    found.push(invalidValue('spec.versions', shownVersions(versions), 'must contain unique version names'));
  }
  if (all.filter(({ storage }) => storage).length !== 1) {
    found.push(
      invalidValue('spec.versions', shownVersions(versions), 'must have exactly one version marked as storage version'),
    );
  }
  return found;
}

function validateStored({ spec, status }: Definition): FieldError[] {
  const stored = status.storedVersions ?? [];
  const field = 'status.storedVersions';
  if (stored.length === 0) return [invalidValue(field, null, 'must have at least one stored version')];
  const versions = spec.versions ?? [];
  const found = versions
    .filter(({ name, storage }) => storage && !stored.includes(name))
    .map(({ name }) => invalidValue(field, stored, `must have the storage version ${name}`));
  for (const [index, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    found.push(
      invalidValue(
        `${field}[${index}]`,
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    );
  }
  return found;
}

function validateGroup(group: string): FieldError[] {
  if (!group) return [required('spec.group')];
  const wrong = dns1123Subdomain(group);
  if (wrong.length > 0) return joined('spec.group', group, wrong);
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

const scopes = ['Cluster', 'Namespaced'];

function validate(object: KubeObject): FieldError[] {
  const definition = object as Definition;
  const { group, names, scope, versions, conversion } = definition.spec;
  const found: FieldError[] = [];
  const name = object.metadata.name ?? '';
  if (name && name !== `${names.plural}.${group}`) {
    found.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  found.push(...validateGroup(group));
  if (!scope) found.push(required('spec.scope'));
  else if (!scopes.includes(scope)) found.push(notSupported('spec.scope', scope, scopes));
  found.push(...validateVersions(versions), ...validateNames(names));
  if (conversion && conversion.strategy !== 'None' && conversion.strategy !== 'Webhook') {
    found.push(notSupported('spec.conversion.strategy', conversion.strategy, ['None', 'Webhook']));
  }
  if (conversion?.strategy === 'Webhook' && !conversion.webhook?.clientConfig) {
    found.push(required('spec.conversion.webhookClientConfig', 'required when strategy is set to Webhook'));
  }
  return [...found, ...validateStored(definition)];
}

const isEstablished = ({ status }: Definition): boolean =>
  (status.conditions ?? []).some(({ type, status: value }) => type === 'Established' && value === 'True');

function validateUpdate(object: KubeObject, oldObject: KubeObject): FieldError[] {
  const { spec } = object as Definition;
  const old = oldObject as Definition;
  const found = validate(object);
  if (isEstablished(old)) {
    found.push(...immutable('spec.scope', spec.scope, old.spec.scope));
    found.push(...immutable('spec.names.kind', spec.names.kind, old.spec.names.kind));
  }
  return [
    ...found,
    ...immutable('spec.group', spec.group, old.spec.group),
    ...immutable('spec.names.plural', spec.names.plural, old.spec.names.plural),
  ];
}

/** Versions that objects have been stored in, the present one included. */
function addStored({ spec, status }: Definition): void {
  const storage = spec.versions?.find((version) => version.storage)?.name;
  const stored = status.storedVersions ?? [];
  if (storage !== undefined && !stored.includes(storage)) status.storedVersions = [...stored, storage];
}

export const apiExtensionsTypes: readonly ResourceType[] = [
  declare('apiextensions.k8s.io', {
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    namespaced: false,
    subresources: {
      status: {
        kind: 'status',
        prepareUpdate(object, old) {
          keepAllButStatus(object, old);
          const { managedFields, resourceVersion } = object.metadata;
          object.metadata = { ...old.metadata };
          if (managedFields) object.metadata.managedFields = managedFields;
          if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
        },
        validateUpdate: (object) => validateStored(object as Definition),
      },
    },
    strategy: {
      generation: (object, old) => !isDeepStrictEqual(object.spec, old.spec),
      defaults(object) {
        const { spec } = object as Definition;
        if (spec.names.kind) {
          spec.names.singular ||= spec.names.kind.toLowerCase();
          spec.names.listKind ||= `${spec.names.kind}List`;
        }
        spec.conversion ??= { strategy: 'None' };
        const service = spec.conversion.webhook?.clientConfig?.service;
        if (service) service.port ??= 443;
      },
      prepareCreate(object) {
        object.status = emptyStatus(object);
        addStored(object as Definition);
      },
      prepareUpdate(object, old) {
        keepStatus(object, old);
        object.status = { ...(object.status as object) };
        addStored(object as Definition);
      },
      validate,
      validateUpdate,
    },
  }),
];
