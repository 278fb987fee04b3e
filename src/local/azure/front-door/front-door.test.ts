// Resource Manager in front of a resource provider: a small one on src/arm, behind mutual TLS.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { alice, codeOf, roles, startPeople, type TestPeople } from '../authorization/testing/people.ts';
import type { StartOptions } from '../testing/start-azure.ts';
import { armCertificateName } from './arm-certificate.ts';
import { namespace, startThings, type ThingsProvider, version } from './testing/things-provider.ts';

interface Cloud extends TestPeople {
  readonly things: ThingsProvider;
  readonly thing: string;
}

const query = `api-version=${version}`;

async function start(t: TestContext, options: StartOptions = {}): Promise<Cloud> {
  const azure = await startPeople(t, options);
  const things = await startThings(t, azure.azure.ca, armCertificateName(azure.azure.cloud.suffix));
  const { name, ...endpoint } = things.endpoint;
  const registered = await azure.control(`/resource-providers/${name}`, { method: 'PUT', body: endpoint });
  assert.equal(registered.status, 200, registered.text);
  const registration = await azure.call(`${azure.subscription}/providers/${namespace}/register`, { method: 'POST' });
  assert.equal(registration.status, 200, registration.text);
  return { ...azure, things, thing: `${azure.group}/providers/${namespace}/things/t1?${query}` };
}

/** Asks until it is so: the provider and the cloud work at their own pace. */
async function until(what: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await what()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail('it did not come about');
}

const body = { location: 'eastus', tags: { a: 'b' }, properties: { size: 1 } };

test('a request reaches the provider with the stamps of Resource Manager, and links lead back through it', async (t) => {
  const cloud = await start(t);
  const put = await cloud.call(cloud.thing, {
    method: 'PUT',
    body,
    headers: {
      'x-ms-client-object-id': 'forged',
      'x-ms-arm-resource-system-data': '{"createdBy":"forged"}',
      'x-ms-identity-url': 'https://forged.example',
      referer: 'https://forged.example',
      'x-ms-correlation-request-id': '33333333-3333-4333-8333-333333333333',
    },
  });
  assert.equal(put.status, 201, put.text);
  assert.ok(String(put.headers['azure-asyncoperation']).startsWith(`${cloud.origin}/subscriptions/`));
  const { headers } = cloud.things.seen.find(({ what }) => what.startsWith('PUT') && what.includes('/things/')) ?? {};
  const { owner } = cloud.azure;
  assert.equal(headers?.['x-ms-client-object-id'], owner.objectId);
  assert.equal(headers?.['x-ms-client-app-id'], owner.clientId);
  assert.equal(headers?.['x-ms-home-tenant-id'], owner.tenantId);
  assert.equal(headers?.['x-ms-correlation-request-id'], '33333333-3333-4333-8333-333333333333');
  assert.equal(headers?.referer, `${cloud.origin}${cloud.thing}`);
  assert.equal(headers?.['x-ms-identity-url'], undefined);
  assert.match(String(headers?.authorization), /^Bearer ey/);
  assert.ok(String(headers?.['azure-asyncnotificationuri']).startsWith(`${cloud.origin}/_notifications/`));
  const systemData = JSON.parse(String(headers?.['x-ms-arm-resource-system-data']));
  assert.equal(systemData.createdBy, 'Owner');
  assert.equal(systemData.createdByType, 'Application');

  const operation = new URL(String(put.headers['azure-asyncoperation']));
  const status = await cloud.call(`${operation.pathname}${operation.search}`);
  assert.deepEqual([status.status, status.json?.status], [200, 'Succeeded']);
  assert.equal((await cloud.call(cloud.thing)).json?.name, 't1');
  const secrets = await cloud.call(cloud.thing.replace('?', '/listSecrets?'), { method: 'POST' });
  assert.deepEqual(secrets.json, { secret: 'hush' });
});

test('roles are checked before the provider hears of a request; lists show what may be seen', async (t) => {
  const cloud = await start(t);
  await cloud.call(cloud.thing, { method: 'PUT', body });
  await cloud.call(cloud.thing.replace('t1', 't2'), { method: 'PUT', body });
  const before = cloud.things.seen.length;
  assert.equal(codeOf(await cloud.as(alice, cloud.thing)), 'AuthorizationFailed');
  assert.equal(cloud.things.seen.length, before);
  await cloud.assign(alice, roles.reader, cloud.thing.split('?')[0] ?? '');
  assert.equal((await cloud.as(alice, cloud.thing)).status, 200);
  assert.equal(codeOf(await cloud.as(alice, cloud.thing, { method: 'DELETE' })), 'AuthorizationFailed');
  const list = `${cloud.subscription}/providers/${namespace}/things?${query}`;
  const seen: string[] = [];
  for (let link: string | undefined = list; link !== undefined; ) {
    const page = await cloud.as(alice, link);
    seen.push(...((page.json?.value ?? []) as { readonly name: string }[]).map(({ name }) => name));
    const next = page.json?.nextLink as string | undefined;
    assert.ok(next === undefined || next.startsWith(`${cloud.origin}/`));
    link = next?.slice(cloud.origin.length);
  }
  assert.deepEqual(seen, ['t1']);
});

test('who puts something into a subnet, or gives it an identity, needs the right to that', async (t) => {
  const cloud = await start(t);
  await cloud.assign(alice, roles.contributor, cloud.group);
  const other = `${cloud.subscription}/resourceGroups/other`;
  await cloud.call(other, { method: 'PUT', body: { location: 'eastus' } });
  const subnet = `${other}/providers/Microsoft.Network/virtualNetworks/v/subnets/s`;
  const identity = `${other}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/identity1`;
  await cloud.call(`${identity}?api-version=2024-11-30`, { method: 'PUT', body: { location: 'eastus' } });
  const put = (change: object) => cloud.as(alice, cloud.thing, { method: 'PUT', body: { ...body, ...change } });
  const joined = await put({ properties: { subnetId: subnet } });
  assert.equal(joined.status, 403);
  assert.equal(codeOf(joined), 'LinkedAuthorizationFailed');
  assert.match(joined.text, /virtualNetworks\/subnets\/join\/action/);
  const assigned = await put({ identity: { type: 'UserAssigned', userAssignedIdentities: { [identity]: {} } } });
  assert.equal(codeOf(assigned), 'LinkedAuthorizationFailed');
  assert.match(assigned.text, /userAssignedIdentities\/assign\/action/);
  await cloud.assign(alice, roles.identityOperator, identity);
  const allowed = await put({ identity: { type: 'UserAssigned', userAssignedIdentities: { [identity]: {} } } });
  assert.equal(allowed.status, 201, allowed.text);
  const { headers, body: sent } = cloud.things.seen.at(-1) ?? {};
  const { identity: filled } = sent as {
    readonly identity: { readonly userAssignedIdentities: Record<string, object> };
  };
  assert.deepEqual(Object.keys(filled.userAssignedIdentities[identity] ?? {}).sort(), ['clientId', 'principalId']);
  assert.match(String(headers?.['x-ms-identity-url']), /^https:\/\/control-.*\.identity\.azure\.test/);
});

test('what ARM refuses by itself: versions, types, places, registration, locks', async (t) => {
  const cloud = await start(t);
  const at = (path: string) => `${cloud.group}/providers/${namespace}/${path}`;
  const put = (path: string, given: object = body) => cloud.call(path, { method: 'PUT', body: given });
  const cases: readonly [answer: Awaited<ReturnType<typeof put>>, status: number, code: string][] = [
    [await put(at('things/t1?api-version=2020-01-01')), 400, 'NoRegisteredProviderFound'],
    [await put(at(`others/t1?${query}`)), 404, 'InvalidResourceType'],
    [await put(cloud.thing, { properties: {} }), 400, 'LocationRequired'],
    [await put(cloud.thing, { ...body, location: 'moon' }), 400, 'LocationNotAvailableForResourceType'],
    [await put(cloud.thing.replace('/g1/', '/none/')), 404, 'ResourceGroupNotFound'],
    [await cloud.call(cloud.thing, { method: 'POST' }), 405, 'HttpMethodNotSupported'],
    [await put(cloud.thing, { ...body, kind: 'wrong' }), 400, 'WrongThing'],
  ];
  for (const [answer, status, code] of cases) assert.deepEqual([answer.status, codeOf(answer)], [status, code]);

  await put(cloud.thing);
  assert.equal(codeOf(await put(cloud.thing, { ...body, location: 'westus2' })), 'InvalidResourceLocation');
  const lock = `${cloud.group}/providers/Microsoft.Authorization/locks/l?api-version=2020-05-01`;
  await put(lock, { properties: { level: 'CanNotDelete' } });
  assert.equal(codeOf(await cloud.call(cloud.thing, { method: 'DELETE' })), 'ScopeLocked');
  await cloud.call(lock, { method: 'DELETE' });

  const another = randomUUID();
  await cloud.control(`/subscriptions/${another}`, { method: 'PUT', body: {} });
  const group = `/subscriptions/${another}/resourceGroups/g`;
  await put(group, { location: 'eastus' });
  const unregistered = await put(`${group}/providers/${namespace}/things/t?${query}`);
  assert.deepEqual([unregistered.status, codeOf(unregistered)], [409, 'MissingSubscriptionRegistration']);
});

test('a provider that is away or speaks nonsense is an error of the gateway', async (t) => {
  const cloud = await start(t);
  await cloud.call(cloud.thing, { method: 'PUT', body });
  cloud.things.broken = { status: 200, text: '<html>' };
  const nonsense = await cloud.call(cloud.thing);
  assert.deepEqual([nonsense.status, codeOf(nonsense)], [502, 'InvalidResourceResponseBody']);
  await cloud.things.stop();
  const away = await cloud.call(cloud.thing);
  assert.deepEqual([away.status, codeOf(away)], [503, 'ServiceUnavailable']);
});

test('tracked resources are listed with the others, follow the provider and go with their group', async (t) => {
  const cloud = await start(t);
  const resources = `${cloud.group}/resources?api-version=2021-04-01&$expand=provisioningState`;
  const states = async () =>
    (
      ((await cloud.call(resources)).json?.value ?? []) as {
        readonly name: string;
        readonly provisioningState: string;
      }[]
    ).map(({ name, provisioningState }) => `${name} ${provisioningState}`);
  cloud.things.held = true;
  await cloud.call(cloud.thing, { method: 'PUT', body });
  assert.deepEqual(await states(), ['t1 Accepted']);
  cloud.things.release();
  await until(async () => (await states())[0] === 't1 Succeeded');

  await cloud.call(cloud.thing, { method: 'DELETE' });
  const told = cloud.things.seen.at(-1)?.headers['azure-asyncnotificationuri'];
  cloud.things.release();
  const notified = await cloud.call(String(told).slice(cloud.origin.length), { method: 'POST', body: {}, token: null });
  assert.equal(notified.status, 200);
  await until(async () => (await states()).length === 0);
  const forged = await cloud.call('/_notifications/nonsense', { method: 'POST', body: {}, token: null });
  assert.equal(forged.status, 404);

  cloud.things.held = false;
  await cloud.call(cloud.thing, { method: 'PUT', body });
  const removal = await cloud.call(cloud.group, { method: 'DELETE' });
  assert.equal(removal.status, 202);
  await until(async () => (await cloud.call(cloud.group)).status === 404);
  assert.ok(cloud.things.seen.some(({ what }) => what.startsWith('DELETE')));
});

test('a template deploys resources of the provider, which looks at them first', async (t) => {
  const cloud = await start(t);
  const deploy = (name: string, kind: string) =>
    cloud.call(`${cloud.group}/providers/Microsoft.Resources/deployments/${name}?api-version=2021-04-01`, {
      method: 'PUT',
      body: {
        properties: {
          mode: 'Incremental',
          template: {
            $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
            contentVersion: '1.0.0.0',
            resources: [{ type: `${namespace}/things`, apiVersion: version, name: 't9', kind, ...body }],
            outputs: {
              state: {
                type: 'string',
                value: `[reference(resourceId('${namespace}/things', 't9'), '${version}').provisioningState]`,
              },
            },
          },
        },
      },
    });
  const refused = await deploy('bad', 'wrong');
  assert.equal(codeOf(refused), 'InvalidTemplateDeployment');
  assert.match(refused.text, /WrongThing/);
  const accepted = await deploy('good', 'right');
  assert.equal(accepted.status, 201, accepted.text);
  const path = `${cloud.group}/providers/Microsoft.Resources/deployments/good?api-version=2021-04-01`;
  const stateOf = async () => (await cloud.call(path)).json?.properties as Record<string, unknown>;
  await until(async () => ['Succeeded', 'Failed'].includes(String((await stateOf()).provisioningState)));
  const done = await stateOf();
  assert.equal(done.provisioningState, 'Succeeded', JSON.stringify(done.error));
  assert.deepEqual(done.outputs, { state: { type: 'String', value: 'Succeeded' } });
  const { headers } = cloud.things.seen.find(({ what }) => what.startsWith('PUT') && what.includes('t9')) ?? {};
  assert.equal(headers?.['x-ms-client-object-id'], cloud.azure.owner.objectId);
});

test('what was under way goes on after a restart: a resource is followed, a deployment waits for its end', async (t) => {
  const cloud = await start(t, { keep: true });
  cloud.things.held = true;
  await cloud.call(cloud.thing, { method: 'PUT', body });
  const deployment = `${cloud.group}/providers/Microsoft.Resources/deployments/d?api-version=2021-04-01`;
  const template = {
    $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    resources: [{ type: `${namespace}/things`, apiVersion: version, name: 't2', ...body }],
  };
  const begun = await cloud.call(deployment, {
    method: 'PUT',
    body: { properties: { mode: 'Incremental', template } },
  });
  assert.equal(begun.status, 201, begun.text);
  await until(async () => cloud.things.seen.some(({ what }) => what.startsWith('PUT') && what.includes('/things/t2')));
  const again = await cloud.restart();
  cloud.things.held = false;
  cloud.things.release();
  const stateOf = async () => (await again.call(deployment)).json?.properties as Record<string, unknown> | undefined;
  await until(async () => (await stateOf())?.provisioningState === 'Succeeded');
  const resources = `${cloud.group}/resources?api-version=2021-04-01&$expand=provisioningState`;
  await until(async () => {
    const value = ((await again.call(resources)).json?.value ?? []) as { readonly provisioningState: string }[];
    return value.length === 2 && value.every(({ provisioningState }) => provisioningState === 'Succeeded');
  });
});

test('providers are told about subscriptions until they have taken it, also after a restart', async (t) => {
  const cloud = await start(t, { keep: true });
  await until(async () => cloud.things.subscriptions.get(cloud.subscriptionId)?.state === 'Registered');
  cloud.things.broken = { status: 500, text: '{}' };
  await cloud.control(`/subscriptions/${cloud.subscriptionId}`, { method: 'PUT', body: { state: 'Warned' } });
  const again = await cloud.restart();
  cloud.things.broken = undefined;
  await until(async () => cloud.things.subscriptions.get(cloud.subscriptionId)?.state === 'Warned');
  await again.control(`/subscriptions/${cloud.subscriptionId}`, { method: 'PUT', body: { state: 'Enabled' } });
  await until(async () => cloud.things.subscriptions.get(cloud.subscriptionId)?.state === 'Registered');
  await again.call(`${cloud.subscription}/providers/${namespace}/unregister`, { method: 'POST' });
  await until(async () => cloud.things.subscriptions.get(cloud.subscriptionId)?.state === 'Unregistered');
});

test('whatever clients ask of the namespace, the answer is not a failure of the cloud', async (t) => {
  const cloud = await start(t);
  const front = `${cloud.subscription}/resourceGroups/g1`;
  const paths = [
    `/providers/${namespace}`,
    `/providers/${namespace}/things`,
    `/providers/${namespace}/things/x/y`,
    `${front}/providers/${namespace}/things/%00`,
    `${front}/providers/${namespace}/things/a/b/c/d/e`,
    `${front}/providers/${namespace}/locations/eastus/operationsstatus/x`,
    `${front}/providers/Microsoft.Other/a/b/providers/${namespace}/things/x`,
    `${cloud.subscription}/providers/${namespace}/things?${query}&$skiptoken=%ff`,
    `${front}/providers/${namespace}/things/t?api-version=${'9'.repeat(5000)}`,
  ];
  const bodies = [
    '[]',
    '"text"',
    '{"location":{}}',
    '{"location":"eastus","identity":5}',
    '{"identity":{"type":[]}}',
    '{',
  ];
  for (const path of paths) {
    const versioned = path.includes('?') ? path : `${path}?${query}`;
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'] as const) {
      const answer = await cloud.call(
        versioned,
        method === 'GET' || method === 'HEAD' ? { method } : { method, body: '{}' },
      );
      assert.ok(answer.status < 500, `${method} ${path} ${answer.status}`);
    }
  }
  for (const given of bodies) {
    const answer = await cloud.call(cloud.thing, { method: 'PUT', body: given });
    assert.ok(answer.status >= 400 && answer.status < 500, `${given} ${answer.status}`);
  }
});

test('a provider that is no longer registered keeps its resources from being written past it', async (t) => {
  const cloud = await start(t);
  await cloud.call(cloud.thing, { method: 'PUT', body });
  assert.equal((await cloud.control('/resource-providers/things', { method: 'DELETE' })).status, 204);
  const answer = await cloud.call(cloud.thing, { method: 'PUT', body });
  assert.deepEqual([answer.status, codeOf(answer)], [503, 'ServiceUnavailable']);
});

test('the operations of a namespace are those of all its endpoints', async (t) => {
  const cloud = await start(t);
  const more = await startThings(t, cloud.azure.ca, armCertificateName(cloud.azure.cloud.suffix));
  const { name: _, ...endpoint } = more.endpoint;
  const taken = await cloud.control('/resource-providers/second', { method: 'PUT', body: endpoint });
  assert.equal(codeOf(taken), 'ResourceTypeTaken');
  const others = { ...endpoint, types: [{ type: 'others', apiVersions: [version] }] };
  assert.equal((await cloud.control('/resource-providers/second', { method: 'PUT', body: others })).status, 200);
  const merged = await cloud.call(`/providers/${namespace}/operations?${query}`);
  assert.deepEqual(
    ((merged.json?.value ?? []) as { readonly name: string }[]).map(({ name }) => name),
    [`${namespace}/things/read`],
  );
  assert.ok(more.seen.some(({ what }) => what.includes('/operations')));
  const shown = await cloud.call(`${cloud.subscription}/providers/${namespace}`);
  const types = ((shown.json?.resourceTypes ?? []) as { readonly resourceType: string }[]).map(
    (one) => one.resourceType,
  );
  assert.deepEqual(types.sort(), ['locations/operationsstatus', 'others', 'things']);
});
