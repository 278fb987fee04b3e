import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { suite } from 'node:test';
import { ArmError } from '../../../arm/errors.ts';
import { profiles } from './profiles.ts';
import type { EffectEvent, Provider, ResourceType } from './provider.ts';
import {
  caller,
  group,
  groupOptions,
  idOf,
  inGroup,
  openCloud,
  options,
  startCloud,
  subscriptionId,
  testProviders,
  testRing,
  version,
} from './testing/kernel.ts';

const machine = inGroup('Microsoft.Test/machines/m1');
const east = { location: 'eastus' };
/** Long enough that nothing ends by itself during a test. */
const slow = { ...profiles.azure, durations: { '*': 3_600_000 } };

const code = (expected: string, status?: number) => (error: unknown) => {
  assert.ok(error instanceof ArmError, String(error));
  assert.equal(error.code, expected, error.message);
  if (status !== undefined) assert.equal(error.status, status);
  return true;
};

/** The test providers with a type `boxes` that something stands behind. */
function withBoxes(more: Partial<ResourceType>): readonly Provider[] {
  const boxes: ResourceType = {
    type: 'boxes',
    apiVersions: [version],
    scope: 'resourceGroup',
    location: 'required',
    asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
    ...more,
  };
  return testProviders.map((provider) =>
    provider.namespace === 'Microsoft.Test' ? { ...provider, types: [...provider.types, boxes] } : provider,
  );
}

suite('operations', () => {
  test('a resource is being made until its time has come', async (t) => {
    const { resources, clock } = await startCloud(t, { profile: slow });
    const written = await resources.put(machine, east, options);
    const operation = written.operation ?? '';
    assert.match(operation, /^[0-9a-f-]{36}$/);
    assert.equal(written.record.resource.properties?.provisioningState, 'Creating');
    assert.equal((await resources.operation(subscriptionId, operation))?.status, 'InProgress');
    await assert.rejects(resources.put(machine, east, options), code('AnotherOperationInProgress', 409));
    await assert.rejects(resources.delete(machine, options), code('AnotherOperationInProgress', 409));
    await clock.advance(3_599_000);
    assert.equal((await resources.operation(subscriptionId, operation))?.status, 'InProgress');
    await clock.advance(1000);
    const view = await resources.operation(subscriptionId.toUpperCase(), operation);
    assert.equal(view?.status, 'Succeeded');
    assert.equal(view?.kind, 'create');
    assert.equal(view?.resource, machine.text);
    assert.equal(Date.parse(view?.endTime ?? '') - Date.parse(view?.startTime ?? '') >= 3_600_000, true);
    assert.equal((await resources.show(machine)).properties?.provisioningState, 'Succeeded');
    assert.equal(
      (await resources.put(machine, east, options)).record.resource.properties?.provisioningState,
      'Updating',
    );
  });

  test('deletes take their time as well, and asking again joins the one under way', async (t) => {
    const { resources, clock } = await startCloud(t, { profile: slow });
    await resources.put(machine, east, options);
    await clock.advance(3_600_000);
    const first = await resources.delete(machine, options);
    const second = await resources.delete(machine, options);
    assert.ok(first?.operation);
    assert.equal(second?.operation, first.operation);
    assert.equal((await resources.show(machine)).properties?.provisioningState, 'Deleting');
    const card = inGroup('Microsoft.Test/cards/card1');
    const user = { ...east, properties: { machine: { id: machine.text } } };
    await assert.rejects(resources.put(card, user, options), code('ReferencedResourceNotProvisioned', 400));
    await clock.advance(3_600_000);
    assert.equal(await resources.read(machine.text), undefined);
    assert.deepEqual(await resources.finished(first.operation), {});
  });

  test('in the instant profile an operation ends by itself', async (t) => {
    const { resources } = await startCloud(t);
    const { operation } = await resources.put(machine, east, options);
    const { record, error } = await resources.finished(operation ?? '');
    assert.equal(error, undefined);
    assert.equal(record?.resource.properties?.provisioningState, 'Succeeded');
    await assert.rejects(resources.finished('00000000-0000-0000-0000-000000000000'), code('OperationNotFound', 404));
  });

  test('waiting can be given up', async (t) => {
    const { resources } = await startCloud(t, { profile: slow });
    const { operation } = await resources.put(machine, east, options);
    const stop = new AbortController();
    const waiting = resources.finished(operation ?? '', stop.signal);
    stop.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
  });

  test('what stands behind a resource is made before it has succeeded, and taken away before it is gone', async (t) => {
    const events: string[] = [];
    const providers = withBoxes({
      effect: async (_, { kind, record }: EffectEvent) => {
        events.push(`${kind} ${record.resource.properties?.provisioningState}`);
        return kind === 'delete' ? undefined : { address: '10.0.0.4' };
      },
    });
    const { resources } = await startCloud(t, { providers });
    const box = inGroup('Microsoft.Test/boxes/b1');
    await resources.finished((await resources.put(box, east, options)).operation ?? '');
    assert.deepEqual((await resources.show(box)).properties, { address: '10.0.0.4', provisioningState: 'Succeeded' });
    await resources.finished((await resources.put(box, east, options)).operation ?? '');
    await resources.finished((await resources.delete(box, options))?.operation ?? '');
    assert.deepEqual(events, ['create Creating', 'update Updating', 'delete Deleting']);
  });

  test('an effect that throws fails the operation in its own words; the resource stays as failed', async (t) => {
    const providers = withBoxes({
      effect: async (_, { kind }) => {
        if (kind === 'create') throw new ArmError(409, 'AllocationFailed', 'No room.');
        if (kind === 'delete') throw new Error('something internal');
        return undefined;
      },
    });
    const { resources } = await startCloud(t, { providers });
    const box = inGroup('Microsoft.Test/boxes/b1');
    const created = await resources.finished((await resources.put(box, east, options)).operation ?? '');
    assert.deepEqual(created.error, { code: 'AllocationFailed', message: 'No room.' });
    assert.equal(created.record?.resource.properties?.provisioningState, 'Failed');
    await resources.finished((await resources.put(box, east, options)).operation ?? '');
    const deleted = await resources.finished((await resources.delete(box, options))?.operation ?? '');
    assert.equal(deleted.error?.code, 'InternalServerError');
    assert.doesNotMatch(deleted.error?.message ?? '', /something internal/);
    assert.equal((await resources.show(box)).properties?.provisioningState, 'Failed');
  });

  test('after a delete that failed, what is below the resource can be used again', async (t) => {
    let isHeld = true;
    const parts: ResourceType = {
      type: 'boxes/parts',
      apiVersions: [version],
      scope: 'resourceGroup',
      location: 'none',
    };
    const providers = withBoxes({
      asynchrony: { create: 'none', update: 'none', delete: 'operation' },
      effect: async (_, { kind }) => {
        if (kind === 'delete' && isHeld) throw new ArmError(409, 'Held', 'It is held.');
        return undefined;
      },
    });
    const { resources } = await startCloud(t, {
      providers: [...providers, { namespace: 'Microsoft.Test', types: [parts] }],
    });
    const box = inGroup('Microsoft.Test/boxes/b1');
    const part = inGroup('Microsoft.Test/boxes/b1/parts/p1');
    await resources.put(box, east, options);
    await resources.put(part, {}, options);
    const failed = await resources.finished((await resources.delete(box, options))?.operation ?? '');
    assert.equal(failed.error?.code, 'Held');
    await resources.put(part, {}, options);
    isHeld = false;
    assert.deepEqual(await resources.finished((await resources.delete(box, options))?.operation ?? ''), {});
    assert.equal(await resources.read(part.text), undefined);
  });

  test('what changes a resource beside requests leaves the operation on it', async (t) => {
    const { resources, clock } = await startCloud(t, { profile: slow });
    const { operation } = await resources.put(machine, east, options);
    await resources.change(machine.text, ({ operation: _, resource, ...record }) => ({
      ...record,
      resource: { ...resource, properties: { power: 'on' } },
    }));
    await assert.rejects(resources.put(machine, east, options), code('AnotherOperationInProgress'));
    assert.equal(await resources.change(`${machine.text}x`, (record) => record), undefined);
    await clock.advance(3_600_000);
    assert.equal((await resources.finished(operation ?? '')).error, undefined);
    assert.deepEqual((await resources.show(machine)).properties, { power: 'on', provisioningState: 'Succeeded' });
  });

  test('a type without operations waits for its effect, and throws what it throws', async (t) => {
    let isFull = false;
    const providers = withBoxes({
      asynchrony: { create: 'none', update: 'none', delete: 'none' },
      effect: async () => {
        if (isFull) throw new ArmError(409, 'AllocationFailed', 'No room.');
        return { made: true };
      },
    });
    const { resources } = await startCloud(t, { providers });
    const box = inGroup('Microsoft.Test/boxes/b1');
    const written = await resources.put(box, east, options);
    assert.equal(written.operation, undefined);
    assert.deepEqual(written.record.resource.properties, { made: true, provisioningState: 'Succeeded' });
    isFull = true;
    await assert.rejects(resources.put(box, east, options), code('AllocationFailed'));
    isFull = false;
    await resources.delete(box, options);
    assert.equal(await resources.read(box.text), undefined);
  });

  test('actions answer at once, or at the end of their operation', async (t) => {
    const { resources, clock } = await startCloud(t, { profile: slow });
    await resources.put(machine, east, options);
    await clock.advance(3_600_000);
    const request = { apiVersion: version, body: { a: 1 }, query: {}, caller };
    assert.deepEqual(await resources.act(machine, 'Describe', request), { result: { given: { a: 1 } } });
    const { operation } = await resources.act(machine, 'restart', request);
    assert.ok(operation);
    await assert.rejects(resources.put(machine, east, options), code('AnotherOperationInProgress'));
    await clock.advance(3_600_000);
    const view = await resources.operation(subscriptionId, operation);
    assert.equal(view?.kind, 'action');
    assert.deepEqual(view?.result, { restarted: 'm1' });
    assert.equal((await resources.show(machine)).properties?.provisioningState, 'Succeeded');
    await assert.rejects(resources.act(machine, 'fly', request), code('InvalidResourceType', 404));
  });

  test('an operation may be asked to fail, or never to end; a delete takes the place of a stuck one', async (t) => {
    const { resources, faults, clock } = await startCloud(t);
    const match = { method: 'PUT', path: '/subscriptions/*/resourceGroups/**/machines/*' };
    faults.add({ match, times: 1, effect: { kind: 'failedOperation', code: 'OverconstrainedAllocationRequest' } });
    const failed = await resources.finished((await resources.put(machine, east, options)).operation ?? '');
    assert.equal(failed.error?.code, 'OverconstrainedAllocationRequest');
    faults.add({ match, times: 1, effect: { kind: 'stuck' } });
    const stuck = (await resources.put(machine, east, options)).operation ?? '';
    await clock.advance(365 * 86_400_000);
    assert.equal((await resources.operation(subscriptionId, stuck))?.status, 'InProgress');
    await resources.finished((await resources.delete(machine, options))?.operation ?? '');
    assert.equal((await resources.operation(subscriptionId, stuck))?.status, 'Canceled');
    assert.equal(await resources.read(machine.text), undefined);
  });

  test('faults given with a call are not counted again', async (t) => {
    const { resources, faults } = await startCloud(t);
    faults.add({ match: {}, effect: { kind: 'error', status: 503, code: 'ServiceUnavailable' } });
    await resources.put(machine, east, { ...options, faults: [] });
    await assert.rejects(
      resources.put(inGroup('Microsoft.Test/cards/c'), east, options),
      code('ServiceUnavailable', 503),
    );
  });
});

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

suite('after the end of the process', () => {
  test('what was under way goes on', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'azure-kernel-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const place = { file: join(directory, 'store.db'), ring: testRing() };
    const before = await openCloud({ ...place, profile: slow });
    await before.resources.put(idOf(group), east, groupOptions);
    const { operation } = await before.resources.put(machine, east, options);
    const waiting = assert.rejects(before.resources.finished(operation ?? ''), code('ServiceUnavailable', 503));
    await before.stop();
    await waiting;

    const after = await openCloud({ ...place, profile: slow });
    t.after(() => after.stop());
    assert.equal((await after.resources.show(machine)).properties?.provisioningState, 'Creating');
    const finished = after.resources.finished(operation ?? '');
    await after.clock.advance(3_600_000);
    assert.equal((await finished).record?.resource.properties?.provisioningState, 'Succeeded');
  });

  test('an effect that stopping breaks off is done again, not failed', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'azure-kernel-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const place = { file: join(directory, 'store.db'), ring: testRing() };
    const box = inGroup('Microsoft.Test/boxes/b1');
    const begun = Promise.withResolvers<void>();
    const before = await openCloud({
      ...place,
      providers: withBoxes({
        effect: (world) =>
          new Promise((_, reject) => {
            world.stopping.addEventListener('abort', () => reject(world.stopping.reason), { once: true });
            begun.resolve();
          }),
      }),
    });
    await before.resources.put(idOf(group), east, groupOptions);
    const { operation } = await before.resources.put(box, east, options);
    await begun.promise;
    await before.stop();
    const after = await openCloud({ ...place, providers: withBoxes({ effect: async () => ({ made: true }) }) });
    t.after(() => after.stop());
    const { record } = await after.resources.finished(operation ?? '');
    assert.deepEqual(record?.resource.properties, { made: true, provisioningState: 'Succeeded' });
  });
});
