import assert from 'node:assert/strict';
import test, { suite } from 'node:test';
import { ArmError } from '../../../arm/errors.ts';
import type { ResourceType } from './provider.ts';
import {
  group,
  groupOptions,
  idOf,
  inGroup,
  options,
  otherSubscriptionId,
  startCloud,
  subscriptionId,
  testProviders,
  version,
} from './testing/kernel.ts';

const card = inGroup('Microsoft.Test/cards/card1');
const network = inGroup('Microsoft.Test/networks/network1');
const subnet = inGroup('Microsoft.Test/networks/network1/subnets/a');

const code = (expected: string, status?: number) => (error: unknown) => {
  assert.ok(error instanceof ArmError, String(error));
  assert.equal(error.code, expected, error.message);
  if (status !== undefined) assert.equal(error.status, status);
  return true;
};

/** Begins a little later: by turns of the microtask queue, which is what a race between two requests is decided by. */
async function afterTurns<T>(turns: number, run: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
  return run();
}

suite('putting', () => {
  test('a resource is kept and shown as ARM does', async (t) => {
    const { resources } = await startCloud(t);
    const written = await resources.put(
      inGroup('microsoft.test/CARDS/card1'),
      { location: 'East US', tags: { a: '1' }, sku: { name: 'x' }, properties: { speed: 1 } },
      options,
    );
    assert.equal(written.created, true);
    assert.equal(written.operation, undefined);
    const shown = await resources.show(card, '2024-01-01');
    assert.equal(shown.id, `${group}/providers/Microsoft.Test/cards/card1`);
    assert.equal(shown.type, 'Microsoft.Test/cards');
    assert.equal(shown.location, 'eastus');
    assert.deepEqual(shown.sku, { name: 'x' });
    assert.deepEqual(shown.properties, { speed: 1, provisioningState: 'Succeeded' });
    assert.equal((shown.systemData as { createdBy: string }).createdBy, 'alice@azure.test');
    const again = await resources.put(inGroup('Microsoft.Test/cards/CARD1'), { location: 'eastus' }, options);
    assert.equal(again.created, false);
    assert.equal(again.record.resource.name, 'card1', 'the case of the first write stays');
  });

  const refusals: readonly [string, string, string, object, string, number][] = [
    ['a type that is not there', 'Microsoft.Test/nothings/x', '2024-01-01', {}, 'InvalidResourceType', 404],
    ['a namespace that is not there', 'Nobody.Here/things/x', '2024-01-01', {}, 'InvalidResourceNamespace', 404],
    ['no api-version', 'Microsoft.Test/cards/x', '', {}, 'MissingApiVersionParameter', 400],
    ['another api-version', 'Microsoft.Test/cards/x', '1999-01-01', {}, 'NoRegisteredProviderFound', 400],
    ['no location', 'Microsoft.Test/cards/x', '2024-01-01', {}, 'LocationRequired', 400],
    [
      'a location elsewhere',
      'Microsoft.Test/cards/x',
      '2024-01-01',
      { location: 'mars' },
      'LocationNotAvailableForResourceType',
      400,
    ],
    [
      'a name of the wrong form',
      'Microsoft.Test/cards/X_X',
      '2024-01-01',
      { location: 'eastus' },
      'InvalidResourceName',
      400,
    ],
    [
      'a child without its parent',
      'Microsoft.Test/networks/no/subnets/a',
      '2024-01-01',
      {},
      'ParentResourceNotFound',
      404,
    ],
    [
      'tags that are too many',
      'Microsoft.Test/cards/x',
      '2024-01-01',
      { location: 'eastus', tags: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`t${n}`, ''])) },
      'InvalidTags',
      400,
    ],
    [
      'a tag with a reserved character',
      'Microsoft.Test/cards/x',
      '2024-01-01',
      { location: 'eastus', tags: { 'a/b': '' } },
      'InvalidTagNameCharacters',
      400,
    ],
    [
      'tags that are no texts',
      'Microsoft.Test/cards/x',
      '2024-01-01',
      { location: 'eastus', tags: { a: 1 } },
      'InvalidRequestContent',
      400,
    ],
    [
      'properties that are no object',
      'Microsoft.Test/cards/x',
      '2024-01-01',
      { location: 'eastus', properties: [] },
      'InvalidRequestContent',
      400,
    ],
  ];
  for (const [what, path, apiVersion, body, expected, status] of refusals) {
    test(`${what} is refused with ${expected}`, async (t) => {
      const { resources } = await startCloud(t);
      await assert.rejects(
        resources.put(inGroup(path), { ...body }, { ...options, apiVersion }),
        code(expected, status),
      );
      assert.equal(await resources.read(inGroup(path).text), undefined);
    });
  }

  test('tags of Azure itself may hold what others may not', async (t) => {
    const { resources } = await startCloud(t);
    const tags = { 'hidden-link:/subscriptions/x': 'Resource' };
    await resources.put(card, { location: 'eastus', tags }, options);
    assert.deepEqual((await resources.show(card)).tags, tags);
  });

  test('more than one transaction holds is refused, not split', async (t) => {
    const { resources } = await startCloud(t);
    const subnets = Array.from({ length: 91 }, (_, n) => ({ name: `s${n}` }));
    const body = { location: 'eastus', properties: { subnets } };
    await assert.rejects(resources.put(network, body, options), code('InvalidRequestContent', 400));
    await resources.put(network, { ...body, properties: { subnets: subnets.slice(0, 90) } }, options);
    assert.equal((await resources.list({ parent: network.text })).length, 90);
    await resources.put(network, { ...body, properties: { subnets: [] } }, options);
    assert.equal((await resources.list({ parent: network.text })).length, 0);
  });

  test('where there is no group, subscription or registration nothing is written', async (t) => {
    const { resources, subscriptions } = await startCloud(t);
    const body = { location: 'eastus' };
    const elsewhere = idOf(`/subscriptions/${subscriptionId}/resourceGroups/none/providers/Microsoft.Test/cards/c`);
    await assert.rejects(resources.put(elsewhere, body, options), code('ResourceGroupNotFound', 404));
    const nowhere = idOf(
      '/subscriptions/00000000-0000-0000-0000-0000000000ff/resourceGroups/none/providers/Microsoft.Test/cards/c',
    );
    await assert.rejects(resources.put(nowhere, body, options), code('SubscriptionNotFound', 404));
    subscriptions.set(subscriptionId, { registrations: {} });
    await assert.rejects(resources.put(card, body, options), code('MissingSubscriptionRegistration', 409));
    subscriptions.set(subscriptionId, { state: 'Disabled' });
    await assert.rejects(resources.put(card, body, options), code('ReadOnlyDisabledSubscription', 409));
  });

  test('a resource does not move', async (t) => {
    const { resources } = await startCloud(t);
    await resources.put(card, { location: 'eastus' }, options);
    await assert.rejects(resources.put(card, { location: 'westus' }, options), code('InvalidResourceLocation', 409));
    await assert.rejects(
      resources.put(idOf(group), { location: 'westus' }, groupOptions),
      code('InvalidResourceGroupLocation', 409),
    );
  });

  test('conditions are kept', async (t) => {
    const { resources } = await startCloud(t);
    const body = { location: 'eastus' };
    await assert.rejects(resources.put(network, body, { ...options, ifMatch: '*' }), code('PreconditionFailed', 412));
    await resources.put(network, body, { ...options, ifNoneMatch: '*' });
    await assert.rejects(
      resources.put(network, body, { ...options, ifNoneMatch: '*' }),
      code('PreconditionFailed', 412),
    );
    const { etag } = await resources.show(network);
    assert.equal(typeof etag, 'string');
    await resources.put(network, body, { ...options, ifMatch: String(etag) });
    await assert.rejects(
      resources.put(network, body, { ...options, ifMatch: String(etag) }),
      code('PreconditionFailed', 412),
    );
    await assert.rejects(
      resources.delete(network, { ...options, ifMatch: String(etag) }),
      code('PreconditionFailed', 412),
    );
  });

  test('a name that is unique in the cloud is had by one resource', async (t) => {
    const { resources } = await startCloud(t);
    const first = inGroup('Microsoft.Test/vaults/Safe');
    const otherGroup = `/subscriptions/${otherSubscriptionId}/resourceGroups/group2`;
    const second = idOf(`${otherGroup}/providers/Microsoft.Test/vaults/safe`);
    await resources.put(idOf(otherGroup), { location: 'westus' }, groupOptions);
    const outcomes = await Promise.allSettled([
      resources.put(first, { location: 'eastus' }, options),
      resources.put(second, { location: 'eastus' }, options),
    ]);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(refused.length, 1);
    code('VaultAlreadyExists', 409)(refused[0]?.reason);
    const owner = await resources.named('Microsoft.Test/vaults', 'SAFE');
    assert.ok(owner);
    assert.equal(owner.body.secrets?.key?.reveal(), 'hush');
    await resources.delete(idOf(owner.body.resource.id), options);
    assert.equal(await resources.named('Microsoft.Test/vaults', 'safe'), undefined);
    const other = idOf(owner.body.resource.id).key === first.key ? second : first;
    await resources.put(other, { location: 'eastus' }, options);
  });

  test('of many writers without conditions every one is counted', async (t) => {
    const { resources } = await startCloud(t);
    await resources.put(network, { location: 'eastus', properties: { counted: 0 } }, options);
    await Promise.all(
      Array.from({ length: 20 }, () =>
        resources.change(network.text, (record) => ({
          ...record,
          resource: {
            ...record.resource,
            properties: { ...record.resource.properties, counted: Number(record.resource.properties?.counted) + 1 },
          },
        })),
      ),
    );
    assert.equal((await resources.show(network)).properties?.counted, 20);
    const etags = await Promise.all(
      Array.from({ length: 10 }, (_, n) => resources.put(network, { location: 'eastus', properties: { n } }, options)),
    );
    assert.equal(new Set(etags.map(({ etag }) => etag)).size, 10, 'each write made a version of its own');
  });
});

suite('patching', () => {
  test('a merge changes what it names, and tags as a whole', async (t) => {
    const { resources } = await startCloud(t);
    await resources.put(
      network,
      { location: 'eastus', tags: { a: '1', b: '2' }, properties: { x: { y: 1, z: 2 } } },
      options,
    );
    await resources.patch(network, { tags: { c: '3' }, properties: { x: { y: null, w: 3 } } }, options);
    const shown = await resources.show(network);
    assert.deepEqual(shown.tags, { c: '3' });
    assert.deepEqual(shown.properties?.x, { z: 2, w: 3 });
    assert.equal(shown.location, 'eastus');
  });

  test('a patch of tags leaves the rest', async (t) => {
    const { resources } = await startCloud(t);
    await resources.put(card, { location: 'eastus', properties: { speed: 1 } }, options);
    await resources.patch(card, { tags: { a: '1' }, properties: { speed: 2 } }, options);
    const shown = await resources.show(card);
    assert.deepEqual(shown.tags, { a: '1' });
    assert.equal(shown.properties?.speed, 1);
  });

  test('what is not there is 404, what cannot be patched 405', async (t) => {
    const { resources } = await startCloud(t);
    await assert.rejects(resources.patch(card, {}, options), code('ResourceNotFound', 404));
    await resources.put(network, { location: 'eastus', properties: { subnets: [{ name: 'a' }] } }, options);
    await assert.rejects(resources.patch(subnet, {}, options), code('MethodNotAllowed', 405));
  });
});

suite('resources together', () => {
  test('children are written and removed with their parent, in use or not', async (t) => {
    const { resources } = await startCloud(t);
    const body = (...names: string[]) => ({
      location: 'eastus',
      properties: { subnets: names.map((name) => ({ name })) },
    });
    await resources.put(network, body('a', 'b'), options);
    assert.deepEqual(
      (await resources.list({ parent: network.text })).map(({ resource }) => resource.name),
      ['a', 'b'],
    );
    await resources.put(card, { location: 'eastus', properties: { subnet: { id: subnet.text } } }, options);
    await assert.rejects(resources.put(network, body('b'), options), code('InUseSubnetCannotBeDeleted'));
    await assert.rejects(resources.delete(network, options), code('InUseSubnetCannotBeDeleted'));
    assert.equal((await resources.list({ referencing: subnet.text })).length, 1);
    await resources.delete(card, options);
    await resources.put(network, body('b'), options);
    assert.equal(await resources.read(subnet.text), undefined);
    await resources.delete(network, options);
    assert.deepEqual(await resources.list({ group }), []);
    assert.equal(await resources.delete(network, options), undefined, 'nothing is there any more');
  });

  test('nothing begins to use what is being deleted at the same time', async (t) => {
    const plugs: ResourceType = {
      type: 'plugs',
      apiVersions: [version],
      scope: 'resourceGroup',
      location: 'required',
      async prepare({ world, body }) {
        const { socket } = body.properties as { socket: string };
        if ((await world.resources.read(socket)) === undefined)
          throw new ArmError(400, 'InvalidResourceReference', `There is no ${socket}.`);
        return { resource: body, references: { [socket]: 'properties.socket' } };
      },
    };
    const { resources } = await startCloud(t, {
      providers: [...testProviders, { namespace: 'Microsoft.Test', types: [plugs] }],
    });
    let won = 0;
    for (let n = 0; n < 60; n++) {
      const socket = inGroup(`Microsoft.Test/cards/s${n}`);
      const plug = inGroup(`Microsoft.Test/plugs/p${n}`);
      await resources.put(socket, { location: 'eastus' }, options);
      const [put, deleted] = await Promise.allSettled([
        resources.put(plug, { location: 'eastus', properties: { socket: socket.text } }, options),
        afterTurns(n % 30, () => resources.delete(socket, options)),
      ]);
      if (put.status === 'rejected') code('InvalidResourceReference')(put.reason);
      if (deleted.status === 'rejected') code('InUseResourceCannotBeDeleted')(deleted.reason);
      const isPlugged = (await resources.read(plug.text)) !== undefined;
      const isThere = (await resources.read(socket.text)) !== undefined;
      assert.equal(isPlugged, isThere, 'either both are there or neither');
      if (isPlugged) won++;
    }
    assert.ok(won > 0 && won < 60, `the delete came too late or too early every time: ${won} of 60`);
  });

  test('locks keep what is below them', async (t) => {
    const { resources } = await startCloud(t);
    await resources.put(network, { location: 'eastus' }, options);
    const lock = idOf(`${group}/providers/Microsoft.Authorization/locks/keep`);
    await resources.put(lock, { properties: { level: 'CanNotDelete' } }, options);
    assert.equal((await resources.show(lock)).properties?.provisioningState, undefined);
    await resources.put(network, { location: 'eastus' }, options);
    await assert.rejects(resources.delete(network, options), code('ScopeLocked', 409));
    await assert.rejects(resources.delete(idOf(group), groupOptions), code('ScopeLocked', 409));
    await resources.put(lock, { properties: { level: 'ReadOnly' } }, options);
    await assert.rejects(resources.put(network, { location: 'eastus' }, options), code('ScopeLocked', 409));
    await resources.delete(lock, options);
    await resources.delete(network, options);
  });

  test('lists are by subscription, group, type and parent, in pages', async (t) => {
    const { resources } = await startCloud(t);
    for (const name of ['c1', 'c2', 'c3'])
      await resources.put(inGroup(`Microsoft.Test/cards/${name}`), { location: 'eastus' }, options);
    assert.equal((await resources.list({ subscriptionId })).length, 4, 'the group is one of them');
    assert.equal((await resources.list({ group })).length, 3);
    assert.equal((await resources.list({ type: 'Microsoft.Test/CARDS' })).length, 3);
    const first = await resources.page({ group }, { limit: 2 });
    assert.equal(first.records.length, 2);
    assert.ok(first.continuation);
    const second = await resources.page({ group }, { limit: 2, continuation: first.continuation });
    assert.deepEqual(
      second.records.map(({ resource }) => resource.name),
      ['c3'],
    );
  });
});
