import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSettled, repairWaitMs, type Settled, settledAfter } from './settled.ts';

const object = (generation: number | undefined, data = {}) => ({
  metadata: { uid: 'u', ...(generation === undefined ? {} : { generation }) },
  data,
});

test('an object is settled until its contents change, by its generation where it counts those', () => {
  const counted = settledAfter(undefined, 'd', object(3), 0);
  assert.ok(isSettled(counted, 'd', object(3, { status: 'changed' })));
  assert.ok(!isSettled(counted, 'd', object(4)));
  assert.ok(!isSettled(counted, 'other', object(3)));
  const hashed = settledAfter(undefined, 'd', object(undefined, { a: 1 }), 0);
  assert.ok(isSettled(hashed, 'd', { ...object(undefined, { a: 1 }), status: { x: 1 } }));
  assert.ok(!isSettled(hashed, 'd', object(undefined, { a: 2 })));
});

test('who changes an object again and again is answered less and less often, up to every five minutes', () => {
  let settled: Settled | undefined = settledAfter(undefined, 'd', object(1), 0);
  let now = 0;
  const waits: number[] = [];
  for (let round = 0; round < 14; round++) {
    const wait = repairWaitMs(settled, 'd', now);
    waits.push(wait / 1000);
    now += wait;
    settled = settledAfter(settled, 'd', object(1), now);
  }
  assert.deepEqual(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300]);
  assert.equal(repairWaitMs(settled, 'another spec', now), 0);
  settled = settledAfter(settled, 'd', object(1), now + 16 * 60 * 1000);
  assert.equal(settled.repairs?.count, 1);
});
