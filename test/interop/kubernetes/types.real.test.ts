// Checks the recordings of type-cases/, table-cases.ts and discovery against the real kube-apiserver at hand; record-types.ts
// renews them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../src/local/kubernetes/object.ts';
import { needs } from '../../peers.ts';
import type { Json } from './cases/case.ts';
import { normalise } from './cases/normalise.ts';
import { runCases, startTypesServer } from './type-cases/run-cases.ts';

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Several faults are named in no particular order, in the message as in the causes; one may quote a generated name. */
function comparable(value: JsonValue | undefined): Json {
  const text = JSON.stringify(value ?? null).replace(/A_[a-z0-9]{5}/g, 'A_<random>');
  const copy = JSON.parse(text) as JsonValue;
  if (isObject(copy) && isObject(copy.details) && Array.isArray(copy.details.causes)) {
    copy.message = String(copy.message)
      .split(/[,[\]] ?/)
      .sort();
    copy.details.causes.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  return normalise(copy as Json);
}

test('a real kube-apiserver makes of objects what it was recorded to', async (t) => {
  const programs = needs(t, 'kube');
  if (programs === undefined) return;
  const server = await startTypesServer(programs);
  t.after(() => server.stop());
  for (const [part, answers] of Object.entries(await runCases(server))) {
    const recorded = JSON.parse(
      readFileSync(new URL(`./data/types-${part}.json`, import.meta.url), 'utf8'),
    ) as Readonly<Record<string, JsonValue>>;
    await t.test(part, async (inner) => {
      assert.deepEqual(Object.keys(answers), Object.keys(recorded), 'other cases were recorded');
      for (const [name, answer] of Object.entries(answers)) {
        await inner.test(name, () => assert.deepEqual(comparable(answer), comparable(recorded[name])));
      }
    });
  }
});
