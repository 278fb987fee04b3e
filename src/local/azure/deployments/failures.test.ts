import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ArmError } from '../../../arm/errors.ts';
import type { JsonObject } from '../kernel/record.ts';
import { inGroup, main, properties, refused } from './testing/checks.ts';
import { caller, deploymentVersion, group, idOf, startCloud } from './testing/cloud.ts';
import { inner, nested, template, thing } from './testing/templates.ts';

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
      /The template resource 'a' is not valid: The template parameter 'no' is not found/,
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
