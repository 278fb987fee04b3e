import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countAttempts } from './attempts.ts';

test('wrong guesses lock a name for a while; a right one forgives', () => {
  let now = 0;
  const attempts = countAttempts({ allowed: 3, waitSeconds: 60, remembered: 10 }, () => now);
  attempts.wrong('a');
  attempts.wrong('a');
  attempts.right('a');
  attempts.wrong('a');
  attempts.wrong('a');
  assert.equal(attempts.isLocked('a'), false);
  attempts.wrong('a');
  assert.equal(attempts.isLocked('a'), true);
  assert.equal(attempts.isLocked('b'), false);
  now = 60_000;
  assert.equal(attempts.isLocked('a'), false);
  attempts.wrong('a');
  assert.equal(attempts.isLocked('a'), true, 'after the wait one wrong guess is enough');
});

test('no more names are remembered than allowed', () => {
  const attempts = countAttempts({ allowed: 1, waitSeconds: 60, remembered: 2 }, () => 0);
  for (const name of ['a', 'b', 'c']) attempts.wrong(name);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => attempts.isLocked(name)),
    [false, true, true],
  );
});
