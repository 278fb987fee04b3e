import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ArmError } from '../../../arm/errors.ts';
import type { ArmResource, JsonObject } from '../kernel/record.ts';
import {
  caller,
  deploymentVersion,
  group,
  idOf,
  otherSubscriptionId,
  startCloud,
  subscriptionId,
} from './testing/cloud.ts';
import { nested, template, thing } from './testing/templates.ts';

const main = `${group}/providers/Microsoft.Resources/deployments/main`;
const inGroup = (path: string): string => `${group}/providers/Microsoft.Test/${path}`;

function refused(code: string, message: RegExp, status = 400) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof ArmError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.equal(error.status, status);
    return true;
  };
}

function properties(resource: ArmResource | undefined): JsonObject {
  assert.ok(resource?.properties);
  return resource.properties;
}

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
            absent: { type: 'string', condition: false, value: '[nosuch()]' },
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

const inner = { expressionEvaluationOptions: { scope: 'inner' } };

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

suite('what goes wrong', () => {
  test('a failed resource stops what follows it and nothing else, and is told with its error', async (t) => {
    const cloud = await startCloud(t);
    const shown = await cloud.deploy(
      main,
      template([
        thing('machines', 'bad-vm'),
        thing('cards', 'bad-card'),
        thing('cards', 'follower', { dependsOn: ['bad-vm'] }),
        thing('cards', 'beside'),
        nested('inner', template([thing('cards', 'bad-inner')]), {}, inner),
      ]),
    );
    const told = properties(shown);
    assert.equal(told.provisioningState, 'Failed');
    const error = told.error as {
      code: string;
      message: string;
      target: string;
      details: { code: string; target: string; details?: { code: string }[] }[];
    };
    assert.equal(error.code, 'DeploymentFailed');
    assert.match(error.message, /At least one resource deployment operation failed/);
    const codes = Object.fromEntries(error.details.map((one) => [one.target, [one.code, one.details?.[0]?.code]]));
    assert.deepEqual(codes, {
      [inGroup('machines/bad-vm')]: ['ResourceDeploymentFailure', 'MachineBroken'],
      [inGroup('cards/bad-card')]: ['BadCard', undefined],
      [`${group}/providers/Microsoft.Resources/deployments/inner`]: ['DeploymentFailed', 'BadCard'],
    });
    assert.equal(await cloud.get(inGroup('cards/follower')), undefined);
    assert.ok(await cloud.get(inGroup('cards/beside')));
    const { value } = (await cloud.route('GET', group, 'deployments/main/operations')) as {
      value: { properties: JsonObject }[];
    };
    const failed = value.find((one) => (one.properties.targetResource as JsonObject).resourceName === 'bad-card');
    assert.equal(failed?.properties.statusCode, 'BadRequest');
    assert.match(JSON.stringify(failed?.properties.statusMessage), /"code":"BadCard"/);
  });

  const broken: readonly [string, JsonObject, RegExp][] = [
    ['a schema for another scope', template([], {}, 'subscription'), /template schema .* is not supported/],
    ['no contentVersion', { ...template([]), contentVersion: 1 }, /contentVersion/],
    [
      'a parameter that is missing',
      template([], { parameters: { a: { type: 'string' } } }),
      /The value for the template parameter 'a' is not provided/,
    ],
    [
      'a default of the wrong type',
      template([], { parameters: { a: { type: 'int', defaultValue: 'x' } } }),
      /Expected 'Integer'. Actual 'String'/,
    ],
    [
      'a value that is not allowed',
      template([], { parameters: { a: { type: 'string', defaultValue: 'x', allowedValues: ['y', 'z'] } } }),
      /not part of the allowed value\(s\): 'y,z'/,
    ],
    [
      'a dependency that is not there',
      template([thing('cards', 'a', { dependsOn: ['nothing'] })]),
      /The resource 'nothing' is not defined in the template/,
    ],
    [
      'a circle',
      template([thing('cards', 'a', { dependsOn: ['b'] }), thing('cards', 'b', { dependsOn: ['a'] })]),
      /Circular dependency detected/,
    ],
    ['a resource twice', template([thing('cards', 'a'), thing('cards', 'A')]), /defined multiple times/],
    ['a name with too few segments', template([thing('networks/subnets', 'a')]), /incorrect segment lengths/],
    [
      'reference in a name',
      template([thing('cards', "[reference('x').y]")]),
      /'reference' is not expected at this location/,
    ],
    [
      'utcNow in a property',
      template([thing('cards', 'a', { tags: { t: '[utcNow()]' } })]),
      /'utcNow' is not expected at this location/,
    ],
    [
      'a variable that needs itself',
      template([thing('cards', "[variables('a')]")], { variables: { a: "[variables('b')]", b: "[variables('a')]" } }),
      /depends on itself/,
    ],
    [
      'too many resources',
      template([thing('cards', "[concat('c', copyIndex())]", { copy: { name: 'l', count: 801 } })]),
      /copy count is not valid/,
    ],
    [
      'copies that are too many together',
      template([
        thing('cards', "[concat('c', copyIndex())]", { copy: { name: 'l', count: 800 } }),
        thing('cards', 'x'),
      ]),
      /resources limit exceeded/,
    ],
    [
      'an expression that cannot be parsed',
      template([thing('cards', '[concat(]')]),
      /Unable to parse language expression/,
    ],
    [
      'a body that cannot be evaluated',
      template([thing('cards', 'a', { properties: { x: "[parameters('no')]" } })]),
      /Unable to process template language expressions for resource '.*cards\/a'. 'The template parameter 'no' is not found/,
    ],
  ];
  for (const [what, given, message] of broken) {
    test(`${what} is refused before anything is written`, async (t) => {
      const cloud = await startCloud(t);
      await assert.rejects(cloud.deploy(main, given), refused('InvalidTemplate', message));
      assert.equal(await cloud.get(main), undefined);
      await assert.rejects(
        cloud.route('POST', group, 'deployments/main/validate', {
          properties: { mode: 'Incremental', template: given },
        }),
        refused('InvalidTemplate', message),
      );
    });
  }

  test('values of secure parameters are in no message', async (t) => {
    const cloud = await startCloud(t);
    const given = template([], { parameters: { a: { type: 'secureString', allowedValues: ['also-hidden'] } } });
    await assert.rejects(cloud.deploy(main, given, { parameters: { a: { value: 'hush-hush' } } }), (error: Error) => {
      assert.doesNotMatch(error.message, /hush-hush|also-hidden/);
      return true;
    });
  });

  test('rights are needed on every resource', async (t) => {
    const cloud = await startCloud(t);
    cloud.refused.add('microsoft.test/cards/write');
    const given = template([thing('networks', 'n'), thing('cards', 'a')]);
    await assert.rejects(
      cloud.deploy(main, given),
      refused(
        'InvalidTemplateDeployment',
        /does not have permission to perform action 'Microsoft.Test\/cards\/write'/,
        403,
      ),
    );
    assert.equal(await cloud.get(inGroup('networks/n')), undefined);
  });

  test('links to other places, and requests that are malformed', async (t) => {
    const cloud = await startCloud(t);
    const put = (body: JsonObject) =>
      cloud.world.resources.put(idOf(main), body, { apiVersion: deploymentVersion, caller });
    await assert.rejects(
      put({ properties: { templateLink: { uri: 'https://example.com/t.json' } } }),
      refused('InvalidContentLink', /Only addresses of this cloud/),
    );
    await assert.rejects(
      put({ properties: { templateLink: { uri: 'http://[' } } }),
      refused('InvalidContentLink', /Unable to download/),
    );
    await assert.rejects(put({ properties: {} }), refused('InvalidTemplate', /exactly one of/));
    await assert.rejects(put({}), refused('InvalidRequestContent', /properties/));
    await assert.rejects(
      put({ properties: { template: [], mode: 'Sideways' } }),
      refused('InvalidRequestContent', /mode/),
    );
    await assert.rejects(put({ properties: { template: 'x' } }), refused('InvalidTemplate', /not a JSON object/));
    await assert.rejects(
      put({ location: 'eastus', properties: { template: template([]) } }),
      refused('InvalidDeployment', /not allowed/),
    );
  });

  test('what providers refuse in preflight is told whole', async (t) => {
    const cloud = await startCloud(t, {
      preflight: async ({ resources }) =>
        resources
          .filter(({ name }) => name === 'a')
          .map(({ id }) => ({ code: 'NoThanks', message: 'No.', target: id.text })),
    });
    await assert.rejects(cloud.deploy(main, template([thing('cards', 'a')])), (error: ArmError) => {
      assert.equal(error.code, 'InvalidTemplateDeployment');
      assert.deepEqual(error.details, [{ code: 'NoThanks', message: 'No.', target: inGroup('cards/a') }]);
      return true;
    });
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

test('validate tells what would be deployed', async (t) => {
  const cloud = await startCloud(t);
  const body = { properties: { mode: 'Incremental', template: template([thing('cards', 'a')]) } };
  const told = (await cloud.route('POST', group, 'deployments/main/validate', body)) as { properties: JsonObject };
  assert.equal(told.properties.provisioningState, 'Succeeded');
  assert.deepEqual(told.properties.validatedResources, [{ id: inGroup('cards/a') }]);
  assert.equal(await cloud.get(inGroup('cards/a')), undefined);
});

test('what-if tells what would change', async (t) => {
  const cloud = await startCloud(t);
  await cloud.deploy(
    main,
    template([
      thing('cards', 'same', { properties: { n: 1 } }),
      thing('cards', 'other', { properties: { n: 1, list: [1, 2] } }),
      thing('cards', 'extra'),
    ]),
  );
  const given = template([
    thing('cards', 'same', { location: 'East US', properties: { n: 1 } }),
    thing('cards', 'other', { tags: { a: 'b' }, properties: { n: 2, list: [1] } }),
    thing('cards', 'new', { properties: { of: "[reference('same').n]", later: "[reference('new2').x]" } }),
    thing('cards', 'new2'),
  ]);
  const ask = async (mode: string): Promise<JsonObject[]> => {
    const told = (await cloud.route('POST', group, 'deployments/w/whatIf', {
      properties: { mode, template: given },
    })) as { status: string; properties: { changes: JsonObject[] } };
    assert.equal(told.status, 'Succeeded');
    return told.properties.changes;
  };
  const changes = await ask('Incremental');
  const of = (name: string): JsonObject => changes.find((one) => one.resourceId === inGroup(`cards/${name}`)) ?? {};
  assert.deepEqual(
    changes.map((one) => [String(one.resourceId).split('/').at(-1), one.changeType]),
    [
      ['extra', 'Ignore'],
      ['new', 'Create'],
      ['new2', 'Create'],
      ['other', 'Modify'],
      ['same', 'NoChange'],
    ],
  );
  assert.deepEqual((of('new').after as JsonObject).properties, { of: 1, later: "[reference('new2').x]" });
  assert.deepEqual(of('other').delta, [
    { path: 'tags', propertyChangeType: 'Create', after: { a: 'b' } },
    { path: 'properties.n', propertyChangeType: 'Modify', before: 1, after: 2 },
    {
      path: 'properties.list',
      propertyChangeType: 'Array',
      before: [1, 2],
      after: [1],
      children: [{ path: '1', propertyChangeType: 'Delete', before: 2 }],
    },
  ]);
  assert.equal((await ask('Complete')).find((one) => one.resourceId === inGroup('cards/extra'))?.changeType, 'Delete');
  const failed = (await cloud.route('POST', group, 'deployments/w/whatIf', {
    properties: { template: template([thing('cards', '[x(]')]) },
  })) as { status: string };
  assert.equal(failed.status, 'Failed');
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
