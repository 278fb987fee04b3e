import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StartOptions } from '../local/azure/testing/start-azure.ts';
import { type Deployment, type DeploymentStep, deploy, deployedOutputs, validate, whatIf } from './deployments.ts';
import { AzureError } from './errors.ts';
import type { JsonObject } from './json.ts';
import { resourceGroup } from './resources/resource-group.ts';
import { testCloud } from './testing/cloud.ts';

const widget = (name: string, more: JsonObject = {}): JsonObject => ({
  type: 'Test.Widgets/slowWidgets',
  apiVersion: '2024-01-01',
  name,
  location: '[resourceGroup().location]',
  ...more,
});

async function cloudWithGroup(t: TestContext, options: StartOptions = {}) {
  const cloud = await testCloud(t, options);
  const group = { subscriptionId: cloud.azure.subscriptionId, resourceGroup: 'g' };
  await cloud.arm.put(resourceGroup(group, { location: 'westeurope' }));
  const deployment = (resources: readonly JsonObject[], more: JsonObject = {}): Deployment => ({
    scope: { kind: 'resourceGroup', ...group },
    name: 'd',
    template: {
      $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
      contentVersion: '1.0.0.0',
      resources,
      ...more,
    },
    parameters: {},
  });
  return {
    ...cloud,
    group,
    deployment,
    id: (name: string) => `${cloud.azure.subscription}/resourceGroups/g/providers/Test.Widgets/slowWidgets/${name}`,
  };
}

test('a template is forecast, applied and followed; its outputs are found again', async (t) => {
  const { arm, deployment, id } = await cloudWithGroup(t);
  const two = {
    ...deployment([widget('a', { properties: { size: "[parameters('size')]" } }), widget('b', { dependsOn: ['a'] })], {
      parameters: { size: { type: 'int' } },
      outputs: { size: { type: 'int', value: "[reference('a').size]" } },
    }),
    parameters: { size: 3 },
  };
  assert.equal(await deployedOutputs(arm, two.scope, two.name), undefined);
  await validate(arm, two);
  assert.deepEqual(
    (await whatIf(arm, two)).map(({ id: at, change }) => [at, change]),
    [
      [id('a'), 'Create'],
      [id('b'), 'Create'],
    ],
  );
  const steps: DeploymentStep[] = [];
  const { outputs } = await deploy(arm, two, { onStep: (step) => steps.push(step) });
  assert.deepEqual(outputs, { size: 3 });
  const done = steps.filter(({ state }) => state === 'Succeeded').map((step) => step.id);
  assert.deepEqual(done, [id('a'), id('b')], 'each once');
  assert.deepEqual(await deployedOutputs(arm, two.scope, two.name), { size: 3 });
  assert.ok((await whatIf(arm, two)).every(({ change }) => change === 'NoChange'));
  const [changed] = await whatIf(arm, { ...two, parameters: { size: 4 } });
  assert.deepEqual([changed?.change, changed?.members], ['Modify', ['properties.size']]);
});

test('what is wrong with a template is told before anything is done', async (t) => {
  const { arm, deployment } = await cloudWithGroup(t);
  await assert.rejects(validate(arm, deployment([widget("[parameters('missing')]")])), { code: 'InvalidTemplate' });
});

test('what failed is told by resource, those of templates inside too', async (t) => {
  const { arm, deployment, fault, id } = await cloudWithGroup(t);
  fault({
    match: { method: 'PUT', path: id('bad') },
    effect: { kind: 'failedOperation', code: 'SkuNotAvailable', message: 'Not here.' },
  });
  const inside = {
    type: 'Microsoft.Resources/deployments',
    apiVersion: '2024-03-01',
    name: 'inside',
    properties: { mode: 'Incremental', template: deployment([widget('bad')]).template },
  };
  await assert.rejects(deploy(arm, deployment([widget('good'), inside])), (error) => {
    assert.ok(error instanceof AzureError);
    assert.equal(error.code, 'DeploymentFailed');
    assert.equal(error.target, id('bad'));
    assert.deepEqual(error.details, [{ code: 'SkuNotAvailable', message: 'Not here.', target: id('bad') }]);
    assert.match(error.message, /slowWidgets\/bad: SkuNotAvailable: Not here\./);
    assert.match(error.advice ?? '', /another size or location/);
    return true;
  });
  assert.equal((await arm.get(id('good'), '2024-01-01')).name, 'good', 'what could be done is done');
});

test('a deployment of the same name that is under way is waited for, then ours is applied', async (t) => {
  const { arm, azure, deployment, id, waits } = await cloudWithGroup(t, { profile: 'demo' });
  const first = deploy(arm, deployment([widget('first')]));
  const settled = Promise.all([first, started(waits).then(() => deploy(arm, deployment([widget('second')])))]);
  let done = false;
  const ending = settled.finally(() => {
    done = true;
  });
  while (!done) {
    await azure.azure.world.clock.advance(1000);
    await new Promise(setImmediate);
  }
  await ending;
  assert.ok(waits.includes(unsaidPollMs), 'the second looked at the first');
  for (const name of ['first', 'second']) assert.equal((await arm.get(id(name), '2024-01-01')).name, name);
});

/** Between looks at what no answer says how often to look at. */
const unsaidPollMs = 5000;

/** When the client has begun to wait for something. */
async function started(waits: readonly number[]): Promise<void> {
  while (waits.length === 0) await new Promise(setImmediate);
}
