// The front of Resource Manager on the wire: what every answer carries, and what is said to requests that are wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAzure } from '../testing/start-azure.ts';
import { widgets } from '../testing/widgets.ts';

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function codeOf(json: Record<string, unknown> | undefined): unknown {
  return (json?.error as { readonly code?: unknown } | undefined)?.code;
}

function itemsOf(json: Record<string, unknown> | undefined): readonly unknown[] {
  assert.ok(Array.isArray(json?.value));
  return json.value;
}

test('every answer carries the ids and what remains of the caller’s allowance', async (t) => {
  const { call, subscription } = await startAzure(t);
  const answer = await call(subscription, {
    headers: {
      'x-ms-correlation-request-id': 'aaaaaaaa-0000-4000-8000-000000000001',
      'x-ms-client-request-id': 'mine',
      'x-ms-return-client-request-id': 'true',
    },
  });
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['x-ms-request-id']), guid);
  assert.equal(answer.headers['x-ms-correlation-request-id'], 'aaaaaaaa-0000-4000-8000-000000000001');
  assert.match(String(answer.headers['x-ms-routing-request-id']), /^LOCAL:/);
  assert.equal(answer.headers['x-ms-client-request-id'], 'mine');
  assert.ok(Number(answer.headers['x-ms-ratelimit-remaining-subscription-reads']) > 0);
  const tenant = await call('/subscriptions');
  assert.ok(Number(tenant.headers['x-ms-ratelimit-remaining-tenant-reads']) > 0);
  assert.equal(tenant.headers['x-ms-client-request-id'], undefined);
});

test('a request without a good token is told where to get one', async (t) => {
  const { call, subscription, origin, azure, credential } = await startAzure(t);
  const challenge = new RegExp(`^Bearer authorization_uri="${origin}/${azure.owner.tenantId}"`);
  const graphToken = (await credential.getToken('https://graph.microsoft.com/.default')).token;
  for (const [token, code] of [
    [null, 'AuthenticationFailed'],
    ['rubbish', 'InvalidAuthenticationToken'],
    [graphToken, 'InvalidAuthenticationTokenAudience'],
  ] as const) {
    const answer = await call(subscription, { token });
    assert.equal(answer.status, 401);
    assert.equal(codeOf(answer.json), code);
    assert.match(String(answer.headers['www-authenticate']), challenge);
  }
});

test('who owns nothing may do nothing and sees nothing', async (t) => {
  const { azure, call, subscription } = await startAzure(t, { providers: [widgets] });
  await call(`${subscription}/resourceGroups/g`, { method: 'PUT', body: { location: 'eastus' } });
  const identity = await azure.world.directory.ensureManagedIdentity(`${subscription}/stranger`, 'stranger');
  const token = (
    await azure.world.directory.issue({
      audience: azure.cloud.origin,
      appId: identity.clientId,
      objectId: identity.principalId,
    })
  ).reveal();
  const put = await call(`${subscription}/resourceGroups/h`, { method: 'PUT', body: { location: 'eastus' }, token });
  assert.equal(put.status, 403);
  assert.equal(codeOf(put.json), 'AuthorizationFailed');
  assert.match(put.text, /Microsoft\.Resources\/subscriptions\/resourceGroups\/write/);
  assert.deepEqual((await call('/subscriptions', { token })).json?.value, []);
  assert.deepEqual((await call(`${subscription}/resourceGroups`, { token })).json?.value, []);
});

test('what is wrong with a request is said with the status and code that Azure gives', async (t) => {
  const { call, subscription } = await startAzure(t, { providers: [widgets] });
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const widget = `${group}/providers/Test.Widgets/widgets/w`;
  const version = '?api-version=2024-01-01';
  const nested = `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`;
  const cases: readonly [string, Parameters<typeof call>[1], number, string][] = [
    ['/subscriptions/not-a-guid/resourceGroups', {}, 400, 'InvalidSubscriptionId'],
    ['/subscriptions/00000000-0000-4000-8000-00000000dead', {}, 404, 'SubscriptionNotFound'],
    [`${subscription}/resourceGroups/none`, {}, 404, 'ResourceGroupNotFound'],
    [`${subscription}/resourceGroups/bad.`, {}, 400, 'InvalidResourceGroup'],
    [`${subscription}/resourceGroups/none/resources`, {}, 404, 'ResourceGroupNotFound'],
    [widget + version, {}, 404, 'ResourceNotFound'],
    [widget.replace('/g/', '/none/') + version, {}, 404, 'ResourceGroupNotFound'],
    [`${group}/providers/No.Such/things/x${version}`, {}, 404, 'InvalidResourceNamespace'],
    [`${group}/providers/Test.Widgets/none/x${version}`, {}, 404, 'InvalidResourceType'],
    [`${group}/providers/Test.Widgets/none${version}`, {}, 404, 'InvalidResourceType'],
    [`${widget}?api-version=1999-01-01`, {}, 400, 'NoRegisteredProviderFound'],
    [`${widget}?api-version=`, {}, 400, 'MissingApiVersionParameter'],
    [`${widget}?api-version=yesterday`, {}, 400, 'InvalidApiVersionParameter'],
    [`${subscription}/locations?api-version=1999-01-01`, {}, 400, 'InvalidApiVersionParameter'],
    [`${subscription}/locations?api-version=2021-04-01&api-version=2021-04-01`, {}, 400, 'InvalidApiVersionParameter'],
    [`${subscription}/locations?api-version=2021-04-01&API-Version=2022-09-01`, {}, 400, 'InvalidApiVersionParameter'],
    [`${subscription}/nothing/here`, {}, 404, 'NotFound'],
    [`${subscription}/locations`, { method: 'DELETE' }, 405, 'HttpMethodNotSupported'],
    [`${group}/providers/Test.Widgets/widgets${version}`, { method: 'PUT', body: {} }, 405, 'HttpMethodNotSupported'],
    [widget + version, { method: 'PUT', body: '{"location":' }, 400, 'InvalidRequestContent'],
    [widget + version, { method: 'PUT', body: '[]' }, 400, 'InvalidRequestContent'],
    [widget + version, { method: 'PUT', body: nested }, 400, 'InvalidRequestContent'],
    [widget + version, { method: 'PUT' }, 400, 'InvalidRequestContent'],
    [widget + version, { method: 'PUT', body: {} }, 400, 'LocationRequired'],
    [
      widget + version,
      { method: 'PUT', body: 'a', headers: { 'content-type': 'text/plain' } },
      415,
      'UnsupportedMediaType',
    ],
    [widget + version, { method: 'PUT', body: `{"a":"${'x'.repeat(4 << 20)}"}` }, 413, 'RequestContentTooLarge'],
    [`${subscription}/resources?$filter=name%20like%20x`, {}, 400, 'InvalidFilterInQueryString'],
    [`${subscription}/resources?$top=none`, {}, 400, 'InvalidTopInQueryString'],
    [`${subscription}/resources?$skiptoken=forged`, {}, 400, 'InvalidSkipToken'],
    [`${subscription}/resourceGroups/%FF`, {}, 400, 'InvalidParameter'],
    [`${group}/providers/Test.Widgets/widgets/a%2Fb${version}`, {}, 400, 'BadRequest'],
    [`${group}/exportTemplate`, { method: 'POST', body: {} }, 409, 'ExportTemplateNotSupported'],
    [`${group}/moveResources`, { method: 'POST', body: {} }, 409, 'ResourceMoveNotSupported'],
    [
      `${subscription}/providers/Test.Widgets/locations/eastus/operations/00000000-0000-4000-8000-000000000000${version}`,
      {},
      404,
      'OperationNotFound',
    ],
  ];
  for (const [path, options, status, code] of cases) {
    const answer = await call(path, options);
    assert.deepEqual([answer.status, codeOf(answer.json)], [status, code], `${options?.method ?? 'GET'} ${path}`);
    assert.equal(answer.headers['x-ms-error-code'], code);
  }
});

test('a resource goes through its life', async (t) => {
  const { call, subscription } = await startAzure(t, { providers: [widgets] });
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const widget = `${group}/providers/Test.Widgets/widgets/w?api-version=2024-01-01`;
  const made = await call(widget, { method: 'PUT', body: { location: 'eastus', properties: { size: 1 } } });
  assert.equal(made.status, 201);
  const { etag } = made.headers;
  assert.ok(typeof etag === 'string');
  const read = await call(widget.toUpperCase().replace('API-VERSION', 'api-version'));
  assert.equal(read.status, 200);
  assert.equal(read.headers.etag, etag);
  assert.deepEqual(read.json, made.json, 'ids compare without case');
  const changed = await call(widget, {
    method: 'PATCH',
    body: { properties: { size: 2 } },
    headers: { 'if-match': etag },
  });
  assert.equal(changed.status, 200);
  const late = await call(widget, {
    method: 'PATCH',
    body: { properties: { size: 3 } },
    headers: { 'if-match': etag },
  });
  assert.deepEqual([late.status, codeOf(late.json)], [412, 'PreconditionFailed']);
  assert.equal((await call(widget, { method: 'HEAD' })).status, 204);
  const part = widget.replace('widgets/w?', 'widgets/w/parts/p?');
  assert.equal((await call(part, { method: 'PUT', body: { properties: {} } })).status, 201);
  const parts = await call(part.replace('/parts/p?', '/parts?'));
  assert.equal(itemsOf(parts.json).length, 1);
  const everything = await call(`${subscription}/resources?$filter=`);
  assert.deepEqual(
    itemsOf(everything.json).map((item) => (item as { name?: string }).name),
    ['w'],
    'an empty filter is none, and parts without a place are not listed',
  );
  assert.equal((await call(widget, { method: 'DELETE' })).status, 200);
  assert.equal((await call(widget, { method: 'DELETE' })).status, 204);
  assert.equal((await call(widget, { method: 'HEAD' })).status, 404);
});

test('an operation is polled to its end by both of its addresses', async (t) => {
  const { call, subscription, azure, control, origin } = await startAzure(t, {
    providers: [widgets],
    profile: 'azure',
  });
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const widget = `${group}/providers/Test.Widgets/slowWidgets/w?api-version=2024-01-01`;
  const path = (header: string | string[] | undefined): string => {
    assert.ok(typeof header === 'string' && header.startsWith(origin));
    return header.slice(origin.length);
  };
  const made = await call(widget, { method: 'PUT', body: { location: 'eastus' } });
  assert.equal(made.status, 201);
  assert.equal((made.json?.properties as { provisioningState?: string } | undefined)?.provisioningState, 'Creating');
  const status = path(made.headers['azure-asyncoperation']);
  assert.match(status, /\/providers\/Test\.Widgets\/locations\/eastus\/operationStatuses\/[0-9a-f-]{36}\?api-version=/);
  const running = await call(status);
  assert.equal(running.json?.status, 'InProgress');
  assert.ok(Number(running.headers['retry-after']) > 0);
  const second = await call(widget, { method: 'PUT', body: { location: 'eastus' } });
  assert.equal(second.status, 409);
  await control('/time', { method: 'POST', body: { advanceMs: 600_000 } });
  assert.equal((await call(status)).json?.status, 'Succeeded');

  const deleting = await call(widget, { method: 'DELETE' });
  assert.equal(deleting.status, 202);
  const result = path(deleting.headers.location);
  assert.equal((await call(result)).status, 202);
  await azure.world.clock.advance(600_000);
  assert.equal((await call(result)).status, 200);
  assert.equal((await call(widget)).status, 404);
});

test('actions answer, fail in their own words, or take their time', async (t) => {
  const { call, subscription, origin } = await startAzure(t, { providers: [widgets] });
  await call(`${subscription}/resourceGroups/g`, { method: 'PUT', body: { location: 'eastus' } });
  const widget = `${subscription}/resourceGroups/g/providers/Test.Widgets/slowWidgets/w`;
  const version = '?api-version=2024-01-01';
  await call(widget + version, { method: 'PUT', body: { location: 'eastus' } });
  const keys = await call(`${widget}/listKeys${version}`, { method: 'POST' });
  assert.deepEqual(keys.json, { keys: [{ name: 'w', value: 'k' }] });
  assert.equal(codeOf((await call(`${widget}/explode${version}`, { method: 'POST' })).json), 'Exploded');
  assert.equal(codeOf((await call(`${widget}/nothing${version}`, { method: 'POST' })).json), 'InvalidResourceType');
  const restart = await call(`${widget}/restart${version}`, { method: 'POST' });
  assert.equal(restart.status, 202);
  const status = String(restart.headers['azure-asyncoperation']).slice(origin.length);
  assert.equal((await call(status)).json?.status, 'Succeeded');
  const usages = await call(`${subscription}/providers/Test.Widgets/locations/eastus/usages${version}`);
  assert.deepEqual(usages.json?.value, [{ location: 'eastus', subscription: subscription.split('/').at(-1) }]);
  const taken = await call(`${subscription}/providers/Test.Widgets/checkNameAvailability${version}`, {
    method: 'POST',
    body: { name: 'taken' },
  });
  assert.deepEqual(taken.json, { nameAvailable: false });
});

test('a lock stops what it forbids, at its scope and below', async (t) => {
  const { call, subscription } = await startAzure(t, { providers: [widgets] });
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const lock = `${group}/providers/Microsoft.Authorization/locks/keep?api-version=2016-09-01`;
  const made = await call(lock, { method: 'PUT', body: { properties: { level: 'CanNotDelete', notes: 'mine' } } });
  assert.equal(made.status, 201);
  assert.deepEqual(made.json?.properties, { level: 'CanNotDelete', notes: 'mine' });
  const refused = await call(group, { method: 'DELETE' });
  assert.deepEqual([refused.status, codeOf(refused.json)], [409, 'ScopeLocked']);
  const listed = await call(`${subscription}/providers/Microsoft.Authorization/locks?api-version=2016-09-01`);
  assert.equal(itemsOf(listed.json).length, 1);
  assert.equal((await call(lock, { method: 'DELETE' })).status, 200);
  assert.equal((await call(group, { method: 'DELETE' })).status, 202);
});

test('callers that ask too often are sent away for a while', async (t) => {
  const bucket = { capacity: 3, refillPerSecond: 0.01 };
  const { call, subscription } = await startAzure(t, {
    throttling: { reads: bucket, writes: bucket, deletes: bucket },
  });
  for (const remaining of ['2', '1', '0']) {
    const answer = await call(subscription);
    assert.equal(answer.headers['x-ms-ratelimit-remaining-subscription-reads'], remaining);
  }
  const refused = await call(subscription);
  assert.deepEqual([refused.status, codeOf(refused.json)], [429, 'SubscriptionRequestsThrottled']);
  assert.ok(Number(refused.headers['retry-after']) >= 1);
  const other = await call(`${subscription}/resourceGroups/g`, { method: 'PUT', body: { location: 'eastus' } });
  assert.equal(other.status, 201, 'writes are counted apart');
});
