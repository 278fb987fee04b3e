// Checks the recordings of the conformance suite against the real kube-apiserver at hand; record.ts renews them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../peers.ts';
import { startRealServer } from './cases/real-server.ts';
import { runCase } from './cases/run-case.ts';
import { groups, recorded } from './suite.ts';

test('a real kube-apiserver answers as it was recorded to', async (t) => {
  const programs = needs(t, 'kube');
  if (programs === undefined) return;
  const server = await startRealServer(programs);
  t.after(() => server.stop());
  for (const [group, cases] of Object.entries(groups)) {
    const recordings = recorded(group);
    for (const one of cases) {
      await t.test(`${group}: ${one.name}`, async () => {
        assert.deepEqual(await runCase(server.wire, one), recordings.get(one.name)?.told);
      });
    }
  }
});
