import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkStates, keepWritten } from './work-state.ts';

const watch = () => ({ get: () => 'absent' as const, release: () => undefined });
const version = (resourceVersion: string) => ({ metadata: { name: 'o', resourceVersion } });

test('a change that was not seen names every work of the object, once; one that was seen names none', async () => {
  const looks: string[] = [];
  const { promise: last, resolve } = Promise.withResolvers<void>();
  const states = createWorkStates((name) => {
    looks.push(name);
    if (name === 'last') resolve();
  });
  const [one, two, seen] = ['one', 'two', 'seen'].map((name) => states.of(name));
  for (const state of [one, two, seen]) if (state) states.object(state, 'o', watch);
  const object = seen && states.object(seen, 'o', watch);
  if (object) object.seen = '7';
  states.changed('o', '6');
  states.changed('o', '7');
  states.changed('another', '8');
  states.object(states.of('last'), 'l', watch);
  states.changed('l', '1');
  await last;
  assert.deepEqual(looks, ['one', 'two', 'last']);
  assert.ok(states.isWanted('o'));
  states.clear();
  assert.ok(!states.isWanted('o'));
});

test('what was written counts until the watch has told of it, whichever comes first', () => {
  const states = createWorkStates(() => undefined);
  const object = states.object(states.of('w'), 'o', watch);
  keepWritten(object, version('5'), object.tellings);
  states.changed('o', '4');
  assert.equal(object.written?.metadata.resourceVersion, '5', 'an older version is old news');
  states.changed('o', '5');
  assert.equal(object.written, undefined);

  const since = object.tellings;
  states.changed('o', '8');
  keepWritten(object, version('7'), since);
  assert.equal(object.written, undefined, 'somebody changed it before the answer came');
  states.changed('o', undefined);
  keepWritten(object, version('9'), since);
  assert.equal(object.written, undefined, 'somebody deleted it before the answer came');
  states.clear();
});

test('objects that are not kept are let go', () => {
  const released: string[] = [];
  const states = createWorkStates(() => undefined);
  const state = states.of('w');
  for (const key of ['a', 'b']) {
    states.object(state, key, () => ({ get: () => 'absent' as const, release: () => released.push(key) }));
  }
  states.keep(state, new Set(['a']));
  assert.deepEqual([released, states.isWanted('a'), states.isWanted('b')], [['b'], true, false]);
  states.forget('w');
  assert.deepEqual(released, ['b', 'a']);
});
