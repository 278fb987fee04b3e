import assert from 'node:assert/strict';
import test from 'node:test';
import { createGate } from './gate.ts';

test('those that share run together, one that is alone runs alone, in the order of asking', async () => {
  const gate = createGate();
  const seen: string[] = [];
  const held = Promise.withResolvers<void>();
  const work = (name: string) => async () => {
    seen.push(`${name} in`);
    await held.promise;
    seen.push(`${name} out`);
  };
  const all = [gate.shared(work('a')), gate.shared(work('b')), gate.exclusive(work('c')), gate.shared(work('d'))];
  await new Promise(setImmediate);
  assert.deepEqual(seen, ['a in', 'b in']);
  held.resolve();
  await Promise.all(all);
  assert.deepEqual(seen, ['a in', 'b in', 'a out', 'b out', 'c in', 'c out', 'd in', 'd out']);
});

test('an error leaves the gate open', async () => {
  const gate = createGate();
  await assert.rejects(gate.exclusive(() => Promise.reject(new Error('no'))));
  await assert.rejects(gate.shared(() => Promise.reject(new Error('no'))));
  assert.equal(await gate.exclusive(async () => 1), 1);
});
