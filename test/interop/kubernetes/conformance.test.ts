// Holds the embedded server to what a real kube-apiserver was recorded to answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEmbeddedServer } from './cases/embedded-server.ts';
import { namespaceOf, printOf, runCase } from './cases/run-case.ts';
import { differences, expected, groups, pinned, recorded, startedAgain } from './suite.ts';

const all = Object.values(groups).flat();
const mostDifferences = 20;

test('every case has a name and a namespace of its own, and a third of them are refusals', () => {
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  assert.equal(new Set(all.map(namespaceOf)).size, all.length);
  const recordings = Object.keys(groups).flatMap((group) => [...recorded(group).values()]);
  const refusals = recordings.filter(({ told }) => told.some(({ status }) => status >= 400));
  assert.ok(refusals.length * 3 >= all.length, `${refusals.length} of ${all.length} are refusals`);
});

test('every known difference is that of a case, its answer is pinned, and there are at most 20', () => {
  const names = new Set(all.map(({ name }) => name));
  assert.deepEqual(
    [...differences.keys()].filter((name) => !names.has(name)),
    [],
  );
  assert.deepEqual(new Set(pinned().keys()), new Set(differences.keys()));
  assert.ok(differences.size <= mostDifferences, `there are ${differences.size}`);
});

for (const [group, cases] of Object.entries(groups)) {
  test(`${group}: the embedded server answers as the real one was recorded to`, async (t) => {
    const { wire, stop } = await startEmbeddedServer(startedAgain.has(group));
    t.after(stop);
    const recordings = recorded(group);
    for (const one of cases) {
      await t.test(one.name, async () => {
        const recording = recordings.get(one.name);
        assert.ok(recording, 'the case is not recorded');
        assert.equal(printOf(one), recording.print, 'other requests were recorded');
        const told = await runCase(wire, one);
        if (!differences.has(one.name)) {
          assert.deepEqual(told, recording.told.map(expected));
          return;
        }
        assert.notDeepEqual(told, recording.told.map(expected), 'the known difference has gone');
        assert.deepEqual(told, pinned().get(one.name), 'the answer differs from the known difference');
      });
    }
  });
}
