import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { StoredEntry } from './entry.ts';
import { SortedEntries } from './sorted-entries.ts';

function entry(key: string, revision = 1): StoredEntry {
  const [namespace = '', name = ''] = key.split('/');
  const none = { labels: undefined, fields: undefined, owners: undefined };
  return { type: '/pods', namespace, name, uid: key, revision, bytes: Buffer.alloc(0), ...none, key, row: 0 };
}

const keys = (entries: readonly StoredEntry[]) => entries.map(({ key }) => key);

describe('sorted entries', () => {
  it('are in order however they came, through thousands of inserts and deletes', () => {
    const number = fc.integer({ min: 0, max: 9999 });
    const step = fc.record({
      seed: number,
      stride: fc.constantFrom(1, 7, 7919, -1, -13),
      count: number,
      add: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), number, number, (steps, low, high) => {
        const entries = new SortedEntries();
        const model = new Map<string, StoredEntry>();
        for (const { seed, stride, count, add } of steps) {
          for (let index = 0; index < count; index++) {
            const value = (((seed + index * stride) % 10_000) + 10_000) % 10_000;
            const key = `n${value % 3}/${value}`;
            if (add) {
              const made = entry(key, index);
              entries.set(made);
              model.set(key, made);
            } else {
              entries.delete(key);
              model.delete(key);
            }
          }
        }
        const sorted = [...model.keys()].sort();
        assert.deepEqual(keys(entries.slice(undefined, undefined)), sorted);
        assert.equal(entries.size, model.size);
        const [from, to] = [`n1/${low}`, `n1/${high}`];
        const between = sorted.filter((key) => key >= from && key < to);
        assert.deepEqual(keys(entries.slice(from, to)), between);
        assert.deepEqual(keys(entries.slice(from, to, 5)), between.slice(0, 5));
        assert.equal(entries.count(from, to), between.length);
        for (const key of sorted.slice(0, 50)) assert.equal(entries.get(key), model.get(key));
        assert.equal(entries.get('n1/none'), undefined);
      }),
      { numRuns: 30 },
    );
  });

  it('are found and counted when there are none', () => {
    const entries = new SortedEntries();
    entries.delete('a/b');
    assert.equal(entries.get('a/b'), undefined);
    assert.deepEqual(entries.slice('a', 'b'), []);
    assert.equal(entries.count('a', 'b'), 0);
  });
});
