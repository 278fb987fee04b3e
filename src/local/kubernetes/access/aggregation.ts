// Cluster roles that are made of others: those whose labels their aggregation rule selects.
import type { PolicyRule } from './policy-rule.ts';

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** What of a ClusterRole decides what it allows. */
export interface ClusterRole {
  readonly metadata: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}

/** Whether labels meet a selector. One without requirements selects everything, as the API has it. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false;
  }
  return (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (operator === 'Exists') return value !== undefined;
    if (operator === 'DoesNotExist') return value === undefined;
    const listed = value !== undefined && values.includes(value);
    return operator === 'In' ? listed : operator === 'NotIn' && !listed;
  });
}

/**
 * The rules of an aggregating role: those of the selected roles in order of their names, each once. `roles` is every cluster
 * role; selected roles that aggregate in turn count with what they are made of. `self` is left out.
 */
export function aggregated(
  rule: NonNullable<ClusterRole['aggregationRule']>,
  roles: readonly ClusterRole[],
  self: string,
): PolicyRule[] {
  const found = new Map<string, PolicyRule>();
  collect(rule, roles, new Set([self]), found);
  return [...found.values()];
}

function collect(
  rule: NonNullable<ClusterRole['aggregationRule']>,
  roles: readonly ClusterRole[],
  seen: Set<string>,
  found: Map<string, PolicyRule>,
): void {
  for (const role of roles) {
    const { name = '', labels = {} } = role.metadata;
    const selected = (rule.clusterRoleSelectors ?? []).some((selector) => selects(selector, labels));
    if (!selected || seen.has(name)) continue;
    seen.add(name);
    if (role.aggregationRule) collect(role.aggregationRule, roles, seen, found);
    else for (const one of role.rules ?? []) found.set(JSON.stringify(one), one);
  }
}
