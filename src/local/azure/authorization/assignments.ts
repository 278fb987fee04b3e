// Everything that decides about access, held in memory: role assignments by principal, custom roles, deny assignments. The records in
// the store are the truth; this is told of each of them.
import { foldCase, idKey } from '../../../arm/resource-id.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import { type CompiledPermission, compilePermission } from './action-pattern.ts';
import type { RoleDefinition } from './built-in/role.ts';
import { builtInRoles } from './built-in/roles.ts';
import { permissionsOf } from './permission-shape.ts';
import { scopeKey, scopeOfId, subscriptionOfKey } from './scope.ts';

export interface Grant {
  readonly key: string;
  readonly principalId: string;
  /** GUID of the role. */
  readonly role: string;
  /** Key of the scope. */
  readonly scope: string;
  /** Counts from then on; epoch milliseconds. */
  readonly visibleAt: number;
  readonly resource: ArmResource;
}

export interface Deny {
  readonly key: string;
  readonly scope: string;
  readonly name: string;
  readonly appliesBelow: boolean;
  readonly everyone: boolean;
  readonly principals: ReadonlySet<string>;
  readonly excluded: ReadonlySet<string>;
  readonly permissions: readonly CompiledPermission[];
  readonly resource: ArmResource;
}

export interface CustomRole extends RoleDefinition {
  readonly key: string;
  readonly resource: ArmResource;
}

export interface Assignments {
  /** Grows with every change that may change a decision. */
  readonly version: number;
  note(record: ResourceRecord): void;
  forget(key: string): void;
  grantsOf(principalId: string): Iterable<Grant>;
  /** By folded id. */
  grant(key: string): Grant | undefined;
  grants(): Iterable<Grant>;
  denies(): Iterable<Deny>;
  role(name: string): RoleDefinition | undefined;
  customRole(name: string): CustomRole | undefined;
  customRoles(): Iterable<CustomRole>;
  permissionsOfRole(name: string): readonly CompiledPermission[];
  /** The assignment of a role to a principal at a scope, whatever its name. */
  same(principalId: string, role: string, scope: string): Grant | undefined;
  isRoleAssigned(role: string): boolean;
  /** How many assignments there are in a subscription. */
  countIn(subscriptionId: string): number;
}

export const roleAssignmentType = 'microsoft.authorization/roleassignments';
export const roleDefinitionType = 'microsoft.authorization/roledefinitions';
export const denyAssignmentType = 'microsoft.authorization/denyassignments';

/** In a deny assignment, all principals. */
export const everyone = '00000000-0000-0000-0000-000000000000';

export function createAssignments(): Assignments {
  const grants = new Map<string, Grant>();
  const byPrincipal = new Map<string, Map<string, Grant>>();
  const bySame = new Map<string, Grant>();
  const assigned = new Map<string, number>();
  const counts = new Map<string, number>();
  const denies = new Map<string, Deny>();
  const custom = new Map<string, CustomRole>();
  const customNames = new Map<string, string>();
  const compiled = new Map<string, readonly CompiledPermission[]>();
  let version = 0;

  const count = (table: Map<string, number>, key: string | undefined, by: number): void => {
    if (key === undefined) return;
    const next = (table.get(key) ?? 0) + by;
    if (next === 0) table.delete(key);
    else table.set(key, next);
  };
  const drop = (key: string): void => {
    const grant = grants.get(key);
    if (grant) {
      grants.delete(key);
      const own = byPrincipal.get(grant.principalId);
      own?.delete(key);
      if (own?.size === 0) byPrincipal.delete(grant.principalId);
      const triple = sameKey(grant.principalId, grant.role, grant.scope);
      if (bySame.get(triple)?.key === key) bySame.delete(triple);
      count(assigned, grant.role, -1);
      count(counts, subscriptionOfKey(grant.scope), -1);
    }
    denies.delete(key);
    const name = customNames.get(key);
    if (name === undefined) return;
    customNames.delete(key);
    custom.delete(name);
    compiled.delete(name);
  };
  const take: { readonly [type: string]: (record: ResourceRecord) => void } = {
    [roleAssignmentType](record) {
      const grant = grantOf(record);
      grants.set(grant.key, grant);
      const own = byPrincipal.get(grant.principalId) ?? new Map<string, Grant>();
      own.set(grant.key, grant);
      byPrincipal.set(grant.principalId, own);
      bySame.set(sameKey(grant.principalId, grant.role, grant.scope), grant);
      count(assigned, grant.role, 1);
      count(counts, subscriptionOfKey(grant.scope), 1);
    },
    [denyAssignmentType](record) {
      const deny = denyOf(record);
      denies.set(deny.key, deny);
    },
    [roleDefinitionType](record) {
      const role = customRoleOf(record);
      custom.set(role.name, role);
      customNames.set(role.key, role.name);
      compiled.delete(role.name);
    },
  };

  return {
    get version() {
      return version;
    },
    note(record) {
      drop(idKey(record.resource.id));
      take[record.type]?.(record);
      version++;
    },
    forget(key) {
      drop(key);
      version++;
    },
    grantsOf: (principalId) => byPrincipal.get(principalId)?.values() ?? [],
    grant: (key) => grants.get(key),
    grants: () => grants.values(),
    denies: () => denies.values(),
    role: (name) => builtInRoles.get(name) ?? custom.get(name),
    customRole: (name) => custom.get(name),
    customRoles: () => custom.values(),
    permissionsOfRole(name) {
      const known = compiled.get(name);
      if (known) return known;
      const role = builtInRoles.get(name) ?? custom.get(name);
      const made = (role?.permissions ?? []).map(compilePermission);
      compiled.set(name, made);
      return made;
    },
    same: (principalId, role, scope) => bySame.get(sameKey(principalId, role, scope)),
    isRoleAssigned: (role) => assigned.has(role),
    countIn: (subscriptionId) => counts.get(subscriptionId) ?? 0,
  };
}

/** Names an assignment by what it gives. */
export function sameKey(principalId: string, role: string, scope: string): string {
  return `${principalId} ${role} ${scope}`;
}

function grantOf({ resource }: ResourceRecord): Grant {
  const { principalId, roleDefinitionId, visibleAt } = resource.properties ?? {};
  return {
    key: idKey(resource.id),
    principalId: foldCase(String(principalId)),
    role: foldCase(String(roleDefinitionId).split('/').at(-1) ?? ''),
    scope: scopeKey(scopeOfId(resource.id)),
    visibleAt: typeof visibleAt === 'number' ? visibleAt : 0,
    resource,
  };
}

function denyOf({ resource }: ResourceRecord): Deny {
  const { properties = {} } = resource;
  const principals = idsOf(properties.principals);
  return {
    key: idKey(resource.id),
    scope: scopeKey(scopeOfId(resource.id)),
    name: String(properties.denyAssignmentName ?? resource.name),
    appliesBelow: properties.doNotApplyToChildScopes !== true,
    everyone: principals.has(everyone),
    principals,
    excluded: idsOf(properties.excludePrincipals),
    permissions: permissionsOf(properties.permissions).map(compilePermission),
    resource,
  };
}

function idsOf(principals: JsonObject[string]): ReadonlySet<string> {
  const ids = new Set<string>();
  if (!Array.isArray(principals)) return ids;
  for (const principal of principals as readonly JsonObject[])
    if (typeof principal?.id === 'string') ids.add(foldCase(principal.id));
  return ids;
}

function customRoleOf({ resource }: ResourceRecord): CustomRole {
  const { roleName, description, permissions, assignableScopes } = resource.properties ?? {};
  return {
    key: idKey(resource.id),
    name: foldCase(resource.name),
    roleName: String(roleName),
    description: typeof description === 'string' ? description : '',
    roleType: 'CustomRole',
    permissions: permissionsOf(permissions),
    assignableScopes: Array.isArray(assignableScopes) ? assignableScopes.map(String) : [],
    resource,
  };
}
