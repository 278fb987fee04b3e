// The Azure CLI against a fresh cloud: signing in, and what people do with it. record.ts renews the recordings that az.test.ts replays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../peers.ts';
import { assertContains } from './printed.ts';
import { readRecordings, startSession } from './session.ts';
import { steps } from './steps.ts';

test('az works with a local cloud', async (t) => {
  const program = needs(t, 'az');
  if (program === undefined) return;
  const session = await startSession(program);
  t.after(() => session.stop());
  const recorded = readRecordings();
  // Another az may ask in another way; this one must still ask as it was recorded to.
  const sameAz = recorded.version === session.az.version;
  for (const step of steps) {
    await t.test(step.name, async () => {
      const { ran, recording } = await session.run(step);
      if (step.fails) {
        assert.notEqual(ran.code, 0);
        assert.match(ran.stderr, step.fails);
      } else assert.equal(ran.code, 0, ran.stderr);
      if (step.prints !== undefined) assertContains(JSON.parse(ran.stdout), step.prints);
      const before = recorded.recordings.find((one) => one.step === step.name);
      if (!sameAz || !before) return;
      // az makes up names of deployments.
      const asked = ({ exchanges }: typeof recording) =>
        exchanges.map(({ method, url }) => `${method} ${url.replace(/_deploy_\w+/, '_deploy_')}`);
      assert.deepEqual(asked(recording), asked(before));
    });
  }
});
