// The SDKs' clients for vaults and blobs, on the ways that src/azure opens.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { blobService, serveWebContainer } from './blobs.ts';
import { reachOf } from './environment.ts';
import { openVault } from './key-vault.ts';
import { builtInRoles, roleAssignment } from './resources/authorization.ts';
import { containerRegistryVersion, registryToken, registryTokenPassword } from './resources/container-registry.ts';
import { groupScope, resourceIdIn } from './resources/ids.ts';
import { keyVault } from './resources/key-vault.ts';
import { resourceGroup } from './resources/resource-group.ts';
import { blobContainer, storageAccount } from './resources/storage-account.ts';
import { testCloud } from './testing/cloud.ts';

const location = 'westeurope';
const keyVaultAdministrator = '00482a5a-887f-4fb3-b363-3b7fe8e74483';

async function cloudWithGroup(t: TestContext) {
  const cloud = await testCloud(t);
  const { subscriptionId } = cloud.azure;
  const group = { subscriptionId, resourceGroup: 'g' };
  await cloud.arm.put(resourceGroup(group, { location }));
  const grant = (role: string) =>
    cloud.arm.put(
      roleAssignment({ scope: groupScope(group), subscriptionId, role, principalId: cloud.azure.azure.owner.objectId }),
    );
  return { ...cloud, group, grant };
}

test('a vault by its name: secrets, keys and certificates through the proxy, its authority trusted', async (t) => {
  const { arm, azure, environment, credential, group, grant } = await cloudWithGroup(t);
  await arm.put(keyVault(group, 'svc', { location, tenantId: azure.azure.owner.tenantId }));
  await grant(keyVaultAdministrator);
  const vault = openVault(environment, credential, 'svc');
  assert.equal(vault.url, 'https://svc.vault.azure.test');
  assert.equal(openVault(environment, credential, `${vault.url}/`).url, vault.url);
  const secrets = await vault.secrets();
  await secrets.setSecret('encryption-key-v2', 'one');
  assert.equal((await secrets.getSecret('encryption-key-v2')).value, 'one');
  const key = await (await vault.keys()).createRsaKey('etcd');
  const cryptography = await vault.cryptography(key.id ?? '');
  const sealed = await cryptography.encrypt('RSA-OAEP-256', Buffer.from('text'));
  assert.equal(Buffer.from((await cryptography.decrypt('RSA-OAEP-256', sealed.result)).result).toString(), 'text');
  const certificates = await vault.certificates();
  for await (const { name } of certificates.listPropertiesOfCertificates()) assert.fail(`${name} was made by nobody`);
  assert.equal(await vault.secrets(), secrets, 'made once');
});

test('blobs of an account, and its container $web as a site', async (t) => {
  const { arm, environment, credential, group, grant } = await cloudWithGroup(t);
  const options = { location, sharedKeys: false, sasExpirationPeriod: '0.01:00:00' };
  const made = await arm.put(storageAccount(group, 'clusterabc', options));
  assert.equal(made.kind, 'StorageV2');
  await arm.put(blobContainer(group, 'clusterabc', 'aro'));
  await grant(builtInRoles.storageBlobDataContributor);
  const service = await blobService(environment, credential, 'clusterabc');
  await service.getContainerClient('aro').getBlockBlobClient('graph').upload('text', 4);
  const read = await service.getContainerClient('aro').getBlobClient('graph').downloadToBuffer();
  assert.equal(read.toString(), 'text');
  await serveWebContainer(service);
  await serveWebContainer(service);
  assert.equal((await service.getProperties()).staticWebsite?.enabled, true);
  const closed = await arm.put(storageAccount(group, 'closed', { ...options, subnetIds: [] }));
  const { networkAcls } = closed.properties as { readonly networkAcls: { readonly defaultAction: string } };
  assert.equal(networkAcls.defaultAction, 'Deny');
});

test('a token of a registry and its password', async (t) => {
  const { arm, group } = await cloudWithGroup(t);
  const registry = resourceIdIn(group, 'Microsoft.ContainerRegistry/registries', 'arosvc');
  await arm.put({
    id: registry,
    apiVersion: containerRegistryVersion,
    body: { location, sku: { name: 'Premium' }, properties: {} },
  });
  await arm.put(registryToken(registry, 'token-1'));
  const expiry = new Date(Date.now() + 86_400_000);
  const given = await arm.post(
    `${registry}/generateCredentials`,
    containerRegistryVersion,
    registryTokenPassword(registry, 'token-1', { name: 'password1', expiry }),
  );
  assert.equal(given?.username, 'token-1');
});

test('a proxy that refuses, or is none, is told as what it is', async (t) => {
  const { credential, environment } = await cloudWithGroup(t);
  const refusing = createServer((_request, response) => response.writeHead(403).end());
  refusing.on('connect', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  t.after(() => refusing.close());
  const { port } = refusing.address() as AddressInfo;
  const proxy = `http://127.0.0.1:${port}`;
  assert.equal(reachOf({ proxy }, 'https://localhost:1').agent, undefined, 'this machine needs no proxy');
  const vault = openVault({ ...environment, proxy }, credential, 'svc');
  const secrets = await vault.secrets();
  await assert.rejects(
    secrets.getSecret('x', { requestOptions: { timeout: 5000 } }),
    /does not lead to svc\.vault\.azure\.test:443: status 403/,
  );
});
