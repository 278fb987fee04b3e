import assert from 'node:assert/strict';
import test, { suite } from 'node:test';
import { ArmError } from '../../../arm/errors.ts';
import type { EffectEvent, ResourceType } from './provider.ts';
import { code, east, machine, slow, withBoxes } from './testing/boxes.ts';
import { caller, inGroup, options, startCloud, subscriptionId, version } from './testing/kernel.ts';

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
