import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import go from './fixtures/go-libraries.json' with { type: 'json' };
import { compareSequenceIds, createSequence, isSequenceId } from './sequence-id.ts';

const epoch = 1_288_834_974_657;

describe('sequence ids', () => {
  test('are snowflakes of node 1', () => {
    for (const { id, time, node } of go.snowflakes.filter(({ node }) => node === 1)) {
      assert.equal(createSequence(() => time).next(), id, `node ${node}`);
    }
  });

  test('grow within one millisecond, and beyond the steps that one has', () => {
    const sequence = createSequence(() => epoch + 1000);
    let last = sequence.next();
    for (let count = 0; count < 10_000; count++) {
      const next = sequence.next();
      assert.equal(compareSequenceIds(next, last), 'newer');
      last = next;
    }
  });

  test('grow when the clock goes back', () => {
    let clock = epoch + 5000;
    const sequence = createSequence(() => clock);
    const before = sequence.next();
    clock -= 4000;
    assert.equal(compareSequenceIds(sequence.next(), before), 'newer');
  });

  test('grow from what an earlier run handed out, although the clock was set back since', () => {
    const before = createSequence(() => epoch + 90_000).next();
    const sequence = createSequence(() => epoch + 1000);
    sequence.observe(before);
    sequence.observe('no id');
    assert.equal(compareSequenceIds(sequence.next(), before), 'newer');
  });

  test('are compared by time, then step', () => {
    assert.equal(compareSequenceIds('4198401', '4198400'), 'newer');
    assert.equal(compareSequenceIds('4198400', '4198401'), 'older');
    assert.equal(compareSequenceIds('4198400', '4198400'), 'same');
    assert.equal(compareSequenceIds('8392704', '4198401'), 'newer');
  });

  test('are newer than none, and none is newer than none', () => {
    assert.equal(compareSequenceIds('4198400', ''), 'newer');
    assert.equal(compareSequenceIds('', ''), 'newer');
    assert.equal(compareSequenceIds('', '4198400'), 'incomparable');
  });

  test('of different nodes, and what is none, cannot be compared', () => {
    assert.equal(compareSequenceIds('2000808229721572352', '2000808179721572352'), 'incomparable');
    for (const text of ['x', '-1', '1.5', '01', '9223372036854775808', '1'.repeat(100)]) {
      assert.equal(isSequenceId(text), false, text);
      assert.equal(compareSequenceIds(text, '4198400'), 'incomparable');
      assert.equal(compareSequenceIds(text, ''), 'incomparable');
    }
  });
});
