// Networks, subnets, security groups and routes with Azure's own client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { all, group, location, startNetwork } from './testing/network-world.ts';

test('virtual networks and what is in them', async (t) => {
  const { client, at, call } = await startNetwork(t);
  const { virtualNetworks, subnets, networkSecurityGroups, securityRules, routeTables } = client;
  await virtualNetworks.createOrUpdate(group, 'vnet', {
    location,
    addressSpace: { addressPrefixes: ['10.0.0.0/16'] },
    subnets: [{ name: 'master', addressPrefix: '10.0.0.0/23' }],
  });

  await t.test('a network has the subnets it was given and the defaults of Azure', async () => {
    const network = await virtualNetworks.get(group, 'vnet');
    assert.equal(network.provisioningState, 'Succeeded');
    assert.match(network.etag ?? '', /^W\/"/);
    assert.match(network.resourceGuid ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(network.enableDdosProtection, false);
    const [master] = network.subnets ?? [];
    assert.equal(master?.id, `${at}/virtualNetworks/vnet/subnets/master`);
    assert.equal(master?.provisioningState, 'Succeeded');
    assert.equal(master?.privateEndpointNetworkPolicies, 'Disabled');
    assert.equal(master?.privateLinkServiceNetworkPolicies, 'Enabled');
    assert.deepEqual(master?.delegations, []);
  });

  await t.test('a subnet written on its own is the same as one in the network', async () => {
    const before = await virtualNetworks.get(group, 'vnet');
    const worker = await subnets.createOrUpdate(group, 'vnet', 'worker', {
      addressPrefix: '10.0.2.0/23',
      serviceEndpoints: [{ service: 'Microsoft.ContainerRegistry' }],
      delegations: [{ name: 'd', serviceName: 'Microsoft.DBforPostgreSQL/flexibleServers' }],
    });
    assert.deepEqual(worker.serviceEndpoints?.[0]?.locations, [location]);
    assert.deepEqual(worker.delegations?.[0]?.actions, ['Microsoft.Network/virtualNetworks/subnets/join/action']);
    const after = await virtualNetworks.get(group, 'vnet');
    assert.deepEqual(
      after.subnets?.map(({ name }) => name),
      ['master', 'worker'],
    );
    assert.notEqual(after.etag, before.etag, 'who has read the network before cannot overwrite the subnet unknowingly');
    assert.equal((await all(subnets.list(group, 'vnet'))).length, 2);
  });

  await t.test(
    'a network written without its subnets keeps them; with others it loses those that are left out',
    async () => {
      const network = await virtualNetworks.get(group, 'vnet');
      const { subnets: _, ...rest } = network;
      const kept = await virtualNetworks.createOrUpdate(group, 'vnet', rest);
      assert.equal(kept.subnets?.length, 2);
      const fewer = await virtualNetworks.createOrUpdate(group, 'vnet', {
        ...network,
        subnets: (network.subnets ?? []).filter(({ name }) => name === 'master'),
      });
      assert.deepEqual(
        fewer.subnets?.map(({ name }) => name),
        ['master'],
      );
    },
  );

  await t.test('of two subnets that are written at once over each other, one is', async () => {
    const write = (name: string) => subnets.createOrUpdate(group, 'vnet', name, { addressPrefix: '10.0.64.0/24' });
    const outcomes = await Promise.allSettled(['left', 'right', 'middle'].map(write));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    const names = (await all(subnets.list(group, 'vnet')))
      .map(({ name = '' }) => name)
      .filter((name) => name !== 'master');
    assert.equal(names.length, 1);
    for (const name of names) await subnets.delete(group, 'vnet', name);
  });

  await t.test('who has read the network before a subnet was written cannot overwrite it', async () => {
    const path = `${at}/virtualNetworks/vnet?api-version=2022-01-01`;
    const before = await call(path);
    await subnets.createOrUpdate(group, 'vnet', 'late', { addressPrefix: '10.0.65.0/24' });
    const stale = await call(path, {
      method: 'PUT',
      body: before.json ?? {},
      headers: { 'if-match': String(before.headers.etag) },
    });
    assert.equal(stale.status, 412, stale.text);
    await subnets.delete(group, 'vnet', 'late');
  });

  const refused: readonly (readonly [string, string, string])[] = [
    ['outside of the network', '10.1.0.0/24', 'NetcfgSubnetRangeOutsideVnet'],
    ['over another subnet', '10.0.1.0/24', 'NetcfgSubnetRangesOverlap'],
    ['too small', '10.0.8.0/30', 'NetcfgInvalidSubnet'],
    ['with bits behind the prefix', '10.0.8.1/24', 'InvalidCIDRNotation'],
    ['that is no range', '10.0.8', 'InvalidAddressPrefixFormat'],
    ['that is missing', '', 'InvalidAddressPrefixFormat'],
  ];
  for (const [what, addressPrefix, code] of refused) {
    await t.test(`a subnet ${what} is refused with ${code}`, async () => {
      await assert.rejects(subnets.createOrUpdate(group, 'vnet', 'bad', { addressPrefix }), { statusCode: 400, code });
    });
  }

  await t.test('malformed bodies are refused, not served', async () => {
    for (const body of [
      {},
      { location },
      { location, properties: { addressSpace: 7 } },
      { location, properties: { addressSpace: { addressPrefixes: [7] } } },
      { location, properties: { addressSpace: { addressPrefixes: ['10.0.0.0/8', '10.1.0.0/16'] } } },
      { location, properties: { addressSpace: { addressPrefixes: ['10.0.0.0/8'] }, subnets: 'x' } },
      { location, properties: { addressSpace: { addressPrefixes: ['10.0.0.0/8'] }, subnets: [{}] } },
      { location, properties: { addressSpace: { addressPrefixes: ['10.0.0.0/8'] }, subnets: [{ name: '../x' }] } },
    ]) {
      const { status, text } = await call(`${at}/virtualNetworks/bad?api-version=2022-01-01`, { method: 'PUT', body });
      assert.equal(status, 400, text);
    }
  });

  await t.test('security groups have default rules, keep priorities apart and stay while they are used', async () => {
    const rule = (priority: number) => ({
      priority,
      protocol: 'tcp',
      access: 'allow',
      direction: 'inbound',
      sourceAddressPrefix: '*',
      sourcePortRange: '*',
      destinationAddressPrefix: '*',
      destinationPortRange: '6443',
    });
    const nsg = await networkSecurityGroups.createOrUpdate(group, 'nsg', {
      location,
      securityRules: [{ name: 'api', ...rule(101) }],
    });
    assert.equal(nsg.defaultSecurityRules?.length, 6);
    assert.equal(nsg.securityRules?.[0]?.protocol, 'Tcp');
    await securityRules.createOrUpdate(group, 'nsg', 'two', rule(102));
    assert.equal((await networkSecurityGroups.get(group, 'nsg')).securityRules?.length, 2);
    const rejects = (change: object, code: string) =>
      assert.rejects(securityRules.createOrUpdate(group, 'nsg', 'three', { ...rule(103), ...change }), { code });
    await rejects({ priority: 101 }, 'SecurityRuleConflict');
    await rejects({ priority: 99 }, 'SecurityRuleInvalidPriority');
    await rejects({ destinationPortRange: '70000' }, 'SecurityRuleInvalidPortRange');
    await rejects({ sourceAddressPrefix: '10.0.0.0/99' }, 'SecurityRuleInvalidAddressPrefix');
    await rejects({ protocol: 'carrier pigeon' }, 'InvalidRequestFormat');
    await subnets.createOrUpdate(group, 'vnet', 'master', {
      addressPrefix: '10.0.0.0/23',
      networkSecurityGroup: { id: nsg.id ?? '' },
    });
    const used = await networkSecurityGroups.get(group, 'nsg');
    assert.deepEqual(
      used.subnets?.map(({ id }) => id),
      [`${at}/virtualNetworks/vnet/subnets/master`],
    );
    await assert.rejects(networkSecurityGroups.delete(group, 'nsg'), {
      statusCode: 400,
      code: 'InUseNetworkSecurityGroupCannotBeDeleted',
    });
    await assert.rejects(
      subnets.createOrUpdate(group, 'vnet', 'master', {
        addressPrefix: '10.0.0.0/23',
        networkSecurityGroup: { id: `${at}/networkSecurityGroups/none` },
      }),
      { code: 'InvalidResourceReference' },
    );
  });

  await t.test('route tables have routes and know their subnets', async () => {
    const table = await routeTables.createOrUpdate(group, 'rt', {
      location,
      routes: [
        { name: 'out', addressPrefix: '0.0.0.0/0', nextHopType: 'VirtualAppliance', nextHopIpAddress: '10.0.0.4' },
      ],
    });
    assert.equal(table.routes?.[0]?.provisioningState, 'Succeeded');
    await assert.rejects(
      client.routes.createOrUpdate(group, 'rt', 'again', { addressPrefix: '0.0.0.0/0', nextHopType: 'Internet' }),
      { code: 'RouteConflict' },
    );
    await subnets.createOrUpdate(group, 'vnet', 'routed', {
      addressPrefix: '10.0.4.0/24',
      routeTable: { id: table.id ?? '' },
    });
    await assert.rejects(routeTables.delete(group, 'rt'), { code: 'InUseRouteTableCannotBeDeleted' });
  });

  await t.test('two networks are peered when both say so', async () => {
    const other = await virtualNetworks.createOrUpdate(group, 'other', {
      location,
      addressSpace: { addressPrefixes: ['10.1.0.0/16'] },
    });
    const { id: first = '' } = await virtualNetworks.get(group, 'vnet');
    const there = await client.virtualNetworkPeerings.createOrUpdate(group, 'vnet', 'to-other', {
      remoteVirtualNetwork: { id: other.id ?? '' },
    });
    assert.equal(there.peeringState, 'Initiated');
    await client.virtualNetworkPeerings.createOrUpdate(group, 'other', 'back', { remoteVirtualNetwork: { id: first } });
    assert.equal((await client.virtualNetworkPeerings.get(group, 'vnet', 'to-other')).peeringState, 'Connected');
    await virtualNetworks.createOrUpdate(group, 'clash', {
      location,
      addressSpace: { addressPrefixes: ['10.0.0.0/8'] },
    });
    await assert.rejects(
      client.virtualNetworkPeerings.createOrUpdate(group, 'clash', 'p', { remoteVirtualNetwork: { id: first } }),
      { code: 'VnetAddressSpacesOverlap' },
    );
  });
});
