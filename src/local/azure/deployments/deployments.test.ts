import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../kernel/record.ts';
import { inGroup, main, properties, refused } from './testing/checks.ts';
import { caller, deploymentVersion, group, idOf, startCloud, subscriptionId } from './testing/cloud.ts';
import { inner, nested, template, thing } from './testing/templates.ts';

suite('a deployment to a resource group', () => {
  test('writes its resources in order and tells outputs', async (t) => {
    const cloud = await startCloud(t);
    const shown = await cloud.deploy(
      main,
      template(
        [
          thing('machines', "[concat(variables('prefix'), '-vm')]", {
            properties: { network: "[reference('net').guid]", zone: "[pickZones('a', 'b', 'eastus')[0]]" },
          }),
          thing('networks', 'net', {
            tags: "[union(resourceGroup().tags, createObject('x', '1'))]",
            properties: { size: "[parameters('size')]" },
          }),
          thing('networks/subnets', 'net/a', {
            location: null,
            dependsOn: ["[resourceId('Microsoft.Test/networks', 'net')]"],
          }),
        ],
        {
          parameters: { size: { type: 'int', defaultValue: 3, minValue: 1 }, secret: { type: 'secureString' } },
          variables: { prefix: "[toLower('WEB')]" },
          outputs: {
            address: { type: 'string', value: "[reference('web-vm').address]" },
            whole: { type: 'object', value: "[reference('net', '2024-01-01', 'Full').tags]" },
            hidden: { type: 'secureString', value: "[parameters('secret')]" },
            absent: { type: 'string', condition: false, value: "[json('{')]" },
          },
        },
      ),
      { parameters: { secret: { value: 'hush-hush' } } },
    );
    const told = properties(shown);
    assert.equal(told.provisioningState, 'Succeeded');
    assert.deepEqual(told.outputs, {
      address: { type: 'String', value: '10.0.0.6' },
      whole: { type: 'Object', value: { team: 'red', x: '1' } },
      hidden: { type: 'SecureString' },
    });
    assert.deepEqual(told.parameters, { size: { type: 'Int', value: 3 }, secret: { type: 'SecureString' } });
    assert.deepEqual(told.outputResources, [
      { id: inGroup('machines/web-vm') },
      { id: inGroup('networks/net') },
      { id: inGroup('networks/net/subnets/a') },
    ]);
    assert.equal(JSON.stringify(shown).includes('hush-hush'), false);
    const machine = await cloud.get(inGroup('machines/web-vm'));
    assert.equal(properties(machine).network, 'guid-of-net', 'the machine waited for the network it refers to');
    assert.equal(properties(machine).zone, '1');
    const operations = (await cloud.route('GET', group, 'deployments/main/operations')) as {
      value: { properties: JsonObject; operationId: string }[];
    };
    assert.equal(operations.value.length, 3);
    assert.ok(
      operations.value.every(
        (one) => one.properties.provisioningState === 'Succeeded' && one.properties.statusCode === 'OK',
      ),
    );
    const one = (await cloud.route(
      'GET',
      group,
      `deployments/main/operations/${operations.value[0]?.operationId}`,
    )) as JsonObject;
    assert.equal(one.operationId, operations.value[0]?.operationId);
  });

  test('can be repeated under the same name', async (t) => {
    const cloud = await startCloud(t);
    const first = await cloud.deploy(main, template([thing('cards', 'a', { properties: { n: 1 } })]));
    const second = await cloud.deploy(main, template([thing('cards', 'a', { properties: { n: 2 } })]));
    assert.notEqual(properties(first).correlationId, properties(second).correlationId);
    assert.equal(properties(await cloud.get(inGroup('cards/a'))).n, 2);
  });

  test('loops, conditions and children', async (t) => {
    const cloud = await startCloud(t);
    const shown = await cloud.deploy(
      main,
      template(
        [
          thing('cards', "[format('c{0}', copyIndex(1))]", {
            copy: { name: 'cards', count: "[length(parameters('names'))]", mode: 'serial', batchSize: 2 },
            properties: {
              label: "[parameters('names')[copyIndex()]]",
              copy: [
                { name: 'disks', count: 2, input: { lun: "[copyIndex('disks', 10)]", of: "[copyIndex('cards')]" } },
              ],
            },
          }),
          thing('cards', 'never', { condition: '[equals(1, 2)]' }),
          thing('cards', 'after', {
            dependsOn: ['cards', "[resourceId('Microsoft.Test/cards', 'never')]"],
            properties: { all: "[variables('squares')]" },
          }),
          thing('networks', 'net', {
            resources: [
              { type: 'subnets', apiVersion: '2024-01-01', name: 'inner', dependsOn: ['net'], properties: { x: 1 } },
            ],
          }),
        ],
        {
          parameters: { names: { type: 'array', defaultValue: ['x', 'y', 'z'] } },
          variables: {
            copy: [{ name: 'squares', count: 3, input: "[mul(copyIndex('squares'), copyIndex('squares'))]" }],
          },
          outputs: {
            labels: { type: 'array', copy: { count: 3, input: "[reference(format('c{0}', copyIndex(1))).label]" } },
          },
        },
      ),
    );
    assert.deepEqual(properties(shown).outputs, { labels: { type: 'Array', value: ['x', 'y', 'z'] } });
    assert.deepEqual(properties(await cloud.get(inGroup('cards/c3'))).disks, [
      { lun: 10, of: 2 },
      { lun: 11, of: 2 },
    ]);
    assert.deepEqual(properties(await cloud.get(inGroup('cards/after'))).all, [0, 1, 4]);
    assert.equal(await cloud.get(inGroup('cards/never')), undefined);
    assert.ok(await cloud.get(inGroup('networks/net/subnets/inner')));
  });

  test('symbolic names, existing resources, user functions and keys', async (t) => {
    const cloud = await startCloud(t);
    await cloud.deploy(main, template([thing('vaults', 'old')]));
    const shown = await cloud.deploy(
      main,
      template(
        {
          store: { existing: true, type: 'Microsoft.Test/vaults', apiVersion: '2024-01-01', name: 'old' },
          card: thing('cards', "[my.short('CARD')]", {
            dependsOn: ['net'],
            properties: { key: "[listKeys('store', '2024-01-01').keys[0].value]" },
          }),
          net: thing('networks', 'net'),
          note: {
            type: 'Microsoft.Test/notes',
            apiVersion: '2024-01-01',
            name: 'n',
            scope: "[resourceId('Microsoft.Test/networks', 'net')]",
            dependsOn: ['net'],
          },
        },
        {
          languageVersion: '2.0',
          functions: [
            {
              namespace: 'my',
              members: {
                short: {
                  parameters: [{ name: 'text', type: 'string' }],
                  output: { type: 'string', value: "[toLower(parameters('text'))]" },
                },
              },
            },
          ],
          outputs: { guid: { type: 'string', value: "[reference('net').guid]" } },
        },
      ),
    );
    assert.deepEqual(properties(shown).outputs, { guid: { type: 'String', value: 'guid-of-net' } });
    assert.equal(properties(await cloud.get(inGroup('cards/card'))).key, 'key of old');
    assert.ok(await cloud.get(`${inGroup('networks/net')}/providers/Microsoft.Test/notes/n`));
  });

  test('complete mode deletes what the template does not have', async (t) => {
    const cloud = await startCloud(t);
    await cloud.deploy(main, template([thing('cards', 'old'), thing('cards', 'kept'), thing('machines', 'vm')]));
    await cloud.deploy(
      main,
      template([thing('cards', 'kept'), nested('inner', template([thing('cards', 'deep')]), {}, inner)]),
      { mode: 'Complete' },
    );
    assert.equal(await cloud.get(inGroup('cards/old')), undefined);
    assert.equal(await cloud.get(inGroup('machines/vm')), undefined);
    assert.ok(await cloud.get(inGroup('cards/kept')));
    assert.ok(await cloud.get(inGroup('cards/deep')));
  });
});

test('a parameter that names a secret of a vault gets its value, and does not show it', async (t) => {
  const cloud = await startCloud(t, {
    readSecret: async (_, { name }) => (name === 'there' ? 'hush-hush' : undefined),
  });
  const given = template([thing('cards', 'a', { properties: { length: "[length(parameters('p'))]" } })], {
    parameters: { p: { type: 'secureString' } },
  });
  const reference = (secretName: string): JsonObject => ({
    p: { reference: { keyVault: { id: inGroup('vaults/v') }, secretName } },
  });
  const shown = await cloud.deploy(main, given, { parameters: reference('there') });
  assert.equal(properties(await cloud.get(inGroup('cards/a'))).length, 9);
  assert.doesNotMatch(JSON.stringify(shown), /hush-hush/);
  await assert.rejects(
    cloud.deploy(main, given, { parameters: reference('gone') }),
    refused('KeyVaultParameterReferenceNotFound', /'p'/),
  );
});

test('a deployment to a management group', async (t) => {
  const cloud = await startCloud(t);
  const id = '/providers/Microsoft.Management/managementGroups/mg/providers/Microsoft.Resources/deployments/top';
  const given = template(
    [
      nested(
        'down',
        template([], {}, 'subscription'),
        { scope: `/subscriptions/${subscriptionId}`, location: 'eastus' },
        inner,
      ),
    ],
    { outputs: { id: { type: 'string', value: '[managementGroup().id]' } } },
    'managementGroup',
  );
  const shown = await cloud.deploy(id, given, { location: 'eastus' });
  assert.equal(properties(shown).provisioningState, 'Succeeded', JSON.stringify(properties(shown).error));
  assert.deepEqual(properties(shown).outputs, {
    id: { type: 'String', value: '/providers/Microsoft.Management/managementGroups/mg' },
  });
  assert.ok(await cloud.get(`/subscriptions/${subscriptionId}/providers/Microsoft.Resources/deployments/down`));
  await assert.rejects(
    cloud.deploy(id, given, { location: 'westus' }),
    refused('InvalidDeploymentLocation', /already exists in location 'eastus'/, 409),
  );
});

test('a template and its parameters at an address of this cloud', async (t) => {
  const files: { readonly [path: string]: JsonObject } = {
    '/c/card.json': template([thing('cards', "[parameters('name')]")], { parameters: { name: { type: 'string' } } }),
    '/c/parameters.json': { parameters: { name: { value: 'linked' } } },
  };
  const cloud = await startCloud(t, { readTemplate: async (_, { pathname }) => files[pathname] });
  const at = (file: string): JsonObject => ({ uri: `https://account.blob.storage.azure.test/c/${file}?sig=hush-hush` });
  const body = {
    properties: { mode: 'Incremental', templateLink: at('card.json'), parametersLink: at('parameters.json') },
  };
  const written = await cloud.world.resources.put(idOf(main), body, { apiVersion: deploymentVersion, caller });
  await cloud.world.resources.finished(written.operation ?? '');
  assert.ok(await cloud.get(inGroup('cards/linked')));
  assert.doesNotMatch(JSON.stringify(await cloud.get(main)), /hush-hush/);
  const missing = { properties: { templateLink: at('none.json') } };
  await assert.rejects(
    cloud.world.resources.put(idOf(main), missing, { apiVersion: deploymentVersion, caller }),
    refused('InvalidContentLink', /^(?!.*hush)/),
  );
});
