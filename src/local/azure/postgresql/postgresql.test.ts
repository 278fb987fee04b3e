import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startAzure } from '../testing/start-azure.ts';

const version = '2024-08-01';
const sku = { name: 'Standard_D2ds_v4', tier: 'GeneralPurpose' };
const byDirectory = { authConfig: { activeDirectoryAuth: 'Enabled', passwordAuth: 'Disabled' } };

async function startServer(t: TestContext, properties: object = byDirectory, more: object = { sku }) {
  const cloud = await startAzure(t);
  const group = `${cloud.subscription}/resourceGroups/g`;
  await cloud.call(group, { method: 'PUT', body: { location: 'eastus' } });
  const id = `${group}/providers/Microsoft.DBforPostgreSQL/flexibleServers/store`;
  const call = (path: string, method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE' = 'GET', body?: object) =>
    cloud.call(`${id}${path}?api-version=${version}`, { method, ...(body ? { body } : {}) });
  const made = await call('', 'PUT', { location: 'eastus', properties, ...more });
  return { cloud, id, call, made };
}

test('a server has a name of this cloud and the databases that every server has', async (t) => {
  const { call } = await startServer(t);
  const shown = (await call('')).json as { properties: Record<string, unknown> };
  assert.equal(shown.properties.fullyQualifiedDomainName, 'store.postgres.database.azure.test');
  assert.equal(shown.properties.state, 'Ready');
  const { value } = (await call('/databases')).json as { value: { name: string }[] };
  assert.deepEqual(value.map(({ name }) => name).sort(), ['azure_maintenance', 'azure_sys', 'postgres']);
  assert.equal((await call('/databases/postgres', 'DELETE')).status, 400);
});

test('its password is never shown', async (t) => {
  const password = 'Correct-horse-9';
  const { call } = await startServer(t, { administratorLogin: 'boss', administratorLoginPassword: password });
  const { text } = await call('');
  assert.match(text, /"administratorLogin":"boss"/);
  assert.ok(!text.includes(password));
});

for (const [what, properties, more] of [
  ['without a sku', byDirectory, {}],
  ['with password sign-in and no password', {}, { sku }],
  ['with a password that is too simple', { administratorLogin: 'boss', administratorLoginPassword: 'simple' }, { sku }],
  [
    'with a login that is reserved',
    { administratorLogin: 'azure_superuser', administratorLoginPassword: 'Correct-horse-9' },
    { sku },
  ],
  ['of a version that there is not', { ...byDirectory, version: '7' }, { sku }],
] as const) {
  test(`a server ${what} is refused`, async (t) => {
    const { made } = await startServer(t, properties, more);
    assert.equal(made.status, 400, made.text);
  });
}

test('it is stopped and started, and only from the state that allows it', async (t) => {
  const { call, cloud, id } = await startServer(t);
  const finished = async (action: string): Promise<void> => {
    const answer = await call(`/${action}`, 'POST');
    assert.equal(answer.status, 202, answer.text);
    const operation = /(?:operations|operationStatuses|operationResults|azureAsyncOperation)\/([^/?]+)/i.exec(
      String(answer.headers['azure-asyncoperation'] ?? answer.headers.location),
    )?.[1];
    await cloud.azure.world.resources.finished(operation ?? '');
  };
  const state = async (): Promise<unknown> =>
    (await cloud.azure.world.resources.read(id))?.body.resource.properties?.state;
  await finished('stop');
  assert.equal(await state(), 'Stopped');
  await finished('start');
  assert.equal(await state(), 'Ready');
});

test('databases, firewall rules, settings and administrators are checked and kept', async (t) => {
  const { call, cloud } = await startServer(t);
  const principal = cloud.azure.owner.objectId;
  for (const [path, properties, status] of [
    ['/databases/maestro', {}, 201],
    ['/firewallRules/office', { startIpAddress: '10.0.0.1', endIpAddress: '10.0.0.9' }, 201],
    ['/firewallRules/backwards', { startIpAddress: '10.0.0.9', endIpAddress: '10.0.0.1' }, 400],
    ['/firewallRules/words', { startIpAddress: 'a', endIpAddress: 'b' }, 400],
    ['/configurations/azure.extensions', { value: 'UUID-OSSP', source: 'user-override' }, 201],
    ['/configurations/require_secure_transport', { value: 'perhaps' }, 400],
    ['/configurations/not_there', { value: 'x' }, 404],
    [`/administrators/${principal}`, { principalType: 'ServicePrincipal', principalName: 'Owner' }, 201],
    ['/administrators/owner', { principalType: 'User', principalName: 'Owner' }, 400],
  ] as const) {
    const answer = await call(path, 'PUT', { properties });
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
  }
});

test('names are checked before they are used', async (t) => {
  const { cloud } = await startServer(t);
  const ask = async (name: string): Promise<unknown> =>
    (
      await cloud.call(
        `${cloud.subscription}/providers/Microsoft.DBforPostgreSQL/checkNameAvailability?api-version=${version}`,
        {
          method: 'POST',
          body: { name },
        },
      )
    ).json?.nameAvailable;
  assert.equal(await ask('store'), false);
  assert.equal(await ask('Not_A_Name'), false);
  assert.equal(await ask('another'), true);
});
