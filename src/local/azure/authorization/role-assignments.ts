// Microsoft.Authorization/roleAssignments: a role for a principal at a scope. Neither of the three changes once it is written.
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, isGuid, parseResourceId } from '../../../arm/resource-id.ts';
import type { Prepared, PrepareRequest, ProviderRoute, ResourceType, RouteRequest } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject } from '../kernel/record.ts';
import { type RoleAccess, roleAccessOf } from './access.ts';
import { type Grant, roleAssignmentType } from './assignments.ts';
import { parseListFilter } from './filter.ts';
import { scopeKey, scopeOfId, subscriptionOfKey } from './scope.ts';

const apiVersions = [
  '2022-04-01',
  '2020-10-01-preview',
  '2020-08-01-preview',
  '2020-04-01-preview',
  '2020-03-01-preview',
  '2019-04-01-preview',
  '2018-09-01-preview',
  '2018-07-01',
  '2018-01-01-preview',
  '2017-10-01-preview',
  '2015-07-01',
  '2015-06-01',
] as const;

/** In a subscription. */
const assignmentsMax = 4000;
const principalTypes = ['User', 'Group', 'ServicePrincipal', 'ForeignGroup', 'Device'] as const;

export const roleAssignments: ResourceType = {
  type: 'roleAssignments',
  apiVersions,
  scope: 'extension',
  location: 'none',
  etags: false,
  provisioningState: false,
  prepare,
  async effect(world, event) {
    await roleAccessOf(world).noted(event);
    return undefined;
  },
  show: (_world, { resource }) => shown(resource),
};

export const roleAssignmentRoutes: readonly ProviderRoute[] = [
  {
    method: 'GET',
    scope: 'extension',
    path: 'roleAssignments/{name}',
    apiVersions,
    action: 'Microsoft.Authorization/roleAssignments/read',
    run: get,
  },
  {
    method: 'GET',
    scope: 'extension',
    path: 'roleAssignments',
    apiVersions,
    action: 'Microsoft.Authorization/roleAssignments/read',
    run: list,
  },
];

/** What an assignment is made of, as it was asked for. */
interface Asked {
  readonly roleDefinitionId: string;
  readonly role: string;
  readonly principalId: string;
  readonly principalType: string | undefined;
}

async function prepare({ world, id, body, current, caller }: PrepareRequest): Promise<Prepared> {
  if (!isGuid(id.name))
    throw new ArmError(
      400,
      'InvalidRoleAssignmentId',
      `The role assignment ID '${id.name.slice(0, 100)}' is not valid. The role assignment ID must be a GUID.`,
    );
  const given = isRecord(body.properties) ? (body.properties as JsonObject) : body;
  const asked = askedOf(given);
  const scope = scopeOfId(id.text);
  const access = roleAccessOf(world);
  const assignments = await access.assignments();
  const role = assignments.role(asked.role);
  const isAssignable = role?.assignableScopes.some((one) => access.reaches(scopeKey(one), scopeKey(scope)));
  if (role === undefined || !isAssignable)
    throw new ArmError(
      400,
      'RoleDefinitionDoesNotExist',
      `The specified role definition with ID '${asked.role}' does not exist.`,
    );
  const before = current?.resource.properties;
  if (before && (before.principalId !== asked.principalId || roleOf(before.roleDefinitionId) !== asked.role))
    throw immutable();
  const principalType =
    before?.principalType ?? (await principalTypeOf(world.directory, asked, world.directory.tenantId));
  if (before === undefined) demandNew(access, assignments, asked, scope, id.key);
  const now = new Date(world.clock.now()).toISOString();
  const optional = pick(given, ['condition', 'conditionVersion', 'description', 'delegatedManagedIdentityResourceId']);
  return {
    resource: {
      properties: {
        roleDefinitionId: definitionId(asked.role, scope),
        principalId: asked.principalId,
        principalType,
        scope,
        condition: null,
        conditionVersion: null,
        ...optional,
        createdOn: before?.createdOn ?? now,
        updatedOn: now,
        createdBy: before?.createdBy ?? caller.objectId,
        updatedBy: caller.objectId,
        visibleAt: before?.visibleAt ?? access.visibleAt(),
      },
    },
    references: {},
  };
}

function askedOf({ roleDefinitionId, principalId, principalType }: JsonObject): Asked {
  if (roleDefinitionId === undefined && principalId === undefined)
    throw new ArmError(
      400,
      'BadRequestFormat',
      'The request was incorrectly formatted: properties must have roleDefinitionId and principalId.',
    );
  if (typeof principalId !== 'string' || !isGuid(principalId))
    throw new ArmError(400, 'InvalidPrincipalId', 'A valid principal ID must be provided for role assignment.');
  const role = roleOf(roleDefinitionId);
  if (typeof roleDefinitionId !== 'string' || role === undefined)
    throw new ArmError(
      400,
      'InvalidRoleDefinitionId',
      'A valid role definition ID must be provided for role assignment.',
    );
  if (principalType !== undefined && principalType !== null) {
    const known = principalTypes.find(
      (type) => typeof principalType === 'string' && foldCase(type) === foldCase(principalType),
    );
    if (known === undefined)
      throw new ArmError(
        400,
        'InvalidPrincipalType',
        `The principal type must be one of: ${principalTypes.join(', ')}.`,
      );
    return { roleDefinitionId, role, principalId: foldCase(principalId), principalType: known };
  }
  return { roleDefinitionId, role, principalId: foldCase(principalId), principalType: undefined };
}

/** The GUID of a role definition's id. */
function roleOf(id: Json | undefined): string | undefined {
  const parsed = typeof id === 'string' ? parseResourceId(id) : undefined;
  if (!parsed?.ok || foldCase(parsed.id.type) !== 'microsoft.authorization/roledefinitions') return undefined;
  return isGuid(parsed.id.name) ? foldCase(parsed.id.name) : undefined;
}

function demandNew(
  access: RoleAccess,
  assignments: Awaited<ReturnType<RoleAccess['assignments']>>,
  { principalId, role }: Asked,
  scope: string,
  key: string,
): void {
  const there = assignments.same(principalId, role, scopeKey(scope));
  if ((there && there.key !== key) || !access.claim({ principalId, role, scope: scopeKey(scope) }, key))
    throw new ArmError(409, 'RoleAssignmentExists', 'The role assignment already exists.');
  const subscriptionId = subscriptionOfKey(scopeKey(scope));
  if (subscriptionId !== undefined && assignments.countIn(subscriptionId) >= assignmentsMax)
    throw new ArmError(
      400,
      'RoleAssignmentLimitExceeded',
      `No more role assignments can be created: a subscription has at most ${assignmentsMax}.`,
    );
}

/**
 * A principal that the directory does not have is refused, unless its type was given: then it may be one that was made a moment ago and
 * is not known everywhere yet.
 */
async function principalTypeOf(
  directory: { principal(objectId: string): Promise<{ readonly kind: string } | undefined> },
  { principalId, principalType }: Asked,
  tenantId: string,
): Promise<string> {
  const principal = await directory.principal(principalId);
  if (principal === undefined) {
    if (principalType !== undefined) return principalType;
    throw new ArmError(
      400,
      'PrincipalNotFound',
      `Principal ${principalId.replaceAll('-', '')} does not exist in the directory ${tenantId}. Check that you have the correct principal ID. ` +
        'If you are creating this principal and then immediately assigning a role, this error might be related to a replication delay. ' +
        'In this case, set the role assignment principalType property to a value, such as ServicePrincipal, User, or Group. ' +
        'See https://aka.ms/docs-principaltype',
    );
  }
  if (principalType !== undefined && principalType !== principal.kind)
    throw new ArmError(
      400,
      'UnmatchedPrincipalType',
      `The PrincipalId '${principalId}' has type '${principal.kind}' , which is different from specified PrinciaplType '${principalType}'.`,
    );
  return principal.kind;
}

/** Built-in and custom roles alike are named in the subscription of the assignment. */
export function definitionId(role: string, scope: string): string {
  const subscriptionId = subscriptionOfKey(scopeKey(scope));
  const front = subscriptionId === undefined ? '' : `/subscriptions/${subscriptionId}`;
  return `${front}/providers/Microsoft.Authorization/roleDefinitions/${role}`;
}

function immutable(): ArmError {
  return new ArmError(
    400,
    'RoleAssignmentUpdateNotPermitted',
    'Tenant ID, application ID, principal ID, and scope are not allowed to be updated.',
  );
}

function pick(given: JsonObject, names: readonly string[]): JsonObject {
  const picked: { [name: string]: Json } = {};
  for (const name of names) {
    const value = given[name];
    if (typeof value === 'string' && value !== '') picked[name] = value;
  }
  return picked;
}

/** Without what is only for the decisions. */
function shown({ id, name, type, properties = {} }: ArmResource): ArmResource {
  const { visibleAt: _, ...rest } = properties;
  return { properties: rest, id, type, name };
}

async function get({ world, on, parameters }: RouteRequest): Promise<Json> {
  const name = parameters.name ?? '';
  const assignments = await roleAccessOf(world).assignments();
  const grant = assignments.grant(`${on?.key ?? ''}/providers/${roleAssignmentType}/${foldCase(name)}`);
  if (grant) return shown(grant.resource);
  throw new ArmError(404, 'RoleAssignmentNotFound', `The role assignment '${name.slice(0, 100)}' is not found.`);
}

/** At the scope, above it and, without `atScope()`, below it. */
async function list({ world, on, query, caller }: RouteRequest): Promise<Json> {
  const { atScope, values } = parseListFilter(query.$filter, ['principalId', 'assignedTo', 'roleDefinitionId']);
  const access = roleAccessOf(world);
  const assignments = await access.assignments();
  const asked = scopeKey(on?.text ?? '/');
  const principals = principalsOf(access, caller, values);
  const role = values.get('roledefinitionid');
  const isListed = (grant: Grant): boolean => {
    if (principals && !principals.has(grant.principalId)) return false;
    if (role !== undefined && roleOf(role) !== grant.role) return false;
    return access.reaches(grant.scope, asked) || (!atScope && access.reaches(asked, grant.scope));
  };
  const found: Json[] = [];
  for (const grant of assignments.grants()) if (isListed(grant)) found.push(shown(grant.resource));
  return { value: found };
}

/** Whom a list is about; undefined for everybody. */
function principalsOf(
  access: RoleAccess,
  caller: RouteRequest['caller'],
  values: ReadonlyMap<string, string>,
): ReadonlySet<string> | undefined {
  const principalId = values.get('principalid');
  if (principalId !== undefined) return new Set([foldCase(principalId)]);
  const assignedTo = values.get('assignedto');
  if (assignedTo === undefined) return undefined;
  const id = foldCase(assignedTo);
  const groups = id === foldCase(caller.objectId) ? caller.groups : access.groupsOf(id);
  return new Set([id, ...groups.map(foldCase)]);
}
