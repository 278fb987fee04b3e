// Microsoft.ContainerService/managedClusters: an AKS cluster is a cluster of the embedded Kubernetes.
import { createHash, randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { foldCase } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { membersBeside, objectOf, sentProperties, textOf } from '../kept-members.ts';
import type { Action, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import { dropIdentity, linkedIdentities, resolveIdentity } from '../managed-identity/resource-identity.ts';
import { agentPoolProperties, poolsOf } from './agent-pools.ts';
import { containerServiceVersions } from './api-versions.ts';
import { clusterHost } from './cluster-host.ts';
import { listCredential } from './credentials.ts';
import { badRequest } from './errors.ts';
import { ensureNodeGroup, nodeGroupName, removeNodeGroup } from './node-group.ts';
import { defaultVersion, demandUpgrade, supportedVersion } from './versions.ts';

const pool = Type.Intersect([
  Type.Object({ name: Type.String({ pattern: '^[a-z][a-z0-9]{0,11}$' }) }),
  agentPoolProperties,
]);

const schema = Type.Object({
  properties: Type.Optional(
    Type.Object({
      kubernetesVersion: Type.Optional(Type.String()),
      dnsPrefix: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9]([A-Za-z0-9-]{0,52}[A-Za-z0-9])?$' })),
      nodeResourceGroup: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
      agentPoolProfiles: Type.Optional(Type.Array(pool, { maxItems: 100 })),
      enableRBAC: Type.Optional(Type.Boolean()),
      disableLocalAccounts: Type.Optional(Type.Boolean()),
      oidcIssuerProfile: Type.Optional(Type.Object({ enabled: Type.Optional(Type.Boolean()) })),
    }),
  ),
});

const readOnly = [
  'fqdn',
  'azurePortalFQDN',
  'privateFQDN',
  'currentKubernetesVersion',
  'powerState',
  'maxAgentPools',
  'resourceUID',
  'agentPoolProfiles',
] as const;

export const managedClusters: ResourceType = {
  type: 'managedClusters',
  apiVersions: containerServiceVersions,
  scope: 'resourceGroup',
  location: 'required',
  name: {
    form: /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/,
    rule: 'It has 1 to 63 letters, digits, hyphens and underscores and begins and ends with a letter or digit.',
  },
  etags: false,
  schema,
  patch: 'tags',
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  linkedAccess: linkedIdentities,
  async prepare(request) {
    const { world, id, body, current } = request;
    const given = objectOf(body.properties) as Static<typeof schema>['properties'] & JsonObject;
    const before = objectOf(current?.resource.properties);
    const location = textOf(body.location) ?? current?.resource.location ?? '';
    const version = versionOf(given.kubernetesVersion, textOf(before.kubernetesVersion));
    const dnsPrefix = given.dnsPrefix ?? textOf(before.dnsPrefix) ?? id.name;
    const nodeResourceGroup =
      given.nodeResourceGroup ??
      textOf(before.nodeResourceGroup) ??
      nodeGroupName(id.resourceGroup ?? '', id.name, location);
    for (const [name, wanted] of Object.entries({ dnsPrefix, nodeResourceGroup })) {
      const former = textOf(before[name]);
      if (former !== undefined && foldCase(former) !== foldCase(wanted))
        throw badRequest('PropertyChangeNotAllowed', `Changing property '${name}' is not allowed.`, name);
    }
    const fqdn = textOf(before.fqdn) ?? fqdnOf(request, dnsPrefix, location);
    const identity = await resolveIdentity(world, id, body.identity, current?.resource.identity);
    const pools = given.agentPoolProfiles ?? [];
    if (!current) checkPools(pools);
    return {
      resource: {
        sku: { name: 'Base', tier: 'Free' },
        kind: 'Base',
        ...membersBeside(body),
        ...(identity === undefined ? {} : { identity }),
        properties: {
          enableRBAC: true,
          disableLocalAccounts: false,
          supportPlan: 'KubernetesOfficial',
          autoUpgradeProfile: { nodeOSUpgradeChannel: 'NodeImage' },
          storageProfile: {
            diskCSIDriver: { enabled: true },
            fileCSIDriver: { enabled: true },
            snapshotController: { enabled: true },
          },
          workloadAutoScalerProfile: {},
          ...sentProperties(body, readOnly),
          kubernetesVersion: version,
          currentKubernetesVersion: version,
          dnsPrefix,
          fqdn,
          azurePortalFQDN: fqdn.replace('.hcp.', '.portal.hcp.'),
          nodeResourceGroup,
          maxAgentPools: 100,
          networkProfile: {
            networkPlugin: 'azure',
            networkPolicy: 'none',
            networkDataplane: 'azure',
            loadBalancerSku: 'standard',
            serviceCidr: '10.0.0.0/16',
            dnsServiceIP: '10.0.0.10',
            outboundType: 'loadBalancer',
            ...objectOf(given.networkProfile),
          },
          oidcIssuerProfile: issuerProfile(request, location),
          powerState:
            objectOf(before.powerState).code === undefined ? { code: 'Running' } : objectOf(before.powerState),
          resourceUID:
            textOf(before.resourceUID) ?? createHash('sha256').update(randomUUID()).digest('hex').slice(0, 24),
        },
      },
      also: pools.map(({ name, ...properties }) => ({
        kind: 'put',
        id: `${id.text}/agentPools/${name}`,
        body: { properties: properties as JsonObject },
      })),
    };
  },
  async effect(world, { kind, record }) {
    const host = await clusterHost(world);
    if (kind === 'delete') {
      await host.remove(record);
      await removeNodeGroup(world, record);
      await dropIdentity(world, record);
      return undefined;
    }
    await ensureNodeGroup(world, record);
    const hosted = await host.ensure(record);
    await hosted.firstUse();
    return undefined;
  },
  async show(world, record) {
    const pools = await poolsOf(world, record.resource.id);
    const agentPoolProfiles = pools.map(({ resource }) => ({ name: resource.name, ...resource.properties }));
    return { ...record.resource, properties: { ...record.resource.properties, agentPoolProfiles } };
  },
  actions: {
    listclusteradmincredential: listCredential('clusterAdmin', ['system:masters']),
    listclusterusercredential: listCredential('clusterUser', ['system:masters']),
    listclustermonitoringusercredential: listCredential('clusterMonitoringUser', []),
    stop: power('Stopped'),
    start: power('Running'),
    rotateclustercertificates: { asynchronous: true, run: async () => undefined },
    runcommand: {
      async run() {
        throw badRequest(
          'OperationNotAllowed',
          'Commands are not run inside clusters of this cloud: get credentials of the cluster and use kubectl.',
        );
      },
    },
  },
};

function versionOf(asked: string | undefined, before: string | undefined): string {
  const version = supportedVersion(asked || (before ?? defaultVersion));
  if (before !== undefined) demandUpgrade(before, version);
  return version;
}

/** A hash keeps names of clusters with the same prefix apart. */
function fqdnOf({ world, id }: PrepareRequest, dnsPrefix: string, location: string): string {
  const hash = createHash('sha256').update(id.key).digest('hex').slice(0, 8);
  return `${dnsPrefix.toLowerCase()}-${hash}.hcp.${location}.azmk8s.${world.cloud.suffix}`;
}

/** Once there is an issuer it stays: tokens and federated credentials name it. */
function issuerProfile({ world, body, current }: PrepareRequest, location: string): JsonObject {
  const given = objectOf(objectOf(body.properties).oidcIssuerProfile);
  const before = objectOf(current?.resource.properties?.oidcIssuerProfile);
  if (before.enabled === true && given.enabled === false)
    throw badRequest('OIDCIssuerFeatureCannotBeDisabled', 'The OIDC issuer of a cluster cannot be disabled.');
  const enabled = given.enabled === true || before.enabled === true;
  if (!enabled) return { enabled: false };
  // The server's tokens carry the issuer that the cluster had at its first use.
  const issuerURL =
    textOf(before.issuerURL) ??
    `https://${location}.oic.prod-aks.${world.cloud.suffix}/${world.directory.tenantId}/${randomUUID()}/`;
  return { enabled: true, issuerURL };
}

function checkPools(pools: readonly { readonly name: string; readonly mode?: string }[]): void {
  if (!pools.some(({ mode }) => mode === 'System'))
    throw badRequest('InvalidParameter', 'Must define at least one system pool.', 'agentPoolProfiles');
  if (new Set(pools.map(({ name }) => name)).size < pools.length)
    throw badRequest('InvalidParameter', 'The names of agent pools must differ.', 'agentPoolProfiles');
}

function power(code: 'Running' | 'Stopped'): Action {
  return {
    asynchronous: true,
    async run({ world, id }) {
      const changed = await world.resources.change(id.key, (record: ResourceRecord) => ({
        ...record,
        resource: { ...record.resource, properties: { ...record.resource.properties, powerState: { code } } },
      }));
      if (changed) await (await clusterHost(world)).setReachable(changed, code === 'Running');
      return undefined;
    },
  };
}
