import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { ArmError } from '../../../../arm/errors.ts';
import { profiles } from '../../kernel/profiles.ts';
import type { JsonObject } from '../../kernel/record.ts';
import { caller, group, idOf, openCloud, startCloud } from '../testing/cloud.ts';
import { nested, template, thing } from '../testing/templates.ts';

const main = `${group}/providers/Microsoft.Resources/deployments/main`;
const inner = { expressionEvaluationOptions: { scope: 'inner' } };
/** Machines take an hour, all else nothing. */
const slow = { ...profiles.instant, durations: { '*': 0, 'microsoft.test/machines/*': 3_600_000 } };

test('a deployment under way refuses another and tells its state', async (t) => {
  const cloud = await startCloud(t, { profile: slow });
  const operation = await cloud.begin(main, template([thing('machines', 'vm')]));
  await cloud.appears(`${group}/providers/Microsoft.Test/machines/vm`);
  assert.equal((await cloud.get(main))?.properties?.provisioningState, 'Running');
  await assert.rejects(cloud.begin(main, template([])), (error: ArmError) => {
    assert.deepEqual([error.status, error.code], [409, 'DeploymentActive']);
    return true;
  });
  await cloud.clock.advance(3_600_000);
  await cloud.world.resources.finished(operation);
  const shown = await cloud.get(main);
  assert.equal(shown?.properties?.provisioningState, 'Succeeded');
  assert.match(String(shown?.properties?.duration), /^PT1H/);
});

test('a cancelled deployment begins nothing more, nor does what is nested in it', async (t) => {
  const cloud = await startCloud(t, { profile: slow });
  const follows = (name: string) => [thing('machines', name), thing('cards', `after-${name}`, { dependsOn: [name] })];
  const operation = await cloud.begin(
    main,
    template([...follows('vm'), nested('inner', template(follows('deep')), {}, inner)]),
  );
  await cloud.appears(`${group}/providers/Microsoft.Test/machines/vm`);
  await cloud.appears(`${group}/providers/Microsoft.Test/machines/deep`);
  const act = () =>
    cloud.world.resources.act(idOf(main), 'cancel', { apiVersion: '2024-03-01', body: undefined, query: {}, caller });
  assert.deepEqual(await act(), {});
  await cloud.clock.advance(3_600_000);
  await cloud.world.resources.finished(operation);
  assert.equal((await cloud.get(main))?.properties?.provisioningState, 'Canceled');
  const innerId = `${group}/providers/Microsoft.Resources/deployments/inner`;
  assert.equal((await cloud.get(innerId))?.properties?.provisioningState, 'Canceled');
  assert.equal(await cloud.get(`${group}/providers/Microsoft.Test/cards/after-vm`), undefined);
  assert.equal(await cloud.get(`${group}/providers/Microsoft.Test/cards/after-deep`), undefined);
  await assert.rejects(act(), (error: ArmError) => error.code === 'DeploymentCannotBeCancelled');
});

test('a deployment goes on after an orderly stop', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'deployments-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'store.db');
  const first = await startCloud(t, { file, profile: slow });
  const operation = await first.begin(
    main,
    template([thing('machines', 'vm'), thing('cards', 'after', { dependsOn: ['vm'] })]),
  );
  await first.appears(`${group}/providers/Microsoft.Test/machines/vm`);
  await first.stop();
  const second = await openCloud({ file, profile: slow });
  t.after(() => second.stop());
  assert.equal((await second.get(main))?.properties?.provisioningState, 'Running');
  await second.clock.advance(3_600_000);
  await second.world.resources.finished(operation);
  assert.equal((await second.get(main))?.properties?.provisioningState, 'Succeeded');
  assert.ok(await second.get(`${group}/providers/Microsoft.Test/cards/after`));
});

test('a deployment that is killed again and again deploys everything, once it is let', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'deployments-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'store.db');
  const children: ChildProcess[] = [];
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  const count = 60;
  const killAfter = [5, 17, 30, 42];
  let outcome: JsonObject | undefined;
  for (let round = 0; outcome === undefined; round++) {
    assert.ok(round < 12, 'it comes to an end');
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '../testing/deploying-process.ts'), file, String(count)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    children.push(child);
    let cards = 0;
    const limit = killAfter[round];
    for await (const line of createInterface({ input: child.stdout })) {
      const told = JSON.parse(line) as { card?: string; end?: JsonObject };
      if (told.end !== undefined) outcome = told.end;
      if (told.card !== undefined && ++cards === limit) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  assert.equal(outcome.provisioningState, 'Succeeded', JSON.stringify(outcome.error));
  assert.deepEqual(outcome.outputs, { last: { type: 'String', value: `of ${count - 1}` } });
  const cloud = await openCloud({ file });
  t.after(() => cloud.stop());
  const records = await cloud.world.resources.list({ group, type: 'Microsoft.Test/cards' });
  assert.equal(records.length, 2 * count);
  assert.ok(
    records.every(
      (record) => record.operation === undefined && record.resource.properties?.provisioningState === 'Succeeded',
    ),
  );
  const { value } = (await cloud.route('GET', group, 'deployments/main/operations')) as {
    value: { properties: JsonObject }[];
  };
  assert.equal(value.length, count + 1);
  assert.ok(value.every((step) => step.properties.provisioningState === 'Succeeded'));
});

test('loops nested in loops do not deploy without end', async (t) => {
  const cloud = await startCloud(t, { nestedResourcesMax: 20 });
  let body = template([]);
  for (let level = 0; level < 3; level++) {
    body = template([
      nested(
        `[concat('l${level}-', uniqueString(deployment().name), copyIndex())]`,
        body,
        { copy: { name: 'l', count: 4 } },
        inner,
      ),
    ]);
  }
  const shown = await cloud.deploy(main, body);
  assert.equal(shown.properties?.provisioningState, 'Failed');
  assert.match(JSON.stringify(shown.properties?.error), /more than '20' resources/);
});

test('a nested deployment that would deploy one around it is refused', async (t) => {
  const cloud = await startCloud(t);
  const circle = template([nested('inner', template([nested('main', template([]), {}, inner)]), {}, inner)]);
  const shown = await cloud.deploy(main, circle);
  assert.match(JSON.stringify(shown.properties?.error), /DeploymentActive/);
  await assert.rejects(
    cloud.deploy(main, template([nested('main', template([]), {}, inner)])),
    (error: Error) => error instanceof ArmError && /cannot deploy itself/.test(error.message),
  );
});
