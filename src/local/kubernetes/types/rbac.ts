// Roles and their bindings.
import type { KubeObject } from '../object.ts';
import { invalidBy, invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { dns1123Subdomain, pathSegment } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import type { LabelSelector } from './pod/pod-spec.ts';
import type { ResourceType, Strategy } from './resource-type.ts';
import { validateSelector } from './selectors.ts';

const group = 'rbac.authorization.k8s.io';

interface Rule {
  verbs: string[] | null;
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

interface Role extends KubeObject {
  rules: Rule[] | null;
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
}

interface RoleRef {
  apiGroup: string;
  kind: string;
  name: string;
}

interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

interface Binding extends KubeObject {
  roleRef: RoleRef;
  subjects?: Subject[];
}

function validateRule(rule: Rule, namespaced: boolean, field: string): FieldError[] {
  const found = rule.verbs?.length ? [] : [required(`${field}.verbs`, 'verbs must contain at least one value')];
  const { nonResourceURLs, apiGroups, resources, resourceNames } = rule;
  if (nonResourceURLs?.length) {
    const at = `${field}.nonResourceURLs`;
    if (namespaced) {
      found.push(invalidValue(at, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
    }
    if (apiGroups?.length || resources?.length || resourceNames?.length) {
      found.push(
        invalidValue(at, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs'),
      );
    }
    return found;
  }
  if (!apiGroups?.length) {
    found.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  }
  if (!resources?.length) {
    found.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  }
  return found;
}

const validateRole =
  (namespaced: boolean) =>
  (object: KubeObject): FieldError[] => {
    const { rules, aggregationRule } = object as Role;
    const found = (rules ?? []).flatMap((rule, index) => validateRule(rule, namespaced, `rules[${index}]`));
    if (!aggregationRule) return found;
    const at = 'aggregationRule.clusterRoleSelectors';
    const selectors = aggregationRule.clusterRoleSelectors ?? [];
    if (selectors.length === 0) {
      found.push(required(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
    }
    return [...found, ...selectors.flatMap((selector, index) => validateSelector(selector, `${at}[${index}]`))];
  };

function validateSubject(subject: Subject, namespaced: boolean, field: string): FieldError[] {
  const { kind, name, namespace = '', apiGroup = '' } = subject;
  const found = name ? [] : [required(`${field}.name`)];
  if (kind === 'ServiceAccount') {
    if (name) found.push(...invalidBy(`${field}.name`, name, dns1123Subdomain(name)));
    if (apiGroup) found.push(notSupported(`${field}.apiGroup`, apiGroup, ['']));
    if (!namespaced && !namespace) found.push(required(`${field}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== group) found.push(notSupported(`${field}.apiGroup`, apiGroup, [group]));
  } else found.push(notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  return found;
}

const validateBinding =
  (kinds: readonly string[], namespaced: boolean) =>
  (object: KubeObject): FieldError[] => {
    const { roleRef, subjects = [] } = object as Binding;
    const found: FieldError[] = [];
    if (roleRef.apiGroup !== group) found.push(notSupported('roleRef.apiGroup', roleRef.apiGroup, [group]));
    if (!kinds.includes(roleRef.kind)) found.push(notSupported('roleRef.kind', roleRef.kind, kinds));
    if (!roleRef.name) found.push(required('roleRef.name'));
    else found.push(...invalidBy('roleRef.name', roleRef.name, pathSegment(roleRef.name)));
    return [
      ...found,
      ...subjects.flatMap((subject, index) => validateSubject(subject, namespaced, `subjects[${index}]`)),
    ];
  };

/** A binding's role is what it is: to bind another, make another. */
function validateSameRole(object: KubeObject, old: KubeObject): FieldError[] {
  const { apiGroup, kind, name } = (object as Binding).roleRef;
  const before = (old as Binding).roleRef;
  if (apiGroup === before.apiGroup && kind === before.kind && name === before.name) return [];
  return [invalidValue('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')];
}

function bindingDefaults(object: KubeObject): void {
  const { roleRef, subjects = [] } = object as Binding;
  roleRef.apiGroup ||= group;
  for (const subject of subjects) {
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = group;
  }
}

const nameRule: Strategy['nameRule'] = (name) => pathSegment(name);

const roleStrategy = (namespaced: boolean): Strategy => ({
  generation: false,
  nameRule,
  validate: validateRole(namespaced),
});

const bindingStrategy = (kinds: readonly string[], namespaced: boolean): Strategy => {
  const validate = validateBinding(kinds, namespaced);
  return {
    generation: false,
    nameRule,
    defaults: bindingDefaults,
    validate,
    validateUpdate: (object, old) => [...validate(object), ...validateSameRole(object, old)],
  };
};

export const rbacTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    namespaced: false,
    strategy: bindingStrategy(['ClusterRole'], false),
  }),
  declare(group, { kind: 'ClusterRole', plural: 'clusterroles', namespaced: false, strategy: roleStrategy(false) }),
  declare(group, {
    kind: 'RoleBinding',
    plural: 'rolebindings',
    namespaced: true,
    strategy: bindingStrategy(['Role', 'ClusterRole'], true),
  }),
  declare(group, { kind: 'Role', plural: 'roles', namespaced: true, strategy: roleStrategy(true) }),
];
