import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startAzure } from '../testing/start-azure.ts';

const version = '2024-05-15';
const east = [{ locationName: 'East US', failoverPriority: 0 }];

async function startAccount(t: TestContext, properties: object = { locations: east }) {
  const cloud = await startAzure(t);
  const group = `${cloud.subscription}/resourceGroups/g`;
  await cloud.call(group, { method: 'PUT', body: { location: 'eastus' } });
  const id = `${group}/providers/Microsoft.DocumentDB/databaseAccounts/docs`;
  const call = (path: string, method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE' = 'GET', body?: object) =>
    cloud.call(`${id}${path}?api-version=${version}`, { method, ...(body ? { body } : {}) });
  const made = await call('', 'PUT', {
    location: 'eastus',
    properties: { databaseAccountOfferType: 'Standard', ...properties },
  });
  return { cloud, id, call, made };
}

test('an account has addresses of this cloud in each of its locations', async (t) => {
  const { call, made } = await startAccount(t, {
    locations: [
      { locationName: 'westus', failoverPriority: 1 },
      { locationName: 'eastus', failoverPriority: 0 },
    ],
  });
  assert.equal(made.status, 200, made.text);
  const { properties } = (await call('')).json as { properties: Record<string, Record<string, unknown>[]> };
  assert.equal(properties.documentEndpoint, 'https://docs.documents.azure.test:443/');
  assert.deepEqual(
    properties.readLocations?.map(({ locationName }) => locationName),
    ['East US', 'West US'],
  );
  assert.equal(properties.writeLocations?.[0]?.documentEndpoint, 'https://docs-eastus.documents.azure.test:443/');
});

test('keys and connection strings are told by their actions only, and can be made anew', async (t) => {
  const { call, cloud } = await startAccount(t);
  const keys = async () => (await call('/listKeys', 'POST')).json as Record<string, string>;
  const before = await keys();
  assert.equal(Object.keys(before).length, 4);
  const { connectionStrings } = (await call('/listConnectionStrings', 'POST')).json as {
    connectionStrings: { connectionString: string }[];
  };
  assert.equal(
    connectionStrings[0]?.connectionString,
    `AccountEndpoint=https://docs.documents.azure.test:443/;AccountKey=${before.primaryMasterKey};`,
  );
  assert.ok(!(await call('')).text.includes(before.primaryMasterKey ?? ''));
  const answer = await call('/regenerateKey', 'POST', { keyKind: 'primary' });
  assert.equal(answer.status, 202, answer.text);
  const operation = /\/([0-9a-f-]{36})\?/i.exec(String(answer.headers['azure-asyncoperation']))?.[1];
  await cloud.azure.world.resources.finished(operation ?? '');
  const after = await keys();
  assert.notEqual(after.primaryMasterKey, before.primaryMasterKey);
  assert.equal(after.secondaryMasterKey, before.secondaryMasterKey);
});

test('databases and containers are kept with their throughput beside them', async (t) => {
  const { call } = await startAccount(t);
  const database = { properties: { resource: { id: 'aro' }, options: { autoscaleSettings: { maxThroughput: 4000 } } } };
  assert.equal((await call('/sqlDatabases/aro', 'PUT', database)).status, 202);
  const container = {
    properties: { resource: { id: 'c', partitionKey: { paths: ['/pk'], kind: 'Hash' }, defaultTtl: -1 } },
  };
  assert.equal((await call('/sqlDatabases/aro/containers/c', 'PUT', container)).status, 202);
  const settings = (await call('/sqlDatabases/aro/throughputSettings/default')).json as {
    properties: { resource: Record<string, unknown> };
  };
  assert.equal(settings.properties.resource.throughput, 400);
  const shown = (await call('/sqlDatabases/aro/containers/c')).json as {
    properties: { resource: Record<string, unknown> };
  };
  assert.equal(shown.properties.resource.defaultTtl, -1);
  assert.equal(typeof shown.properties.resource._etag, 'string');
  const other = { properties: { resource: { id: 'c', partitionKey: { paths: ['/other'], kind: 'Hash' } } } };
  assert.equal((await call('/sqlDatabases/aro/containers/c', 'PUT', other)).status, 400);
  const misnamed = { properties: { resource: { id: 'd', partitionKey: { paths: ['/pk'] } } } };
  assert.equal((await call('/sqlDatabases/aro/containers/e', 'PUT', misnamed)).status, 400);
});

test('rights on data: built-in roles are there, assignments are for principals and scopes that exist', async (t) => {
  const { call, id, cloud } = await startAccount(t);
  const { value } = (await call('/sqlRoleDefinitions')).json as { value: { name: string }[] };
  assert.equal(value.length, 2);
  const role = `${id}/sqlRoleDefinitions/00000000-0000-0000-0000-000000000002`;
  const name = '11111111-1111-4111-8111-111111111111';
  const assign = (properties: object) => call(`/sqlRoleAssignments/${name}`, 'PUT', { properties });
  const principalId = cloud.azure.owner.objectId;
  assert.equal((await assign({ roleDefinitionId: role, scope: id, principalId })).status, 202);
  for (const wrong of [
    { roleDefinitionId: role, scope: cloud.subscription, principalId },
    { roleDefinitionId: `${id}/sqlRoleDefinitions/${name}`, scope: id, principalId },
    { roleDefinitionId: role, scope: id, principalId: name },
  ])
    assert.equal((await assign(wrong)).status, 400);
  assert.equal((await call('/sqlRoleDefinitions/00000000-0000-0000-0000-000000000001', 'DELETE')).status, 400);
});

test('locations that are not there, or that leave gaps, are refused', async (t) => {
  for (const locations of [[{ locationName: 'Atlantis' }], [{ locationName: 'eastus', failoverPriority: 1 }], []]) {
    const { made } = await startAccount(t, { locations });
    assert.equal(made.status, 400, made.text);
  }
});
