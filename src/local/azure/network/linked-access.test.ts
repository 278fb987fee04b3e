// Who may write in one group only cannot use what is in another, and is not told what is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alice, codeOf, roles, startPeople } from '../authorization/testing/people.ts';
import type { AzureAnswer } from '../testing/start-azure.ts';

const location = 'eastus';
const networkVersion = '2024-05-01';
const machineVersion = '2024-07-01';
const diskVersion = '2024-03-02';

interface Case {
  readonly what: string;
  /** Below the providers of the group that alice may write in. */
  readonly path: string;
  readonly version: string;
  /** With the id of something else in the place of what it names. */
  body(target: string): object;
  /** Below the providers of the other group. */
  readonly target: string;
  readonly action: string;
}

const configuration = (properties: object) => ({
  location,
  properties: { ipConfigurations: [{ name: 'a', properties }] },
});
const frontend = (properties: object) => ({
  location,
  sku: { name: 'Standard' },
  properties: { frontendIPConfigurations: [{ name: 'f', properties }] },
});

test('a Contributor of one group', async (t) => {
  const { as, assign, call, group, subscription } = await startPeople(t);
  assert.equal((await assign(alice, roles.contributor, group)).status, 201);
  const other = `${subscription}/resourceGroups/other`;
  await call(other, { method: 'PUT', body: { location } });
  const mine = (path: string) => `${group}/providers/${path}`;
  const theirs = (path: string) => `${other}/providers/${path}`;
  const make = async (path: string, version: string, body: object): Promise<void> => {
    const made = await call(`${path}?api-version=${version}`, { method: 'PUT', body });
    assert.ok(made.status <= 202, `${path}: ${made.text}`);
    for (;;) {
      const { json } = await call(`${path}?api-version=${version}`);
      const state = (json?.properties as { readonly provisioningState?: string } | undefined)?.provisioningState;
      if (state === undefined || state === 'Succeeded') return;
      assert.notEqual(state, 'Failed', path);
    }
  };
  const network = (prefix: string) => ({
    location,
    properties: {
      addressSpace: { addressPrefixes: [`${prefix}.0.0/16`] },
      subnets: [{ name: 's', properties: { addressPrefix: `${prefix}.0.0/24` } }],
    },
  });
  await make(theirs('Microsoft.Network/virtualNetworks/net'), networkVersion, network('10.1'));
  await make(mine('Microsoft.Network/virtualNetworks/net'), networkVersion, network('10.2'));
  const mySubnet = { id: mine('Microsoft.Network/virtualNetworks/net/subnets/s') };
  const plain = { location, properties: {} };
  for (const type of ['networkSecurityGroups', 'routeTables', 'applicationSecurityGroups'])
    await make(theirs(`Microsoft.Network/${type}/one`), networkVersion, plain);
  await make(theirs('Microsoft.Network/natGateways/one'), networkVersion, { ...plain, sku: { name: 'Standard' } });
  const address = { location, sku: { name: 'Standard' }, properties: { publicIPAllocationMethod: 'Static' } };
  await make(theirs('Microsoft.Network/publicIPAddresses/one'), networkVersion, address);
  await make(theirs('Microsoft.Network/privateDnsZones/one.test'), '2024-06-01', { location: 'global' });
  await make(theirs('Microsoft.Network/networkInterfaces/one'), networkVersion, {
    ...configuration({ subnet: { id: theirs('Microsoft.Network/virtualNetworks/net/subnets/s') } }),
  });
  await make(theirs('Microsoft.Compute/availabilitySets/one'), machineVersion, plain);
  await make(theirs('Microsoft.Compute/disks/one'), diskVersion, {
    location,
    properties: { creationData: { createOption: 'Empty' }, diskSizeGB: 4 },
  });
  await make(theirs('Microsoft.ManagedIdentity/userAssignedIdentities/one'), '2023-01-31', { location });
  await make(theirs('Microsoft.Storage/storageAccounts/accountofothers'), '2024-01-01', {
    location,
    sku: { name: 'Standard_LRS' },
    kind: 'StorageV2',
  });

  const identity = (id: string) => ({ type: 'UserAssigned', userAssignedIdentities: { [id]: {} } });
  const assignAction = 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action';
  const userIdentity = 'Microsoft.ManagedIdentity/userAssignedIdentities/one';
  const subnet = {
    path: 'Microsoft.Network/virtualNetworks/net/subnets/s2',
    version: networkVersion,
  };
  const machine = (properties: object, more: object = {}) => ({
    location,
    ...more,
    properties: {
      hardwareProfile: { vmSize: 'Standard_D4s_v3' },
      storageProfile: { osDisk: { createOption: 'FromImage' } },
      ...properties,
    },
  });
  const vm = { path: 'Microsoft.Compute/virtualMachines/vm', version: machineVersion };
  const cases: readonly Case[] = [
    {
      what: 'a subnet for an interface',
      path: 'Microsoft.Network/networkInterfaces/n',
      version: networkVersion,
      body: (id) => configuration({ subnet: { id } }),
      target: 'Microsoft.Network/virtualNetworks/net/subnets/s',
      action: 'Microsoft.Network/virtualNetworks/subnets/join/action',
    },
    {
      what: 'a public address for an interface',
      path: 'Microsoft.Network/networkInterfaces/n',
      version: networkVersion,
      body: (id) => configuration({ subnet: mySubnet, publicIPAddress: { id } }),
      target: 'Microsoft.Network/publicIPAddresses/one',
      action: 'Microsoft.Network/publicIPAddresses/join/action',
    },
    {
      what: 'an application security group for an interface',
      path: 'Microsoft.Network/networkInterfaces/n',
      version: networkVersion,
      body: (id) => configuration({ subnet: mySubnet, applicationSecurityGroups: [{ id }] }),
      target: 'Microsoft.Network/applicationSecurityGroups/one',
      action: 'Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action',
    },
    {
      what: 'a public address for a load balancer',
      path: 'Microsoft.Network/loadBalancers/lb',
      version: networkVersion,
      body: (id) => frontend({ publicIPAddress: { id } }),
      target: 'Microsoft.Network/publicIPAddresses/one',
      action: 'Microsoft.Network/publicIPAddresses/join/action',
    },
    {
      what: 'a public address for a NAT gateway',
      path: 'Microsoft.Network/natGateways/nat',
      version: networkVersion,
      body: (id) => ({ location, sku: { name: 'Standard' }, properties: { publicIpAddresses: [{ id }] } }),
      target: 'Microsoft.Network/publicIPAddresses/one',
      action: 'Microsoft.Network/publicIPAddresses/join/action',
    },
    ...(['networkSecurityGroup', 'routeTable', 'natGateway'] as const).map((member) => ({
      ...subnet,
      what: `a ${member} for a subnet`,
      body: (id: string) => ({ properties: { addressPrefix: '10.2.1.0/24', [member]: { id } } }),
      target: `Microsoft.Network/${member}s/one`,
      action: `Microsoft.Network/${member}s/join/action`,
    })),
    {
      what: 'a security group for a subnet within a network',
      path: 'Microsoft.Network/virtualNetworks/net2',
      version: networkVersion,
      body: (id) => ({
        location,
        properties: {
          addressSpace: { addressPrefixes: ['10.3.0.0/16'] },
          subnets: [{ name: 's', properties: { addressPrefix: '10.3.0.0/24', networkSecurityGroup: { id } } }],
        },
      }),
      target: 'Microsoft.Network/networkSecurityGroups/one',
      action: 'Microsoft.Network/networkSecurityGroups/join/action',
    },
    {
      what: 'a network to peer with',
      path: 'Microsoft.Network/virtualNetworks/net/virtualNetworkPeerings/p',
      version: networkVersion,
      body: (id) => ({ properties: { remoteVirtualNetwork: { id } } }),
      target: 'Microsoft.Network/virtualNetworks/net',
      action: 'Microsoft.Network/virtualNetworks/peer/action',
    },
    {
      what: 'a network for a private zone',
      path: 'Microsoft.Network/privateDnsZones/mine.test/virtualNetworkLinks/l',
      version: '2024-06-01',
      body: (id) => ({ location: 'global', properties: { virtualNetwork: { id } } }),
      target: 'Microsoft.Network/virtualNetworks/net',
      action: 'Microsoft.Network/virtualNetworks/join/action',
    },
    {
      what: 'an account for a private endpoint that asks nobody',
      path: 'Microsoft.Network/privateEndpoints/pe',
      version: networkVersion,
      body: (id) => ({
        location,
        properties: {
          subnet: mySubnet,
          privateLinkServiceConnections: [{ name: 'c', properties: { privateLinkServiceId: id, groupIds: ['blob'] } }],
        },
      }),
      target: 'Microsoft.Storage/storageAccounts/accountofothers',
      action: 'Microsoft.Storage/storageAccounts/privateEndpointConnectionsApproval/action',
    },
    {
      what: 'a zone for the addresses of an endpoint',
      path: 'Microsoft.Network/privateEndpoints/pe/privateDnsZoneGroups/g',
      version: networkVersion,
      body: (id) => ({ properties: { privateDnsZoneConfigs: [{ name: 'z', properties: { privateDnsZoneId: id } }] } }),
      target: 'Microsoft.Network/privateDnsZones/one.test',
      action: 'Microsoft.Network/privateDnsZones/join/action',
    },
    {
      ...vm,
      what: 'an interface for a machine',
      body: (id) => machine({ networkProfile: { networkInterfaces: [{ id }] } }),
      target: 'Microsoft.Network/networkInterfaces/one',
      action: 'Microsoft.Network/networkInterfaces/join/action',
    },
    {
      ...vm,
      what: 'an availability set for a machine',
      body: (id) => machine({ availabilitySet: { id } }),
      target: 'Microsoft.Compute/availabilitySets/one',
      action: 'Microsoft.Compute/availabilitySets/read',
    },
    {
      ...vm,
      what: 'a disk for a machine',
      body: (id) =>
        machine({ storageProfile: { dataDisks: [{ lun: 0, createOption: 'Attach', managedDisk: { id } }] } }),
      target: 'Microsoft.Compute/disks/one',
      action: 'Microsoft.Compute/disks/write',
    },
    {
      what: 'a disk to copy',
      path: 'Microsoft.Compute/disks/copy',
      version: diskVersion,
      body: (id) => ({ location, properties: { creationData: { createOption: 'Copy', sourceResourceId: id } } }),
      target: 'Microsoft.Compute/disks/one',
      action: 'Microsoft.Compute/disks/beginGetAccess/action',
    },
    {
      what: 'an encryption set for a disk',
      path: 'Microsoft.Compute/disks/d',
      version: diskVersion,
      body: (id) => ({
        location,
        properties: {
          creationData: { createOption: 'Empty' },
          diskSizeGB: 4,
          encryption: { type: 'EncryptionAtRestWithCustomerKey', diskEncryptionSetId: id },
        },
      }),
      target: 'Microsoft.Compute/diskEncryptionSets/one',
      action: 'Microsoft.Compute/diskEncryptionSets/read',
    },
    {
      ...vm,
      what: 'an identity for a machine',
      body: (id) => machine({}, { identity: identity(id) }),
      target: userIdentity,
      action: assignAction,
    },
    {
      what: 'an identity for an account',
      path: 'Microsoft.Storage/storageAccounts/accountofalice',
      version: '2024-01-01',
      body: (id) => ({ location, sku: { name: 'Standard_LRS' }, kind: 'StorageV2', identity: identity(id) }),
      target: userIdentity,
      action: assignAction,
    },
    {
      what: 'a subnet let into an account',
      path: 'Microsoft.Storage/storageAccounts/accountofalice',
      version: '2024-01-01',
      body: (id) => ({
        location,
        sku: { name: 'Standard_LRS' },
        kind: 'StorageV2',
        properties: { networkAcls: { defaultAction: 'Deny', virtualNetworkRules: [{ id }] } },
      }),
      target: 'Microsoft.Network/virtualNetworks/net/subnets/s',
      action: 'Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action',
    },
    {
      what: 'an identity for a registry',
      path: 'Microsoft.ContainerRegistry/registries/registryofalice',
      version: '2023-07-01',
      body: (id) => ({ location, sku: { name: 'Premium' }, identity: identity(id) }),
      target: userIdentity,
      action: assignAction,
    },
    {
      what: 'an identity for a Front Door profile',
      path: 'Microsoft.Cdn/profiles/p',
      version: '2024-02-01',
      body: (id) => ({ location: 'global', sku: { name: 'Standard_AzureFrontDoor' }, identity: identity(id) }),
      target: userIdentity,
      action: assignAction,
    },
  ];
  await make(mine('Microsoft.Network/privateDnsZones/mine.test'), '2024-06-01', { location: 'global' });

  const messageOf = ({ json }: AzureAnswer) =>
    (json?.error as { readonly message?: string } | undefined)?.message ?? '';
  for (const { what, path, version, body, target, action } of cases) {
    await t.test(`does not get ${what}`, async () => {
      const ask = (id: string) => as(alice, `${mine(path)}?api-version=${version}`, { method: 'PUT', body: body(id) });
      const there = await ask(theirs(target));
      assert.equal(there.status, 403, there.text);
      assert.equal(codeOf(there), 'LinkedAuthorizationFailed');
      assert.ok(messageOf(there).includes(`'${action}'`), messageOf(there));
      const nowhere = theirs(target).replace('/resourceGroups/other/', '/resourceGroups/nowhere/');
      const missing = await ask(nowhere);
      assert.equal(missing.status, 403, missing.text);
      assert.equal(
        messageOf(missing)
          .replaceAll(/nowhere/gi, 'other')
          .toLowerCase(),
        messageOf(there).toLowerCase(),
        'the same is said of what is not there',
      );
    });
  }

  await t.test('gets what is in the group, and what the right was given on', async () => {
    const put = (path: string, body: object) =>
      as(alice, `${mine(path)}?api-version=${networkVersion}`, { method: 'PUT', body });
    const own = await put('Microsoft.Network/networkInterfaces/n', configuration({ subnet: mySubnet }));
    assert.equal(own.status, 201, own.text);
    await assign(alice, roles.contributor, theirs('Microsoft.Network/publicIPAddresses/one'));
    const address = { id: theirs('Microsoft.Network/publicIPAddresses/one') };
    const made = await put('Microsoft.Network/loadBalancers/lb', frontend({ publicIPAddress: address }));
    assert.equal(made.status, 201, made.text);
  });

  await t.test('may send back who uses a security group, which is no use of theirs', async () => {
    const sent = await as(
      alice,
      `${mine('Microsoft.Network/networkSecurityGroups/nsg')}?api-version=${networkVersion}`,
      {
        method: 'PUT',
        body: {
          location,
          properties: { subnets: [{ id: theirs('Microsoft.Network/virtualNetworks/net/subnets/s') }] },
        },
      },
    );
    assert.equal(sent.status, 201, sent.text);
  });

  await t.test('may ask for a connection to an account, which waits', async () => {
    const ask = (name: string, target: string) =>
      as(alice, `${mine(`Microsoft.Network/privateEndpoints/${name}`)}?api-version=${networkVersion}`, {
        method: 'PUT',
        body: {
          location,
          properties: {
            subnet: mySubnet,
            manualPrivateLinkServiceConnections: [{ name: 'c', properties: { privateLinkServiceId: target } }],
          },
        },
      });
    for (const [name, account] of [
      ['asked', 'accountofothers'],
      ['missing', 'accountofnobody'],
    ] as const) {
      const asked = await ask(name, theirs(`Microsoft.Storage/storageAccounts/${account}`));
      assert.equal(asked.status, 201, asked.text);
      assert.match(asked.text, /"status":"Pending"/);
    }
    for (const service of ['one', 'none']) {
      const refused = await ask('refused', theirs(`Microsoft.Network/privateLinkServices/${service}`));
      assert.equal(refused.status, 403, refused.text);
    }
  });

  await t.test('cannot name more resources than a body may', async () => {
    const many = Array.from({ length: 1001 }, (_, at) => ({
      id: mine(`Microsoft.Network/applicationSecurityGroups/a${at}`),
    }));
    const body = configuration({ subnet: mySubnet, applicationSecurityGroups: many });
    const path = `${mine('Microsoft.Network/networkInterfaces/many')}?api-version=${networkVersion}`;
    const refused = await as(alice, path, { method: 'PUT', body });
    assert.equal(refused.status, 400, refused.text);
    assert.match(messageOf(refused), /more than 1000/);
  });
});
