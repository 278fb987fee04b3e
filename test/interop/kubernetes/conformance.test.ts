// Holds the embedded server to what a real kube-apiserver was recorded to answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueStaticToken } from '../../../src/local/kubernetes/access/static-tokens.ts';
import { portOf, startServer } from '../../../src/local/kubernetes/http/testing/server.ts';
import { namespaceOf, printOf, runCase } from './cases/run-case.ts';
import { openWire } from './cases/wire.ts';
import { differences, expected, groups, recorded } from './suite.ts';

const all = Object.values(groups).flat();

test('every case has a name and a namespace of its own, and a third of them are refusals', () => {
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  assert.equal(new Set(all.map(namespaceOf)).size, all.length);
  const recordings = Object.keys(groups).flatMap((group) => [...recorded(group).values()]);
  const refusals = recordings.filter(({ told }) => told.some(({ status }) => status >= 400));
  assert.ok(refusals.length * 3 >= all.length, `${refusals.length} of ${all.length} are refusals`);
});

test('every known difference is that of a case', () => {
  const names = new Set(all.map(({ name }) => name));
  assert.deepEqual(
    [...differences.keys()].filter((name) => !names.has(name)),
    [],
  );
});

for (const [group, cases] of Object.entries(groups)) {
  test(`${group}: the embedded server answers as the real one was recorded to`, async (t) => {
    const running = await startServer(t);
    const cluster = running.clusters.find('one');
    assert.ok(cluster);
    const token = await issueStaticToken(cluster.objects, { user: 'admin', groups: ['system:masters'] });
    const wire = await openWire(`https://127.0.0.1:${portOf(running)}`, token.reveal(), {
      servername: cluster.hostName,
      ca: await cluster.ca(),
    });
    t.after(() => wire.close());
    const recordings = recorded(group);
    for (const one of cases) {
      await t.test(one.name, async () => {
        const recording = recordings.get(one.name);
        assert.ok(recording, 'the case is not recorded');
        assert.equal(printOf(one), recording.print, 'other requests were recorded');
        const compare = async () => assert.deepEqual(await runCase(wire, one), recording.told.map(expected));
        if (differences.has(one.name))
          await assert.rejects(compare, assert.AssertionError, 'the known difference has gone');
        else await compare();
      });
    }
  });
}
