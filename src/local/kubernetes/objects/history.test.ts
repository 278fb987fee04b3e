import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changesAfter, createHistory, newPast } from './history.ts';
import type { Change } from './objects.ts';

function change(revision: number, bytes = 10): Change {
  const entry = { type: '/pods', namespace: '', name: 'a', uid: '', revision, bytes: Buffer.alloc(bytes) };
  return {
    kind: 'ADDED',
    entry: { ...entry, labels: undefined, fields: undefined, owners: undefined },
    before: undefined,
  };
}

const revisions = (changes: readonly Change[]) => changes.map(({ entry }) => entry.revision);

describe('the history of changes', () => {
  it('keeps the newest within one budget for all, forgetting the oldest first', () => {
    const history = createHistory({ events: 8, bytes: 1000 });
    const pasts = Array.from({ length: 6 }, () => newPast(0));
    for (let revision = 1; revision <= 12; revision++) {
      const past = pasts[revision % 6];
      if (past) history.remember(past, change(revision));
    }
    assert.deepEqual(
      pasts.map((past) => [past.floor, past.events]),
      [
        [0, 2],
        [1, 1],
        [2, 1],
        [3, 1],
        [4, 1],
        [0, 2],
      ],
    );
  });

  it('lets one type have a part of the budget only, so that it does not push out the others', () => {
    const history = createHistory({ events: 16, bytes: 4000 });
    const [quiet, busy, large] = [newPast(0), newPast(0), newPast(0)];
    history.remember(quiet, change(1));
    for (let revision = 1; revision <= 1000; revision++) history.remember(busy, change(revision));
    for (let revision = 1; revision <= 10; revision++) history.remember(large, change(revision, 400));
    assert.deepEqual(revisions(changesAfter(quiet, 0)), [1]);
    assert.deepEqual(revisions(changesAfter(busy, 996)), [997, 998, 999, 1000]);
    assert.throws(() => changesAfter(busy, 995), /too old resource version: 995 \(996\)/);
    assert.deepEqual(revisions(changesAfter(large, 8)), [9, 10]);
    assert.throws(() => changesAfter(large, 7), /too old resource version: 7 \(8\)/);
  });

  it('has room again for others when a type is forgotten', () => {
    const history = createHistory({ events: 8, bytes: 1000 });
    const pasts = [newPast(0), newPast(0), newPast(0), newPast(0)];
    for (const past of pasts)
      for (let revision = 1; revision <= 2; revision++) history.remember(past, change(revision));
    const [first = newPast(0), second = newPast(0)] = pasts;
    history.forget(second);
    assert.deepEqual([second.events, second.bytes], [0, 0]);
    const other = newPast(0);
    for (let revision = 1; revision <= 2; revision++) history.remember(other, change(revision));
    assert.deepEqual(revisions(changesAfter(first, 0)), [1, 2]);
    assert.deepEqual(revisions(changesAfter(other, 1)), [2]);
  });
});
