// Private endpoints and private link services with Azure's own client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { all, group, location, startNetwork } from './testing/network-world.ts';

test('private endpoints reach private link services once they are approved', async (t) => {
  const { client, at, subscriptionId, call } = await startNetwork(t);
  const { privateEndpoints, privateLinkServices, networkInterfaces } = client;
  await client.virtualNetworks.createOrUpdate(group, 'vnet', {
    location,
    addressSpace: { addressPrefixes: ['10.0.0.0/16'] },
    subnets: [
      { name: 'pls', addressPrefix: '10.0.0.0/24', privateLinkServiceNetworkPolicies: 'Disabled' },
      { name: 'pe', addressPrefix: '10.0.1.0/24' },
    ],
  });
  const subnet = (name: string) => ({ id: `${at}/virtualNetworks/vnet/subnets/${name}` });
  await client.loadBalancers.createOrUpdate(group, 'lb', {
    location,
    sku: { name: 'Standard' },
    frontendIPConfigurations: [{ name: 'front', subnet: subnet('pls') }],
  });
  const frontend = { id: `${at}/loadBalancers/lb/frontendIPConfigurations/front` };
  const service = (name: string, subscriptions: string[], place = 'pls') =>
    privateLinkServices.createOrUpdate(group, name, {
      location,
      loadBalancerFrontendIpConfigurations: [frontend],
      ipConfigurations: [{ name: 'ip', subnet: subnet(place) }],
      autoApproval: { subscriptions },
      visibility: { subscriptions },
    });
  const endpoint = (name: string, of: string, isManual: boolean) =>
    privateEndpoints.createOrUpdate(group, name, {
      location,
      subnet: subnet('pe'),
      [isManual ? 'manualPrivateLinkServiceConnections' : 'privateLinkServiceConnections']: [
        { name: 'c', privateLinkServiceId: `${at}/privateLinkServices/${of}`, requestMessage: 'please' },
      ],
    });

  await t.test('a service stands on a frontend, in a subnet without policies for it', async () => {
    const made = await service('open', [subscriptionId]);
    assert.match(made.alias ?? '', /^open\.[0-9a-f-]{36}\.eastus\.azure\.privatelinkservice$/);
    assert.equal(made.networkInterfaces?.length, 1);
    await assert.rejects(service('bad', [], 'pe'), {
      code: 'PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled',
    });
    await assert.rejects(client.loadBalancers.delete(group, 'lb'), { code: 'LoadBalancerInUse' });
  });

  await t.test('an endpoint of a listed subscription is approved at once and has an interface', async () => {
    const made = await endpoint('pe1', 'open', true);
    assert.equal(made.manualPrivateLinkServiceConnections?.[0]?.privateLinkServiceConnectionState?.status, 'Approved');
    const nicId = made.networkInterfaces?.[0]?.id ?? '';
    const nic = await networkInterfaces.get(group, nicId.split('/').at(-1) ?? '');
    assert.match(nic.ipConfigurations?.[0]?.privateIPAddress ?? '', /^10\.0\.1\./);
    assert.equal(nic.privateEndpoint?.id, made.id);
    await assert.rejects(networkInterfaces.delete(group, nic.name ?? ''), { code: 'NicInUseWithPrivateEndpoint' });
    assert.equal((await client.subnets.get(group, 'vnet', 'pe')).privateEndpoints?.[0]?.id, made.id);
  });

  await t.test('others wait for approval, which the owner of the service gives or refuses for good', async () => {
    await service('closed', []);
    const waiting = await endpoint('pe2', 'closed', true);
    assert.equal(
      waiting.manualPrivateLinkServiceConnections?.[0]?.privateLinkServiceConnectionState?.status,
      'Pending',
    );
    const [connection] = await all(privateLinkServices.listPrivateEndpointConnections(group, 'closed'));
    assert.equal(connection?.privateEndpoint?.id, waiting.id);
    assert.equal(connection?.privateLinkServiceConnectionState?.description, 'please');
    const say = (status: string) =>
      privateLinkServices.updatePrivateEndpointConnection(group, 'closed', connection?.name ?? '', {
        privateLinkServiceConnectionState: { status, description: 'so be it' },
      });
    await say('Approved');
    const approved = await privateEndpoints.get(group, 'pe2');
    assert.equal(
      approved.manualPrivateLinkServiceConnections?.[0]?.privateLinkServiceConnectionState?.status,
      'Approved',
    );
    await say('Rejected');
    await assert.rejects(say('Approved'), { statusCode: 400 });
    await assert.rejects(say('Whatever'), { statusCode: 400 });
    await assert.rejects(
      privateLinkServices.updatePrivateEndpointConnection(group, 'closed', 'made-up', {
        privateLinkServiceConnectionState: { status: 'Approved' },
      }),
      { statusCode: 404 },
    );
  });

  await t.test('a zone group writes the addresses of the endpoint', async () => {
    const version = 'api-version=2020-06-01';
    await call(`${at}/privateDnsZones/link.test?${version}`, { method: 'PUT', body: { location: 'global' } });
    await client.privateDnsZoneGroups.createOrUpdate(group, 'pe1', 'default', {
      privateDnsZoneConfigs: [{ name: 'z', privateDnsZoneId: `${at}/privateDnsZones/link.test` }],
    });
    const record = await call(`${at}/privateDnsZones/link.test/A/open?${version}`);
    assert.equal(record.status, 200, record.text);
    assert.match(record.text, /10\.0\.1\./);
  });

  await t.test('with the endpoint go its interface and its connection', async () => {
    const { networkInterfaces: nics } = await privateEndpoints.get(group, 'pe2');
    await assert.rejects(privateLinkServices.delete(group, 'closed'), {
      code: 'CannotDeletePrivateLinkServiceWithPrivateEndPointConnections',
    });
    await privateEndpoints.delete(group, 'pe2');
    assert.deepEqual(await all(privateLinkServices.listPrivateEndpointConnections(group, 'closed')), []);
    await assert.rejects(networkInterfaces.get(group, nics?.[0]?.id?.split('/').at(-1) ?? ''), { statusCode: 404 });
    await privateLinkServices.delete(group, 'closed');
  });
});
