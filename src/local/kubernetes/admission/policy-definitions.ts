// ValidatingAdmissionPolicies and their bindings as clusters declare them.
import type { LabelSelector } from '../access/aggregation.ts';
import type { Cluster } from '../cluster.ts';
import type { Entry } from '../objects/objects.ts';
import type { AdmissionRequest, AdmissionTarget } from '../registry/admission.ts';
import type { CompileExpression, Expression } from './expressions.ts';
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

interface PolicySpec {
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
  readonly failurePolicy?: string;
}

/** An expression that may not be CEL at all: then evaluating it fails with what the compiler said. */
export interface Compiled {
  readonly text: string;
  readonly evaluate: Expression;
}

export interface Validation {
  readonly expression: Compiled;
  readonly message: string;
  readonly messageExpression: Compiled | undefined;
  readonly reason: string;
}

export interface Policy {
  readonly name: string;
  readonly paramKind: PolicySpec['paramKind'];
  readonly matches: MatchResources;
  readonly conditions: readonly { readonly name: string; readonly expression: Compiled }[];
  readonly variables: readonly { readonly name: string; readonly expression: Compiled }[];
  readonly validations: readonly Validation[];
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

/** Reads policies and bindings, each once. */
export function policyReader(compile: CompileExpression): {
  policies(cluster: Cluster): Policy[];
  bindings(cluster: Cluster, policy: string): PolicyBinding[];
} {
  const policies = new WeakMap<Entry, Policy>();
  const bindings = new WeakMap<Entry, PolicyBinding>();

  const compiled = (text: string): Compiled => {
    try {
      return { text, evaluate: compile(text) };
    } catch (error) {
      return {
        text,
        evaluate() {
          throw error;
        },
      };
    }
  };
  const policyOf = (entry: Entry): Policy => {
    const { spec = {} } = JSON.parse(entry.bytes.toString()) as { spec?: PolicySpec };
    return {
      name: entry.name,
      paramKind: spec.paramKind,
      matches: spec.matchConstraints ?? {},
      conditions: (spec.matchConditions ?? []).map(({ name, expression }) => ({
        name,
        expression: compiled(expression),
      })),
      variables: (spec.variables ?? []).map(({ name, expression }) => ({ name, expression: compiled(expression) })),
      validations: (spec.validations ?? []).map(({ expression, message = '', messageExpression, reason = '' }) => ({
        expression: compiled(expression),
        message,
        messageExpression: messageExpression ? compiled(messageExpression) : undefined,
        reason,
      })),
      failurePolicy: spec.failurePolicy ?? 'Fail',
    };
  };
  const bindingOf = (entry: Entry): PolicyBinding => {
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
  };
  return {
    policies: ({ objects }) => objects.list(policyStorage).map((entry) => remembered(policies, entry, policyOf)),
    bindings: ({ objects }, policy) =>
      objects
        .list(bindingStorage)
        .map((entry) => remembered(bindings, entry, bindingOf))
        .filter(({ policyName }) => policyName === policy),
  };
}

function remembered<T>(known: WeakMap<Entry, T>, entry: Entry, make: (entry: Entry) => T): T {
  let found = known.get(entry);
  if (found === undefined) {
    found = make(entry);
    known.set(entry, found);
  }
  return found;
}

/** Whether rules may match, as far as that can be told without the object. */
export const rulesMatch = (matches: MatchResources, target: AdmissionTarget, cluster: Cluster): boolean =>
  wantedType(matches.resourceRules, matches.matchPolicy, target, cluster) !== undefined;

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
