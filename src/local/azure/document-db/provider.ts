// Microsoft.DocumentDB: Cosmos DB accounts with their SQL databases, containers, keys and rights, as resources.
import type { Provider } from '../kernel/provider.ts';
import { documentVersions } from './api-versions.ts';
import { databaseAccounts } from './database-accounts.ts';
import { sqlResources } from './sql-resources.ts';
import { sqlRoles } from './sql-roles.ts';

export const documentDbProvider: Provider = {
  namespace: 'Microsoft.DocumentDB',
  types: [databaseAccounts, ...sqlResources, ...sqlRoles],
  routes: [
    {
      method: 'GET',
      scope: 'subscription',
      path: 'locations',
      apiVersions: documentVersions,
      action: 'Microsoft.DocumentDB/locations/read',
      run: async ({ world, subscriptionId }) => ({
        value: world.cloud.locations.map(({ name, displayName, zones }) => ({
          id: `/subscriptions/${subscriptionId}/providers/Microsoft.DocumentDB/locations/${name}`,
          name: displayName,
          type: 'Microsoft.DocumentDB/locations',
          properties: { supportsAvailabilityZone: zones, isResidencyRestricted: false, status: 'Online' },
        })),
      }),
    },
  ],
};
