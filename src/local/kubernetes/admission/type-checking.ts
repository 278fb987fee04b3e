// Expressions of policies checked against the types they will meet. What is found is a warning: fields may come with a version.
import { openApiType } from '../cel/open-api-types.ts';
import { type CelType, dyn } from '../cel/types.ts';
import type { KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import { expressionOf } from './expressions.ts';
import type { PolicySpec } from './policy-definitions.ts';

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** A policy with what was found in it. */
export interface AdmissionPolicy extends KubeObject {
  spec: PolicySpec;
  status?: {
    observedGeneration?: number;
    typeChecking?: { expressionWarnings?: ExpressionWarning[] };
  };
}

/** More types than these are not looked at. */
const mostTypes = 10;

/** The types that a policy names one by one, in order. */
function namedTypes({ matchConstraints }: PolicySpec, table: TypeTable): readonly ResourceType[] {
  const found = new Set<ResourceType>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of matchConstraints?.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].includes('*')) continue;
    for (const group of apiGroups) {
      for (const version of apiVersions) {
        for (const resource of resources) {
          const type = /[*/]/.test(resource) ? undefined : table.find(group, version, resource);
          if (type && found.size < mostTypes) found.add(type);
        }
      }
    }
  }
  return [...found].sort((one, other) => (shownType(one) < shownType(other) ? -1 : 1));
}

const shownType = ({ group, version, kind }: ResourceType): string => `${group}/${version}, Kind=${kind}`;

/** Every object has metadata, whatever the schema of a custom resource says. */
const objectTypeOf = ({ schema, custom }: ResourceType): CelType =>
  openApiType(custom ? { ...schema, properties: { ...schema.properties, ...common } } : schema);

const common: Schema['properties'] = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
};

function paramsType({ paramKind }: PolicySpec, table: TypeTable): CelType {
  if (!paramKind) return dyn;
  const { apiVersion, kind } = paramKind;
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
  const type = table.findKind(group, version, kind);
  return type ? objectTypeOf(type) : dyn;
}

/** What of a policy's validations does not fit the types that it is for. */
export function typeWarnings(spec: PolicySpec, table: TypeTable): ExpressionWarning[] {
  const params = paramsType(spec, table);
  const checks = namedTypes(spec, table).map((type) => ({
    type,
    problemOf: checkFor(spec, objectTypeOf(type), params),
  }));
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, index) =>
    Object.entries({ expression, messageExpression }).flatMap(([field, source]): ExpressionWarning[] => {
      if (!source) return [];
      const problems = checks.flatMap(({ type, problemOf }) => {
        const problem = problemOf(source);
        return problem === undefined ? [] : [`${shownType(type)}: ${problem}\n`];
      });
      if (problems.length === 0) return [];
      return [{ fieldRef: `spec.validations[${index}].${field}`, warning: problems.join('\n') }];
    }),
  );
}

/** Says what is wrong with an expression where objects are of one type. */
function checkFor(spec: PolicySpec, object: CelType, params: CelType): (source: string) => string | undefined {
  const scope = { params: spec.paramKind !== undefined, authorizer: true, objectType: object, paramsType: params };
  const variables: Record<string, CelType> = {};
  for (const { name, expression } of spec.variables ?? []) {
    const { program } = expressionOf(expression, { ...scope, variables: { ...variables } }, undefined);
    variables[name] = program?.type ?? dyn;
  }
  return (source) =>
    expressionOf(source, { ...scope, variables }, undefined).problem?.replace(/^compilation failed: /, '');
}
