import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AzureError, isAzureError } from './errors.ts';
import { rbacRetry } from './retry.ts';
import { testCloud } from './testing/cloud.ts';

const version = '2024-01-01';
const groups = '2024-03-01';

const names = async (items: AsyncIterable<{ readonly name?: unknown }>): Promise<unknown[]> => {
  const found: unknown[] = [];
  for await (const { name } of items) found.push(name);
  return found;
};

test('resources are written, read, listed and deleted by id', async (t) => {
  const { azure, arm } = await testCloud(t);
  const group = `${azure.subscription}/resourceGroups/g`;
  await arm.put({ id: group, apiVersion: groups, body: { location: 'westeurope' } });
  const id = `${group}/providers/Test.Widgets/slowWidgets/w`;
  const request = { id, apiVersion: version, body: { location: 'westeurope', zones: ['1'], properties: { size: 3 } } };

  await t.test('a write gives the resource as it is at the end of its operation', async () => {
    const made = await arm.put(request);
    assert.deepEqual(made.properties, { size: 3, provisioningState: 'Succeeded' });
    assert.deepEqual(made.zones, ['1'], 'members that the SDK has no type for are kept');
    assert.deepEqual(await arm.get(id, version), made);
  });

  await t.test('what was begun can be waited for by another', async () => {
    const { operation } = await arm.begin({ method: 'PUT', path: id, apiVersion: version, body: request.body });
    assert.ok(operation);
    const kept: typeof operation = JSON.parse(JSON.stringify(operation));
    assert.equal((await arm.wait(kept))?.id, id);
  });

  await t.test('actions give their outcome', async () => {
    assert.deepEqual(await arm.post(`${id}/listKeys`, version), { keys: [{ name: 'w', value: 'k' }] });
    assert.equal(await arm.post(`${id}/restart`, version), undefined);
    await assert.rejects(arm.post(`${id}/explode`, version), {
      status: 409,
      code: 'Exploded',
      message: 'It exploded.',
    });
  });

  await t.test('lists go on to the last page', async () => {
    for (const name of ['a', 'b', 'c']) {
      await arm.put({ ...request, id: `${group}/providers/Test.Widgets/widgets/${name}` });
    }
    assert.deepEqual(await names(arm.list(`${group}/resources?$top=2`, groups)), ['w', 'a', 'b', 'c']);
  });

  await t.test('conditions are sent', async () => {
    await assert.rejects(arm.put(request, { ifNoneMatch: '*' }), { status: 412 });
    await assert.rejects(arm.put(request, { ifMatch: '"old"' }), { status: 412 });
  });

  await t.test('what is gone is deleted already, and not found', async () => {
    await arm.delete(id, version);
    await arm.delete(id, version);
    await arm.delete(`${azure.subscription}/resourceGroups/other/providers/Test.Widgets/widgets/w`, version);
    assert.equal(await arm.find(id, version), undefined);
    await assert.rejects(arm.get(id, version), { status: 404, code: 'ResourceNotFound' });
  });

  await t.test('a group is deleted whole', async () => {
    await arm.delete(group, groups);
    assert.equal(await arm.find(group, groups), undefined);
  });
});

test('what goes wrong for a while is tried again', async (t) => {
  const { azure, arm, waits, retried, fault } = await testCloud(t);
  const group = `${azure.subscription}/resourceGroups/g`;
  const at = (name: string) => `${group}/providers/Test.Widgets/slowWidgets/${name}`;
  const widget = (name: string) => ({ id: at(name), apiVersion: version, body: { location: 'westeurope' } });
  const forget = () => {
    waits.length = 0;
    retried.length = 0;
  };
  await arm.put({ id: group, apiVersion: groups, body: { location: 'westeurope' } });

  await t.test('throttling: as long as the service says', async () => {
    forget();
    fault({
      match: { method: 'PUT', path: at('throttled') },
      times: 2,
      effect: { kind: 'error', status: 429, code: 'TooManyRequests', retryAfterSeconds: 17 },
    });
    await arm.put(widget('throttled'));
    assert.deepEqual(retried, ['TooManyRequests', 'TooManyRequests']);
    assert.deepEqual(waits.slice(0, 2), [17_000, 17_000]);
  });

  await t.test('throttling without a word: 15 seconds, then twice as long, and a little more at random', async () => {
    forget();
    fault({
      match: { method: 'GET', path: at('throttled') },
      times: 9,
      effect: { kind: 'error', status: 409, code: 'Busy', message: 'Please retry later.' },
    });
    await assert.rejects(arm.get(at('throttled'), version), { status: 409, code: 'Busy' });
    assert.deepEqual(waits, [15_750, 31_500, 63_000], 'four attempts');
  });

  await t.test('an answer that was lost: the write is repeated, and there is one resource', async () => {
    forget();
    fault({ match: { method: 'PUT', path: at('lost') }, times: 1, effect: { kind: 'lostAnswer' } });
    const made = await arm.put(widget('lost'));
    assert.deepEqual(retried, ['NoAnswer']);
    assert.equal(made.id, at('lost'));
  });

  await t.test('a delete whose answer was lost', async () => {
    forget();
    fault({ match: { method: 'DELETE', path: at('lost') }, times: 1, effect: { kind: 'lostAnswer' } });
    await arm.delete(at('lost'), version);
    assert.equal(await arm.find(at('lost'), version), undefined);
  });

  await t.test('while polling too', async () => {
    forget();
    fault({
      match: { method: 'GET', path: '/subscriptions/*/providers/Test.Widgets/locations/**' },
      times: 1,
      effect: { kind: 'error', status: 503, code: 'ServiceUnavailable' },
    });
    await arm.put(widget('polled'));
    assert.deepEqual(retried, ['ServiceUnavailable']);
  });

  await t.test('an action is not repeated when it may have had its effect', async () => {
    forget();
    fault({ match: { method: 'POST', path: `${at('polled')}/restart` }, times: 1, effect: { kind: 'lostAnswer' } });
    await assert.rejects(arm.post(`${at('polled')}/restart`, version), (error) => isAzureError(error, 'NoAnswer'));
    assert.deepEqual(retried, []);
  });

  await t.test('a refusal only where a role is on its way', async () => {
    forget();
    const refusal = { kind: 'error', status: 403, code: 'AuthorizationFailed' } as const;
    fault({ match: { method: 'GET', path: at('polled') }, times: 6, effect: refusal });
    await assert.rejects(arm.get(at('polled'), version), (error) => {
      assert.ok(error instanceof AzureError);
      assert.match(error.advice ?? '', /role/);
      return error.code === 'AuthorizationFailed';
    });
    assert.deepEqual(retried, []);
    assert.equal((await arm.get(at('polled'), version, { retry: rbacRetry })).id, at('polled'));
    assert.equal(retried.length, 5);
  });
});

test('an operation that fails is thrown in its own words', async (t) => {
  const { azure, arm, fault } = await testCloud(t);
  const group = `${azure.subscription}/resourceGroups/g`;
  await arm.put({ id: group, apiVersion: groups, body: { location: 'westeurope' } });
  const id = `${group}/providers/Test.Widgets/slowWidgets/w`;
  fault({
    match: { method: 'PUT', path: id },
    times: 1,
    effect: { kind: 'failedOperation', code: 'AllocationFailed', message: 'No room.' },
  });
  const failing = arm.put({ id, apiVersion: version, body: { location: 'westeurope' } });
  await assert.rejects(failing, { name: 'AzureError', code: 'AllocationFailed', message: 'No room.' });
});

test('an operation that never ends is left when its caller says so', async (t) => {
  const { azure, arm, waits, fault } = await testCloud(t);
  const group = `${azure.subscription}/resourceGroups/g`;
  await arm.put({ id: group, apiVersion: groups, body: { location: 'westeurope' } });
  const id = `${group}/providers/Test.Widgets/slowWidgets/w`;
  fault({ match: { method: 'PUT', path: id }, effect: { kind: 'stuck' } });
  const { operation } = await arm.begin({
    method: 'PUT',
    path: id,
    apiVersion: version,
    body: { location: 'westeurope' },
  });
  assert.ok(operation);
  const stop = new AbortController();
  const waiting = arm.wait(operation, {
    signal: stop.signal,
    onPoll: (state) => {
      assert.notEqual(state, 'succeeded');
      if (waits.length > 1) stop.abort(new Error('enough'));
    },
  });
  await assert.rejects(waiting, { message: 'enough' });
});
