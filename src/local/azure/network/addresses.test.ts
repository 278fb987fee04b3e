// Addresses, interfaces, load balancers and gateways with Azure's own client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { all, group, location, startNetwork } from './testing/network-world.ts';

test('addresses and what has them', async (t) => {
  const { client, at } = await startNetwork(t);
  const { networkInterfaces, publicIPAddresses, loadBalancers, subnets } = client;
  await client.virtualNetworks.createOrUpdate(group, 'vnet', {
    location,
    addressSpace: { addressPrefixes: ['10.0.0.0/16'] },
    subnets: [
      { name: 'one', addressPrefix: '10.0.0.0/24' },
      { name: 'tiny', addressPrefix: '10.0.1.0/29' },
    ],
  });
  const subnet = { id: `${at}/virtualNetworks/vnet/subnets/one` };
  const nic = (name: string, configuration: object = {}) =>
    networkInterfaces.createOrUpdate(group, name, {
      location,
      ipConfigurations: [{ name: 'ip', subnet, ...configuration }],
    });

  await t.test('interfaces get addresses one after the other, behind those that are reserved', async () => {
    const first = await nic('nic1');
    assert.equal(first.provisioningState, 'Succeeded');
    assert.equal(first.ipConfigurations?.[0]?.privateIPAddress, '10.0.0.4');
    assert.equal(first.ipConfigurations?.[0]?.privateIPAllocationMethod, 'Dynamic');
    assert.equal(first.ipConfigurations?.[0]?.primary, true);
    assert.equal((await nic('nic2')).ipConfigurations?.[0]?.privateIPAddress, '10.0.0.5');
    assert.equal((await nic('nic1')).ipConfigurations?.[0]?.privateIPAddress, '10.0.0.4', 'written again it stays');
    const configurations = (await subnets.get(group, 'vnet', 'one')).ipConfigurations?.map(({ id }) => id);
    assert.deepEqual(configurations, [
      `${at}/networkInterfaces/nic1/ipConfigurations/ip`,
      `${at}/networkInterfaces/nic2/ipConfigurations/ip`,
    ]);
    assert.equal((await all(client.networkInterfaceIPConfigurations.list(group, 'nic1'))).length, 1);
  });

  await t.test('interfaces made at once never share an address', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, (_, at) => nic(`many${at}`)));
    const addresses = made.map((one) => one.ipConfigurations?.[0]?.privateIPAddress);
    assert.equal(new Set(addresses).size, 8, addresses.join());
    for (let at = 0; at < 8; at++) await networkInterfaces.delete(group, `many${at}`);
  });

  await t.test('an address that was asked for is checked', async () => {
    const wanted = (privateIPAddress: string) => ({ privateIPAddress, privateIPAllocationMethod: 'Static' });
    assert.equal((await nic('static', wanted('10.0.0.99'))).ipConfigurations?.[0]?.privateIPAddress, '10.0.0.99');
    await assert.rejects(nic('bad', wanted('10.0.0.99')), { code: 'PrivateIPAddressIsAllocated' });
    await assert.rejects(nic('bad', wanted('10.0.0.1')), { code: 'PrivateIPAddressInReservedRange' });
    await assert.rejects(nic('bad', wanted('10.9.0.1')), { code: 'PrivateIPAddressNotInSubnet' });
    await assert.rejects(nic('bad', wanted('10.9')), { code: 'InvalidIPAddressFormat' });
    await networkInterfaces.delete(group, 'static');
    assert.equal((await nic('again', wanted('10.0.0.99'))).ipConfigurations?.[0]?.privateIPAddress, '10.0.0.99');
    const free = await client.virtualNetworks.checkIPAddressAvailability(group, 'vnet', '10.0.0.99');
    assert.equal(free.available, false);
    assert.equal(free.availableIPAddresses?.length, 5);
  });

  await t.test('a subnet that is full says so; one in use keeps its range and stays', async () => {
    const tiny = { subnet: { id: `${at}/virtualNetworks/vnet/subnets/tiny` } };
    for (const name of ['t1', 't2', 't3']) await nic(name, tiny);
    await assert.rejects(nic('t4', tiny), { code: 'SubnetIsFull' });
    await assert.rejects(subnets.delete(group, 'vnet', 'tiny'), { code: 'InUseSubnetCannotBeDeleted' });
    await assert.rejects(client.virtualNetworks.delete(group, 'vnet'), { code: 'InUseSubnetCannotBeDeleted' });
    await assert.rejects(subnets.createOrUpdate(group, 'vnet', 'tiny', { addressPrefix: '10.0.9.0/24' }), {
      code: 'InUsePrefixCannotBeDeleted',
    });
    for (const name of ['t1', 't2', 't3']) await networkInterfaces.delete(group, name);
    await subnets.delete(group, 'vnet', 'tiny');
  });

  await t.test('public addresses are unique and known by their labels', async () => {
    const one = await publicIPAddresses.createOrUpdate(group, 'pip1', {
      location,
      sku: { name: 'Standard' },
      publicIPAllocationMethod: 'Static',
      dnsSettings: { domainNameLabel: 'mycluster' },
    });
    const two = await publicIPAddresses.createOrUpdate(group, 'pip2', { location, sku: { name: 'Standard' } });
    assert.match(one.ipAddress ?? '', /^198\.1[89]\./);
    assert.notEqual(one.ipAddress, two.ipAddress);
    assert.equal(one.dnsSettings?.fqdn, 'mycluster.eastus.cloudapp.azure.test');
    await assert.rejects(
      publicIPAddresses.createOrUpdate(group, 'pip3', { location, dnsSettings: { domainNameLabel: 'mycluster' } }),
      { code: 'DnsRecordInUse' },
    );
    await assert.rejects(
      publicIPAddresses.createOrUpdate(group, 'pip3', {
        location,
        sku: { name: 'Standard' },
        publicIPAllocationMethod: 'Dynamic',
      }),
      { code: 'StandardSkuPublicIPAddressMustBeStatic' },
    );
    assert.equal((await client.checkDnsNameAvailability(location, 'mycluster')).available, false);
    assert.equal((await client.checkDnsNameAvailability(location, 'other')).available, true);
    await client.publicIPPrefixes.createOrUpdate(group, 'prefix', {
      location,
      sku: { name: 'Standard' },
      prefixLength: 31,
    });
    const of = (name: string) =>
      publicIPAddresses.createOrUpdate(group, name, {
        location,
        sku: { name: 'Standard' },
        publicIPPrefix: { id: `${at}/publicIPPrefixes/prefix` },
      });
    const { ipAddress: a } = await of('p1');
    const { ipAddress: b } = await of('p2');
    assert.notEqual(a, b);
    await assert.rejects(of('p3'), { code: 'PublicIPPrefixHasNoAvailableAddresses' });
  });

  await t.test('load balancers keep their parts and what refers to them', async () => {
    const lb = `${at}/loadBalancers/lb`;
    const made = await loadBalancers.createOrUpdate(group, 'lb', {
      location,
      sku: { name: 'Standard' },
      frontendIPConfigurations: [
        { name: 'public', publicIPAddress: { id: `${at}/publicIPAddresses/pip1` } },
        { name: 'internal', subnet },
      ],
      backendAddressPools: [{ name: 'pool' }],
      probes: [{ name: 'ready', protocol: 'Https', port: 6443, requestPath: '/readyz' }],
      loadBalancingRules: [
        {
          name: 'api',
          protocol: 'Tcp',
          frontendPort: 6443,
          backendPort: 6443,
          frontendIPConfiguration: { id: `${lb}/frontendIPConfigurations/internal` },
          backendAddressPool: { id: `${lb}/backendAddressPools/pool` },
          probe: { id: `${lb}/probes/ready` },
        },
      ],
    });
    const internal = made.frontendIPConfigurations?.find(({ name }) => name === 'internal');
    assert.match(internal?.privateIPAddress ?? '', /^10\.0\.0\./);
    assert.equal(internal?.loadBalancingRules?.[0]?.id, `${lb}/loadBalancingRules/api`);
    const joined = await nic('nic1', { loadBalancerBackendAddressPools: [{ id: `${lb}/backendAddressPools/pool` }] });
    assert.equal(joined.ipConfigurations?.[0]?.loadBalancerBackendAddressPools?.length, 1);
    const pool = await client.loadBalancerBackendAddressPools.get(group, 'lb', 'pool');
    assert.deepEqual(
      pool.backendIPConfigurations?.map(({ id }) => id),
      [`${at}/networkInterfaces/nic1/ipConfigurations/ip`],
    );
    await client.loadBalancerBackendAddressPools.createOrUpdate(group, 'lb', 'second', {});
    assert.equal((await loadBalancers.get(group, 'lb')).backendAddressPools?.length, 2);
    assert.equal((await all(client.loadBalancerProbes.list(group, 'lb'))).length, 1);
    assert.equal((await client.loadBalancerLoadBalancingRules.get(group, 'lb', 'api')).frontendPort, 6443);
    const address = await publicIPAddresses.get(group, 'pip1');
    assert.equal(address.ipConfiguration?.id, `${lb}/frontendIPConfigurations/public`);
    await assert.rejects(publicIPAddresses.delete(group, 'pip1'), { code: 'PublicIPAddressCannotBeDeleted' });
    await assert.rejects(nic('nic2', { publicIPAddress: { id: `${at}/publicIPAddresses/pip1` } }), {
      code: 'PublicIPAddressInUse',
    });
    await assert.rejects(client.loadBalancerBackendAddressPools.delete(group, 'lb', 'pool'), {
      code: 'InUseBackendAddressPoolCannotBeDeleted',
    });
    await client.loadBalancerBackendAddressPools.delete(group, 'lb', 'second');
    const { loadBalancingRules = [] } = await loadBalancers.get(group, 'lb');
    await assert.rejects(
      loadBalancers.createOrUpdate(group, 'lb', { location, sku: { name: 'Standard' }, loadBalancingRules }),
      { code: 'InvalidResourceReference' },
      'a rule without its frontend',
    );
  });

  await t.test('a load balancer can go although interfaces are in its pools; they are not any more', async () => {
    await loadBalancers.delete(group, 'lb');
    const { ipConfigurations } = await networkInterfaces.get(group, 'nic1');
    assert.deepEqual(ipConfigurations?.[0]?.loadBalancerBackendAddressPools ?? [], []);
    await publicIPAddresses.delete(group, 'pip1');
  });

  await t.test('NAT gateways stand behind subnets', async () => {
    const gateway = await client.natGateways.createOrUpdate(group, 'nat', {
      location,
      sku: { name: 'Standard' },
      publicIpAddresses: [{ id: `${at}/publicIPAddresses/pip2` }],
    });
    await subnets.createOrUpdate(group, 'vnet', 'one', {
      addressPrefix: '10.0.0.0/24',
      natGateway: { id: gateway.id ?? '' },
    });
    assert.equal((await client.natGateways.get(group, 'nat')).subnets?.length, 1);
    await assert.rejects(client.natGateways.delete(group, 'nat'), { code: 'InUseNatGatewayCannotBeDeleted' });
  });

  await t.test('usages count what there is', async () => {
    const usages = await all(client.usages.list(location));
    assert.equal(usages.find(({ name }) => name?.value === 'VirtualNetworks')?.currentValue, 1);
  });
});
