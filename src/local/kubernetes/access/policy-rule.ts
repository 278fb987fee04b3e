// What a role's rules mean: the fields as stored, whether they allow a question, and whether they cover other rules.
import type { AccessQuestion } from './user.ts';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const all = '*';

const hasOrAll = (list: readonly string[] | undefined, wanted: string): boolean =>
  list?.includes(all) === true || list?.includes(wanted) === true;

/** Whether one rule allows what is asked. */
export function allows(rule: PolicyRule, question: AccessQuestion): boolean {
  if (!hasOrAll(rule.verbs, question.verb)) return false;
  if (question.kind === 'path') return (rule.nonResourceURLs ?? []).some((url) => urlMatches(url, question.path));
  if (!hasOrAll(rule.apiGroups, question.group)) return false;
  const { resources = [], resourceNames = [] } = rule;
  if (!resourceMatches(resources, question.resource, question.subresource)) return false;
  return resourceNames.length === 0 || resourceNames.includes(question.name);
}

function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  if (resources.includes(all)) return true;
  if (subresource === '') return resources.includes(resource);
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

function urlMatches(pattern: string, path: string): boolean {
  if (pattern === all || pattern === path) return true;
  return pattern.endsWith(all) && path.startsWith(pattern.slice(0, -1));
}

/** The rights of `wanted` that no rule of `held` covers, each as the smallest rule that says it. */
export function notCovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(smallestRules).filter((rule) => !held.some((own) => covers(own, rule)));
}

function smallestRules(rule: PolicyRule): PolicyRule[] {
  const found: PolicyRule[] = [];
  for (const verb of rule.verbs) {
    for (const group of rule.apiGroups ?? []) {
      for (const resource of rule.resources ?? []) {
        const one = { verbs: [verb], apiGroups: [group], resources: [resource] };
        const names = rule.resourceNames ?? [];
        if (names.length === 0) found.push(one);
        for (const name of names) found.push({ ...one, resourceNames: [name] });
      }
    }
    for (const url of rule.nonResourceURLs ?? []) found.push({ verbs: [verb], nonResourceURLs: [url] });
  }
  return found;
}

/** `rule` is one of {@link smallestRules}. */
function covers(own: PolicyRule, rule: PolicyRule): boolean {
  if (!rule.verbs.every((verb) => hasOrAll(own.verbs, verb))) return false;
  if (rule.nonResourceURLs) {
    return rule.nonResourceURLs.every((url) => (own.nonResourceURLs ?? []).some((held) => urlMatches(held, url)));
  }
  if (!(rule.apiGroups ?? []).every((group) => hasOrAll(own.apiGroups, group))) return false;
  const { resources = [], resourceNames = [] } = own;
  const resourcesCovered = (rule.resources ?? []).every((text) => {
    const [resource = '', subresource = ''] = text.split('/', 2);
    return resourceMatches(resources, resource, subresource);
  });
  if (!resourcesCovered) return false;
  if (resourceNames.length === 0) return true;
  return (rule.resourceNames ?? ['']).every((name) => resourceNames.includes(name));
}

/** The same rights in fewer rules: those of one resource (and name) share one rule with all its verbs. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    const simple =
      rule.apiGroups?.length === 1 &&
      rule.resources?.length === 1 &&
      (rule.resourceNames?.length ?? 0) <= 1 &&
      (rule.nonResourceURLs?.length ?? 0) === 0;
    if (!simple) {
      others.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames ?? []]);
    const before = merged.get(key);
    merged.set(key, before ? { ...before, verbs: [...new Set([...before.verbs, ...rule.verbs])] } : rule);
  }
  return [...merged.values(), ...others];
}

/** A rule in the server's notation, as in `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`. */
export function ruleText(rule: PolicyRule): string {
  const parts: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = parts.filter(([, list]) => list !== undefined && list.length > 0);
  return `{${shown.map(([name, list]) => `${name}:${quotedList(list ?? [])}`).join(', ')}}`;
}

/** `["a" "b"]`. */
export const quotedList = (list: readonly string[]): string =>
  `[${list.map((text) => JSON.stringify(text)).join(' ')}]`;
