import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, findCondition, isConditionTrue, withCondition, withoutCondition } from './conditions.ts';

const noon = Date.UTC(2026, 0, 1, 12);
const ready = { type: 'Ready', status: 'False', reason: 'Starting', message: 'not yet' } as const;

test('a new condition is added at the end, with the time in whole seconds', () => {
  const other: Condition = { ...ready, type: 'Other', lastTransitionTime: '2025-01-01T00:00:00Z' };
  const list = withCondition([other], ready, noon + 999);
  assert.deepEqual(list, [other, { ...ready, lastTransitionTime: '2026-01-01T12:00:00Z' }]);
  assert.equal(isConditionTrue(list, 'Ready'), false);
  assert.equal(findCondition(undefined, 'Ready'), undefined);
});

test('the time changes with the status, and only with it', () => {
  const first = withCondition(undefined, ready, noon);
  const explained = withCondition(
    first,
    { ...ready, reason: 'Waiting', message: 'for nodes', observedGeneration: 2 },
    noon + 5000,
  );
  assert.deepEqual(explained, [
    {
      ...ready,
      reason: 'Waiting',
      message: 'for nodes',
      observedGeneration: 2,
      lastTransitionTime: '2026-01-01T12:00:00Z',
    },
  ]);
  const done = withCondition(explained, { ...ready, status: 'True', reason: 'AsExpected' }, noon + 9000);
  assert.equal(done[0]?.lastTransitionTime, '2026-01-01T12:00:09Z');
  assert.equal(isConditionTrue(done, 'Ready'), true);
});

test('the same again is the same list, so that there is nothing to write', () => {
  const list = withCondition(undefined, ready, noon);
  assert.equal(withCondition(list, { ...ready }, noon + 1000), list);
  assert.equal(withoutCondition(list, 'Other'), list);
  assert.deepEqual(withoutCondition(list, 'Ready'), []);
});

test('members that this program does not know stay', () => {
  const list = [{ ...ready, lastTransitionTime: '2025-01-01T00:00:00Z', severity: 'Info' }];
  const [next] = withCondition(list, { ...ready, status: 'True' }, noon);
  assert.equal(next && 'severity' in next && next.severity, 'Info');
});

test('a reason that the server would refuse is refused', () => {
  for (const reason of ['', 'two words', '1st', 'Ends:']) {
    assert.throws(() => withCondition([], { ...ready, reason }), TypeError, reason);
  }
});
