// ValidatingAdmissionPolicies and their bindings as clusters declare them.
import type { LabelSelector } from '../access/aggregation.ts';
import { type CelType, dyn } from '../cel/types.ts';
import type { Cluster } from '../cluster.ts';
import type { Entry } from '../objects/objects.ts';
import type { AdmissionRequest, AdmissionTarget } from '../registry/admission.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type Expression, expressionOf } from './expressions.ts';
import { labelsMatch, type MatchCondition, type WebhookRule, wantedType } from './webhook-configurations.ts';

export interface PolicyRule extends WebhookRule {
  readonly resourceNames?: readonly string[];
}

export interface MatchResources {
  readonly resourceRules?: readonly PolicyRule[];
  readonly excludeResourceRules?: readonly PolicyRule[];
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchPolicy?: string;
}

export interface PolicySpec {
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations?: readonly {
    readonly expression: string;
    readonly message?: string;
    readonly messageExpression?: string;
    readonly reason?: string;
  }[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly failurePolicy?: string;
}

export interface Validation {
  readonly expression: Expression;
  readonly message: string;
  readonly messageExpression: Expression | undefined;
  readonly reason: string;
}

interface NamedExpression {
  readonly name: string;
  readonly expression: Expression;
}

/** The expressions of a policy, each compiled once. */
export interface PolicyExpressions {
  readonly conditions: readonly NamedExpression[];
  readonly variables: readonly NamedExpression[];
  readonly validations: readonly Validation[];
  /** Named by their keys. */
  readonly annotations: readonly NamedExpression[];
}

export interface Policy extends PolicyExpressions {
  readonly name: string;
  readonly paramKind: PolicySpec['paramKind'];
  readonly matches: MatchResources;
  readonly failurePolicy: string;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

export interface PolicyBinding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  readonly matches: MatchResources | undefined;
  readonly actions: readonly string[];
}

export const policyStorage = 'admissionregistration.k8s.io/validatingadmissionpolicies';
export const bindingStorage = 'admissionregistration.k8s.io/validatingadmissionpolicybindings';

/** Compiles what a policy says. What cannot be compiled keeps its problem. */
export function expressionsOf(spec: PolicySpec): PolicyExpressions {
  const params = spec.paramKind !== undefined && spec.paramKind !== null;
  const known: Record<string, CelType> = {};
  const variables = (spec.variables ?? []).map(({ name, expression }) => {
    const scope = { params, authorizer: true, variables: { ...known } };
    const compiled = expressionOf(expression, scope, undefined);
    known[name] = compiled.program?.type ?? dyn;
    return { name, expression: compiled };
  });
  const whole = { params, authorizer: true, variables: known };
  return {
    variables,
    conditions: (spec.matchConditions ?? []).map(({ name, expression }) => ({
      name,
      expression: expressionOf(expression.trim(), { params, authorizer: true }, ['bool']),
    })),
    validations: (spec.validations ?? []).map(({ expression, message = '', messageExpression, reason = '' }) => ({
      expression: expressionOf(expression, whole, ['bool']),
      message,
      messageExpression: messageExpression?.trim()
        ? expressionOf(messageExpression, { ...whole, authorizer: false }, ['string'])
        : undefined,
      reason,
    })),
    annotations: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      name: key,
      expression: expressionOf(valueExpression, whole, ['string', 'null']),
    })),
  };
}

function policyOf(entry: Entry): Policy {
  const { spec = {} } = JSON.parse(entry.bytes.toString()) as { spec?: PolicySpec };
  return {
    ...expressionsOf(spec),
    name: entry.name,
    paramKind: spec.paramKind,
    matches: spec.matchConstraints ?? {},
    failurePolicy: spec.failurePolicy ?? 'Fail',
  };
}

function bindingOf(entry: Entry): PolicyBinding {
  const { spec } = JSON.parse(entry.bytes.toString()) as {
    spec?: {
      policyName?: string;
      paramRef?: ParamRef;
      matchResources?: MatchResources;
      validationActions?: string[];
    };
  };
  return {
    name: entry.name,
    policyName: spec?.policyName ?? '',
    paramRef: spec?.paramRef,
    matches: spec?.matchResources,
    actions: spec?.validationActions ?? [],
  };
}

const policies = new WeakMap<Entry, Policy>();
const bindings = new WeakMap<Entry, PolicyBinding>();

/** The policies of a cluster, each read once. */
export const policiesOf = ({ objects }: Cluster): Policy[] =>
  objects.list(policyStorage).map((entry) => remembered(policies, entry, policyOf));

/** The bindings of a policy. */
export const bindingsOf = ({ objects }: Cluster, policy: string): PolicyBinding[] =>
  objects
    .list(bindingStorage)
    .map((entry) => remembered(bindings, entry, bindingOf))
    .filter(({ policyName }) => policyName === policy);

function remembered<T>(known: WeakMap<Entry, T>, entry: Entry, make: (entry: Entry) => T): T {
  let found = known.get(entry);
  if (found === undefined) {
    found = make(entry);
    known.set(entry, found);
  }
  return found;
}

/** The type in whose version a policy wants the object, as far as that can be told without the object. */
export const policyType = (
  matches: MatchResources,
  target: AdmissionTarget,
  cluster: Cluster,
): ResourceType | undefined => wantedType(matches.resourceRules, matches.matchPolicy, target, cluster);

/** Whether a request is one that a policy or a binding is for. A binding without rules takes what its policy takes. */
export function resourcesMatch(matches: MatchResources, request: AdmissionRequest): boolean {
  if (!labelsMatch(matches, request)) return false;
  const { cluster } = request.context;
  const named = (rules: readonly PolicyRule[] | undefined): readonly PolicyRule[] =>
    (rules ?? []).filter(
      ({ resourceNames = [] }) => resourceNames.length === 0 || resourceNames.includes(request.name.name),
    );
  if (wantedType(named(matches.excludeResourceRules), matches.matchPolicy, request, cluster)) return false;
  if (!matches.resourceRules || matches.resourceRules.length === 0) return true;
  return wantedType(named(matches.resourceRules), matches.matchPolicy, request, cluster) !== undefined;
}
