// Role-based access: who is bound to which role, where, and what that allows. The index of a cluster is made at the first
// question that needs it and follows the changes of its roles and bindings from then on.
import type { Change, Entry, Objects } from '../objects/objects.ts';
import { notFound } from '../status.ts';
import { aggregated, type ClusterRole } from './aggregation.ts';
import { rbacGroup, rbacStorage } from './default-rbac.ts';
import { allows, type PolicyRule } from './policy-rule.ts';
import type { AccessAnswer, AccessQuestion, User } from './user.ts';

/** Members of this group may do everything, whatever the roles say. */
export const mastersGroup = 'system:masters';

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Binding {
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

/** One subject of one binding. */
interface Grant {
  readonly binding: Binding;
  readonly subject: Subject;
}

/** Every rule that applies to a user, and the roles that are bound but missing. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

export interface Authorizer {
  mayDo(user: User, question: AccessQuestion): AccessAnswer;
  /** In one namespace, those of cluster role bindings included; with '' only these. */
  rulesFor(user: User, namespace: string): HeldRules;
  /** The rules of a role that a binding of this namespace refers to. Throws StatusError 404. */
  rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[];
}

const allowed: AccessAnswer = { allowed: true, reason: '' };
const denied: AccessAnswer = { allowed: false, reason: '' };

export function createAuthorizer(objects: Objects): Authorizer {
  let index: BindingIndex | undefined;
  let roles: RoleReader | undefined;

  function open(): { bindings: BindingIndex; roles: RoleReader } {
    if (index && roles) return { bindings: index, roles };
    const bindings = bindingIndex();
    const reader = roleReader(objects);
    for (const type of [rbacStorage.clusterRoleBindings, rbacStorage.roleBindings]) {
      for (const entry of objects.list(type)) bindings.add(entry);
      objects.watch(type, objects.revision, (change) => bindings.follow(change));
    }
    objects.watch(rbacStorage.clusterRoles, objects.revision, () => reader.clusterRolesChanged());
    index = bindings;
    roles = reader;
    return { bindings, roles: reader };
  }

  return {
    mayDo(user, question) {
      if (user.groups.includes(mastersGroup)) return allowed;
      const { bindings, roles } = open();
      const namespace = question.kind === 'resource' ? question.namespace : '';
      let missing: string[] | undefined;
      for (const grant of bindings.grants(user, namespace)) {
        const rules = roles.find(grant.binding.roleRef, grant.binding.namespace);
        if (!rules) {
          missing ??= [];
          missing.push(missingRole(grant.binding.roleRef));
        } else if (rules.some((rule) => allows(rule, question))) {
          return { allowed: true, reason: `RBAC: allowed by ${grantText(grant)}` };
        }
      }
      return missing ? { allowed: false, reason: `RBAC: ${errorList(missing)}` } : denied;
    },
    rulesFor(user, namespace) {
      const { bindings, roles } = open();
      const rules: PolicyRule[] = [];
      const errors: string[] = [];
      for (const { binding } of bindings.grants(user, namespace)) {
        const found = roles.find(binding.roleRef, binding.namespace);
        if (found) rules.push(...found);
        else errors.push(missingRole(binding.roleRef));
      }
      return { rules, errors };
    },
    rulesOf(role, namespace) {
      const rules = open().roles.find(role, namespace);
      if (rules) return rules;
      throw notFound({ group: rbacGroup, resource: resourceOf(role) }, role.name);
    },
  };
}

/** Several errors as the server joins them. */
export function errorList(errors: readonly string[]): string {
  const unique = [...new Set(errors)];
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`;
}

export const resourceOf = (role: RoleRef): string => (role.kind === 'Role' ? 'roles' : 'clusterroles');

const missingRole = (role: RoleRef): string =>
  `${role.kind === 'Role' ? 'role' : 'clusterrole'}.${rbacGroup} ${JSON.stringify(role.name)} not found`;

function grantText({ binding, subject }: Grant): string {
  const of = `of ${binding.roleRef.kind} ${JSON.stringify(binding.roleRef.name)} to ${subjectText(subject, binding)}`;
  if (binding.namespace === '') return `ClusterRoleBinding ${JSON.stringify(binding.name)} ${of}`;
  return `RoleBinding ${JSON.stringify(`${binding.name}/${binding.namespace}`)} ${of}`;
}

function subjectText(subject: Subject, binding: Binding): string {
  if (subject.kind !== 'ServiceAccount') return `${subject.kind} ${JSON.stringify(subject.name)}`;
  return `ServiceAccount ${JSON.stringify(`${subject.name}/${subject.namespace || binding.namespace}`)}`;
}

interface BindingIndex {
  add(entry: Entry): void;
  follow(change: Change): void;
  /** Cluster-wide grants first, then those of the namespace; each in the order of the bindings' names. */
  grants(user: User, namespace: string): Iterable<Grant>;
}

/** What a cluster's entries say, parsed once; entries that clusters share are parsed once for all of them. */
const parsedBindings = new WeakMap<Entry, Binding>();

function bindingOf(entry: Entry): Binding {
  const known = parsedBindings.get(entry);
  if (known) return known;
  const object = JSON.parse(entry.bytes.toString()) as { roleRef: RoleRef; subjects?: readonly Subject[] | null };
  const binding: Binding = {
    namespace: entry.namespace,
    name: entry.name,
    roleRef: object.roleRef,
    subjects: object.subjects ?? [],
  };
  parsedBindings.set(entry, binding);
  return binding;
}

/** How a subject is found by a user's name or groups. */
function subjectKey(subject: Subject, namespace: string): string {
  if (subject.kind === 'Group') return `g:${subject.name}`;
  if (subject.kind === 'User') return `u:${subject.name}`;
  return `u:system:serviceaccount:${subject.namespace || namespace}:${subject.name}`;
}

function bindingIndex(): BindingIndex {
  // By namespace ('' for the cluster's), then by subject.
  const grants = new Map<string, Map<string, Grant[]>>();

  function add(entry: Entry): void {
    const binding = bindingOf(entry);
    let bySubject = grants.get(binding.namespace);
    if (!bySubject) {
      bySubject = new Map();
      grants.set(binding.namespace, bySubject);
    }
    const seen = new Set<string>();
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace);
      if (seen.has(key)) continue;
      seen.add(key);
      const list = bySubject.get(key) ?? [];
      const at = list.findIndex((other) => other.binding.name > binding.name);
      bySubject.set(key, at < 0 ? [...list, { binding, subject }] : list.toSpliced(at, 0, { binding, subject }));
    }
  }

  function remove(entry: Entry): void {
    const binding = bindingOf(entry);
    const bySubject = grants.get(binding.namespace);
    if (!bySubject) return;
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace);
      const rest = (bySubject.get(key) ?? []).filter((grant) => grant.binding.name !== binding.name);
      if (rest.length > 0) bySubject.set(key, rest);
      else bySubject.delete(key);
    }
    if (bySubject.size === 0) grants.delete(binding.namespace);
  }

  function* held(bySubject: ReadonlyMap<string, readonly Grant[]> | undefined, user: User): Iterable<Grant> {
    if (!bySubject) return;
    yield* bySubject.get(`u:${user.name}`) ?? [];
    for (const group of user.groups) yield* bySubject.get(`g:${group}`) ?? [];
  }

  return {
    add,
    follow(change) {
      if (change.before) remove(change.before);
      if (change.kind !== 'DELETED') add(change.entry);
    },
    *grants(user, namespace) {
      yield* held(grants.get(''), user);
      if (namespace !== '') yield* held(grants.get(namespace), user);
    },
  };
}

interface RoleReader {
  find(role: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
  clusterRolesChanged(): void;
}

const parsedRoles = new WeakMap<Entry, ClusterRole>();

/** A role as stored, parsed once per entry. */
export function roleOf(entry: Entry): ClusterRole {
  const known = parsedRoles.get(entry);
  if (known) return known;
  const { metadata, rules, aggregationRule } = JSON.parse(entry.bytes.toString()) as ClusterRole;
  const role: ClusterRole = {
    metadata: { name: entry.name, labels: metadata.labels ?? {} },
    rules: rules ?? [],
    ...(aggregationRule ? { aggregationRule } : {}),
  };
  parsedRoles.set(entry, role);
  return role;
}

function roleReader(objects: Objects): RoleReader {
  // Rules of aggregating roles, until any cluster role changes.
  const made = new Map<string, readonly PolicyRule[]>();

  function clusterRole(name: string): readonly PolicyRule[] | undefined {
    const entry = objects.get(rbacStorage.clusterRoles, '', name);
    if (!entry) return undefined;
    const role = roleOf(entry);
    if (!role.aggregationRule) return role.rules ?? [];
    let rules = made.get(name);
    if (!rules) {
      rules = aggregated(role.aggregationRule, objects.list(rbacStorage.clusterRoles).map(roleOf), name);
      made.set(name, rules);
    }
    return rules;
  }

  return {
    find(role, namespace) {
      if (role.kind !== 'Role') return clusterRole(role.name);
      const entry = objects.get(rbacStorage.roles, namespace, role.name);
      return entry ? (roleOf(entry).rules ?? []) : undefined;
    },
    clusterRolesChanged() {
      made.clear();
    },
  };
}
