// Resource Manager with Azure's own SDK: credentials of @azure/identity, clients of @azure/arm-resources.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResourceManagementClient } from '@azure/arm-resources';
import { startAzure } from '../testing/start-azure.ts';
import { widgets } from '../testing/widgets.ts';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('groups, resources, providers and tags work with the SDK unchanged', async (t) => {
  const { credential, sdk, subscriptionId } = await startAzure(t, { providers: [widgets] });
  const client = new ResourceManagementClient(credential, subscriptionId, sdk);

  await t.test('resource groups are created, read, changed, listed', async () => {
    const made = await client.resourceGroups.createOrUpdate('one', { location: 'West Europe', tags: { team: 'a' } });
    assert.equal(made.location, 'westeurope');
    assert.equal(made.properties?.provisioningState, 'Succeeded');
    assert.equal(made.id, `/subscriptions/${subscriptionId}/resourceGroups/one`);
    assert.equal(made.type, 'Microsoft.Resources/resourceGroups');
    await client.resourceGroups.update('ONE', { tags: { team: 'b' } });
    assert.deepEqual((await client.resourceGroups.get('one')).tags, { team: 'b' });
    assert.equal((await client.resourceGroups.checkExistence('one')).body, true);
    assert.equal((await client.resourceGroups.checkExistence('two')).body, false);
    await client.resourceGroups.createOrUpdate('two', { location: 'eastus' });
    const groups = await all(client.resourceGroups.list());
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['one', 'two'],
    );
    const tagged = await all(client.resourceGroups.list({ filter: "tagName eq 'team' and tagValue eq 'b'" }));
    assert.deepEqual(
      tagged.map(({ name }) => name),
      ['one'],
    );
  });

  await t.test('a missing group is an error with the code Azure gives', async () => {
    await assert.rejects(client.resourceGroups.get('missing'), { statusCode: 404, code: 'ResourceGroupNotFound' });
  });

  await t.test('resources are written and deleted by id, and the SDK waits for the end', async () => {
    const id = `/subscriptions/${subscriptionId}/resourceGroups/one/providers/Test.Widgets/slowWidgets/w`;
    const made = await client.resources.createOrUpdateById(id, '2024-01-01', {
      location: 'westeurope',
      properties: { size: 3 },
    });
    assert.equal(made.id, id);
    assert.deepEqual(made.properties, { size: 3, provisioningState: 'Succeeded' });
    assert.equal((await client.resources.checkExistenceById(id, '2024-01-01')).body, true);
    const updated = await client.resources.updateById(id, '2024-01-01', { tags: { x: 'y' } });
    assert.deepEqual(updated.tags, { x: 'y' });
    await client.resources.deleteById(id, '2024-01-01');
    assert.equal((await client.resources.checkExistenceById(id, '2024-01-01')).body, false);
  });

  await t.test('resources are listed in pages and by type, name and tag', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await client.resources.createOrUpdate('two', 'Test.Widgets', '', 'widgets', name, '2024-01-01', {
        location: 'eastus',
        tags: { letter: name },
      });
    }
    const names = async (options?: Parameters<typeof client.resources.list>[0]) =>
      (await all(client.resources.list(options))).map(({ name }) => name);
    assert.deepEqual(await names(), ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual(await names({ top: 2 }), ['a', 'b', 'c', 'd', 'e'], 'the SDK follows the links');
    assert.deepEqual(await names({ filter: "resourceType eq 'Test.Widgets/widgets' and name eq 'C'" }), ['c']);
    assert.deepEqual(await names({ filter: "tagName eq 'letter' and tagValue eq 'd'" }), ['d']);
    assert.deepEqual(await names({ filter: "resourceType eq 'Test.Widgets/slowWidgets'" }), []);
    const [first] = await all(
      client.resources.listByResourceGroup('two', { expand: 'createdTime,provisioningState', top: 1 }),
    );
    assert.ok(first?.createdTime instanceof Date);
    assert.equal(first.provisioningState, 'Succeeded');
    assert.equal(first.properties, undefined);
  });

  await t.test('providers are listed, registered and unregistered', async () => {
    const provider = await client.providers.get('test.widgets');
    assert.equal(provider.namespace, 'Test.Widgets');
    assert.equal(provider.registrationState, 'Registered');
    assert.ok(provider.resourceTypes?.some(({ resourceType }) => resourceType === 'widgets/parts'));
    await assert.rejects(client.providers.unregister('Test.Widgets'), { statusCode: 409 });
    const namespaces = (await all(client.providers.list())).map(({ namespace }) => namespace);
    assert.ok(namespaces.includes('Microsoft.Resources'));
    await assert.rejects(client.providers.get('No.Such'), { code: 'InvalidResourceNamespace' });
  });

  await t.test('tags are kept at every scope', async () => {
    const group = `/subscriptions/${subscriptionId}/resourceGroups/two`;
    const merged = await client.tagsOperations.updateAtScope(group, {
      operation: 'Merge',
      properties: { tags: { one: '1', two: '2' } },
    });
    assert.deepEqual(merged.properties?.tags, { one: '1', two: '2' });
    await client.tagsOperations.updateAtScope(group, { operation: 'Delete', properties: { tags: { one: '1' } } });
    assert.deepEqual((await client.tagsOperations.getAtScope(group)).properties?.tags, { two: '2' });
    const subscription = `/subscriptions/${subscriptionId}`;
    await client.tagsOperations.createOrUpdateAtScope(subscription, { properties: { tags: { owner: 'me' } } });
    assert.deepEqual((await client.tagsOperations.getAtScope(subscription)).properties?.tags, { owner: 'me' });
    await client.tagsOperations.deleteAtScope(group);
    assert.deepEqual((await client.tagsOperations.getAtScope(group)).properties?.tags, {});
    await client.tagsOperations.createOrUpdate('stage');
    await client.tagsOperations.createOrUpdateValue('stage', 'production');
    const [name] = await all(client.tagsOperations.list());
    assert.equal(name?.tagName, 'stage');
    assert.deepEqual(
      name.values?.map(({ tagValue }) => tagValue),
      ['production'],
    );
  });

  await t.test('a group is deleted with everything in it', async () => {
    await client.resourceGroups.delete('two');
    assert.equal((await client.resourceGroups.checkExistence('two')).body, false);
    assert.deepEqual(await all(client.resources.list()), []);
  });
});
