import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanDuration, since } from './age.ts';

test('durations are shortened as they grow', () => {
  const minute = 60;
  const hour = 60 * minute;
  const day = 24 * hour;
  const forms: readonly (readonly [seconds: number, text: string])[] = [
    [-5, '<invalid>'],
    [-1, '0s'],
    [0, '0s'],
    [119, '119s'],
    [2 * minute, '2m'],
    [3 * minute + 20, '3m20s'],
    [10 * minute + 5, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [8 * hour + minute, '8h'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [3 * day + 4 * hour, '3d4h'],
    [8 * day + 4 * hour, '8d'],
    [400 * day, '400d'],
    [740 * day, '2y10d'],
    [730 * day, '2y'],
    [10 * 365 * day, '10y'],
  ];
  for (const [seconds, text] of forms) assert.equal(humanDuration(seconds * 1000), text);
});

test('what has no time is of unknown age', () => {
  assert.equal(since(undefined, 0), '<unknown>');
  assert.equal(since(null, 0), '<unknown>');
  assert.equal(since('1970-01-01T00:00:00Z', 5000), '5s');
});
