// Checks the recording of crd-cases/ against the real kube-apiserver at hand; record-crd.ts renews it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { needs } from '../../peers.ts';
import { cases } from './crd-cases/cases.ts';
import { comparable } from './crd-cases/comparable.ts';
import { type RecordedCase, runCases } from './crd-cases/run-cases.ts';
import { startApiServer } from './real-api-server.ts';

test('a real kube-apiserver answers about custom resources as it was recorded to', async (t) => {
  const programs = needs(t, 'kube');
  if (programs === undefined) return;
  const server = await startApiServer(programs);
  t.after(() => server.stop());
  const recorded = JSON.parse(
    readFileSync(new URL('./recorded/crd.json', import.meta.url), 'utf8'),
  ) as readonly RecordedCase[];
  for (const [index, { name, steps }] of (await runCases(server, cases)).entries()) {
    await t.test(name, () => {
      const before = recorded[index];
      assert.equal(before?.name, name, 'the case is not recorded');
      assert.deepEqual(
        steps.map(({ status, answer }) => [status, comparable(answer)]),
        before.steps.map(({ status, answer }) => [status, comparable(answer)]),
      );
    });
  }
});
