// Quotas that count only some pods: by how long they may run, how well they are served, or their priority class.
import type { KubeObject } from '../object.ts';
import type { PodSpec } from './pod.ts';
import type { Counted } from './quota-usage.ts';

export interface QuotaSpec {
  readonly hard?: Readonly<Record<string, string>>;
  readonly scopes?: readonly string[];
  readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeExpression[] };
}

interface ScopeExpression {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Whether a quota counts an object. One with scopes counts pods only. */
export function matchesScopes(spec: QuotaSpec, { group, plural }: Counted, object: KubeObject): boolean {
  const expressions: readonly ScopeExpression[] = [
    ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec.scopeSelector?.matchExpressions ?? []),
  ];
  if (expressions.length === 0) return true;
  if (group !== '' || plural !== 'pods') return false;
  return expressions.every((expression) => inScope(expression, object.spec as PodSpec & Deadline));
}

interface Deadline {
  readonly activeDeadlineSeconds?: number;
}

const isBestEffort = (spec: PodSpec): boolean =>
  [...spec.containers, ...(spec.initContainers ?? [])].every(
    ({ resources }) =>
      Object.keys(resources?.requests ?? {}).length === 0 && Object.keys(resources?.limits ?? {}).length === 0,
  );

const scopes: Readonly<Record<string, (spec: PodSpec & Deadline) => boolean>> = {
  Terminating: (spec) => spec.activeDeadlineSeconds !== undefined,
  NotTerminating: (spec) => spec.activeDeadlineSeconds === undefined,
  BestEffort: isBestEffort,
  NotBestEffort: (spec) => !isBestEffort(spec),
};

function inScope({ scopeName, operator, values = [] }: ScopeExpression, spec: PodSpec & Deadline): boolean {
  if (scopeName !== 'PriorityClass') return scopes[scopeName]?.(spec) ?? false;
  const name = spec.priorityClassName ?? '';
  if (operator === 'Exists') return name !== '';
  if (operator === 'DoesNotExist') return name === '';
  return operator === 'In' ? values.includes(name) : operator === 'NotIn' && !values.includes(name);
}
