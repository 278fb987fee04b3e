// Stand-ins for namespaces that the cloud does not have: resources that are kept, and show what templates read of them.
import type { Provider, ResourceType } from '../../local/azure/kernel/provider.ts';
import type { JsonObject } from '../../local/azure/kernel/record.ts';
import { providers } from '../../local/azure/providers.ts';

function kept(type: string, apiVersion: string, shown: (name: string) => JsonObject = () => ({})): ResourceType {
  return {
    type,
    apiVersions: [apiVersion],
    scope: 'resourceGroup',
    location: 'none',
    show: (_world, { resource }) => ({
      ...resource,
      properties: { ...resource.properties, ...shown(resource.name) },
    }),
  };
}

const standIns: readonly Provider[] = [
  {
    namespace: 'Microsoft.Cdn',
    types: [
      kept('profiles', '2024-02-01'),
      kept('profiles/originGroups', '2024-02-01'),
      kept('profiles/originGroups/origins', '2024-02-01'),
      kept('profiles/afdEndpoints', '2024-02-01', (name) => ({ hostName: `${name}.azurefd.azure.test` })),
      kept('profiles/afdEndpoints/routes', '2024-02-01'),
    ],
  },
];

export const missingProviders: readonly Provider[] = standIns.filter(
  ({ namespace }) => !providers.some((provider) => provider.namespace === namespace),
);
