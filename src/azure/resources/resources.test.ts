// What the helpers make, put to a cloud: it must be taken as it is, and a second time change nothing.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ResourceRequest } from '../arm-client.ts';
import { deploy } from '../deployments.ts';
import type { JsonObject } from '../json.ts';
import { testCloud } from '../testing/cloud.ts';
import { builtInRoles, denyAssignment, roleAssignment } from './authorization.ts';
import { dnsZone, privateDnsZone, privateDnsZoneLink, recordSet } from './dns.ts';
import { groupScope, resourceIdIn, stableGuid } from './ids.ts';
import { keyVault } from './key-vault.ts';
import { loadBalancer } from './load-balancer.ts';
import { federatedCredential, managedIdentity } from './managed-identity.ts';
import { networkSecurityGroup } from './network-security-group.ts';
import { connectionDecision, privateEndpoint, privateLinkService } from './private-link.ts';
import { publicIpAddress } from './public-ip-address.ts';
import { resourceGroup } from './resource-group.ts';
import { subnet, virtualNetwork } from './virtual-network.ts';

const location = 'westeurope';

async function cloudWithGroup(t: TestContext) {
  const cloud = await testCloud(t);
  const { subscriptionId } = cloud.azure;
  const group = { subscriptionId, resourceGroup: 'cluster' };
  await cloud.arm.put(
    resourceGroup(group, { location, managedBy: `/subscriptions/${subscriptionId}/x`, tags: { a: 'b' } }),
  );
  const put = async (request: ResourceRequest): Promise<JsonObject> => {
    const made = await cloud.arm.put(request);
    assert.deepEqual(lasting(await cloud.arm.put(request)), lasting(made), request.id);
    assert.equal(made.id, request.id);
    return made;
  };
  return { ...cloud, group, put };
}

/** What changes with every write, however little it says: parts have etags of their own. */
const volatile: ReadonlySet<string> = new Set(['etag', 'systemData', 'updatedOn', 'updated']);

function lasting(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => (volatile.has(name) ? undefined : member)));
}

const properties = (made: JsonObject): JsonObject => made.properties as JsonObject;

test('the network of a cluster', async (t) => {
  const { arm, group, put, azure } = await cloudWithGroup(t);
  await put(
    networkSecurityGroup(group, 'c-nsg', {
      location,
      rules: [
        {
          name: 'apiserver_in',
          priority: 120,
          access: 'Allow',
          direction: 'Inbound',
          protocol: 'Tcp',
          port: '6443',
        },
      ],
    }),
  );
  const network = await put(
    virtualNetwork(group, 'vnet', {
      location,
      addressPrefixes: ['10.0.0.0/16'],
      subnets: { master: { addressPrefix: '10.0.0.0/24', privateLinkServiceNetworkPolicies: 'Disabled' } },
    }),
  );
  await put(
    subnet(group, 'vnet', 'worker', {
      addressPrefix: '10.0.1.0/24',
      networkSecurityGroupId: resourceIdIn(group, 'Microsoft.Network/networkSecurityGroups', 'c-nsg'),
      serviceEndpoints: ['Microsoft.Storage'],
    }),
  );
  await put(
    subnet(group, 'vnet', 'integration', {
      addressPrefix: '10.0.2.0/24',
      delegation: 'Microsoft.RedHatOpenShift/hcpOpenShiftClusters',
    }),
  );
  const masters = `${network.id}/subnets/master`;
  const address = await put(publicIpAddress(group, 'c-pip-v4', { location, zones: ['1', '2', '3'] }));
  const internal = await put(
    loadBalancer(group, 'c-internal', {
      location,
      frontends: [{ name: 'internal-lb-ip-v4', subnetId: masters, zones: ['1', '2', '3'] }],
      pools: ['c'],
      probes: [{ name: 'api', protocol: 'Https', port: 6443, path: '/readyz' }],
      rules: [{ name: 'api-internal-v4', frontend: 'internal-lb-ip-v4', pool: 'c', probe: 'api', port: 6443 }],
    }),
  );
  await put(
    loadBalancer(group, 'c', {
      location,
      frontends: [{ name: 'public-lb-ip-v4', publicIpAddressId: String(address.id) }],
      pools: ['c'],
      probes: [],
      rules: [],
      outbound: { name: 'outbound-rule-v4', frontends: ['public-lb-ip-v4'], pool: 'c' },
    }),
  );
  const service = await put(
    privateLinkService(group, 'c-pls', {
      location,
      frontendId: `${internal.id}/frontendIPConfigurations/internal-lb-ip-v4`,
      subnetId: masters,
      visibleTo: [azure.subscriptionId],
      proxyProtocol: true,
    }),
  );
  await put(
    privateEndpoint(group, 'rp-pe', {
      location,
      subnetId: `${network.id}/subnets/worker`,
      serviceId: String(service.id),
      connectionName: 'rp-plsconnection',
      manual: true,
    }),
  );
  const [waiting] = properties(await arm.get(String(service.id), '2024-05-01'))
    .privateEndpointConnections as readonly JsonObject[];
  assert.ok(waiting);
  const approval = { status: 'Approved', description: 'ours' } as const;
  await arm.put(connectionDecision(String(service.id), String(waiting.name), approval));
  const [connection] = properties(
    await arm.get(resourceIdIn(group, 'Microsoft.Network/privateEndpoints', 'rp-pe'), '2024-05-01'),
  ).manualPrivateLinkServiceConnections as readonly JsonObject[];
  assert.equal((properties(connection ?? {}).privateLinkServiceConnectionState as JsonObject).status, 'Approved');
});

test('names', async (t) => {
  const { group, put } = await cloudWithGroup(t);
  await put(dnsZone(group, 'westeurope.aroapp.test'));
  const zone = 'westeurope.aroapp.test';
  const metadata = { resourceId: '/subscriptions/s/c' };
  const reserved = await put(recordSet(group, zone, 'api.c', { type: 'A', addresses: [] }, { metadata }));
  assert.deepEqual(properties(reserved).metadata, metadata);
  await put(recordSet(group, zone, 'api.c', { type: 'A', addresses: ['10.0.0.4'] }, { metadata }));
  await put(recordSet(group, zone, '*.apps.c', { type: 'CNAME', target: 'api.c.westeurope.aroapp.test' }));
  await put(recordSet(group, zone, 'child', { type: 'NS', nameServers: ['ns1.example.test.'] }));
  await put(recordSet(group, zone, '_proof', { type: 'TXT', texts: ['one', 'two'] }));
  const network = await put(virtualNetwork(group, 'vnet', { location, addressPrefixes: ['10.0.0.0/16'] }));
  await put(privateDnsZone(group, 'c.aro.test'));
  await put(privateDnsZoneLink(group, 'c.aro.test', 'vnet', String(network.id)));
});

test('identities, what they may do, and vaults', async (t) => {
  const { arm, azure, group, put } = await cloudWithGroup(t);
  const { subscriptionId } = azure;
  const identity = await put(managedIdentity(group, 'operator', { location }));
  await put(
    federatedCredential(String(identity.id), 'cluster_sa', {
      issuer: 'https://oidc.aro.test/cluster',
      subject: 'system:serviceaccount:openshift:sa',
      audience: 'openshift',
    }),
  );
  const principalId = String(properties(identity).principalId);
  const scope = groupScope(group);
  const role = builtInRoles.networkContributor;
  await put(roleAssignment({ scope, subscriptionId, role, principalId }));
  const vault = await put(keyVault(group, 'cls', { location, tenantId: azure.azure.owner.tenantId }));
  assert.match(String(properties(vault).vaultUri), /^https:\/\/cls\.vault\./);

  await t.test('a template names the same assignment', async () => {
    const { outputs } = await deploy(arm, {
      scope: { kind: 'resourceGroup', ...group },
      name: 'names',
      template: {
        $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
        contentVersion: '1.0.0.0',
        parameters: { principalId: { type: 'string' } },
        resources: [],
        outputs: {
          name: { type: 'string', value: `[guid(resourceGroup().id, parameters('principalId'), '${role}')]` },
        },
      },
      parameters: { principalId },
    });
    assert.equal(outputs.name, stableGuid(scope, principalId, role));
  });

  await t.test('a deny assignment forbids everybody but those it names', async () => {
    const request = denyAssignment({
      scope,
      displayName: 'Managed by the service',
      actions: ['*/write', '*/delete', '*/action'],
      notActions: ['Microsoft.Network/networkSecurityGroups/join/action'],
      exceptPrincipals: [
        { id: principalId, type: 'ServicePrincipal' },
        { id: azure.azure.owner.objectId, type: 'ServicePrincipal' },
      ],
    });
    assert.equal(properties(await put(request)).isSystemProtected, true);
  });
});

test('as many names as the type has parts', () => {
  const group = { subscriptionId: 's', resourceGroup: 'g' };
  assert.throws(() => resourceIdIn(group, 'Microsoft.Network/virtualNetworks/subnets', 'vnet'), TypeError);
});
