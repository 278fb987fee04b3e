// Microsoft.ContainerService/managedClusters/agentPools: machines of a cluster, simulated as nodes.
import type { Static } from 'typebox';
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { Enum, MapOf } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import { objectOf, sentProperties, textOf } from '../kept-members.ts';
import type { ResourceType } from '../kernel/provider.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { isGoing } from '../network/going.ts';
import { containerServiceVersions } from './api-versions.ts';
import { clusterHost } from './cluster-host.ts';
import { badRequest } from './errors.ts';
import { defaultVersion, demandUpgrade, supportedVersion } from './versions.ts';

export const agentPoolType = 'Microsoft.ContainerService/managedClusters/agentPools';

const defaultSize = 'Standard_D2s_v3';
/** Simulated nodes cost memory; Azure's own limit is 1000. */
const maxCount = 200;

export const agentPoolProperties = Type.Object({
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: maxCount })),
  minCount: Type.Optional(Type.Integer({ minimum: 0 })),
  maxCount: Type.Optional(Type.Integer({ minimum: 0 })),
  enableAutoScaling: Type.Optional(Type.Boolean()),
  vmSize: Type.Optional(Type.String()),
  mode: Type.Optional(Enum(['System', 'User', 'Gateway'])),
  osType: Type.Optional(Enum(['Linux', 'Windows'])),
  maxPods: Type.Optional(Type.Integer({ minimum: 10, maximum: 250 })),
  orchestratorVersion: Type.Optional(Type.String()),
  nodeLabels: Type.Optional(MapOf(Type.String())),
  nodeTaints: Type.Optional(Type.Array(Type.String())),
  availabilityZones: Type.Optional(Type.Array(Type.String())),
});

const readOnly = ['currentOrchestratorVersion', 'nodeImageVersion', 'powerState'] as const;
const unchanging = ['vmSize', 'osType', 'osDiskType', 'vnetSubnetID', 'podSubnetID', 'availabilityZones'] as const;

/** The id of the cluster that a pool is of. */
const clusterIdOf = (id: string): string => id.slice(0, foldCase(id).lastIndexOf('/agentpools/'));

export const agentPools: ResourceType = {
  type: 'managedClusters/agentPools',
  apiVersions: containerServiceVersions,
  scope: 'resourceGroup',
  location: 'none',
  name: {
    form: /^[a-z][a-z0-9]{0,11}$/,
    rule: 'It has 1 to 12 lower-case letters and digits and begins with a letter.',
  },
  etags: false,
  schema: Type.Object({ properties: Type.Optional(agentPoolProperties) }),
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  linkedAccess(body) {
    const { vnetSubnetID, podSubnetID } = objectOf(body.properties);
    return [vnetSubnetID, podSubnetID]
      .filter((subnet) => typeof subnet === 'string')
      .map((subnet) => ({ id: subnet, action: 'Microsoft.Network/virtualNetworks/subnets/join/action' }));
  },
  async prepare({ world, id, body, current, within }) {
    const given = objectOf(body.properties) as Static<typeof agentPoolProperties>;
    const before = objectOf(current?.resource.properties);
    const cluster = within ?? (await world.resources.read(clusterIdOf(id.text)))?.body.resource;
    const clusterVersion = textOf(cluster?.properties?.kubernetesVersion) ?? defaultVersion;
    const version = supportedVersion(
      given.orchestratorVersion || (textOf(before.orchestratorVersion) ?? clusterVersion),
    );
    if (current) demandUpgrade(textOf(before.orchestratorVersion) ?? version, version);
    const mode = given.mode ?? 'User';
    const count = given.count ?? 1;
    if (mode === 'System' && count === 0)
      throw badRequest(
        'InvalidParameter',
        `System node pool ${id.name} must have at least one node.`,
        'properties.count',
      );
    if (given.enableAutoScaling) checkScaling(count, given.minCount, given.maxCount);
    for (const name of unchanging) {
      const wanted = objectOf(body.properties)[name];
      if (
        current &&
        wanted !== undefined &&
        wanted !== '' &&
        before[name] !== undefined &&
        JSON.stringify(wanted) !== JSON.stringify(before[name])
      )
        throw badRequest(
          'PropertyChangeNotAllowed',
          `Changing property 'properties.${name}' is not allowed.`,
          `properties.${name}`,
        );
    }
    return {
      resource: {
        properties: {
          osType: 'Linux',
          osSKU: 'Ubuntu',
          osDiskSizeGB: 128,
          osDiskType: 'Managed',
          kubeletDiskType: 'OS',
          maxPods: 110,
          type: 'VirtualMachineScaleSets',
          enableAutoScaling: false,
          scaleDownMode: 'Delete',
          enableNodePublicIP: false,
          enableEncryptionAtHost: false,
          enableUltraSSD: false,
          enableFIPS: false,
          ...sentProperties(body, readOnly),
          // az leaves the choice to the service by an empty text.
          vmSize: given.vmSize || (textOf(before.vmSize) ?? defaultSize),
          mode,
          count,
          orchestratorVersion: version,
          currentOrchestratorVersion: version,
          nodeImageVersion: 'AKSUbuntu-2204gen2containerd-202510.19.0',
          powerState: { code: 'Running' },
        },
      },
    };
  },
  async beforeDelete(world, record) {
    if (record.resource.properties?.mode !== 'System') return;
    if (await isGoing(world, clusterIdOf(record.resource.id))) return;
    const pools = await poolsOf(world, clusterIdOf(record.resource.id));
    const others = pools.filter(
      ({ resource }) =>
        resource.properties?.mode === 'System' && foldCase(resource.id) !== foldCase(record.resource.id),
    );
    if (others.length === 0)
      throw badRequest('OperationNotAllowed', 'There must be at least one system node pool in the cluster.');
  },
  async effect(world, { kind, id, record }) {
    const cluster = (await world.resources.read(clusterIdOf(id.text)))?.body;
    if (!cluster) return undefined;
    const properties = objectOf(record.resource.properties);
    const hosted = await (await clusterHost(world)).ensure(cluster);
    const wanted = kind === 'delete' ? { ...properties, count: 0 } : properties;
    // A cloud without clusters does not load the embedded Kubernetes.
    const { syncNodes } = await import('./node-pool.ts');
    await syncNodes(hosted, id.name, wanted, cluster.resource.location ?? '');
    return undefined;
  },
  actions: {
    upgradenodeimageversion: { asynchronous: true, run: async () => undefined },
    abort: {
      run: async () => {
        throw new ArmError(400, 'OperationNotAllowed', 'There is no operation to abort.');
      },
    },
  },
};

export function poolsOf(world: World, cluster: string): Promise<readonly ResourceRecord[]> {
  return world.resources.list({ parent: cluster, type: agentPoolType });
}

function checkScaling(count: number, minCount: number | undefined, maximum: number | undefined): void {
  if (minCount === undefined || maximum === undefined || minCount > maximum || count < minCount || count > maximum)
    throw badRequest(
      'InvalidParameter',
      'A pool that scales by itself needs minCount and maxCount, and its count must be between them.',
      'properties.minCount',
    );
}
