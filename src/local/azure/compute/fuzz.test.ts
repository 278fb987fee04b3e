// Bodies that are nearly right, for every type of Microsoft.Network and Microsoft.Compute: none may give a 5xx.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { networkProvider } from '../network/provider.ts';
import { location, startNetwork } from '../network/testing/network-world.ts';
import { quotaProvider } from '../quota/provider.ts';
import { computeProvider } from './provider.ts';

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

const odd = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    -1,
    1e300,
    '',
    '10.0.0.0/8',
    '/subscriptions/x',
    '//',
    '*',
    '\u0000',
    'x'.repeat(3000),
    [],
    {},
    [null],
    [{}],
    [{ name: 'a' }, { name: 'A' }],
    { id: 7 },
    { id: '' },
    [{ id: null }],
    [[]],
    { constructor: 1 },
    { name: 'a', properties: [] },
  ),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
);

/** Puts something else at a random place of a body. */
function changed(body: Json, path: readonly number[], value: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined || typeof body !== 'object' || body === null) return value;
  const keys = Object.keys(body);
  const key = keys[first % Math.max(1, keys.length)];
  if (key === undefined) return value;
  if (Array.isArray(body)) return body.map((item, at) => (String(at) === key ? changed(item, rest, value) : item));
  return { ...body, [key]: changed(body[key] ?? null, rest, value) };
}

const skus: { readonly [type: string]: Json } = {
  disks: { name: 'Premium_LRS' },
  snapshots: { name: 'Standard_LRS' },
  availabilitySets: { name: 'Aligned' },
  virtualMachineScaleSets: { name: 'Standard_D2s_v3', capacity: 1 },
};

function bodies(at: string): { readonly [type: string]: Json } {
  const subnet = { id: `${at}/Microsoft.Network/virtualNetworks/vnet/subnets/s` };
  const lb = `${at}/Microsoft.Network/loadBalancers/fuzz`;
  const configuration = {
    name: 'ip',
    properties: { subnet, privateIPAddress: '10.0.0.9', privateIPAllocationMethod: 'Static' },
  };
  const rule = {
    priority: 200,
    protocol: 'Tcp',
    access: 'Allow',
    direction: 'Inbound',
    sourceAddressPrefix: '*',
    sourcePortRange: '*',
    destinationAddressPrefixes: ['10.0.0.0/8'],
    destinationPortRange: '1-2',
  };
  const route = { addressPrefix: '10.0.0.0/8', nextHopType: 'VirtualAppliance', nextHopIpAddress: '10.0.0.1' };
  const disk = {
    creationData: { createOption: 'Empty' },
    diskSizeGB: 4,
    encryption: { type: 'EncryptionAtRestWithPlatformKey' },
  };
  const machine = {
    hardwareProfile: { vmSize: 'Standard_D2s_v3' },
    storageProfile: {
      imageReference: { publisher: 'p', offer: 'o', sku: 's', version: '1' },
      osDisk: {
        createOption: 'FromImage',
        managedDisk: { storageAccountType: 'Premium_LRS' },
      },
      dataDisks: [{ lun: 0, createOption: 'Empty', diskSizeGB: 4, name: 'd' }],
    },
    osProfile: { computerName: 'c', adminUsername: 'a', customData: 'x', linuxConfiguration: { ssh: {} } },
    networkProfile: {
      networkInterfaces: [{ id: `${at}/Microsoft.Network/networkInterfaces/nic`, properties: { primary: true } }],
    },
  };
  return {
    virtualNetworks: {
      addressSpace: { addressPrefixes: ['10.0.0.0/16', 'fd00::/48'] },
      dhcpOptions: { dnsServers: ['1.1.1.1'] },
      subnets: [
        {
          name: 's',
          properties: {
            addressPrefixes: ['10.0.0.0/24'],
            delegations: [{ name: 'd', properties: { serviceName: 'A.B/c' } }],
          },
        },
      ],
    },
    'virtualNetworks/subnets': {
      addressPrefix: '10.0.9.0/24',
      serviceEndpoints: [{ service: 'x', locations: ['*'] }],
    },
    networkSecurityGroups: { securityRules: [{ name: 'r', properties: rule }] },
    'networkSecurityGroups/securityRules': rule,
    routeTables: { routes: [{ name: 'r', properties: route }] },
    'routeTables/routes': route,
    networkInterfaces: {
      ipConfigurations: [configuration],
      dnsSettings: { dnsServers: [] },
    },
    publicIPAddresses: {
      publicIPAllocationMethod: 'Static',
      dnsSettings: { domainNameLabel: 'fuzz' },
      publicIPPrefix: { id: 'x' },
    },
    publicIPPrefixes: { prefixLength: 30 },
    natGateways: { publicIpAddresses: [{ id: 'x' }], idleTimeoutInMinutes: 4 },
    loadBalancers: {
      frontendIPConfigurations: [{ name: 'f', properties: { subnet } }],
      backendAddressPools: [{ name: 'p', properties: {} }],
      probes: [{ name: 'p', properties: { protocol: 'Tcp', port: 1 } }],
      loadBalancingRules: [
        {
          name: 'r',
          properties: {
            frontendIPConfiguration: { id: `${lb}/frontendIPConfigurations/f` },
            backendAddressPools: [{ id: `${lb}/backendAddressPools/p` }],
            probe: { id: `${lb}/probes/p` },
            frontendPort: 1,
            protocol: 'Tcp',
          },
        },
      ],
      inboundNatRules: [{ name: 'n', properties: { frontendPort: 2 } }],
    },
    'loadBalancers/backendAddressPools': {
      loadBalancerBackendAddresses: [{ name: 'a', properties: { ipAddress: '10.0.0.1' } }],
    },
    privateEndpoints: {
      subnet,
      privateLinkServiceConnections: [{ name: 'c', properties: { privateLinkServiceId: 'x', groupIds: ['g'] } }],
    },
    privateLinkServices: {
      loadBalancerFrontendIpConfigurations: [{ id: `${lb}/frontendIPConfigurations/f` }],
      ipConfigurations: [configuration],
      autoApproval: { subscriptions: ['*'] },
    },
    'dnsZones/A': { TTL: 60, ARecords: [{ ipv4Address: '1.2.3.4' }], metadata: { a: 'b' } },
    'dnsZones/TXT': { TTL: 60, TXTRecords: [{ value: ['a', 'b'] }] },
    'privateDnsZones/SRV': { ttl: 60, srvRecords: [{ priority: 1, weight: 1, port: 1, target: 'x.y' }] },
    virtualMachines: machine,
    virtualMachineScaleSets: {
      upgradePolicy: { mode: 'Manual' },
      orchestrationMode: 'Uniform',
      virtualMachineProfile: {
        osProfile: { adminUsername: 'a' },
        networkProfile: { networkInterfaceConfigurations: [] },
      },
    },
    disks: disk,
    snapshots: { ...disk, creationData: { createOption: 'Copy', sourceResourceId: 'x' } },
    diskEncryptionSets: {
      activeKey: { keyUrl: 'https://v.vault.azure.test/keys/k', sourceVault: { id: 'x' } },
      encryptionType: 'x',
    },
    availabilitySets: { platformFaultDomainCount: 2 },
    images: { storageProfile: { osDisk: {} } },
    'galleries/images': { osType: 'Linux', identifier: { publisher: 'p', offer: 'o', sku: 's' } },
    sshPublicKeys: { publicKey: 'ssh-rsa AAAA' },
  };
}

test('no body of a client gives a 5xx', async (t) => {
  const { at: network, call } = await startNetwork(t);
  const providers = network.replace('/Microsoft.Network', '');
  const put = (path: string, body: Json, version: string) =>
    call(`${providers}/${path}?api-version=${version}`, { method: 'PUT', body: JSON.stringify(body) });
  const types = [networkProvider, computeProvider, quotaProvider].flatMap(({ namespace, types }) =>
    types.map((type) => ({ namespace, type })),
  );
  const versionOf = (full: string) =>
    types.find(({ namespace, type }) => `${namespace}/${type.type}` === full)?.type.apiVersions[0] ?? '';
  const ready = async (path: string, full: string, body: Json) => {
    const { status, text } = await put(path, body, versionOf(full));
    assert.ok(status < 300, text);
  };
  await ready('Microsoft.Network/virtualNetworks/vnet', 'Microsoft.Network/virtualNetworks', {
    location,
    properties: {
      addressSpace: { addressPrefixes: ['10.0.0.0/16'] },
      subnets: [{ name: 's', properties: { addressPrefix: '10.0.0.0/24' } }],
    },
  });
  await ready('Microsoft.Network/dnsZones/fuzz.test', 'Microsoft.Network/dnsZones', { location: 'global' });
  await ready('Microsoft.Network/privateDnsZones/fuzz.test', 'Microsoft.Network/privateDnsZones', {
    location: 'global',
  });
  await ready('Microsoft.Compute/galleries/parent', 'Microsoft.Compute/galleries', { location });
  await ready('Microsoft.Network/networkSecurityGroups/parent', 'Microsoft.Network/networkSecurityGroups', {
    location,
  });
  await ready('Microsoft.Network/routeTables/parent', 'Microsoft.Network/routeTables', { location });
  await ready('Microsoft.Network/loadBalancers/parent', 'Microsoft.Network/loadBalancers', { location });

  const skeletons = bodies(providers);
  const parents: { readonly [type: string]: string } = {
    virtualNetworks: 'vnet',
    dnsZones: 'fuzz.test',
    privateDnsZones: 'fuzz.test',
  };
  for (const { namespace, type } of types) {
    const properties = skeletons[type.type];
    if (properties === undefined) continue;
    const [top = '', child] = type.type.split('/');
    const name = child === undefined ? `${top}/fuzz` : `${top}/${parents[top] ?? 'parent'}/${child}/fuzz`;
    await t.test(`${namespace}/${type.type}`, async () => {
      const whole: Json = { location, sku: skus[type.type] ?? { name: 'Standard' }, zones: ['1'], properties };
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(9), { minLength: 1, maxLength: 6 }), odd, async (path, value) => {
          const body = changed(whole, path, value);
          const { status, text } = await put(`${namespace}/${name}`, body, type.apiVersions[0] ?? '');
          assert.ok(status < 500, `${status} ${text} for ${JSON.stringify(body)}`);
        }),
        { numRuns: 25 },
      );
      const shown = await call(`${providers}/${namespace}/${name}?api-version=${type.apiVersions[0]}`);
      assert.ok(shown.status < 500, shown.text);
    });
  }
});
