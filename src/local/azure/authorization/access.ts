// Decisions about access: assignments at the scope and above, deny assignments over them. What was decided for a principal is kept
// until something changes, so that a request costs a look into a table.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, idKey } from '../../../arm/resource-id.ts';
import type { Access, Decision, Permission } from '../kernel/access.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Faults } from '../kernel/faults.ts';
import { durationOf, type Profile } from '../kernel/profiles.ts';
import type { CallerIdentity, EffectEvent } from '../kernel/provider.ts';
import type { Resources } from '../kernel/resources.ts';
import type { World } from '../kernel/world.ts';
import {
  type Assignments,
  createAssignments,
  type Deny,
  denyAssignmentType,
  type Grant,
  roleAssignmentType,
  roleDefinitionType,
  sameKey,
} from './assignments.ts';
import { clientName } from './client-name.ts';
import { type ManagementGroupsOf, reaches, scopeKey, subscriptionOfKey } from './scope.ts';

/** Who is asked about. The application counts for what only the platform may do. */
export type Principal = Pick<CallerIdentity, 'objectId' | 'groups'> & Partial<Pick<CallerIdentity, 'appId'>>;

export interface AccessOptions {
  /** Read when the first decision is made. */
  readonly resources: () => Pick<Resources, 'list'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly faults: Pick<Faults, 'standing'>;
  readonly profile: () => Profile;
  /** Object ids of those who may do everything from the start, with data too, until a deny assignment says otherwise. */
  readonly owners: readonly string[];
  /** Applications of the platform, which alone may write deny assignments. */
  readonly platformApps?: readonly string[];
  /** Every subscription is in the tenant's root group when left out. */
  readonly managementGroupsOf?: ManagementGroupsOf;
  readonly tenantId: string;
  /** Object ids of the groups that a principal is in, for those who are not the caller; none when left out. */
  readonly groupsOf?: (objectId: string) => readonly string[];
}

export interface RoleAccess extends Access {
  /** Everything that decides, once it has been read. */
  assignments(): Promise<Assignments>;
  /** What a type's effect tells of a record that was written or goes. */
  noted(event: EffectEvent): Promise<void>;
  /** From when on an assignment that is written now counts; epoch milliseconds. */
  visibleAt(): number;
  check(caller: Principal, action: string, scope: string, data?: boolean): Promise<Decision>;
  /** Whether the caller has any role at the subscription, above it or below it. */
  hasRoleIn(caller: Principal, subscriptionId: string): Promise<boolean>;
  isPlatform(principal: Principal): boolean;
  groupsOf(objectId: string): readonly string[];
  /** Whether what stands at a scope is good for another one. */
  reaches(scope: string, asked: string): boolean;
  /** Takes a principal, role and scope for an assignment that is being written; false when another one has them. */
  claim(asked: { readonly principalId: string; readonly role: string; readonly scope: string }, key: string): boolean;
}

/** The access of a cloud whose roles are assigned; throws for a cloud without them. */
export function roleAccessOf({ access }: Pick<World, 'access'>): RoleAccess {
  if ('assignments' in access) return access as RoleAccess;
  throw new Error('this cloud decides about access without role assignments');
}

const everything: Permission = { actions: ['*'], notActions: [], dataActions: ['*'], notDataActions: [] };
/** Beyond these the oldest are forgotten. */
const principalsMax = 2000;
const decisionsMax = 5000;
const claimMs = 10_000;
/** What no role gives to anybody but the platform. */
const platformAction = /^microsoft\.authorization\/denyassignments\/(?:write|delete)$/;

interface Known {
  readonly version: number;
  readonly groups: readonly string[];
  readonly decisions: Map<string, Decision>;
  readonly grants: readonly Grant[];
  readonly denies: readonly Deny[];
}

export function createAccess(options: AccessOptions): RoleAccess {
  const { clock, faults, profile, tenantId } = options;
  const assignments = createAssignments();
  const owners = new Set(options.owners.map(foldCase));
  const platform = new Set((options.platformApps ?? []).map(foldCase));
  const groupsOf = options.managementGroupsOf ?? (() => [tenantId]);
  const known = new Map<string, Known>();
  const claims = new Map<string, { readonly key: string; readonly until: number }>();
  let loading: Promise<void> | undefined;
  let isLoaded = false;
  /** When the next assignment begins to count. */
  let nextVisible = Number.POSITIVE_INFINITY;
  let turns = 0;

  const noteGrant = (visibleAt: number): void => {
    if (visibleAt > clock.now()) nextVisible = Math.min(nextVisible, visibleAt);
  };
  const load = async (): Promise<void> => {
    const resources = options.resources();
    for (const type of [roleDefinitionType, roleAssignmentType, denyAssignmentType])
      for (const record of await resources.list({ type })) assignments.note(record);
    for (const { visibleAt } of assignments.grants()) noteGrant(visibleAt);
    isLoaded = true;
  };
  const loaded = (): Promise<void> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  /** Changes with everything that decisions depend on. */
  const version = (): number => {
    const now = clock.now();
    if (now >= nextVisible) {
      turns++;
      nextVisible = Number.POSITIVE_INFINITY;
      for (const { visibleAt } of assignments.grants()) noteGrant(visibleAt);
    }
    return assignments.version + turns;
  };
  const owns = ({ objectId, groups }: Principal): boolean =>
    owners.has(foldCase(objectId)) || groups.some((group) => owners.has(foldCase(group)));
  const isPlatform = (principal: Principal): boolean =>
    owns(principal) || (principal.appId !== undefined && platform.has(foldCase(principal.appId)));
  const collect = (caller: Principal, now: number): Known => {
    const ids = [caller.objectId, ...caller.groups].map(foldCase);
    const grants: Grant[] = [];
    for (const id of ids)
      for (const grant of assignments.grantsOf(id)) if (grant.visibleAt <= clock.now()) grants.push(grant);
    const denies: Deny[] = [];
    for (const deny of assignments.denies()) {
      const isMeant = deny.everyone || ids.some((id) => deny.principals.has(id));
      if (isMeant && !ids.some((id) => deny.excluded.has(id))) denies.push(deny);
    }
    return { version: now, groups: caller.groups, decisions: new Map(), grants, denies };
  };
  const knownOf = (caller: Principal): Known => {
    const now = version();
    const there = known.get(caller.objectId);
    if (there?.version === now && sameTexts(there.groups, caller.groups)) return there;
    const made = collect(caller, now);
    known.delete(caller.objectId);
    known.set(caller.objectId, made);
    forgetOldest(known, principalsMax);
    return made;
  };
  const decide = (of: Known, caller: Principal, action: string, scope: string, data: boolean): Decision => {
    const asked = scopeKey(scope);
    const verb = foldCase(action);
    const deny = of.denies.find(
      (one) =>
        (one.appliesBelow ? reaches(one.scope, asked, groupsOf) : one.scope === asked) &&
        one.permissions.some((permission) => permission.covers(verb, data)),
    );
    if (deny) return { allowed: false, denied: true, assignment: deny.resource.id };
    if (owns(caller)) return { allowed: true };
    const grant = of.grants.find(
      (one) =>
        reaches(one.scope, asked, groupsOf) &&
        assignments.permissionsOfRole(one.role).some((permission) => permission.covers(verb, data)),
    );
    return grant === undefined ? { allowed: false } : { allowed: true, assignment: grant.resource.id };
  };
  const check = async (caller: Principal, action: string, scope: string, data = false): Promise<Decision> => {
    if (!isLoaded) await loaded();
    const of = knownOf(caller);
    const key = `${data ? 'data ' : ''}${action} ${scope}`;
    const there = of.decisions.get(key);
    const decision = there ?? decide(of, caller, action, scope, data);
    if (there === undefined) {
      of.decisions.set(key, decision);
      forgetOldest(of.decisions, decisionsMax);
    }
    // An application is not what decisions are kept by.
    if (decision.allowed && platformAction.test(foldCase(action)) && !isPlatform(caller)) return { allowed: false };
    return decision;
  };

  return {
    check,
    isPlatform,
    async hasRoleIn(caller, subscriptionId) {
      if (!isLoaded) await loaded();
      if (owns(caller)) return true;
      const id = foldCase(subscriptionId);
      const asked = `/subscriptions/${id}`;
      return knownOf(caller).grants.some(
        ({ scope }) => reaches(scope, asked, groupsOf) || subscriptionOfKey(scope) === id,
      );
    },
    groupsOf: (objectId) => options.groupsOf?.(objectId) ?? [],
    reaches: (scope, asked) => reaches(scope, asked, groupsOf),
    async demand(caller, action, scope) {
      const decision = await check(caller, action, scope);
      if (!decision.allowed) throw refusal(caller, action, scope, decision, assignments);
    },
    async permissions(caller, scope) {
      if (!isLoaded) await loaded();
      const asked = scopeKey(scope);
      const permissions: Permission[] = owns(caller) ? [everything] : [];
      for (const grant of knownOf(caller).grants)
        if (reaches(grant.scope, asked, groupsOf))
          permissions.push(...(assignments.role(grant.role)?.permissions ?? []));
      return permissions;
    },
    async assignments() {
      await loaded();
      return assignments;
    },
    async noted({ kind, record }) {
      await loaded();
      const key = idKey(record.resource.id);
      const claimed = kind === 'delete' ? undefined : [...claims].find(([, claim]) => claim.key === key);
      if (kind === 'delete') assignments.forget(key);
      else assignments.note(record);
      if (claimed) claims.delete(claimed[0]);
      const { visibleAt } = record.resource.properties ?? {};
      if (kind !== 'delete' && typeof visibleAt === 'number') noteGrant(visibleAt);
    },
    visibleAt() {
      const slow = faults.standing('slowRoleAssignments').map(({ seconds }) => seconds * 1000);
      return clock.now() + Math.max(durationOf(profile(), roleAssignmentType, 'visible'), ...slow);
    },
    claim({ principalId, role, scope }, key) {
      const same = sameKey(principalId, role, scope);
      const now = performance.now();
      const there = claims.get(same);
      if (there !== undefined && there.key !== key && there.until > now) return false;
      claims.delete(same);
      claims.set(same, { key, until: now + claimMs });
      forgetOldest(claims, principalsMax);
      return true;
    },
  };
}

function refusal(
  caller: CallerIdentity,
  action: string,
  scope: string,
  { denied, assignment }: Decision,
  assignments: Assignments,
): ArmError {
  const who = `The client '${clientName(caller)}' with object id '${caller.objectId}'`;
  if (!denied)
    return new ArmError(
      403,
      'AuthorizationFailed',
      `${who} does not have authorization to perform action '${action}' over scope '${scope}' or the scope is invalid. ` +
        'If access was recently granted, please refresh your credentials.',
    );
  const deny = [...assignments.denies()].find(({ resource }) => resource.id === assignment);
  return new ArmError(
    403,
    'DenyAssignmentAuthorizationFailed',
    `${who} has permission to perform action '${action}' on scope '${scope}'; however, the access is denied because of the deny ` +
      `assignment with name '${deny?.name ?? ''}' and Id '${deny?.resource.name ?? ''}' at scope '${deny?.scope || '/'}'.`,
  );
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((text, at) => text === b[at]));
}

function forgetOldest(table: Map<string, unknown>, max: number): void {
  const oldest = table.size > max ? table.keys().next().value : undefined;
  if (oldest !== undefined) table.delete(oldest);
}
