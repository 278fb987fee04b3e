// Microsoft.ContainerService: AKS clusters that are clusters of the embedded Kubernetes.
import { ArmError } from '../../../arm/errors.ts';
import { textOf } from '../kept-members.ts';
import type { Provider } from '../kernel/provider.ts';
import { agentPools, poolsOf } from './agent-pools.ts';
import { containerServiceVersions } from './api-versions.ts';
import { allClusters, clusterHost, stopHost } from './cluster-host.ts';
import { managedClusters } from './managed-clusters.ts';
import { upgradesOf, versionList } from './versions.ts';

export const containerServiceProvider: Provider = {
  namespace: 'Microsoft.ContainerService',
  types: [managedClusters, agentPools],
  routes: [
    {
      method: 'GET',
      scope: 'subscription',
      path: 'locations/{location}/kubernetesVersions',
      apiVersions: containerServiceVersions,
      action: 'Microsoft.ContainerService/locations/kubernetesVersions/read',
      run: async () => versionList(),
    },
    {
      method: 'GET',
      scope: 'resourceGroup',
      path: 'managedClusters/{cluster}/upgradeProfiles/default',
      apiVersions: containerServiceVersions,
      action: 'Microsoft.ContainerService/managedClusters/upgradeProfiles/read',
      async run({ world, subscriptionId, resourceGroup, parameters }) {
        const id = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.ContainerService/managedClusters/${parameters.cluster}`;
        const cluster = (await world.resources.read(id))?.body.resource;
        if (!cluster) throw new ArmError(404, 'ResourceNotFound', `The cluster '${parameters.cluster}' was not found.`);
        const profile = (version: string) => ({
          kubernetesVersion: version,
          osType: 'Linux',
          upgrades: upgradesOf(version).map((kubernetesVersion) => ({ kubernetesVersion })),
        });
        const pools = await poolsOf(world, id);
        return {
          id: `${cluster.id}/upgradeprofiles/default`,
          name: 'default',
          type: 'Microsoft.ContainerService/managedClusters/upgradeprofiles',
          properties: {
            controlPlaneProfile: profile(textOf(cluster.properties?.kubernetesVersion) ?? ''),
            agentPoolProfiles: pools.map(({ resource }) => ({
              name: resource.name,
              ...profile(textOf(resource.properties?.orchestratorVersion) ?? ''),
            })),
          },
        };
      },
    },
  ],
  async start(world) {
    const clusters = await allClusters(world);
    if (clusters.length === 0) return;
    const host = await clusterHost(world);
    for (const cluster of clusters) await host.ensure(cluster);
  },
  stop: stopHost,
};
