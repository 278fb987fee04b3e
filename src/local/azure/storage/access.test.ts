// Who may reach blobs: by key, by token, by signed addresses of every kind, or everybody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientSecretCredential } from '@azure/identity';
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobClient,
  BlobSASPermissions,
  BlobServiceClient,
  BlockBlobClient,
  ContainerClient,
  ContainerSASPermissions,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { Secret } from '../../../kit/secret.ts';
import { accountVersion, clientOptions, collect, startAccount, type TestAccount, textOf } from './testing/account.ts';

const stranger = {
  displayName: 'Stranger',
  appId: '7d1f4b8e-0000-4000-8000-000000000011',
  objectId: '7d1f4b8e-0000-4000-8000-000000000012',
  secret: new Secret('a-secret-of-a-stranger'),
};
const contributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe';

const inAnHour = (): Date => new Date(Date.now() + 3_600_000);

async function assign(cloud: TestAccount, principalId: string, role: string, principalType: string): Promise<void> {
  const name = `00000000-0000-4000-8000-${principalId.slice(-12)}`;
  const path = `${cloud.accountId}/providers/Microsoft.Authorization/roleAssignments/${name}?api-version=2022-04-01`;
  const roleDefinitionId = `${cloud.subscription}/providers/Microsoft.Authorization/roleDefinitions/${role}`;
  const made = await cloud.call(path, {
    method: 'PUT',
    body: { properties: { roleDefinitionId, principalId, principalType } },
  });
  assert.ok(made.status < 300, made.text);
}

test('requests are let in by what they show, and by nothing less', async (t) => {
  const cloud = await startAccount(t, { directory: { applications: [stranger] } });
  const { service, key, url, azure, origin } = cloud;
  const options = clientOptions(cloud);
  const container = service.getContainerClient('files');
  await container.create();
  await container.getBlockBlobClient('one').upload('1', 1);
  const reads = async (client: BlobClient) => textOf((await client.download()).readableStreamBody);

  await t.test('a wrong key is refused, a new key counts at once and the old one no more', async () => {
    const wrong = new StorageSharedKeyCredential('myaccount', Buffer.alloc(64).toString('base64'));
    await assert.rejects(new BlobServiceClient(url, wrong, options).getProperties(), {
      statusCode: 403,
      code: 'AuthenticationFailed',
    });
    const second = (await cloud.call(`${cloud.accountId}/listKeys?api-version=${accountVersion}`, { method: 'POST' }))
      .json?.keys as readonly { value: string }[];
    const other = new StorageSharedKeyCredential('myaccount', second[1]?.value ?? '');
    await new BlobServiceClient(url, other, options).getProperties();
    await cloud.call(`${cloud.accountId}/regenerateKey?api-version=${accountVersion}`, {
      method: 'POST',
      body: { keyName: 'key2' },
    });
    await assert.rejects(new BlobServiceClient(url, other, options).getProperties(), { statusCode: 403 });
  });

  await t.test('a signed address of a blob allows what it says, there, for its time', async () => {
    const permissions = BlobSASPermissions.parse('r');
    const sign = (blobName: string, more: object = {}) =>
      generateBlobSASQueryParameters(
        { containerName: 'files', blobName, permissions, expiresOn: inAnHour(), ...more },
        key,
      ).toString();
    const signed = sign('one', { contentType: 'text/x-signed' });
    const blob = new BlockBlobClient(`${url}/files/one?${signed}`, undefined, options);
    const got = await blob.download();
    assert.equal(await textOf(got.readableStreamBody), '1');
    assert.equal(got.contentType, 'text/x-signed');
    await assert.rejects(blob.upload('2', 1), { statusCode: 403, code: 'AuthorizationPermissionMismatch' });
    await assert.rejects(new BlobClient(`${url}/files/two?${signed}`, undefined, options).download(), {
      code: 'AuthenticationFailed',
    });
    const late = sign('one', { expiresOn: new Date(Date.now() - 1000) });
    await assert.rejects(new BlobClient(`${url}/files/one?${late}`, undefined, options).download(), {
      code: 'AuthenticationFailed',
    });
    const more = signed.replace('sp=r', 'sp=rw');
    await assert.rejects(new BlobClient(`${url}/files/one?${more}`, undefined, options).download(), {
      code: 'AuthenticationFailed',
    });
  });

  await t.test('a signed address of a container, by its own rule as well', async () => {
    const list = generateBlobSASQueryParameters(
      { containerName: 'files', permissions: ContainerSASPermissions.parse('rl'), expiresOn: inAnHour() },
      key,
    );
    const client = new ContainerClient(`${url}/files?${list}`, undefined, options);
    assert.deepEqual(
      (await collect(client.listBlobsFlat())).map(({ name }) => name),
      ['one'],
    );
    assert.equal(await reads(client.getBlobClient('one')), '1');
    await assert.rejects(client.delete(), { statusCode: 403 });
    await container.setAccessPolicy(undefined, [
      {
        id: 'readers',
        accessPolicy: { startsOn: new Date(Date.now() - 60_000), expiresOn: inAnHour(), permissions: 'r' },
      },
    ]);
    assert.equal((await container.getAccessPolicy()).signedIdentifiers[0]?.id, 'readers');
    const ruled = generateBlobSASQueryParameters({ containerName: 'files', identifier: 'readers' }, key);
    const other = new ContainerClient(`${url}/files?${ruled}`, undefined, options);
    assert.equal(await reads(other.getBlobClient('one')), '1');
    await container.setAccessPolicy();
    await assert.rejects(reads(other.getBlobClient('one')), { code: 'AuthenticationFailed' });
  });

  await t.test('a signed address of the account, made by the SDK and by Resource Manager', async () => {
    const sas = generateAccountSASQueryParameters(
      {
        expiresOn: inAnHour(),
        permissions: AccountSASPermissions.parse('rwl'),
        services: AccountSASServices.parse('b').toString(),
        resourceTypes: AccountSASResourceTypes.parse('co').toString(),
      },
      key,
    );
    const client = new BlobServiceClient(`${url}?${sas}`, undefined, options);
    assert.equal(await reads(client.getContainerClient('files').getBlobClient('one')), '1');
    await assert.rejects(client.getProperties(), { statusCode: 403, code: 'AuthorizationResourceTypeMismatch' });
    const { json } = await cloud.call(`${cloud.accountId}/listAccountSas?api-version=${accountVersion}`, {
      method: 'POST',
      body: {
        signedServices: 'b',
        signedResourceTypes: 'o',
        signedPermission: 'r',
        signedExpiry: inAnHour().toISOString(),
      },
    });
    assert.equal(await reads(new BlobClient(`${url}/files/one?${json?.accountSasToken}`, undefined, options)), '1');
  });

  await t.test('a token counts with the roles of its holder, and so does what its holder signs', async () => {
    const credential = new ClientSecretCredential(azure.owner.tenantId, stranger.appId, stranger.secret.reveal(), {
      authorityHost: origin,
      disableInstanceDiscovery: true,
      tlsOptions: { ca: azure.ca },
    });
    const own = new BlobServiceClient(url, credential, options);
    const blob = own.getContainerClient('files').getBlockBlobClient('one');
    await assert.rejects(blob.download(), { statusCode: 403, code: 'AuthorizationPermissionMismatch' });
    await assign(cloud, stranger.objectId, contributor, 'ServicePrincipal');
    assert.equal(await reads(blob), '1');
    await own.getContainerClient('files').getBlockBlobClient('two').upload('2', 1);
    await assert.rejects(own.setProperties({}), { statusCode: 403 });
    const userKey = await own.getUserDelegationKey(new Date(Date.now() - 60_000), inAnHour());
    const signed = generateBlobSASQueryParameters(
      { containerName: 'files', blobName: 'two', permissions: BlobSASPermissions.parse('r'), expiresOn: inAnHour() },
      userKey,
      'myaccount',
    );
    assert.equal(await reads(new BlobClient(`${url}/files/two?${signed}`, undefined, options)), '2');
  });

  await t.test('everybody reads what is public, in accounts that allow it', async () => {
    const open = new BlobClient(`${url}/files/one`, undefined, options);
    await assert.rejects(open.download(), { statusCode: 401, code: 'NoAuthenticationInformation' });
    await assert.rejects(container.setAccessPolicy('blob'), { statusCode: 409, code: 'PublicAccessNotPermitted' });
    const path = `${cloud.accountId}?api-version=${accountVersion}`;
    const changed = await cloud.call(path, { method: 'PATCH', body: { properties: { allowBlobPublicAccess: true } } });
    assert.equal(changed.status, 200, changed.text);
    await container.setAccessPolicy('blob');
    assert.equal(await reads(open), '1');
    await assert.rejects(collect(new ContainerClient(`${url}/files`, undefined, options).listBlobsFlat()), {
      statusCode: 401,
    });
    await assert.rejects(new BlockBlobClient(`${url}/files/one`, undefined, options).upload('3', 1), {
      statusCode: 401,
    });
  });
});

test('containers are resources of the account as well', async (t) => {
  const cloud = await startAccount(t);
  const path = `${cloud.accountId}/blobServices/default/containers/made?api-version=${accountVersion}`;
  const made = await cloud.call(path, { method: 'PUT', body: { properties: {} } });
  assert.ok(made.status < 300, made.text);
  const container = cloud.service.getContainerClient('made');
  assert.equal(await container.exists(), true);
  await container.getBlockBlobClient('x').upload('x', 1);
  await cloud.call(path, { method: 'DELETE' });
  assert.equal(await container.exists(), false);
  const taken = await cloud.call(
    `${cloud.subscription}/providers/Microsoft.Storage/checkNameAvailability?api-version=${accountVersion}`,
    { method: 'POST', body: { name: 'myaccount', type: 'Microsoft.Storage/storageAccounts' } },
  );
  assert.equal(taken.json?.reason, 'AlreadyExists');
});
