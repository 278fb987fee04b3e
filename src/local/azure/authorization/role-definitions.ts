// Microsoft.Authorization/roleDefinitions: the built-in roles, which are seen at every scope, and those that a tenant makes itself.
import { checkBody } from '../../../arm/check-body.ts';
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, isGuid, parseResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ProviderRoute, ResourceType, RouteRequest } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import { roleAccessOf } from './access.ts';
import type { RoleDefinition } from './built-in/role.ts';
import { builtInRoles } from './built-in/roles.ts';
import { parseListFilter } from './filter.ts';
import { permissionSchema, permissionsOf, shownPermission } from './permission-shape.ts';
import { definitionId } from './role-assignments.ts';
import { scopeKey } from './scope.ts';

const apiVersions = [
  '2022-05-01-preview',
  '2022-04-01',
  '2018-07-01',
  '2018-01-01-preview',
  '2015-07-01',
  '2015-06-01',
] as const;
const customRolesMax = 5000;

const schema = Type.Object({
  roleName: Type.String({ minLength: 1, maxLength: 512 }),
  description: Type.Optional(Type.String({ maxLength: 2048 })),
  type: Type.Optional(Type.String()),
  permissions: Type.Array(permissionSchema, { minItems: 1, maxItems: 64 }),
  assignableScopes: Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { minItems: 1, maxItems: 2000 }),
});

export const roleDefinitions: ResourceType = {
  type: 'roleDefinitions',
  apiVersions,
  scope: 'extension',
  location: 'none',
  etags: false,
  provisioningState: false,
  prepare,
  async beforeDelete(world, { resource }) {
    const assignments = await roleAccessOf(world).assignments();
    if (assignments.isRoleAssigned(foldCase(resource.name)))
      throw new ArmError(
        400,
        'RoleDefinitionHasAssignments',
        `There are existing role assignments referencing role (code: ${resource.name}).`,
      );
  },
  async effect(world, event) {
    await roleAccessOf(world).noted(event);
    return undefined;
  },
};

const read = {
  method: 'GET',
  scope: 'extension',
  apiVersions,
  action: 'Microsoft.Authorization/roleDefinitions/read',
} as const;

export const roleDefinitionRoutes: readonly ProviderRoute[] = [
  { ...read, path: 'roleDefinitions', run: list },
  { ...read, path: 'roleDefinitions/{name}', run: get },
];

async function prepare({ world, id, body, current, caller }: PrepareRequest): Promise<Prepared> {
  const name = foldCase(id.name);
  if (!isGuid(name))
    throw new ArmError(
      400,
      'InvalidRoleDefinitionId',
      `The role definition ID '${id.name.slice(0, 100)}' is not valid. The role definition ID must be a GUID.`,
    );
  if (builtInRoles.has(name))
    throw new ArmError(400, 'RoleDefinitionUpdateNotPermitted', `The built-in role '${name}' cannot be changed.`);
  const given = isRecord(body.properties) ? { ...body.properties } : undefined;
  if (given === undefined)
    throw new ArmError(400, 'BadRequestFormat', 'The request was incorrectly formatted: properties are missing.');
  const checked = checkBody(schema, given);
  const assignments = await roleAccessOf(world).assignments();
  const there = assignments.customRole(name);
  if (there && there.key !== id.key)
    throw new ArmError(
      409,
      'RoleDefinitionExists',
      `The role definition '${name}' stands at another scope: '${there.resource.id}'. Change it there.`,
    );
  const roles = [...assignments.customRoles(), ...builtInRoles.values()];
  if (roles.some((role) => role.name !== name && foldCase(role.roleName) === foldCase(checked.roleName)))
    throw new ArmError(
      409,
      'RoleDefinitionWithSameNameExists',
      `A custom role with the same name '${checked.roleName}' already exists in this directory. Use a different name.`,
    );
  if (!there && [...assignments.customRoles()].length >= customRolesMax)
    throw new ArmError(
      400,
      'RoleDefinitionLimitExceeded',
      `No more role definitions can be created: a directory has at most ${customRolesMax} custom roles.`,
    );
  for (const scope of checked.assignableScopes) demandScope(scope);
  const before = current?.resource.properties;
  const now = new Date(world.clock.now()).toISOString();
  return {
    resource: {
      properties: {
        roleName: checked.roleName,
        type: 'CustomRole',
        description: checked.description ?? '',
        assignableScopes: checked.assignableScopes,
        permissions: permissionsOf((given as JsonObject).permissions).map(shownPermission),
        createdOn: before?.createdOn ?? now,
        updatedOn: now,
        createdBy: before?.createdBy ?? caller.objectId,
        updatedBy: caller.objectId,
      },
    },
    references: {},
  };
}

function demandScope(scope: string): void {
  if (scope === '/' || parseResourceId(scope).ok) return;
  throw new ArmError(
    400,
    'LinkedInvalidPropertyId',
    `Property id '${scope.slice(0, 200)}' at path 'properties.assignableScopes' is invalid. Expect fully qualified resource Id that start with ` +
      "'/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.",
  );
}

function shown(role: RoleDefinition, scope: string, dates: JsonObject | undefined): Json {
  const {
    createdOn = '2015-02-02T21:55:09.8806423Z',
    updatedOn = createdOn,
    createdBy = null,
    updatedBy = null,
  } = dates ?? {};
  return {
    properties: {
      roleName: role.roleName,
      type: role.roleType,
      description: role.description,
      assignableScopes: role.assignableScopes,
      permissions: role.permissions.map(shownPermission),
      createdOn,
      updatedOn,
      createdBy,
      updatedBy,
    },
    id: definitionId(role.name, scope),
    type: 'Microsoft.Authorization/roleDefinitions',
    name: role.name,
  };
}

async function list({ world, on, query }: RouteRequest): Promise<Json> {
  const { values } = parseListFilter(query.$filter, ['roleName', 'type']);
  const access = roleAccessOf(world);
  const assignments = await access.assignments();
  const scope = on?.text ?? '/';
  const asked = scopeKey(scope);
  const roleName = values.get('rolename');
  const type = values.get('type');
  const value: Json[] = [];
  const add = (role: RoleDefinition, dates?: JsonObject): void => {
    if (roleName !== undefined && foldCase(roleName) !== foldCase(role.roleName)) return;
    if (type !== undefined && foldCase(type) !== foldCase(role.roleType)) return;
    value.push(shown(role, scope, dates));
  };
  for (const role of builtInRoles.values()) add(role);
  for (const role of assignments.customRoles()) {
    const scopes = role.assignableScopes.map(scopeKey);
    if (scopes.some((one) => access.reaches(one, asked) || access.reaches(asked, one)))
      add(role, role.resource.properties);
  }
  return { value };
}

async function get({ world, on, parameters }: RouteRequest): Promise<Json> {
  const name = foldCase(parameters.name ?? '');
  const assignments = await roleAccessOf(world).assignments();
  const role = assignments.role(name);
  if (role === undefined)
    throw new ArmError(
      404,
      'RoleDefinitionDoesNotExist',
      `The specified role definition with ID '${name.slice(0, 100)}' does not exist.`,
    );
  return shown(role, on?.text ?? '/', assignments.customRole(name)?.resource.properties);
}
