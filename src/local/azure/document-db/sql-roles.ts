// Rights on the data of an account: definitions, two of which every account has, and their assignments to principals.
import type { Static } from 'typebox';
import { foldCase, isGuid } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { sentProperties } from '../kept-members.ts';
import type { ResourceType } from '../kernel/provider.ts';
import { isGoing } from '../network/going.ts';
import { documentVersions } from './api-versions.ts';
import { badRequest } from './errors.ts';

const accounts = 'Microsoft.DocumentDB/databaseAccounts';

export const builtInRoles = [
  {
    name: '00000000-0000-0000-0000-000000000001',
    properties: {
      roleName: 'Cosmos DB Built-in Data Reader',
      type: 'BuiltInRole',
      permissions: [
        {
          dataActions: [
            `${accounts}/readMetadata`,
            `${accounts}/sqlDatabases/containers/executeQuery`,
            `${accounts}/sqlDatabases/containers/readChangeFeed`,
            `${accounts}/sqlDatabases/containers/items/read`,
          ],
          notDataActions: [],
        },
      ],
    },
  },
  {
    name: '00000000-0000-0000-0000-000000000002',
    properties: {
      roleName: 'Cosmos DB Built-in Data Contributor',
      type: 'BuiltInRole',
      permissions: [
        {
          dataActions: [
            `${accounts}/readMetadata`,
            `${accounts}/sqlDatabases/containers/*`,
            `${accounts}/sqlDatabases/containers/items/*`,
          ],
          notDataActions: [],
        },
      ],
    },
  },
] as const;

const child = {
  apiVersions: documentVersions,
  scope: 'resourceGroup',
  location: 'none',
  etags: false,
  createdStatus: 202,
  provisioningState: false,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
} as const satisfies Omit<ResourceType, 'type'>;

const definitionSchema = Type.Object({
  properties: Type.Object({
    roleName: Type.String({ minLength: 1 }),
    assignableScopes: Type.Array(Type.String(), { minItems: 1 }),
    permissions: Type.Array(Type.Object({ dataActions: Type.Optional(Type.Array(Type.String())) }), { minItems: 1 }),
  }),
});

const isBuiltIn = (name: string): boolean => builtInRoles.some((role) => role.name === name);

/** The account's own id, of something directly below it. */
const accountOf = (id: string): string => id.split('/').slice(0, -2).join('/');

/** Whether a scope is an account or below it. */
function isWithin(scope: string, account: string): boolean {
  const [inner, outer] = [foldCase(scope), foldCase(account)];
  return inner === outer || inner.startsWith(`${outer}/`);
}

const roleDefinitions: ResourceType = {
  ...child,
  type: 'databaseAccounts/sqlRoleDefinitions',
  schema: definitionSchema,
  prepare({ id, body, current }) {
    if (!isGuid(id.name)) throw badRequest('The id of a role definition must be a GUID.');
    if (isBuiltIn(id.name) && current) throw badRequest('A built-in role definition cannot be changed.');
    const { properties } = body as Static<typeof definitionSchema>;
    const account = accountOf(id.text);
    if (!properties.assignableScopes.every((scope) => isWithin(scope, account)))
      throw badRequest('The assignable scopes of a role definition are its account or below it.');
    return {
      resource: { properties: { type: isBuiltIn(id.name) ? 'BuiltInRole' : 'CustomRole', ...sentProperties(body) } },
      references: {},
    };
  },
  async beforeDelete(world, { resource }) {
    if (isBuiltIn(resource.name) && !(await isGoing(world, accountOf(resource.id))))
      throw badRequest('A built-in role definition cannot be deleted.');
  },
};

const assignmentSchema = Type.Object({
  properties: Type.Object({ roleDefinitionId: Type.String(), scope: Type.String(), principalId: Type.String() }),
});

const roleAssignments: ResourceType = {
  ...child,
  type: 'databaseAccounts/sqlRoleAssignments',
  schema: assignmentSchema,
  async prepare({ world, id, body }) {
    const { roleDefinitionId, scope, principalId } = (body as Static<typeof assignmentSchema>).properties;
    if (!isGuid(id.name)) throw badRequest('The id of a role assignment must be a GUID.');
    if (!isGuid(principalId) || !(await world.directory.principal(principalId)))
      throw badRequest(`The provided principal ID [${principalId.slice(0, 64)}] was not found in the AAD tenant(s).`);
    const account = accountOf(id.text);
    if (!isWithin(scope, account)) throw badRequest('The scope of a role assignment is its account or below it.');
    if (!isWithin(roleDefinitionId, account) || !(await world.resources.read(roleDefinitionId)))
      throw badRequest(`The role definition '${roleDefinitionId.slice(0, 300)}' does not exist in this account.`);
    return { resource: { properties: { roleDefinitionId, scope, principalId } }, references: {} };
  },
};

export const sqlRoles: readonly ResourceType[] = [roleDefinitions, roleAssignments];
