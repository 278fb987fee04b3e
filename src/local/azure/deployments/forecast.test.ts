import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../kernel/record.ts';
import { inGroup, main } from './testing/checks.ts';
import { group, startCloud } from './testing/cloud.ts';
import { template, thing } from './testing/templates.ts';

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
