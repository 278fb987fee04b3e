// Deployments over HTTP, through the front of Resource Manager, as the Azure CLI and SDKs ask for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResourceManagementClient } from '@azure/arm-resources';
import { type AzureAnswer, startAzure } from '../testing/start-azure.ts';
import { widgets } from '../testing/widgets.ts';
import { template } from './testing/templates.ts';

const version = '2024-03-01';

function told<T>(answer: AzureAnswer, member: string): T {
  assert.ok(answer.json?.[member] !== undefined, answer.text);
  return answer.json[member] as T;
}

function widget(name: string, more: object = {}) {
  return {
    type: 'Test.Widgets/widgets',
    apiVersion: '2024-01-01',
    name,
    location: '[resourceGroup().location]',
    ...more,
  };
}

test('a deployment over the wire, from what-if to its end', async (t) => {
  const azure = await startAzure(t, { providers: [widgets] });
  const group = `${azure.subscription}/resourcegroups/rg`;
  await azure.call(group, { method: 'PUT', body: { location: 'eastus' } });
  const at = (name: string, tail = ''): string =>
    `${group}/providers/Microsoft.Resources/deployments/${name}${tail}?api-version=${version}`;
  const given = template(
    [
      widget('w', { properties: { n: "[parameters('n')]" } }),
      { type: 'Test.Widgets/slowWidgets', apiVersion: '2024-01-01', name: 's', location: 'eastus', dependsOn: ['w'] },
    ],
    {
      parameters: { n: { type: 'int' } },
      outputs: {
        n: { type: 'int', value: "[reference('w').n]" },
        key: { type: 'string', value: "[listKeys('s', '2024-01-01').keys[0].value]" },
      },
    },
  );
  const body = { properties: { mode: 'Incremental', template: given, parameters: { n: { value: 7 } } } };

  const forecast = await azure.call(at('d', '/whatIf'), { method: 'POST', body });
  assert.equal(forecast.status, 200, forecast.text);
  assert.equal(told<{ changes: unknown[] }>(forecast, 'properties').changes.length, 2);
  const valid = await azure.call(at('d', '/validate'), { method: 'POST', body });
  assert.equal(valid.status, 200, valid.text);
  const invalid = await azure.call(at('d', '/validate'), {
    method: 'POST',
    body: { properties: { template: { resources: [] } } },
  });
  assert.equal(invalid.status, 400);
  assert.equal(told<{ code: string }>(invalid, 'error').code, 'InvalidTemplate');
  assert.equal((await azure.call(at('d'), { method: 'HEAD' })).status, 404);

  const begun = await azure.call(at('d'), { method: 'PUT', body });
  assert.equal(begun.status, 201, begun.text);
  assert.equal(told<{ provisioningState: string }>(begun, 'properties').provisioningState, 'Accepted');
  const poll = new URL(String(begun.headers['azure-asyncoperation']));
  for (;;) {
    const { json } = await azure.call(`${poll.pathname}${poll.search}`);
    if (json?.status !== 'InProgress') {
      assert.equal(json?.status, 'Succeeded');
      break;
    }
  }
  const done = await azure.call(at('d'));
  const properties = done.json?.properties as { provisioningState: string; outputs: object };
  assert.equal(properties.provisioningState, 'Succeeded');
  assert.deepEqual(properties.outputs, { n: { type: 'Int', value: 7 }, key: { type: 'String', value: 'k' } });
  assert.equal((await azure.call(at('d'), { method: 'HEAD' })).status, 204);

  const operations = await azure.call(at('d', '/operations'));
  assert.equal(told<unknown[]>(operations, 'value').length, 2);
  const all = await azure.call(`${group}/providers/Microsoft.Resources/deployments?api-version=${version}`);
  assert.deepEqual(
    told<{ name: string }[]>(all, 'value').map(({ name }) => name),
    ['d'],
  );
  const list = async (path: string): Promise<string[]> => {
    const answer = await azure.call(`${path}api-version=${version}`);
    return told<{ name: string }[]>(answer, 'value').map(({ name }) => name);
  };
  const below = '/providers/Microsoft.Resources/deployments?';
  assert.deepEqual(await list(`${azure.subscription}${below}`), [], 'those of groups are in their groups');
  assert.deepEqual(await list(`${group}${below}$filter=provisioningState eq 'Failed'&`), []);
  assert.equal(
    (await azure.call(`${azure.subscription}/resourceGroups/none${below}api-version=${version}`)).status,
    404,
  );
  const exported = await azure.call(at('d', '/exportTemplate'), { method: 'POST' });
  assert.deepEqual(exported.json, { template: given });
  assert.equal((await azure.call(at('d', '/cancel'), { method: 'POST' })).status, 409);
  const again = await azure.call(at('d'), { method: 'PUT', body });
  assert.ok(again.status === 200 || again.status === 201, again.text);
});

test('the generic client of the SDK deploys by id and waits for the end', async (t) => {
  const azure = await startAzure(t, { providers: [widgets] });
  const client = new ResourceManagementClient(azure.credential, azure.subscriptionId, azure.sdk);
  const poller = client.resources.createOrUpdateById(
    `${azure.subscription}/providers/Microsoft.Resources/deployments/region`,
    version,
    {
      location: 'eastus',
      properties: {
        mode: 'Incremental',
        template: template(
          [
            {
              type: 'Microsoft.Resources/resourceGroups',
              apiVersion: '2021-04-01',
              name: 'made',
              location: '[deployment().location]',
            },
          ],
          {
            outputs: {
              id: { type: 'string', value: "[subscriptionResourceId('Microsoft.Resources/resourceGroups', 'made')]" },
            },
          },
          'subscription',
        ),
      },
    },
    { updateIntervalInMs: 1 },
  );
  const made = await poller;
  const properties = made.properties as { provisioningState: string; outputs: object };
  assert.equal(properties.provisioningState, 'Succeeded');
  assert.deepEqual(properties.outputs, { id: { type: 'String', value: `${azure.subscription}/resourceGroups/made` } });
  assert.equal((await client.resourceGroups.get('made')).location, 'eastus');
});

test('whatever a template is, the answer is no error of the server', async (t) => {
  const azure = await startAzure(t, { providers: [widgets] });
  const group = `${azure.subscription}/resourcegroups/rg`;
  await azure.call(group, { method: 'PUT', body: { location: 'eastus' } });
  const bodies: readonly (object | string)[] = [
    '[]',
    '{',
    'null',
    { properties: null },
    { properties: [] },
    { properties: { template: null } },
    { properties: { template: {}, parameters: [] } },
    { properties: { template: template(null) } },
    { properties: { template: template([null]) } },
    { properties: { template: template([[]]) } },
    { properties: { template: template([{ name: 1, type: [], apiVersion: {} }]) } },
    { properties: { template: template([{ ...widget('a'), copy: [] }]) } },
    { properties: { template: template([{ ...widget('a'), copy: { name: {}, count: 'x' } }]) } },
    { properties: { template: template([{ ...widget('a'), dependsOn: { a: 1 } }]) } },
    { properties: { template: template([{ ...widget('a'), resources: 7 }]) } },
    { properties: { template: template([{ ...widget('a'), scope: '%%%' }]) } },
    { properties: { template: template([widget('../..')]) } },
    { properties: { template: template([widget('a/b/c')]) } },
    { properties: { template: template([], { parameters: { a: 1 }, variables: [] }) } },
    {
      properties: {
        template: template([], {
          parameters: { a: { $ref: '#/definitions/a' } },
          definitions: { a: { $ref: '#/definitions/a' } },
        }),
      },
    },
    {
      properties: {
        template: template([], {
          functions: [{ namespace: 'a', members: { b: { output: { value: '[a.b()]' } } } }],
          variables: {},
          parameters: { x: { type: 'string', defaultValue: '[a.b()]' } },
        }),
      },
    },
    {
      properties: {
        template: template([], { parameters: { x: { type: 'string', defaultValue: "[parameters('x')]" } } }),
      },
    },
    { properties: { template: template([], { outputs: { o: { type: 'string', copy: { count: -1 } } } }) } },
    { properties: { template: template([]), mode: {} } },
    { properties: { template: template([]), templateLink: { uri: 'https://x/' } } },
    { properties: { template: template([]), parameters: { a: { reference: { keyVault: {} } } } } },
    {
      properties: {
        template: template([
          { type: 'Microsoft.Resources/deployments', apiVersion: version, name: 'n', properties: 3 },
        ]),
      },
    },
  ];
  for (const body of bodies) {
    for (const [method, tail] of [
      ['POST', '/validate'],
      ['POST', '/whatIf'],
      ['PUT', ''],
    ] as const) {
      const path = `${group}/providers/Microsoft.Resources/deployments/d${tail}?api-version=${version}`;
      const answer = await azure.call(path, { method, body, headers: { 'content-type': 'application/json' } });
      assert.ok(
        answer.status < 500,
        `${method} ${tail} ${JSON.stringify(body).slice(0, 300)}: ${answer.status} ${answer.text}`,
      );
    }
  }
});
