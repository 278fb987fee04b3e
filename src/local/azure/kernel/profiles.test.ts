import assert from 'node:assert/strict';
import test from 'node:test';
import { durationOf, profiles } from './profiles.ts';

test('the longest pattern that fits says how long a verb takes', () => {
  const profile = {
    ...profiles.demo,
    durations: { '*': 1, 'a.b/*': 2, 'a.b/c/*': 3, 'a.b/c/create': 4 },
  };
  assert.equal(durationOf(profile, 'A.B/C', 'create'), 4);
  assert.equal(durationOf(profile, 'A.B/C', 'delete'), 3);
  assert.equal(durationOf(profile, 'a.b/d', 'delete'), 2);
  assert.equal(durationOf(profile, 'x.y/z', 'restart'), 1);
});

test('patterns are folded, so that they can fit, and times are none that go back', () => {
  for (const [name, profile] of Object.entries(profiles)) {
    assert.equal(profile.name, name);
    for (const [pattern, ms] of Object.entries(profile.durations)) {
      assert.equal(pattern, pattern.toLowerCase());
      assert.ok(ms >= 0, pattern);
    }
  }
  assert.ok(Object.values(profiles.instant.durations).every((ms) => ms === 0));
});
