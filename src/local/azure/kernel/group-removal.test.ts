import assert from 'node:assert/strict';
import test, { suite } from 'node:test';
import { code, east, machine, slow, withBoxes } from './testing/boxes.ts';
import { group, groupOptions, idOf, inGroup, options, startCloud, subscriptionId } from './testing/kernel.ts';

suite('deleting a group', () => {
  test('everything in it goes, users before what they use', async (t) => {
    const order: string[] = [];
    const providers = withBoxes({
      effect: async (_, { kind, id }) => {
        if (kind === 'delete') order.push(id.name);
        return undefined;
      },
    });
    const { resources } = await startCloud(t, { providers });
    const box = (name: string) => inGroup(`Microsoft.Test/boxes/${name}`);
    const uses = (...names: string[]) => ({
      ...east,
      properties: { uses: names.map((name) => ({ id: box(name).text })) },
    });
    for (const [name, body] of [
      ['a', uses()],
      ['b', uses('a')],
      ['c', uses('a', 'b')],
    ] as const)
      await resources.finished((await resources.put(box(name), body, options)).operation ?? '');
    const network = inGroup('Microsoft.Test/networks/n');
    await resources.put(network, { ...east, properties: { subnets: [{ name: 's' }] } }, options);
    const card = { ...east, properties: { subnet: { id: `${network.text}/subnets/s` } } };
    await resources.put(inGroup('Microsoft.Test/cards/card'), card, options);

    const { operation } = (await resources.delete(idOf(group), groupOptions)) ?? {};
    assert.ok(operation);
    const { error } = await resources.finished(operation);
    assert.equal(error, undefined);
    assert.deepEqual(order, ['c', 'b', 'a']);
    assert.deepEqual(await resources.list({ subscriptionId }), []);
    await assert.rejects(resources.delete(idOf(group), groupOptions), code('ResourceGroupNotFound', 404));
  });

  test('while it goes nothing can be written in it', async (t) => {
    const { resources, clock } = await startCloud(t, { profile: slow });
    const card = inGroup('Microsoft.Test/cards/card1');
    await resources.put(card, east, options);
    await resources.delete(idOf(group), groupOptions);
    assert.equal((await resources.show(idOf(group))).properties?.provisioningState, 'Deleting');
    await assert.rejects(resources.put(machine, east, options), code('ResourceGroupBeingDeleted', 409));
    await assert.rejects(resources.put(idOf(group), east, groupOptions), code('ResourceGroupBeingDeleted', 409));
    const other = `/subscriptions/${subscriptionId}/resourceGroups/group2`;
    await resources.put(idOf(other), east, groupOptions);
    await assert.rejects(
      resources.put(
        idOf(`${other}/providers/Microsoft.Test/cards/outside`),
        { ...east, properties: { card: { id: card.text } } },
        options,
      ),
      code('ReferencedResourceNotProvisioned', 400),
      'from outside nothing begins to use what is in it',
    );
    await clock.advance(3_600_000);
    assert.equal(await resources.read(group), undefined);
  });

  test('what something outside uses stays, with what it uses, and the group with it', async (t) => {
    const { resources } = await startCloud(t);
    const outside = idOf(`/subscriptions/${subscriptionId}/resourceGroups/group2`);
    await resources.put(outside, east, groupOptions);
    const put = async (path: string, ...uses: string[]) => {
      const body = { ...east, properties: { uses: uses.map((id) => ({ id })) } };
      await resources.put(idOf(path), body, options);
      return path;
    };
    const used = await put(`${group}/providers/Microsoft.Test/cards/used`);
    const between = await put(`${group}/providers/Microsoft.Test/cards/between`, used);
    const free = await put(`${group}/providers/Microsoft.Test/cards/free`, used);
    const user = await put(`${outside.text}/providers/Microsoft.Test/cards/user`, between);
    const { operation } = (await resources.delete(idOf(group), groupOptions)) ?? {};
    const { error } = await resources.finished(operation ?? '');
    assert.equal(error?.code, 'ResourceGroupDeletionBlocked');
    const blocked = error?.details?.find(({ target }) => target === between);
    assert.match(blocked?.message ?? '', new RegExp(user));
    assert.equal(await resources.read(free), undefined);
    assert.ok(await resources.read(used), 'what a resource that stays uses stays');
    assert.ok(await resources.read(between));
    assert.equal((await resources.show(idOf(group))).properties?.provisioningState, 'Succeeded');
    await resources.delete(idOf(user), options);
    const again = await resources.delete(idOf(group), groupOptions);
    assert.equal((await resources.finished(again?.operation ?? '')).error, undefined);
    assert.equal(await resources.read(group), undefined);
  });

  test('a chain of users takes about as many looks as it is long', async (t) => {
    const length = 300;
    let looks = 0;
    const providers = withBoxes({
      asynchrony: { create: 'none', update: 'none', delete: 'none' },
      holds: () => {
        looks++;
        return true;
      },
    });
    const { resources } = await startCloud(t, { providers });
    const links = Array.from({ length }, (_, n) => inGroup(`Microsoft.Test/boxes/${String(n).padStart(4, '0')}`));
    for (const [n, id] of links.entries()) {
      const before = links[n - 1];
      const properties = before === undefined ? {} : { before: { id: before.text } };
      await resources.put(id, { ...east, properties }, options);
    }
    const { operation } = (await resources.delete(idOf(group), groupOptions)) ?? {};
    assert.equal((await resources.finished(operation ?? '')).error, undefined);
    assert.ok(looks <= 3 * length, `${looks} looks at users of ${length} links`);
    assert.equal(await resources.read(group), undefined);
  });

  test('resources that use each other go together', async (t) => {
    const { resources } = await startCloud(t);
    const one = inGroup('Microsoft.Test/cards/one');
    const two = inGroup('Microsoft.Test/cards/two');
    const uses = (id: string) => ({ ...east, properties: { peer: { id } } });
    await resources.put(one, east, options);
    await resources.put(two, uses(one.text), options);
    await resources.put(one, uses(two.text), options);
    await assert.rejects(resources.delete(one, options), code('InUseResourceCannotBeDeleted', 409));
    const { operation } = (await resources.delete(idOf(group), groupOptions)) ?? {};
    assert.equal((await resources.finished(operation ?? '')).error, undefined);
    assert.deepEqual(await resources.list({ subscriptionId }), []);
  });

  test('what is stuck in it goes too, and more than one batch holds', async (t) => {
    const { resources, faults } = await startCloud(t);
    faults.add({ match: { path: '**/machines/**' }, times: 1, effect: { kind: 'stuck' } });
    const stuck = (await resources.put(machine, east, options)).operation ?? '';
    const network = inGroup('Microsoft.Test/networks/n');
    await resources.put(network, east, options);
    for (let n = 0; n < 120; n++) await resources.put(idOf(`${network.text}/subnets/s${n}`), {}, options);
    const { operation } = (await resources.delete(idOf(group), groupOptions)) ?? {};
    assert.equal((await resources.finished(operation ?? '')).error, undefined);
    assert.equal((await resources.operation(subscriptionId, stuck))?.status, 'Canceled');
    assert.deepEqual(await resources.list({ subscriptionId }), []);
  });
});
