// A group with everything in it that uses something else in it goes whole, and what was written survives the end of the process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ComputeManagementClient } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import { ResourceManagementClient } from '@azure/arm-resources';
import { group, location, startNetwork } from '../network/testing/network-world.ts';

const image = { publisher: 'p', offer: 'o', sku: 's', version: '1.0.0' };

test('a whole cluster goes with its group', async (t) => {
  const { client: network, at, credential, subscriptionId, sdk, call, azure } = await startNetwork(t);
  const compute = new ComputeManagementClient(credential, subscriptionId, sdk);
  const resources = new ResourceManagementClient(credential, subscriptionId, sdk);
  const subnet = { id: `${at}/virtualNetworks/vnet/subnets/s` };
  await network.networkSecurityGroups.createOrUpdate(group, 'nsg', { location });
  await network.virtualNetworks.createOrUpdate(group, 'vnet', {
    location,
    addressSpace: { addressPrefixes: ['10.0.0.0/16'] },
    subnets: [
      {
        name: 's',
        addressPrefix: '10.0.0.0/24',
        privateLinkServiceNetworkPolicies: 'Disabled',
        networkSecurityGroup: { id: `${at}/networkSecurityGroups/nsg` },
      },
    ],
  });
  await network.publicIPAddresses.createOrUpdate(group, 'pip', { location, sku: { name: 'Standard' } });
  await network.loadBalancers.createOrUpdate(group, 'lb', {
    location,
    sku: { name: 'Standard' },
    frontendIPConfigurations: [
      { name: 'in', subnet },
      { name: 'out', publicIPAddress: { id: `${at}/publicIPAddresses/pip` } },
    ],
    backendAddressPools: [{ name: 'pool' }],
  });
  await network.privateLinkServices.createOrUpdate(group, 'pls', {
    location,
    loadBalancerFrontendIpConfigurations: [{ id: `${at}/loadBalancers/lb/frontendIPConfigurations/in` }],
    ipConfigurations: [{ name: 'ip', subnet }],
  });
  await network.privateEndpoints.createOrUpdate(group, 'pe', {
    location,
    subnet,
    privateLinkServiceConnections: [{ name: 'c', privateLinkServiceId: `${at}/privateLinkServices/pls` }],
  });
  const version = 'api-version=2020-06-01';
  const zone = await call(`${at}/privateDnsZones/in.test?${version}`, {
    method: 'PUT',
    body: { location: 'global' },
  });
  assert.equal(zone.status, 201, zone.text);
  const link = await call(`${at}/privateDnsZones/in.test/virtualNetworkLinks/l?${version}`, {
    method: 'PUT',
    body: { location: 'global', properties: { virtualNetwork: { id: `${at}/virtualNetworks/vnet` } } },
  });
  assert.equal(link.status, 201, link.text);
  await network.privateDnsZoneGroups.createOrUpdate(group, 'pe', 'default', {
    privateDnsZoneConfigs: [{ name: 'z', privateDnsZoneId: `${at}/privateDnsZones/in.test` }],
  });
  for (const name of ['vm1', 'vm2']) {
    const { id = '' } = await network.networkInterfaces.createOrUpdate(group, `${name}-nic`, {
      location,
      ipConfigurations: [
        {
          name: 'ip',
          subnet,
          loadBalancerBackendAddressPools: [{ id: `${at}/loadBalancers/lb/backendAddressPools/pool` }],
        },
      ],
    });
    const deleteOption = name === 'vm1' ? 'Delete' : 'Detach';
    await compute.virtualMachines.createOrUpdate(group, name, {
      location,
      hardwareProfile: { vmSize: 'Standard_D2s_v3' },
      storageProfile: { imageReference: image, osDisk: { createOption: 'FromImage', deleteOption } },
      osProfile: { adminUsername: 'core', computerName: name },
      networkProfile: { networkInterfaces: [{ id, deleteOption }] },
    });
  }
  await compute.virtualMachineScaleSets.createOrUpdate(group, 'set', {
    location,
    sku: { name: 'Standard_D2s_v3', capacity: 2 },
    virtualMachineProfile: {
      networkProfile: {
        networkInterfaceConfigurations: [{ name: 'nic', primary: true, ipConfigurations: [{ name: 'ip', subnet }] }],
      },
    },
  });
  await resources.resourceGroups.delete(group);
  assert.equal((await resources.resourceGroups.checkExistence(group)).body, false);
  const left = await azure.world.resources.list({ subscriptionId });
  assert.deepEqual(
    left.map(({ resource }) => resource.id),
    [],
  );
  const claims = await azure.world.store.container<{ readonly owner: string }>({
    name: 'network_reservations',
    indexes: [{ field: ['owner'], type: 'string' }],
  });
  assert.deepEqual(
    (await claims.query({})).documents.map(({ partition, id }) => `${partition}: ${id}`),
    [],
    'addresses and names are free again',
  );
});

test('addresses and machines survive the end of the process', async (t) => {
  const first = await startNetwork(t, { keep: true });
  const { client, at } = first;
  const subnet = { id: `${at}/virtualNetworks/vnet/subnets/s` };
  await client.virtualNetworks.createOrUpdate(group, 'vnet', {
    location,
    addressSpace: { addressPrefixes: ['10.0.0.0/16'] },
    subnets: [{ name: 's', addressPrefix: '10.0.0.0/24' }],
  });
  const body = { location, ipConfigurations: [{ name: 'ip', subnet }] };
  await client.networkInterfaces.createOrUpdate(group, 'one', body);
  const pip = await client.publicIPAddresses.createOrUpdate(group, 'pip', {
    location,
    sku: { name: 'Standard' },
    dnsSettings: { domainNameLabel: 'kept' },
  });
  const second = await first.restart();
  const again = new NetworkManagementClient(second.credential, second.subscriptionId, second.sdk);
  const two = await again.networkInterfaces.createOrUpdate(group, 'two', body);
  assert.equal(two.ipConfigurations?.[0]?.privateIPAddress, '10.0.0.5');
  const answers = await second.azure.world.network.resolve('kept.eastus.cloudapp.azure.test', 'A');
  assert.deepEqual(answers?.[0]?.data, pip.ipAddress);
});
