// How this folder writes its types down: what differs from the usual is said, the rest is derived.
import { decodeBuiltin } from '../schema/decode.ts';
import { schemaOfKind } from '../schema/definitions.ts';
import { withoutRepeats } from '../schema/field-errors.ts';
import type { Schema } from '../schema/schema.ts';
import { builtinColumns } from '../table/builtin-columns.ts';
import { validateMetadata, validateMetadataUpdate } from './metadata.ts';
import { timesNamed, withSecondCheck } from './metadata-checks.ts';
import type { Column, ResourceType, Strategy, Subresource, Verb } from './resource-type.ts';

export const everyVerb: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

export interface Declaration {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Left out: the kind in lower case. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly Verb[];
  readonly subresources?: Readonly<Record<string, Subresource>>;
  readonly storage?: string;
  readonly columns?: readonly Column[];
  /** What is particular to the type. Metadata is checked besides; `validateUpdate` left out means `validate`. */
  readonly strategy?: Strategy;
  readonly convert?: ResourceType['convert'];
  readonly deprecation?: string;
}

/** A built-in type of version v1 of a group. Its schema is read when first asked for. */
export function declare(group: string, declaration: Declaration): ResourceType {
  const { kind, plural, namespaced } = declaration;
  let schema: Schema | undefined;
  return {
    group,
    version: 'v1',
    kind,
    listKind: `${kind}List`,
    plural,
    singular: declaration.singular ?? kind.toLowerCase(),
    shortNames: declaration.shortNames ?? [],
    categories: declaration.categories ?? [],
    namespaced,
    verbs: declaration.verbs ?? everyVerb,
    subresources: declaration.subresources ?? {},
    storage: declaration.storage ?? `${group}/${plural}`,
    storageVersion: 'v1',
    get schema(): Schema {
      schema ??= schemaOfKind(group, 'v1', kind);
      if (!schema) throw new Error(`no schema is known for ${kind} of ${group || 'core'}/v1`);
      return schema;
    },
    columns: declaration.columns ?? builtinColumns(group, plural),
    strategy: strategyOf(group, declaration),
    ...(declaration.convert ? { convert: declaration.convert } : {}),
    ...(declaration.deprecation ? { deprecation: declaration.deprecation } : {}),
  };
}

/** Groups that take finalizers without a domain. */
const lenientFinalizers = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'coordination.k8s.io',
]);

/** A strategy made whole: decoding and the checks of metadata are the same for all. */
function strategyOf(group: string, { kind, namespaced, strategy = {} }: Declaration): Strategy {
  const rules = {
    namespaced,
    qualifiedFinalizers: !lenientFinalizers.has(group),
    ...(strategy.nameRule ? { nameRule: strategy.nameRule } : {}),
  };
  return {
    ...strategy,
    decode: (body) => decodeBuiltin(group, 'v1', kind, body),
    validate: (object) => withoutRepeats([...validateMetadata(object, rules), ...(strategy.validate?.(object) ?? [])]),
    validateUpdate: (object, old) =>
      withSecondCheck(
        kind,
        withoutRepeats([
          ...validateMetadataUpdate(object, old, rules),
          ...((strategy.validateUpdate ?? strategy.validate)?.(object, old) ?? []),
        ]),
      ).flatMap((error) => Array.from({ length: timesNamed(kind, error.field) }, () => error)),
  };
}

/** A subresource served by a function of its own. */
export const action = (verbs: readonly Verb[], kind: string, group = '', version = 'v1'): Subresource => ({
  kind: 'action',
  verbs,
  request: { group, version, kind },
});

export const scale: Subresource = {
  kind: 'scale',
  specReplicas: '.spec.replicas',
  statusReplicas: '.status.replicas',
  selector: '.spec.selector',
};

/** Kinds that are asked, not kept: reviews. */
export const createOnly: readonly Verb[] = ['create'];
