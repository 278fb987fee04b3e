// kubectl's daily commands: the embedded server against what a real one was recorded to answer, and the real one, where it is at
// hand, against its recording; kubectl/record.ts renews it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { needs } from '../../peers.ts';
import { namespaceOf, type Told } from './kubectl/run-case.ts';
import { expected, groups, recorded, runCases } from './kubectl/suite.ts';
import { type RunningTarget, startEmbedded, startReal } from './kubectl/targets.ts';
import { hasControllers } from './real-api-server.ts';

const all = Object.values(groups).flat();

test('every case has a namespace of its own, and a third of the commands are refused', () => {
  assert.equal(new Set(all.map(namespaceOf)).size, all.length);
  const told = Object.keys(groups).flatMap((group) => [...recorded(group).values()].flatMap((one) => one.told));
  const refused = told.filter(({ code }) => code !== undefined && code !== 0);
  assert.ok(told.length >= 100, `${told.length} commands`);
  assert.ok(refused.length * 3 >= told.length, `${refused.length} of ${told.length} are refused`);
});

async function compare(
  t: TestContext,
  kubectl: string,
  target: RunningTarget,
  expecting: (told: Told) => Told,
): Promise<void> {
  t.after(() => target.stop());
  for (const [group, cases] of Object.entries(groups)) {
    const recordings = recorded(group);
    await runCases(kubectl, target, cases, ({ name }, outcome) =>
      t.test(`${group}: ${name}`, async () => {
        const { print, told } = await outcome;
        const recording = recordings.get(name);
        assert.ok(recording, 'the case is not recorded');
        assert.equal(print, recording.print, 'other commands were recorded');
        assert.deepEqual(told, recording.told.map(expecting));
      }),
    );
  }
}

test('kubectl prints of the embedded server what it was recorded to print of a real one', {
  concurrency: true,
}, async (t) => {
  const kubectl = needs(t, 'kubectl');
  if (kubectl === undefined) return;
  await compare(t, kubectl, await startEmbedded(), expected);
});

test('kubectl prints of a real server what it was recorded to', { concurrency: true }, async (t) => {
  const kubectl = needs(t, 'kubectl');
  const programs = needs(t, 'kube');
  if (kubectl === undefined || programs === undefined) return;
  if (!hasControllers(programs)) {
    t.skip('there is no kube-controller-manager beside kube-apiserver');
    return;
  }
  await compare(t, kubectl, await startReal(programs), (told) => told);
});
