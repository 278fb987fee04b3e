import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createThrottle } from './throttle.ts';

const limits = {
  reads: { capacity: 2, refillPerSecond: 1 },
  writes: { capacity: 1, refillPerSecond: 0.1 },
  deletes: { capacity: 1, refillPerSecond: 1 },
};

test('a bucket empties with calls and fills with time', () => {
  let now = 0;
  const throttle = createThrottle(
    () => limits,
    () => now,
  );
  assert.equal(throttle.take('s', 'p', 'reads'), 1);
  assert.equal(throttle.take('s', 'p', 'reads'), 0);
  assert.throws(() => throttle.take('s', 'p', 'reads'), { status: 429, retryAfterSeconds: 1 });
  assert.equal(throttle.take('s', 'other', 'reads'), 1, 'principals are counted apart');
  assert.equal(throttle.take('t', 'p', 'reads'), 1, 'and subscriptions');
  assert.equal(throttle.take(undefined, 'p', 'writes'), 0, 'and kinds of calls');
  assert.throws(() => throttle.take(undefined, 'p', 'writes'), { code: 'TooManyRequests', retryAfterSeconds: 10 });
  now = 1000;
  assert.equal(throttle.take('s', 'p', 'reads'), 0);
  now = 1_000_000;
  assert.equal(throttle.take('s', 'p', 'reads'), 1, 'never more than it holds');
});
