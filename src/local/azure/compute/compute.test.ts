// Machines and what belongs to them, with Azure's own client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ComputeManagementClient, type VirtualMachine } from '@azure/arm-compute';
import { all, group, location, startNetwork } from '../network/testing/network-world.ts';

const image = { publisher: 'azureopenshift', offer: 'aro4', sku: 'aro_416', version: '416.94.20240701' };

async function startCompute(t: test.TestContext, options: Parameters<typeof startNetwork>[1] = {}) {
  const world = await startNetwork(t, options);
  const { client: network, at, credential, subscriptionId, sdk } = world;
  await network.virtualNetworks.createOrUpdate(group, 'vnet', {
    location,
    addressSpace: { addressPrefixes: ['10.0.0.0/16'] },
    subnets: [{ name: 's', addressPrefix: '10.0.0.0/24' }],
  });
  const nic = async (name: string) => {
    const { id = '' } = await network.networkInterfaces.createOrUpdate(group, name, {
      location,
      ipConfigurations: [{ name: 'ip', subnet: { id: `${at}/virtualNetworks/vnet/subnets/s` } }],
    });
    return id;
  };
  const machine = async (name: string, more: Partial<VirtualMachine> = {}): Promise<VirtualMachine> => ({
    location,
    zones: ['1'],
    hardwareProfile: { vmSize: 'Standard_D8s_v3' },
    storageProfile: {
      imageReference: image,
      osDisk: {
        createOption: 'FromImage',
        deleteOption: 'Delete',
        diskSizeGB: 1024,
        managedDisk: { storageAccountType: 'Premium_LRS' },
      },
    },
    osProfile: {
      computerName: name,
      adminUsername: 'core',
      adminPassword: 'Not-to-be-kept-1',
      customData: 'aWduaXRpb24=',
      linuxConfiguration: { disablePasswordAuthentication: false },
    },
    networkProfile: { networkInterfaces: [{ id: await nic(`${name}-nic`), deleteOption: 'Delete' }] },
    ...more,
  });
  const compute = new ComputeManagementClient(credential, subscriptionId, sdk);
  return { ...world, network, compute, machine, nic, here: at.replace('Microsoft.Network', 'Microsoft.Compute') };
}

test('virtual machines', async (t) => {
  const { compute, network, machine, here, at, call } = await startCompute(t);
  const { virtualMachines, disks } = compute;
  const power = async (name: string) =>
    (await virtualMachines.instanceView(group, name)).statuses?.map(({ code }) => code).join();

  await t.test('a machine brings its disk, has its interface and runs', async () => {
    const made = await virtualMachines.createOrUpdate(group, 'vm1', await machine('vm1'));
    assert.equal(made.provisioningState, 'Succeeded');
    assert.match(made.vmId ?? '', /^[0-9a-f-]{36}$/);
    const text = JSON.stringify(made);
    assert.ok(!text.includes('Not-to-be-kept') && !text.includes('aWduaXRpb24'), 'secrets are not shown');
    const diskName = made.storageProfile?.osDisk?.name ?? '';
    const disk = await disks.get(group, diskName);
    assert.equal(disk.diskState, 'Attached');
    assert.equal(disk.managedBy, made.id);
    assert.equal(disk.diskSizeGB, 1024);
    assert.deepEqual(disk.zones, ['1']);
    const nic = await network.networkInterfaces.get(group, 'vm1-nic');
    assert.equal(nic.virtualMachine?.id, made.id);
    assert.match(nic.macAddress ?? '', /^00-0D-3A-/);
    assert.equal(await power('vm1'), 'ProvisioningState/succeeded,PowerState/running');
    const shown = await virtualMachines.get(group, 'vm1', { expand: 'instanceView' });
    assert.equal(shown.instanceView?.statuses?.[1]?.displayStatus, 'VM running');
    assert.equal((await virtualMachines.get(group, 'vm1')).instanceView, undefined);
  });

  await t.test('it is switched on and off', async () => {
    await virtualMachines.deallocate(group, 'vm1');
    assert.match((await power('vm1')) ?? '', /deallocated/);
    await assert.rejects(virtualMachines.restart(group, 'vm1'), /OperationNotAllowed|must be running/);
    await virtualMachines.start(group, 'vm1');
    assert.match((await power('vm1')) ?? '', /running/);
    await virtualMachines.powerOff(group, 'vm1');
    assert.match((await power('vm1')) ?? '', /stopped/);
    await virtualMachines.start(group, 'vm1');
    await virtualMachines.redeploy(group, 'vm1');
    const { serialConsoleLogBlobUri } = await virtualMachines.retrieveBootDiagnosticsData(group, 'vm1');
    assert.match(serialConsoleLogBlobUri ?? '', /^https:/);
    await assert.rejects(virtualMachines.generalize(group, 'vm1'), { code: 'OperationNotAllowed' });
    await assert.rejects(
      virtualMachines.runCommand(group, 'vm1', { commandId: 'RunShellScript', script: ['id'] }),
      /simulated/,
    );
  });

  await t.test('an update keeps the disk; another size is allowed, another disk is not', async () => {
    const before = await virtualMachines.get(group, 'vm1');
    const after = await virtualMachines.update(group, 'vm1', { hardwareProfile: { vmSize: 'Standard_D16s_v3' } });
    assert.equal(after.hardwareProfile?.vmSize, 'Standard_D16s_v3');
    assert.equal(after.storageProfile?.osDisk?.name, before.storageProfile?.osDisk?.name);
    assert.equal(after.vmId, before.vmId);
    await assert.rejects(virtualMachines.createOrUpdate(group, 'vm1', { ...after, zones: ['2'] }), {
      statusCode: 409,
      code: 'PropertyChangeNotAllowed',
    });
  });

  await t.test('what a machine uses stays', async () => {
    const made = await virtualMachines.get(group, 'vm1');
    await assert.rejects(network.networkInterfaces.delete(group, 'vm1-nic'), { code: 'NicInUse' });
    await assert.rejects(disks.delete(group, made.storageProfile?.osDisk?.name ?? ''), {
      statusCode: 409,
      code: 'OperationNotAllowed',
    });
    const other = await machine('vm2', {
      networkProfile: { networkInterfaces: [{ id: `${at}/networkInterfaces/vm1-nic` }] },
    });
    await assert.rejects(virtualMachines.createOrUpdate(group, 'vm2', other), { code: 'NicInUse' });
  });

  await t.test('data disks are made, attached and let go', async () => {
    await disks.createOrUpdate(group, 'data', {
      location,
      zones: ['1'],
      creationData: { createOption: 'Empty' },
      diskSizeGB: 10,
    });
    const before = await virtualMachines.get(group, 'vm1');
    const profile = before.storageProfile ?? {};
    const withDisks = await virtualMachines.createOrUpdate(group, 'vm1', {
      ...before,
      storageProfile: {
        ...profile,
        dataDisks: [
          { lun: 0, createOption: 'Attach', managedDisk: { id: `${here}/disks/data` } },
          { lun: 1, createOption: 'Empty', diskSizeGB: 5 },
        ],
      },
    });
    assert.equal(withDisks.storageProfile?.dataDisks?.length, 2);
    assert.equal((await disks.get(group, 'data')).diskState, 'Attached');
    await virtualMachines.createOrUpdate(group, 'vm1', { ...withDisks, storageProfile: { ...profile, dataDisks: [] } });
    assert.equal((await disks.get(group, 'data')).diskState, 'Unattached');
    await assert.rejects(
      disks.createOrUpdate(group, 'data', { location, creationData: { createOption: 'Empty' }, diskSizeGB: 1 }),
      {
        statusCode: 409,
      },
    );
    await compute.snapshots.createOrUpdate(group, 'snap', {
      location,
      creationData: { createOption: 'Copy', sourceResourceId: `${here}/disks/data` },
    });
    assert.equal((await compute.snapshots.get(group, 'snap')).diskSizeGB, 10);
  });

  await t.test('bodies that cannot be are refused', async () => {
    const body = await machine('bad');
    const refuse = (change: Partial<VirtualMachine>, code: string) =>
      assert.rejects(virtualMachines.createOrUpdate(group, 'bad', { ...body, ...change }), { code });
    await refuse({ hardwareProfile: { vmSize: 'Standard_Nope' } }, 'InvalidParameter');
    await refuse({ storageProfile: { osDisk: { createOption: 'FromImage' } } }, 'InvalidParameter');
    await refuse({ networkProfile: { networkInterfaces: [] } }, 'InvalidParameter');
    await refuse(
      { networkProfile: { networkInterfaces: [{ id: `${at}/networkInterfaces/none` }] } },
      'InvalidResourceReference',
    );
    await refuse({ zones: ['9'] }, 'InvalidAvailabilityZone');
    await refuse({ hardwareProfile: { vmSize: 'Standard_NC24ads_A100_v4' }, zones: ['3'] }, 'SkuNotAvailable');
    for (const properties of [
      7,
      { hardwareProfile: 7 },
      { hardwareProfile: { vmSize: 'Standard_D8s_v3' }, storageProfile: [] },
    ]) {
      const { status } = await call(`${here}/virtualMachines/bad?api-version=2024-07-01`, {
        method: 'PUT',
        body: { location, properties },
      });
      assert.equal(status, 400);
    }
  });

  await t.test('with the machine goes what it was to take along', async () => {
    const { storageProfile } = await virtualMachines.get(group, 'vm1');
    await virtualMachines.delete(group, 'vm1');
    await assert.rejects(virtualMachines.get(group, 'vm1'), { statusCode: 404 });
    await assert.rejects(disks.get(group, storageProfile?.osDisk?.name ?? ''), { statusCode: 404 });
    await assert.rejects(network.networkInterfaces.get(group, 'vm1-nic'), { statusCode: 404 });
    assert.equal((await disks.get(group, 'data')).diskState, 'Unattached');
  });
});

test('quota and restrictions', async (t) => {
  const { compute, machine, control, subscription, call } = await startCompute(t);
  const { virtualMachines } = compute;
  const used = async (name: string) =>
    (await all(compute.usage.list(location))).find(({ name: one }) => one.value === name)?.currentValue;

  await t.test('usages count the cores of machines', async () => {
    assert.equal(await used('standardDSv3Family'), 0);
    await virtualMachines.createOrUpdate(group, 'vm1', await machine('vm1'));
    assert.equal(await used('standardDSv3Family'), 8);
    assert.equal(await used('cores'), 8);
    assert.equal(await used('virtualMachines'), 1);
  });

  await t.test('a limit that was asked for is kept', async () => {
    const path = `${subscription}/providers/Microsoft.Compute/locations/${location}/providers/Microsoft.Quota/quotas/standardDSv3Family?api-version=2023-02-01`;
    const asked = await call(path, {
      method: 'PUT',
      body: { properties: { limit: { limitObjectType: 'LimitValue', value: 10 } } },
    });
    assert.equal(asked.status, 201, asked.text);
    const got = await call(path);
    assert.match(got.text, /"value":10/);
    await assert.rejects(virtualMachines.createOrUpdate(group, 'vm2', await machine('vm2')), (error: Error) => {
      assert.match(
        error.message,
        /^Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota\. Additional details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 10, Current Usage: 8, Additional Required: 8, \(Minimum\) New Limit Required: 16\./,
      );
      return (error as { code?: string }).code === 'OperationNotAllowed';
    });
  });

  await t.test('faults take quota and sizes away', async () => {
    const fault = (id: string, effect: object) =>
      control('/faults', { method: 'POST', body: { id, match: {}, effect } });
    const made = await fault('q', { kind: 'quota', location, family: 'cores', limit: 9 });
    assert.ok(made.status < 300, made.text);
    const body = await machine('vm3', { hardwareProfile: { vmSize: 'Standard_D4s_v5' } });
    await assert.rejects(virtualMachines.createOrUpdate(group, 'vm3', body), /Total Regional Cores quota/);
    await control('/faults/q', { method: 'DELETE' });
    await fault('s', { kind: 'skuRestricted', location, sku: 'Standard_D4s_v5' });
    await assert.rejects(virtualMachines.createOrUpdate(group, 'vm3', body), { code: 'SkuNotAvailable' });
    const skus = await all(compute.resourceSkus.list({ filter: `location eq '${location}'` }));
    const sku = skus.find(({ name }) => name === 'Standard_D4s_v5');
    assert.equal(sku?.restrictions?.[0]?.reasonCode, 'NotAvailableForSubscription');
    assert.deepEqual(sku?.locationInfo?.[0]?.zones, ['1', '2', '3']);
    assert.equal(sku?.capabilities?.find(({ name }) => name === 'vCPUs')?.value, '4');
    assert.ok(skus.every(({ locations }) => locations?.[0] === location));
    assert.ok(
      (await all(compute.virtualMachineSizes.list(location))).some(({ name }) => name === 'Standard_E104is_v5'),
    );
  });
});

test('power states take the time of the profile', async (t) => {
  const { compute, machine, azure, control, call, here } = await startCompute(t);
  await compute.virtualMachines.createOrUpdate(group, 'vm', await machine('vm'));
  assert.ok((await control('/profile', { method: 'PUT', body: { name: 'azure' } })).status < 300);
  const codes = async () => (await compute.virtualMachines.instanceView(group, 'vm')).statuses?.map(({ code }) => code);
  const asked = await call(`${here}/virtualMachines/vm/deallocate?api-version=2024-07-01`, { method: 'POST' });
  assert.equal(asked.status, 202);
  assert.deepEqual(await codes(), ['ProvisioningState/updating', 'PowerState/running']);
  const again = await call(`${here}/virtualMachines/vm/start?api-version=2024-07-01`, { method: 'POST' });
  assert.equal(again.status, 409, 'one thing at a time');
  await azure.world.clock.advance(40_000);
  assert.deepEqual(await codes(), ['ProvisioningState/succeeded', 'PowerState/deallocated']);
});

test('scale sets', async (t) => {
  const { compute, at, network } = await startCompute(t);
  const { virtualMachineScaleSets: sets, virtualMachineScaleSetVMs: machines } = compute;
  const model = (capacity: number, sku = 'Standard_D2s_v3') => ({
    location,
    sku: { name: sku, capacity },
    upgradePolicy: { mode: 'Manual' as const },
    virtualMachineProfile: {
      storageProfile: { imageReference: image, osDisk: { createOption: 'FromImage' as const } },
      osProfile: { computerNamePrefix: 'gw-', adminUsername: 'core', adminPassword: 'Not-to-be-kept-1' },
      networkProfile: {
        networkInterfaceConfigurations: [
          {
            name: 'nic',
            primary: true,
            ipConfigurations: [{ name: 'ip', subnet: { id: `${at}/virtualNetworks/vnet/subnets/s` } }],
          },
        ],
      },
    },
  });
  const names = async () => (await all(machines.list(group, 'set'))).map(({ instanceId }) => instanceId);

  await t.test('a set has as many machines as its capacity', async () => {
    const made = await sets.createOrUpdate(group, 'set', model(3));
    assert.equal(made.provisioningState, 'Succeeded');
    assert.ok(!JSON.stringify(made).includes('Not-to-be-kept'));
    assert.deepEqual(await names(), ['0', '1', '2']);
    const one = await machines.get(group, 'set', '1', { expand: 'instanceView' });
    assert.equal(one.latestModelApplied, true);
    assert.match(one.osProfile?.computerName ?? '', /^gw-000001$/);
    const view = await sets.getInstanceView(group, 'set');
    assert.equal(view.virtualMachine?.statusesSummary?.find(({ code }) => code === 'PowerState/running')?.count, 3);
    await assert.rejects(network.subnets.delete(group, 'vnet', 's'), { code: 'InUseSubnetCannotBeDeleted' });
  });

  await t.test('it scales up and down, and loses the machines that are deleted', async () => {
    await sets.update(group, 'set', { sku: { name: 'Standard_D2s_v3', capacity: 5 } });
    assert.equal((await names()).length, 5);
    await sets.deleteInstances(group, 'set', { instanceIds: ['0', '3'] });
    assert.deepEqual(await names(), ['1', '2', '4']);
    assert.equal((await sets.get(group, 'set')).sku?.capacity, 3);
    await machines.delete(group, 'set', '4');
    assert.equal((await sets.get(group, 'set')).sku?.capacity, 2);
    await assert.rejects(sets.deleteInstances(group, 'set', { instanceIds: ['99'] }), /99/);
  });

  await t.test('a new model reaches the machines when they are upgraded', async () => {
    await sets.createOrUpdate(group, 'set', model(2, 'Standard_D4s_v3'));
    assert.equal((await machines.get(group, 'set', '1')).latestModelApplied, false);
    await sets.updateInstances(group, 'set', { instanceIds: ['1'] });
    assert.equal((await machines.get(group, 'set', '1')).latestModelApplied, true);
    assert.equal((await machines.get(group, 'set', '2')).latestModelApplied, false);
    await machines.powerOff(group, 'set', '2');
    const view = await machines.getInstanceView(group, 'set', '2');
    assert.ok(view.statuses?.some(({ code }) => code === 'PowerState/stopped'));
  });

  await t.test('it goes with its machines', async () => {
    await sets.delete(group, 'set');
    await assert.rejects(machines.get(group, 'set', '1'), { statusCode: 404 });
    await network.subnets.delete(group, 'vnet', 's');
  });
});

test('the smaller types', async (t) => {
  const { compute, here, azure } = await startCompute(t);
  await compute.availabilitySets.createOrUpdate(group, 'as', { location, sku: { name: 'Aligned' } });
  assert.equal((await compute.availabilitySets.get(group, 'as')).platformFaultDomainCount, 2);
  await compute.proximityPlacementGroups.createOrUpdate(group, 'ppg', { location });
  await compute.sshPublicKeys.create(group, 'key', { location });
  const pair = await compute.sshPublicKeys.generateKeyPair(group, 'key');
  assert.match(pair.privateKey, /BEGIN RSA PRIVATE KEY/);
  assert.equal((await compute.sshPublicKeys.get(group, 'key')).publicKey, pair.publicKey);
  await compute.galleries.createOrUpdate(group, 'gallery', { location });
  await compute.galleryImages.createOrUpdate(group, 'gallery', 'image', {
    location,
    osType: 'Linux',
    osState: 'Generalized',
    identifier: { publisher: 'p', offer: 'o', sku: 's' },
  });
  await compute.galleryImageVersions.createOrUpdate(group, 'gallery', 'image', '1.0.0', {
    location,
    storageProfile: {},
  });
  assert.equal(
    (await compute.galleryImageVersions.get(group, 'gallery', 'image', '1.0.0')).publishingProfile?.replicaCount,
    1,
  );
  const keyUrl = `https://vault.vault.example.com/keys/k/1`;
  const set = await compute.diskEncryptionSets.createOrUpdate(group, 'des', {
    location,
    identity: { type: 'SystemAssigned' },
    activeKey: { keyUrl },
  });
  assert.match(set.identity?.principalId ?? '', /^[0-9a-f-]{36}$/);
  await assert.rejects(
    compute.diskEncryptionSets.createOrUpdate(group, 'bad', {
      location,
      activeKey: {
        keyUrl: `https://none.vault.${azure.cloud.suffix}/keys/k/1`,
        sourceVault: { id: here.replace('Microsoft.Compute', 'Microsoft.KeyVault/vaults/none') },
      },
    }),
    { code: 'KeyVaultNotFound' },
  );
  await compute.disks.createOrUpdate(group, 'disk', {
    location,
    creationData: { createOption: 'Empty' },
    diskSizeGB: 4,
    encryption: { type: 'EncryptionAtRestWithCustomerKey', diskEncryptionSetId: set.id ?? '' },
  });
  await assert.rejects(compute.diskEncryptionSets.delete(group, 'des'), { code: 'OperationNotAllowed' });
});
