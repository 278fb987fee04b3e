// Nobody grants what he does not hold: the check on writing roles and bindings.
import type { JsonObject, KubeObject } from '../object.ts';
import { equalJson } from '../patch/json-tree.ts';
import { badRequest, forbidden, notFound } from '../status.ts';
import type { ClusterRole } from './aggregation.ts';
import { rbacGroup } from './default-rbac.ts';
import { compactRules, notCovered, type PolicyRule, quotedList, ruleText } from './policy-rule.ts';
import { type Authorizer, errorList, mastersGroup, type RoleRef, resourceOf } from './rbac.ts';
import type { User } from './user.ts';

export interface EscalationQuestion {
  readonly user: User;
  /** Plural, such as `rolebindings`. */
  readonly resource: string;
  readonly namespace: string;
  readonly object: KubeObject;
  readonly old: KubeObject | undefined;
}

const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** A reference as it is before anything is said of it: objects come here before they are validated. */
const noRole: RoleRef = { kind: '', name: '' };

/**
 * Throws StatusError 403 when the user would grant more than he holds, unless he has the verb `escalate` on roles or `bind` on
 * the role that is bound. Throws 404 when a binding's role is not there and so cannot be compared. Asked for every object of the
 * RBAC group that is created or updated, which need not be valid.
 */
export function checkEscalation(authorizer: Authorizer, question: EscalationQuestion): void {
  if (question.user.groups.includes(mastersGroup)) return;
  const { resource } = question;
  if (resource === 'roles' || resource === 'clusterroles') checkRole(authorizer, question);
  if (resource === 'rolebindings' || resource === 'clusterrolebindings') checkBinding(authorizer, question);
}

function checkRole(authorizer: Authorizer, question: EscalationQuestion): void {
  const { user, resource, namespace, object, old } = question;
  const name = object.metadata.name ?? '';
  const role = object as unknown as ClusterRole;
  const before = old as unknown as ClusterRole | undefined;
  if (old && changesHousekeepingOnly(object, old)) return;
  if (asksFor(authorizer, question, 'escalate', resource, name)) return;
  const held = authorizer.rulesFor(user, namespace);
  if ((role.aggregationRule ?? before?.aggregationRule) && notCovered(held.rules, fullAuthority).length > 0) {
    throw forbidden(
      { group: rbacGroup, resource },
      name,
      'must have cluster-admin privileges to use the aggregationRule',
    );
  }
  confirm(
    authorizer,
    question,
    (role.rules ?? []).map((rule) => ({ ...rule, verbs: rule.verbs ?? [] })),
  );
}

function checkBinding(authorizer: Authorizer, question: EscalationQuestion): void {
  const { namespace, resource, object, old } = question;
  const role: RoleRef = { ...noRole, ...(object.roleRef as Partial<RoleRef> | undefined) };
  if (old && changesHousekeepingOnly(object, old)) return;
  if (role.kind !== 'Role' && role.kind !== 'ClusterRole') {
    throw badRequest(`unsupported role reference kind: ${JSON.stringify(role.kind)}`);
  }
  if (asksFor(authorizer, question, 'bind', resourceOf(role), role.name)) return;
  if (role.name === '') throw badRequest('Name parameter required.');
  let rules: readonly PolicyRule[];
  try {
    rules = authorizer.rulesOf(role, namespace);
  } catch {
    // The server's answer names the resource that was asked for, not that of the role.
    throw notFound({ group: rbacGroup, resource }, role.name);
  }
  confirm(authorizer, question, rules);
}

function asksFor(
  authorizer: Authorizer,
  { user, namespace }: EscalationQuestion,
  verb: string,
  resource: string,
  name: string,
): boolean {
  const question = {
    kind: 'resource',
    verb,
    group: rbacGroup,
    version: 'v1',
    resource,
    subresource: '',
    namespace,
    name,
  };
  return authorizer.mayDo(user, { ...question, kind: 'resource' }).allowed;
}

function confirm(authorizer: Authorizer, question: EscalationQuestion, rules: readonly PolicyRule[]): void {
  const { user, resource, namespace, object } = question;
  const held = authorizer.rulesFor(user, namespace);
  const missing = notCovered(held.rules, rules);
  if (missing.length === 0) return;
  const texts = [...new Set(compactRules(missing).map(ruleText))].sort();
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
  const errors = held.errors.length > 0 ? `; resolution errors: ${errorList(held.errors)}` : '';
  throw forbidden(
    { group: rbacGroup, resource },
    object.metadata.name ?? '',
    `${who} is attempting to grant RBAC permissions not currently held:\n${texts.join('\n')}${errors}`,
  );
}

/** Whether a change is one that lets an object be collected, which grants nothing. */
function changesHousekeepingOnly(object: KubeObject, old: KubeObject): boolean {
  const without = ({ metadata, ...rest }: KubeObject): JsonObject => {
    const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _managed, ...kept } = metadata;
    return { ...rest, metadata: kept } as unknown as JsonObject;
  };
  return equalJson(without(object), without(old));
}
