// Vaults through Resource Manager: names, deletion and recovery, who may look inside.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResourceManagementClient } from '@azure/arm-resources';
import { ClientSecretCredential } from '@azure/identity';
import { Secret } from '../../../kit/secret.ts';
import { collect, startVault, vaultBody, vaultClients, vaultRequest, vaultVersion } from './testing/vault.ts';

const stranger = {
  displayName: 'Stranger',
  appId: '7d1f4b8e-0000-4000-8000-000000000001',
  objectId: '7d1f4b8e-0000-4000-8000-000000000002',
  secret: new Secret('a-secret-of-a-stranger'),
};

test('a vault is made, deleted, recovered and purged', async (t) => {
  const cloud = await startVault(t, {}, { softDeleteRetentionInDays: 7 });
  const { vaultId, call, subscription, secrets } = cloud;
  const path = `${vaultId}?api-version=${vaultVersion}`;

  await t.test('it shows where it is and what it has by default', async () => {
    const { json } = await call(path);
    const properties = json?.properties as Record<string, unknown>;
    assert.equal(properties.vaultUri, 'https://myvault.vault.azure.test/');
    assert.equal(properties.enableSoftDelete, true);
    assert.equal(properties.provisioningState, 'Succeeded');
    const changed = await call(path, { method: 'PUT', body: vaultBody(cloud, { softDeleteRetentionInDays: 8 }) });
    assert.equal(changed.status, 400);
  });

  await t.test('names are checked and unique in the cloud', async () => {
    const check = async (name: string) =>
      (
        await call(`${subscription}/providers/Microsoft.KeyVault/checkNameAvailability?api-version=${vaultVersion}`, {
          method: 'POST',
          body: { name, type: 'Microsoft.KeyVault/vaults' },
        })
      ).json?.nameAvailable;
    assert.equal(await check('MYVAULT'), false);
    assert.equal(await check('free-name'), true);
    assert.equal(await check('a--b'), false);
    await call(`${subscription}/resourceGroups/h`, { method: 'PUT', body: { location: 'eastus' } });
    const other = vaultId.replace('resourceGroups/g', 'resourceGroups/h');
    const taken = await call(`${other}?api-version=${vaultVersion}`, { method: 'PUT', body: vaultBody(cloud) });
    assert.equal(taken.status, 409);
    assert.match(taken.text, /VaultAlreadyExists/);
  });

  await t.test('a deleted vault is remembered, keeps its name and comes back with its content', async () => {
    await secrets.setSecret('kept', 'value');
    assert.equal((await call(path, { method: 'DELETE' })).status, 200);
    await assert.rejects(secrets.getSecret('kept'), { statusCode: 404, code: 'VaultNotFound' });
    const deleted = `${subscription}/providers/Microsoft.KeyVault/locations/eastus/deletedVaults/myvault`;
    const shown = await call(`${deleted}?api-version=${vaultVersion}`);
    assert.equal((shown.json?.properties as Record<string, unknown> | undefined)?.vaultId, vaultId);
    const refused = await call(path, { method: 'PUT', body: vaultBody(cloud) });
    assert.equal(refused.status, 409);
    const back = await call(path, { method: 'PUT', body: vaultBody(cloud, { createMode: 'recover' }) });
    assert.ok([200, 201].includes(back.status), back.text);
    assert.equal((await secrets.getSecret('kept')).value, 'value');
    assert.equal((await call(`${deleted}?api-version=${vaultVersion}`)).status, 404);
  });

  await t.test('a purged vault leaves nothing, and its name is free', async () => {
    await call(path, { method: 'DELETE' });
    const purge = `${subscription}/providers/Microsoft.KeyVault/locations/eastus/deletedVaults/myvault/purge`;
    assert.ok((await call(`${purge}?api-version=${vaultVersion}`, { method: 'POST' })).status < 300);
    const made = await call(path, { method: 'PUT', body: vaultBody(cloud) });
    assert.ok([200, 201].includes(made.status), made.text);
    assert.deepEqual(await collect(secrets.listPropertiesOfSecrets()), []);
  });
});

test('purge protection holds for vaults and for what is in them, and cannot be taken back', async (t) => {
  const cloud = await startVault(t, {}, { enablePurgeProtection: true });
  const { vaultId, call, secrets, subscription } = cloud;
  const path = `${vaultId}?api-version=${vaultVersion}`;
  const off = await call(path, { method: 'PUT', body: vaultBody(cloud, { enablePurgeProtection: false }) });
  assert.equal(off.status, 400);
  await secrets.setSecret('stays', 'v');
  await (await secrets.beginDeleteSecret('stays', { intervalInMs: 1 })).pollUntilDone();
  await assert.rejects(secrets.purgeDeletedSecret('stays'), { statusCode: 403 });
  await call(path, { method: 'DELETE' });
  const purge = `${subscription}/providers/Microsoft.KeyVault/locations/eastus/deletedVaults/myvault/purge`;
  assert.equal((await call(`${purge}?api-version=${vaultVersion}`, { method: 'POST' })).status, 400);
});

test('who has no permission is told so, who shows no token is told where to get one', async (t) => {
  const cloud = await startVault(t, { directory: { applications: [stranger] } });
  const { azure, origin, url, vaultId, call } = cloud;
  const credential = new ClientSecretCredential(azure.owner.tenantId, stranger.appId, stranger.secret.reveal(), {
    authorityHost: origin,
    disableInstanceDiscovery: true,
    tlsOptions: { ca: azure.ca },
  });
  const { secrets } = vaultClients({ ...cloud, credential }, 'myvault');
  await cloud.secrets.setSecret('one', 'value');
  await assert.rejects(secrets.getSecret('one'), { statusCode: 403, code: 'Forbidden' });

  const policy = {
    properties: {
      accessPolicies: [
        { tenantId: azure.owner.tenantId, objectId: stranger.objectId, permissions: { secrets: ['Get'] } },
      ],
    },
  };
  const policies = (kind: string) => `${vaultId}/accessPolicies/${kind}?api-version=${vaultVersion}`;
  const added = await call(policies('add'), { method: 'PUT', body: policy });
  assert.ok(added.status < 300, added.text);
  assert.equal((await secrets.getSecret('one')).value, 'value');
  await assert.rejects(secrets.setSecret('one', 'new'), { statusCode: 403 });
  await call(policies('remove'), { method: 'PUT', body: policy });
  await assert.rejects(secrets.getSecret('one'), { statusCode: 403 });
  assert.equal((await cloud.secrets.getSecret('one')).value, 'value', 'other policies stay');

  const bare = await vaultRequest(cloud, new URL(`${url}secrets?api-version=7.4`), undefined, { token: null });
  assert.equal(bare.status, 401);
  assert.match(
    String(bare.headers['www-authenticate']),
    new RegExp(`^Bearer authorization="${origin}/${azure.owner.tenantId}", resource="https://vault.azure.test"$`),
  );
  assert.equal((await vaultRequest(cloud, new URL(`${url}secrets?api-version=1.0`))).status, 400);
  assert.equal((await vaultRequest(cloud, new URL(`${url}nothing?api-version=7.4`))).status, 404);
  const elsewhere = url.replace('myvault', 'othervault');
  assert.equal((await vaultRequest(cloud, new URL(`${elsewhere}secrets?api-version=7.4`))).status, 404);
});

test('templates write secrets and keys whose values are not shown', async (t) => {
  const cloud = await startVault(t);
  const client = new ResourceManagementClient(cloud.credential, cloud.subscriptionId, cloud.sdk);
  const made = await client.resources.createOrUpdateById(`${cloud.vaultId}/secrets/from-template`, vaultVersion, {
    properties: { value: 'hidden', contentType: 'text/plain' },
  });
  assert.ok(!JSON.stringify(made).includes('hidden'));
  assert.match(
    String((made.properties as Record<string, unknown>).secretUriWithVersion),
    /\/secrets\/from-template\/[0-9a-f]{32}$/,
  );
  assert.equal((await cloud.secrets.getSecret('from-template')).value, 'hidden');
  await client.resources.createOrUpdateById(`${cloud.vaultId}/keys/k`, vaultVersion, {
    properties: { kty: 'EC', curveName: 'P-384' },
  });
  assert.equal((await cloud.keys.getKey('k')).key?.crv, 'P-384');
});

test('a vault that goes by roles asks for data actions', async (t) => {
  const cloud = await startVault(t, { directory: { applications: [stranger] } });
  const { azure, origin, vaultId, call } = cloud;
  await cloud.secrets.setSecret('one', '1');
  const path = `${vaultId}?api-version=${vaultVersion}`;
  const changed = await call(path, { method: 'PATCH', body: { properties: { enableRbacAuthorization: true } } });
  assert.equal(changed.status, 200, changed.text);
  const credential = new ClientSecretCredential(azure.owner.tenantId, stranger.appId, stranger.secret.reveal(), {
    authorityHost: origin,
    disableInstanceDiscovery: true,
    tlsOptions: { ca: azure.ca },
  });
  const { secrets } = vaultClients({ ...cloud, credential }, 'myvault');
  await assert.rejects(secrets.getSecret('one'), { statusCode: 403, code: 'Forbidden' });
  const assignment = `${vaultId}/providers/Microsoft.Authorization/roleAssignments/00000000-0000-4000-8000-000000000099`;
  const made = await call(`${assignment}?api-version=2022-04-01`, {
    method: 'PUT',
    body: {
      properties: {
        roleDefinitionId: `${cloud.subscription}/providers/Microsoft.Authorization/roleDefinitions/4633458b-17de-408a-b874-0445c86b69e6`,
        principalId: stranger.objectId,
        principalType: 'ServicePrincipal',
      },
    },
  });
  assert.ok(made.status < 300, made.text);
  assert.equal((await secrets.getSecret('one')).value, '1');
  await assert.rejects(secrets.setSecret('one', 'new'), { statusCode: 403 });
});
