// The control endpoints, and the faults that are asked for through them as clients meet them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAzure } from '../testing/start-azure.ts';
import { widgets } from '../testing/widgets.ts';

test('nobody without the token of the data directory has control', async (t) => {
  const { control, token } = await startAzure(t);
  assert.equal((await control('/faults', { token: null })).status, 401);
  assert.equal((await control('/faults', { token: 'wrong' })).status, 401);
  assert.equal((await control('/faults', { token: await token() })).status, 401, 'the owner of the cloud neither');
  assert.equal((await control('/faults')).status, 200);
});

test('what is not well-formed is refused with the place that is wrong', async (t) => {
  const { control } = await startAzure(t);
  const bad = await control('/faults', { method: 'POST', body: { match: {}, effect: { kind: 'none' } } });
  assert.equal(bad.status, 400);
  assert.equal((await control('/time', { method: 'POST', body: { advanceMs: -1 } })).status, 400);
  assert.equal((await control('/profile', { method: 'PUT', body: { name: 'fast' } })).status, 400);
  assert.equal((await control('/faults/none', { method: 'DELETE' })).status, 404);
  assert.equal((await control('/subscriptions/none', { method: 'PUT', body: {} })).status, 400);
  assert.equal((await control('/faults', { method: 'POST', body: '{' })).status, 400);
});

test('faults hit the calls they are meant for, as often as was asked', async (t) => {
  const { call, control, subscription } = await startAzure(t, { providers: [widgets] });
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const widget = (name: string) => `${group}/providers/Test.Widgets/slowWidgets/${name}?api-version=2024-01-01`;
  const put = (name: string) => call(widget(name), { method: 'PUT', body: { location: 'eastus' } });
  const match = { method: 'PUT', path: '**/slowWidgets/*' };
  const fault = async (effect: object, more: object = {}) => {
    await control('/faults', { method: 'DELETE' });
    const made = await control('/faults', { method: 'POST', body: { match, effect, ...more } });
    assert.equal(made.status, 201);
  };

  await t.test('an error with its code and Retry-After, once', async () => {
    await fault({ kind: 'error', status: 503, code: 'Busy', retryAfterSeconds: 7 }, { times: 1 });
    const refused = await put('a');
    assert.equal(refused.status, 503);
    assert.equal(refused.headers['retry-after'], '7');
    assert.equal((await put('a')).status, 201);
  });

  await t.test('an answer that is lost after the effect', async () => {
    await fault({ kind: 'lostAnswer' }, { times: 1 });
    await assert.rejects(put('lost'));
    assert.equal((await call(widget('lost'))).status, 200);
  });

  await t.test('an operation that fails', async () => {
    await fault({ kind: 'failedOperation', code: 'AllocationFailed', message: 'No room.' });
    const made = await put('failing');
    const operation = String(made.headers['azure-asyncoperation']);
    const status = await call(new URL(operation).pathname + new URL(operation).search);
    assert.equal(status.json?.status, 'Failed');
    assert.deepEqual(status.json.error, { code: 'AllocationFailed', message: 'No room.' });
  });

  await t.test('one that never ends', async () => {
    await fault({ kind: 'stuck' });
    const made = await put('stuck');
    const operation = String(made.headers['azure-asyncoperation']);
    const status = await call(new URL(operation).pathname + new URL(operation).search);
    assert.equal(status.json?.status, 'InProgress');
  });

  await t.test('they are listed with how often they were met', async () => {
    const { json } = await control('/faults');
    assert.ok(Array.isArray(json?.value));
    assert.equal((json.value[0] as { applied?: number }).applied, 1);
  });
});

test('a content type without a body is none that is wrong', async (t) => {
  const { control } = await startAzure(t);
  const headers = { 'content-type': 'application/json' };
  await control('/faults', { method: 'POST', body: { match: {}, effect: { kind: 'latency', ms: 0 } } });
  assert.equal((await control('/faults', { method: 'DELETE', headers })).status, 204);
  assert.deepEqual((await control('/faults')).json, { value: [] });
  assert.equal((await control('/time', { method: 'POST', headers })).status, 400);
});

test('time that is skipped ends no token: clients keep them by the clock of the machine', async (t) => {
  const { call, control, token, subscription } = await startAzure(t);
  const before = await token();
  const { status } = await control('/time', { method: 'POST', body: { advanceMs: 7_200_000 } });
  assert.equal(status, 200);
  assert.equal((await call(subscription, { token: before })).status, 200);
});

test('subscriptions are made and change their state', async (t) => {
  const { call, control } = await startAzure(t);
  const subscriptionId = 'aaaaaaaa-0000-4000-8000-000000000001';
  const path = `/subscriptions/${subscriptionId}`;
  assert.equal((await call(path)).status, 404);
  await control(path, { method: 'PUT', body: { displayName: 'Second' } });
  assert.equal((await call(path)).json?.displayName, 'Second');
  const group = `${path}/resourceGroups/g`;
  assert.equal((await call(group, { method: 'PUT', body: { location: 'eastus' } })).status, 201);
  await control(path, { method: 'PUT', body: { state: 'Disabled' } });
  assert.equal((await call(path)).json?.state, 'Disabled');
  const refused = await call(`${path}/resourceGroups/h`, { method: 'PUT', body: { location: 'eastus' } });
  assert.equal(refused.headers['x-ms-error-code'], 'ReadOnlyDisabledSubscription');
  assert.equal((await call(group)).status, 200);
});
