import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Document } from '../store/store.ts';
import {
  advanceOperation,
  createOperation,
  isOperation,
  newOperation,
  type OperationDocument,
  operationTtlSeconds,
} from './operation.ts';
import {
  armCaller,
  defaultSubscriptions,
  demoProvider,
  finish,
  groupPath,
  subscriptionId,
  tenantId,
} from './testing/demo-provider.ts';
import { type DemoStore, demoStore } from './testing/demo-store.ts';

const widgets = `${groupPath}/providers/Demo.Widgets/widgets`;
const version = '?api-version=2024-01-01';
const caller = {
  ...armCaller,
  'x-ms-home-tenant-id': 'AAAAAAAA-0000-0000-0000-000000000001',
  'x-ms-client-object-id': 'CCCCCCCC-0000-0000-0000-000000000001',
};

let store: DemoStore;
let app: FastifyInstance;
const subscriptions = defaultSubscriptions();

before(async () => {
  store = await demoStore();
  app = demoProvider({ container: store.container, subscriptions });
  await app.ready();
});
after(async () => {
  await app.close();
  await store.close();
});

const local = (link: unknown) => String(link).slice(new URL(String(link)).origin.length);
const get = (url: string, headers: Record<string, string> = caller) => app.inject({ url, headers });
const put = (name: string) =>
  app.inject({
    method: 'PUT',
    url: `${widgets}/${name}${version}`,
    headers: caller,
    payload: { location: 'westeurope', properties: { size: 1 } },
  });

async function started(name: string) {
  const answer = await put(name);
  const status = local(answer.headers['azure-asyncoperation']);
  const id = /([0-9a-f-]{36})\?/.exec(status)?.[1] ?? '';
  return { answer, status, result: status.replace('widgetStatuses', 'widgetResults'), id };
}

describe('an asynchronous operation', () => {
  it('is announced with a link to its status and when to look', async () => {
    const { answer, status } = await started('announced');
    assert.equal(answer.statusCode, 201);
    assert.equal(answer.headers.location, undefined);
    assert.equal(answer.headers['retry-after'], '7');
    assert.match(
      status,
      /\/providers\/Demo\.Widgets\/locations\/westeurope\/widgetStatuses\/[0-9a-f-]{36}\?api-version=2024-01-01$/,
    );
  });

  it('promises to tell ARM only at an address that the sender may go to', async () => {
    const cases = [
      ['https://management.azure.com/notify?t=1', 'Enabled'],
      ['https://LOCALHOST/notify', 'Enabled'],
      ['http://management.azure.com/notify', undefined],
      ['https://evil.example/notify', undefined],
      ['https://10.0.0.1/notify', undefined],
      ['https://management.azure.com:8443/notify', undefined],
      ['https://user@management.azure.com/notify', undefined],
      ['ftp://management.azure.com/notify', undefined],
      [`https://management.azure.com/${'x'.repeat(2048)}`, undefined],
      ['notify', undefined],
    ] as const;
    for (const [index, [address, promised]] of cases.entries()) {
      const answer = await app.inject({
        method: 'PUT',
        url: `${widgets}/notified-${index}${version}`,
        headers: { ...caller, 'azure-asyncnotificationuri': address },
        payload: { location: 'westeurope', properties: { size: 1 } },
      });
      assert.deepEqual([answer.statusCode, answer.headers['azure-asyncnotification']], [201, promised], address);
      const id = /([0-9a-f-]{36})\?/.exec(String(answer.headers['azure-asyncoperation']))?.[1] ?? '';
      const stored = await store.container.read({ partition: subscriptionId, id: `operation:${id}` });
      assert.ok(stored && isOperation(stored.body));
      assert.equal(stored.body.notificationUri?.reveal(), promised && address);
    }
  });

  it('has a status document from its start to its end', async () => {
    const { status, id } = await started('followed');
    const running = await get(status);
    assert.equal(running.headers['retry-after'], '7');
    const { startTime, ...rest } = running.json();
    assert.deepEqual(rest, { id: status.split('?')[0], name: id, status: 'Accepted' });
    assert.equal(new Date(startTime).toISOString(), startTime);

    await finish(store.container, id, { status: 'Provisioning' });
    assert.equal((await get(status)).json().status, 'Provisioning');
    await finish(store.container, id, { status: 'Succeeded' });
    const ended = await get(status);
    assert.equal(ended.headers['retry-after'], undefined);
    assert.equal(ended.json().status, 'Succeeded');
    assert.ok(ended.json().endTime >= startTime);
  });

  it('has a result that is 202 until the end, then what the product says', async () => {
    const { result, id } = await started('result');
    const running = await get(result);
    assert.deepEqual([running.statusCode, running.body, running.headers['retry-after']], [202, '', '7']);
    assert.equal(local(running.headers.location), result);
    await finish(store.container, id, { status: 'Succeeded' });
    const ended = await get(result);
    assert.deepEqual([ended.statusCode, ended.json().name], [201, 'result']);

    const updated = await started('result');
    await finish(store.container, updated.id, { status: 'Succeeded' });
    assert.equal((await get(updated.result)).statusCode, 200);

    const deleted = await app.inject({ method: 'DELETE', url: `${widgets}/result${version}`, headers: caller });
    assert.deepEqual([deleted.statusCode, deleted.body], [202, '']);
    const location = local(deleted.headers.location);
    await finish(store.container, /([0-9a-f-]{36})\?/.exec(location)?.[1] ?? '', { status: 'Succeeded' });
    assert.equal((await get(location)).statusCode, 204);
  });

  it('that failed has its own error as result, with a status that fits', async () => {
    const cases = [
      [{ code: 'ResourceQuotaExceeded', message: 'too many' }, undefined, 400],
      [{ code: 'InternalServerError', message: 'ours' }, undefined, 500],
      [{ code: 'ServiceUnavailable', message: 'full' }, undefined, 503],
      [{ code: 'Odd', message: 'x' }, 422, 422],
    ] as const;
    for (const [error, errorStatus, expected] of cases) {
      const { status, result, id } = await started(`failed-${error.code}`);
      await finish(store.container, id, { status: 'Failed', error, ...(errorStatus ? { errorStatus } : {}) });
      assert.deepEqual((await get(status)).json().error, error);
      const answer = await get(result);
      assert.deepEqual([answer.statusCode, answer.json()], [expected, { error }]);
    }
    const { result, id } = await started('cancelled');
    await finish(store.container, id, { status: 'Canceled' });
    assert.deepEqual([(await get(result)).statusCode, (await get(result)).json().error.code], [409, 'Canceled']);
  });

  it('has the error of its last step only', async () => {
    const { status, id } = await started('recovered');
    const error = { code: 'Odd', message: 'x' };
    await finish(store.container, id, { status: 'Provisioning', error, errorStatus: 422 });
    assert.deepEqual((await get(status)).json().error, error);
    assert.equal(await finish(store.container, id, { status: 'Provisioning', error, errorStatus: 422 }), false);
    assert.equal(await finish(store.container, id, { status: 'Provisioning', error, errorStatus: 423 }), true);
    await finish(store.container, id, { status: 'Succeeded' });
    const stored = await store.container.read({ partition: subscriptionId, id: `operation:${id}` });
    assert.ok(stored && !('error' in stored.body) && !('errorStatus' in stored.body));
    assert.equal((await get(status)).json().error, undefined);
  });

  it('stays ended: a late writer changes nothing', async () => {
    const { status, id } = await started('final');
    assert.equal(await finish(store.container, id, { status: 'Succeeded' }), true);
    const before = (await get(status)).json();
    assert.equal(await finish(store.container, id, { status: 'Provisioning' }), false);
    assert.equal(await finish(store.container, id, { status: 'Failed', error: { code: 'x', message: 'y' } }), false);
    assert.deepEqual((await get(status)).json(), before);
  });

  it('stays ended when the late writer had read it before', async () => {
    const { id } = await started('raced');
    const key = { partition: subscriptionId, id: `operation:${id}` };
    const stored = (await store.container.read(key)) as Document<OperationDocument>;
    const end = advanceOperation(stored, { status: 'Succeeded' }, new Date());
    const late = advanceOperation(stored, { status: 'Provisioning' }, new Date());
    assert.ok(end && late);
    await store.container.batch(subscriptionId, [end]);
    await assert.rejects(store.container.batch(subscriptionId, [late]), { code: 'Changed' });
    assert.equal((await store.container.read(key))?.body.documentType, 'operation');
  });

  it('is seen only by the subscription, tenant and client that started it; to others it is not there', async () => {
    const { status, result } = await started('private');
    const others = [
      [status, { ...caller, 'x-ms-home-tenant-id': 'bbbbbbbb-0000-0000-0000-000000000001' }],
      [status, { ...caller, 'x-ms-client-object-id': 'bbbbbbbb-0000-0000-0000-000000000001' }],
      [status, {}],
      [status.replace(subscriptionId, '33333333-2222-3333-4444-555555555555'), caller],
      [status.replace('westeurope', 'eastus'), caller],
      [status.replace(/[0-9a-f-]{36}\?/, '33333333-2222-3333-4444-555555555555?'), caller],
      [status.replace(/[0-9a-f-]{36}\?/, 'not-a-guid?'), caller],
    ] as const;
    for (const [url, headers] of others) {
      for (const target of [url, url.replace('widgetStatuses', 'widgetResults')]) {
        const answer = await get(target, headers);
        assert.deepEqual([answer.statusCode, answer.json().error.code], [404, 'ResourceNotFound'], target);
      }
    }
    const sameInOtherCase = { ...caller, 'x-ms-home-tenant-id': caller['x-ms-home-tenant-id'].toLowerCase() };
    assert.equal((await get(status.toLowerCase(), sameInOtherCase)).statusCode, 200);
    assert.equal((await get(result)).statusCode, 202);
  });

  it('can be followed by a caller that is not ARM, whose tenant is the subscription’s', async () => {
    const payload = { location: 'westeurope', properties: { size: 1 } };
    const answer = await app.inject({ method: 'PUT', url: `${widgets}/direct${version}`, payload });
    assert.equal(answer.statusCode, 201);
    assert.equal((await get(local(answer.headers['azure-asyncoperation']), {})).statusCode, 200);
  });

  it('that the service started itself is nobody’s to see', async () => {
    const given = { request: 'Delete', status: 'Deleting', subscriptionId, location: 'westeurope', resourceId: '/x' };
    const operation = newOperation(undefined, given, new Date());
    await store.container.batch(subscriptionId, [createOperation(operation)]);
    const url = `/subscriptions/${subscriptionId}/providers/Demo.Widgets/locations/westeurope/widgetStatuses/${operation.operationId}${version}`;
    assert.equal((await get(url)).statusCode, 404);
  });

  it('can be followed to its end when the subscription is gone', async () => {
    const { status } = await started('orphan');
    subscriptions.set(subscriptionId, { state: 'Deleted', tenantId });
    try {
      assert.equal((await get(status)).statusCode, 200);
    } finally {
      subscriptions.set(subscriptionId, { state: 'Registered', tenantId });
    }
  });

  it('is kept for seven days from its last write', async () => {
    const { id } = await started('ttl');
    const lifetime = async () => {
      const stored = await store.container.read({ partition: subscriptionId, id: `operation:${id}` });
      return ((stored?.expiresAt ?? 0) - (await store.store.now())) / 1000;
    };
    assert.ok(Math.abs((await lifetime()) - operationTtlSeconds) < 60);
    await finish(store.container, id, { status: 'Succeeded' });
    assert.ok(Math.abs((await lifetime()) - operationTtlSeconds) < 60);
  });

  it('is written together with its resource or not at all', async () => {
    const count = () => store.container.count({ filter: { op: 'eq', field: ['documentType'], value: 'operation' } });
    await put('together');
    const before = await count();
    const stale = await app.inject({
      method: 'PUT',
      url: `${widgets}/together${version}`,
      headers: { ...caller, 'if-match': '"stale"' },
      payload: { location: 'westeurope', properties: { size: 1 } },
    });
    assert.equal(stale.statusCode, 412);
    // Two at once: one may win twice in a row or lose its race, but an operation exists exactly for each success.
    const answers = await Promise.all(Array.from({ length: 5 }, () => put('together')));
    const won = answers.filter(({ statusCode }) => statusCode === 200).length;
    for (const answer of answers) {
      if (answer.statusCode !== 200) assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [409, '1']);
    }
    assert.equal(await count(), before + won);
  });
});
