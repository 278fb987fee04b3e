import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { bucketTargets, type Holder } from './bucket-balance.ts';

/** Live workers holding at most all the buckets between them; the rest is free or held by workers that are gone. */
const pool = fc
  .record({
    buckets: fc.constantFrom(256, 1, 2, 7, 100),
    shares: fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 4 }), fc.nat(300)), {
      selector: ([worker]) => worker,
      minLength: 1,
      maxLength: 40,
    }),
  })
  .map(({ buckets, shares }) => {
    let left = buckets;
    const holders = shares.map(([worker, wanted]): Holder => {
      const holds = Math.min(wanted, left);
      left -= holds;
      return { worker, holds };
    });
    return { buckets, holders };
  });

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

/** Buckets that must change hands to get from here to there. */
function moves(holders: readonly Holder[], targets: ReadonlyMap<string, number>): number {
  return sum(holders.map(({ worker, holds }) => Math.max(0, holds - (targets.get(worker) ?? 0))));
}

/** The holders once everybody has given back what is over its target and claimed what is under it. */
function settled(targets: ReadonlyMap<string, number>): Holder[] {
  return [...targets].map(([worker, holds]) => ({ worker, holds }));
}

/** The fewest moves of any balanced sharing: buckets over the even share, less one for each of the remainder's places. */
function fewestMoves(buckets: number, holders: readonly Holder[]): number {
  const each = Math.floor(buckets / holders.length);
  const over = holders.map(({ holds }) => Math.max(0, holds - each));
  const spared = Math.min(buckets % holders.length, over.filter((count) => count > 0).length);
  return sum(over) - spared;
}

suite('bucket targets', () => {
  test('share out every bucket, to every worker and nobody else', () => {
    fc.assert(
      fc.property(pool, ({ buckets, holders }) => {
        const targets = bucketTargets(buckets, holders);
        assert.equal(sum(targets.values()), buckets);
        assert.deepEqual([...targets.keys()].sort(), holders.map(({ worker }) => worker).sort());
      }),
    );
  });

  test('are at most one apart, also with more workers than buckets', () => {
    fc.assert(
      fc.property(pool, ({ buckets, holders }) => {
        const counts = [...bucketTargets(buckets, holders).values()];
        return Math.max(...counts) - Math.min(...counts) <= 1;
      }),
    );
  });

  test('are the same whatever order the workers are listed in', () => {
    fc.assert(
      fc.property(
        pool.chain(({ buckets, holders }) =>
          fc.record({
            buckets: fc.constant(buckets),
            holders: fc.constant(holders),
            shuffled: fc.shuffledSubarray([...holders], { minLength: holders.length }),
          }),
        ),
        ({ buckets, holders, shuffled }) => {
          assert.deepEqual(bucketTargets(buckets, shuffled), bucketTargets(buckets, holders));
        },
      ),
    );
  });

  test('leave a balanced pool as it is', () => {
    fc.assert(
      fc.property(pool, ({ buckets, holders }) => {
        const balanced = bucketTargets(buckets, holders);
        assert.deepEqual(bucketTargets(buckets, settled(balanced)), balanced);
      }),
    );
  });

  test('move as few buckets as any balanced sharing could', () => {
    fc.assert(
      fc.property(pool, ({ buckets, holders }) => {
        assert.equal(moves(holders, bucketTargets(buckets, holders)), fewestMoves(buckets, holders));
      }),
    );
  });

  test('move only the share of a worker that joins', () => {
    fc.assert(
      fc.property(pool, ({ buckets, holders }) => {
        const before = settled(bucketTargets(buckets, holders));
        const joined = [...before, { worker: 'joining', holds: 0 }];
        const targets = bucketTargets(buckets, joined);
        assert.equal(moves(joined, targets), targets.get('joining'));
        assert.ok((targets.get('joining') ?? 0) <= Math.ceil(buckets / joined.length));
      }),
    );
  });

  test('move nothing between those that stay when a worker leaves', () => {
    fc.assert(
      fc.property(pool, ({ buckets, holders }) => {
        fc.pre(holders.length > 1);
        const staying = settled(bucketTargets(buckets, holders)).slice(1);
        assert.equal(moves(staying, bucketTargets(buckets, staying)), 0);
      }),
    );
  });

  test('are none for a pool without workers', () => {
    assert.equal(bucketTargets(256, []).size, 0);
  });
});
