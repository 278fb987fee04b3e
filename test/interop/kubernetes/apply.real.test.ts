// Checks the recording of apply-cases/ against the real kube-apiserver at hand; record-apply.ts renews it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { needs } from '../../peers.ts';
import type { Json } from './apply-cases/case.ts';
import { cases } from './apply-cases/cases.ts';
import { type RecordedCase, runCases, startBareServer } from './apply-cases/run-cases.ts';
import { normalise } from './cases/normalise.ts';

const isMap = (value: Json): value is { [member: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The server names several conflicts and errors in no particular order. */
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isMap(value)) return value;
  const members = Object.entries(value).map(([member, content]): [string, Json] => {
    if (member === 'message' && typeof content === 'string') return [member, content.split('\n').sort()];
    const inner = inOrder(content);
    return [member, member === 'causes' && Array.isArray(inner) ? sorted(inner) : inner];
  });
  return Object.fromEntries(members);
}

const sorted = (list: Json[]): Json[] =>
  list.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

const comparable = ({ status, live, result }: RecordedCase): unknown =>
  normalise(inOrder({ status, live, result }) as never);

test('a real kube-apiserver tracks fields, applies and patches as it was recorded to', async (t) => {
  const programs = needs(t, 'kube');
  if (programs === undefined) return;
  const server = await startBareServer(programs);
  t.after(() => server.stop());
  const recorded = JSON.parse(
    readFileSync(new URL('./recorded/apply.json', import.meta.url), 'utf8'),
  ) as readonly RecordedCase[];
  for (const [index, one] of (await runCases(server, cases)).entries()) {
    await t.test(one.name, () => {
      const before = recorded[index];
      assert.equal(before?.name, one.name, 'the case is not recorded');
      assert.deepEqual(comparable(one), comparable(before));
    });
  }
});
