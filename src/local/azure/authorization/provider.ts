// Microsoft.Authorization: roles, who has them, what is denied, and what follows for the one who asks.
import { ArmError } from '../../../arm/errors.ts';
import type { Provider, ProviderRoute } from '../kernel/provider.ts';
import type { Json } from '../kernel/record.ts';
import { checkAccessRoute } from './check-access.ts';
import { denyAssignmentRoutes, denyAssignments } from './deny-assignments.ts';
import { shownPermission } from './permission-shape.ts';
import { providerOperationRoutes } from './provider-operations.ts';
import { roleAssignmentRoutes, roleAssignments } from './role-assignments.ts';
import { roleDefinitionRoutes, roleDefinitions } from './role-definitions.ts';

const permissionRoute: ProviderRoute = {
  method: 'GET',
  scope: 'extension',
  path: 'permissions',
  apiVersions: ['2022-05-01-preview', '2022-04-01', '2018-07-01', '2018-01-01-preview', '2015-07-01', '2015-06-01'],
  action: 'Microsoft.Authorization/permissions/read',
  async run({ world, on, caller }): Promise<Json> {
    const permissions = await world.access.permissions(caller, on?.text ?? '/');
    return { value: permissions.map(shownPermission) };
  },
};

const elevateRoute: ProviderRoute = {
  method: 'POST',
  scope: 'tenant',
  path: 'elevateAccess',
  apiVersions: ['2017-05-01', '2016-07-01', '2015-07-01'],
  action: 'Microsoft.Authorization/elevateAccess/action',
  run() {
    throw new ArmError(
      403,
      'AuthorizationFailed',
      'Access cannot be elevated here: owners of the whole cloud are named in its configuration.',
    );
  },
};

/** There are none any more; clients still ask. */
const classicAdministrators: ProviderRoute = {
  method: 'GET',
  scope: 'subscription',
  path: 'classicAdministrators',
  apiVersions: ['2015-07-01', '2015-06-01'],
  action: 'Microsoft.Authorization/classicAdministrators/read',
  run: async () => ({ value: [] }),
};

export const authorizationProvider: Provider = {
  namespace: 'Microsoft.Authorization',
  alwaysRegistered: true,
  types: [roleDefinitions, roleAssignments, denyAssignments],
  routes: [
    ...roleDefinitionRoutes,
    ...roleAssignmentRoutes,
    ...denyAssignmentRoutes,
    ...providerOperationRoutes,
    permissionRoute,
    checkAccessRoute,
    elevateRoute,
    classicAdministrators,
  ],
};
