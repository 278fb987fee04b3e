// From a definition to the types that serve it. Definitions that say the same share their types in all clusters: schemas,
// compiled rules and all else that hangs on them exist once.
import { createHash } from 'node:crypto';
import { compareVersions } from '../discovery/groups.ts';
import type { KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { everyVerb } from '../types/declare.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { columnsOf } from './columns.ts';
import { completedBy, customStrategy, customSubresources, prunedTo } from './custom-strategy.ts';
import type { Definition, DefinitionNames, DefinitionSpec, DefinitionVersion } from './definition.ts';
import { type Converter, webhookConversion } from './webhook-conversion.ts';

/** What types depend on. */
interface Ingredients {
  readonly spec: DefinitionSpec;
  readonly names: DefinitionNames;
  /** Whether objects may have been stored under another schema than today's. */
  readonly changed: boolean;
  readonly terminating: boolean;
  /** What converts between versions; undefined where nothing but the version's name changes. */
  readonly converter: Converter | undefined;
}

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const schemaOf = ({ schema }: DefinitionVersion): Schema => schema?.openAPIV3Schema ?? anything;

/** What clients of a deprecated version are told: the definition's own words, or which later version to use. */
function deprecationOf({ group, versions }: DefinitionSpec, kind: string, version: DefinitionVersion): string {
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const [better] = versions
    .filter(({ name, served, deprecated }) => served && !deprecated && compareVersions(name, version.name) < 0)
    .sort((one, other) => compareVersions(one.name, other.name));
  const use = better ? `; use ${group}/${better.name} ${kind}` : '';
  return `${group}/${version.name} ${kind} is deprecated${use}`;
}

function makeType(
  { spec, names, changed, terminating, converter }: Ingredients,
  version: DefinitionVersion,
  stored: DefinitionVersion,
): ResourceType {
  const { group, scope } = spec;
  const { plural, kind, listKind = `${kind}List`, singular = kind.toLowerCase() } = names;
  const namespaced = scope === 'Namespaced';
  const schema = schemaOf(version);
  const strategy = customStrategy({ group, plural, kind, namespaced, version, schema, terminating });
  const convert = converter
    ? webhookConversion(`${group}/${version.name}`, `${group}/${stored.name}`, converter)
    : conversion(version, stored, group, changed);
  return {
    group,
    version: version.name,
    kind,
    listKind,
    plural,
    singular,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced,
    verbs: everyVerb,
    subresources: customSubresources(version, schema),
    storage: `${group}/${plural}`,
    storageVersion: stored.name,
    schema,
    columns: columnsOf(version.additionalPrinterColumns),
    strategy,
    custom: { preserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] === true },
    ...(convert ? { convert } : {}),
    ...(version.deprecated ? { deprecation: deprecationOf(spec, names.kind, version) } : {}),
  };
}

/**
 * Between the version stored and the one served. What was stored is completed by the schema of its own version, as that may have
 * changed since; another version only cuts. Left out where the bytes stored are as good as the object served.
 */
function conversion(
  version: DefinitionVersion,
  stored: DefinitionVersion,
  group: string,
  changed: boolean,
): ResourceType['convert'] {
  const [schema, storedSchema] = [schemaOf(version), schemaOf(stored)];
  const [servedVersion, storedVersion] = [`${group}/${version.name}`, `${group}/${stored.name}`];
  const same = JSON.stringify(schema) === JSON.stringify(storedSchema);
  if (same && !changed) return undefined;
  const completed = (object: KubeObject): KubeObject =>
    changed ? completedBy(object, storedVersion, storedSchema) : object;
  return {
    toServed: (object) =>
      same ? { ...completed(object), apiVersion: servedVersion } : prunedTo(completed(object), servedVersion, schema),
    toStored: (object) =>
      same ? { ...object, apiVersion: storedVersion } : prunedTo(object, storedVersion, storedSchema),
  };
}

function makeTypes(ingredients: Ingredients): readonly ResourceType[] {
  const { versions } = ingredients.spec;
  const stored = versions.find(({ storage }) => storage);
  if (!stored) return [];
  return versions.filter(({ served }) => served).map((version) => makeType(ingredients, version, stored));
}

const shared = new Map<string, WeakRef<readonly ResourceType[]>>();
const forgotten = new FinalizationRegistry<string>((key) => {
  if (shared.get(key)?.deref() === undefined) shared.delete(key);
});

function keyOf({ spec, names, changed, terminating }: Ingredients): string {
  const { group, scope, versions } = spec;
  return createHash('sha256')
    .update(JSON.stringify([group, scope, versions, names, changed, terminating]))
    .digest('base64');
}

/**
 * The types of the versions that a definition serves, under the names it was granted. `converter` is for definitions whose versions
 * a webhook converts; theirs belong to one cluster.
 */
export function resourceTypesOf(
  definition: Definition,
  names: DefinitionNames,
  converter?: Converter,
): readonly ResourceType[] {
  const { spec, metadata } = definition;
  const ingredients: Ingredients = {
    spec,
    names,
    changed: (metadata.generation ?? 1) > 1,
    terminating: metadata.deletionTimestamp !== undefined,
    converter,
  };
  if (converter) return makeTypes(ingredients);
  const key = keyOf(ingredients);
  const known = shared.get(key)?.deref();
  if (known) return known;
  const types = makeTypes(ingredients);
  shared.set(key, new WeakRef(types));
  forgotten.register(types, key);
  return types;
}
