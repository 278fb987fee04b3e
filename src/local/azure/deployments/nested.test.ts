import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inGroup, main, properties, refused } from './testing/checks.ts';
import {
  caller,
  deploymentVersion,
  group,
  idOf,
  otherSubscriptionId,
  startCloud,
  subscriptionId,
} from './testing/cloud.ts';
import { inner, nested, template, thing } from './testing/templates.ts';

suite('nested deployments', () => {
  test('see their own parameters, or those of the template around them', async (t) => {
    const cloud = await startCloud(t);
    const shown = await cloud.deploy(
      main,
      template(
        [
          nested(
            'inner',
            template([thing('cards', "[parameters('name')]")], {
              parameters: { name: { type: 'string' } },
              outputs: { id: { type: 'string', value: "[resourceId('Microsoft.Test/cards', parameters('name'))]" } },
            }),
            {},
            { ...inner, parameters: { name: { value: "[concat(parameters('name'), '-inner')]" } } },
          ),
          nested(
            'outer',
            template([
              thing('cards', "[concat(variables('v'), '-', copyIndex())]", {
                copy: { name: 'loop', count: 2 },
                properties: { from: "[parameters('name')]", net: "[reference('net').guid]" },
              }),
            ]),
          ),
          thing('networks', 'net'),
        ],
        {
          parameters: { name: { type: 'string', defaultValue: 'a' } },
          variables: { v: "[concat(parameters('name'), '-outer')]" },
          outputs: { id: { type: 'string', value: "[reference('inner').outputs.id.value]" } },
        },
      ),
    );
    assert.deepEqual(properties(shown).outputs, { id: { type: 'String', value: inGroup('cards/a-inner') } });
    assert.ok(await cloud.get(inGroup('cards/a-inner')));
    const copied = properties(await cloud.get(inGroup('cards/a-outer-1')));
    assert.deepEqual([copied.from, copied.net], ['a', 'guid-of-net']);
  });

  test('go to other groups and subscriptions', async (t) => {
    const cloud = await startCloud(t);
    const at = `/subscriptions/${subscriptionId}/providers/Microsoft.Resources/deployments/region`;
    const shown = await cloud.deploy(
      at,
      template(
        [
          {
            type: 'Microsoft.Resources/resourceGroups',
            apiVersion: '2021-04-01',
            name: 'made',
            location: '[deployment().location]',
          },
          nested(
            'into',
            template([thing('cards', 'here')], {
              outputs: { group: { type: 'string', value: '[resourceGroup().id]' } },
            }),
            {
              resourceGroup: 'made',
              dependsOn: ["[subscriptionResourceId('Microsoft.Resources/resourceGroups', 'made')]"],
            },
            inner,
          ),
          nested(
            'elsewhere',
            template(
              [
                {
                  type: 'Microsoft.Resources/resourceGroups',
                  apiVersion: '2021-04-01',
                  name: 'far',
                  location: 'westus',
                },
              ],
              {},
              'subscription',
            ),
            { subscriptionId: otherSubscriptionId, location: 'westus' },
            inner,
          ),
        ],
        { outputs: { group: { type: 'string', value: "[reference('into').outputs.group.value]" } } },
        'subscription',
      ),
      { location: 'eastus' },
    );
    assert.equal(properties(shown).provisioningState, 'Succeeded', JSON.stringify(properties(shown).error));
    assert.equal(shown.location, 'eastus');
    assert.deepEqual(properties(shown).outputs, {
      group: { type: 'String', value: `/subscriptions/${subscriptionId}/resourceGroups/made` },
    });
    assert.ok(
      await cloud.get(`/subscriptions/${subscriptionId}/resourceGroups/made/providers/Microsoft.Test/cards/here`),
    );
    assert.ok(await cloud.get(`/subscriptions/${otherSubscriptionId}/resourceGroups/far`));
  });

  test('from the tenant down', async (t) => {
    const cloud = await startCloud(t);
    const shown = await cloud.deploy(
      '/providers/Microsoft.Resources/deployments/top',
      template(
        [
          nested(
            'down',
            template([], { outputs: { id: { type: 'string', value: '[subscription().id]' } } }, 'subscription'),
            { subscriptionId, location: 'eastus' },
            inner,
          ),
        ],
        {
          outputs: {
            id: {
              type: 'string',
              value: `[reference(subscriptionResourceId('${subscriptionId}', 'Microsoft.Resources/deployments', 'down'), '2022-09-01').outputs.id.value]`,
            },
          },
        },
        'tenant',
      ),
      { location: 'eastus' },
    );
    assert.deepEqual(properties(shown).outputs, { id: { type: 'String', value: `/subscriptions/${subscriptionId}` } });
  });
});

test('secrets are in no forecast, and not in the template of what is nested', async (t) => {
  const cloud = await startCloud(t);
  const given = template(
    [
      thing('cards', 'a', { properties: { password: "[parameters('p')]", made: "[base64(parameters('p'))]" } }),
      nested('inner', template([thing('cards', 'b', { properties: { password: "[parameters('p')]" } })])),
    ],
    { parameters: { p: { type: 'secureString' } } },
  );
  const parameters = { p: { value: 'hush-hush' } };
  const told = JSON.stringify(
    await cloud.route('POST', group, 'deployments/w/whatIf', { properties: { template: given, parameters } }),
  );
  assert.match(told, /"password":"\*\*\*\*\*\*\*"/);
  assert.doesNotMatch(told, /hush-hush|aHVzaC1odXNo/);
  await cloud.deploy(main, given, { parameters });
  assert.equal(properties(await cloud.get(inGroup('cards/b'))).password, 'hush-hush');
  const inner = `${group}/providers/Microsoft.Resources/deployments/inner`;
  assert.doesNotMatch(JSON.stringify(await cloud.get(inner)), /hush-hush/);
  const exported = (id: string) =>
    cloud.world.resources.act(idOf(id), 'exporttemplate', {
      apiVersion: deploymentVersion,
      body: undefined,
      query: {},
      caller,
    });
  await assert.rejects(exported(inner), refused('DeploymentTemplateNotAvailable', /secret values/, 409));
  assert.deepEqual((await exported(main)).result, { template: given });
});
