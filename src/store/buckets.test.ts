import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { BucketChange } from './bucket-leases.ts';
import { defaultBuckets, joinPool, type PoolMember, type PoolOptions } from './buckets.ts';
import { isStoreError } from './errors.ts';
import { type PoolBody, poolContainer } from './pool-documents.ts';
import { openPostgresStore } from './postgres/open.ts';
import { openSqliteStore } from './sqlite/open.ts';
import type { Container, Store } from './store.ts';
import { postgresForTests, testSchema } from './testing/postgres-server.ts';

/** Long beside any test: what happens within a test did not wait for a lease to lapse. */
const longLeaseSeconds = 300;
const shortLeaseSeconds = 2;

const engines: Readonly<Record<string, () => Promise<{ open(): Promise<Store>; remove(): Promise<void> }>>> = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), 'aro-buckets-'));
    return {
      open: () => openSqliteStore({ file: join(folder, 'store.db') }),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  },
  async PostgreSQL() {
    const server = await postgresForTests();
    const schema = testSchema();
    return { open: () => openPostgresStore({ server: server.url, schema }), remove: () => Promise.resolve() };
  },
};

/** Waits for as long as a slow machine may take. */
async function until(what: string, holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 60_000; !holds(); await setTimeout(10))
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
}

const counts = (members: readonly PoolMember[]) => members.map((member) => member.owned().size).sort((a, b) => b - a);
const total = (members: readonly PoolMember[]) => counts(members).reduce((sum, count) => sum + count, 0);

function balanced(members: readonly PoolMember[], buckets = defaultBuckets): boolean {
  const all = counts(members);
  return total(members) === buckets && (all[0] ?? 0) - (all.at(-1) ?? 0) <= 1;
}

async function feedEnd<T extends object>(container: Container<T>): Promise<string> {
  for await (const { continuation } of container.changes({ from: 'beginning' })) return continuation;
  throw new Error('the feed ended');
}

for (const [engine, place] of Object.entries(engines)) {
  suite(`a pool of workers on ${engine}`, () => {
    let at: Awaited<ReturnType<typeof place>>;
    let store: Store;
    let pools = 0;
    before(async () => {
      at = await place();
      store = await at.open();
    });
    after(async () => {
      await store.close();
      await at.remove();
    });
    const newPool = () => `pool_${++pools}`;
    const joined: PoolMember[] = [];
    const opened: Store[] = [];
    afterEach(async () => {
      await Promise.all(joined.splice(0).map((member) => member.leave()));
      await Promise.all(opened.splice(0).map((own) => own.close()));
    });
    const join = async (pool: string, more: Partial<PoolOptions> = {}) => {
      const member = await joinPool({ store, pool, worker: 'worker', leaseSeconds: longLeaseSeconds, ...more });
      joined.push(member);
      return member;
    };
    /** A store of a worker's own, as if it were another process. Closing it is as good as killing the worker. */
    const openAnother = async () => {
      const own = await at.open();
      opened.push(own);
      return own;
    };

    test('of one has every bucket at once, each with a fencing token', async () => {
      const member = await join(newPool());
      assert.deepEqual(
        [...member.owned().keys()].sort((a, b) => a - b),
        [...Array(defaultBuckets).keys()],
      );
      for (const [bucket, lease] of member.owned()) {
        assert.equal(lease.owner, member.id);
        assert.ok(lease.token > 0);
        assert.equal(member.isOwned(bucket), true);
      }
      assert.equal(member.isOwned(defaultBuckets), false);
      await member.leave();
    });

    test('shares evenly as workers join, moving no more than the newcomer gets', async () => {
      const pool = newPool();
      const moved: number[] = [];
      const onChange = ({ lost }: BucketChange) => void moved.push(...lost);
      const first = await join(pool, { onChange });
      const before = first.owned();
      const second = await join(pool, { onChange });
      await until('two share', () => balanced([first, second]));
      assert.deepEqual(counts([first, second]), [128, 128]);
      assert.equal(moved.length, 128);
      for (const [bucket, lease] of first.owned()) assert.equal(lease.token, before.get(bucket)?.token);
      const third = await join(pool, { onChange });
      await until('three share', () => balanced([first, second, third]));
      assert.deepEqual(counts([first, second, third]), [86, 85, 85]);
      assert.ok(moved.length <= 128 + 96, `${moved.length} moved`);
    });

    test('settles when many join at the same time', async () => {
      const pool = newPool();
      const members = await Promise.all(Array.from({ length: 7 }, () => join(pool)));
      // Taken at the moment of balance: a member that has just heard of another may still give one up and take one.
      let shares: readonly number[] = [];
      await until('seven share', () => {
        shares = counts(members);
        return balanced(members);
      });
      assert.deepEqual(shares, [37, 37, 37, 37, 36, 36, 36]);
    });

    test('takes over at once from a worker that leaves', async () => {
      const pool = newPool();
      const members = await Promise.all([join(pool), join(pool), join(pool)]);
      await until('three share', () => balanced(members));
      const [leaver, ...rest] = members;
      await leaver?.leave();
      assert.equal(leaver?.owned().size, 0);
      await until('two share', () => balanced(rest));
    });

    test('takes over from a worker that died once its leases lapse, and the dead one owns nothing by then', async () => {
      const pool = newPool();
      const own = await openAnother();
      const lost: number[] = [];
      const leaseSeconds = shortLeaseSeconds;
      const member = await join(pool, { leaseSeconds });
      const doomed = await join(pool, {
        store: own,
        leaseSeconds,
        onChange: (change) => void lost.push(...change.lost),
      });
      await until('two share', () => balanced([member, doomed]));
      const had = [...doomed.owned().keys()];
      // It can neither renew nor give back now.
      await own.close();
      await until('one has all', () => {
        for (const bucket of had) assert.ok(!(member.isOwned(bucket) && doomed.isOwned(bucket)), `both own ${bucket}`);
        return member.owned().size === defaultBuckets;
      });
      assert.equal(doomed.owned().size, 0);
      assert.ok(had.every((bucket) => !doomed.isOwned(bucket) && doomed.leaseOf(bucket) === undefined));
      assert.deepEqual(lost.sort(), had.sort());
    });

    test('of more workers than buckets gives one each to as many as there are', async () => {
      const pool = newPool();
      const members = await Promise.all(Array.from({ length: 5 }, () => join(pool, { buckets: 3 })));
      await until('three have one', () => balanced(members, 3));
      const leaver = members.find((member) => member.owned().size === 1);
      await leaver?.leave();
      const rest = members.filter((member) => member !== leaver);
      await until('three of four have one', () => balanced(rest, 3));
    });

    test('hands a bucket on only after its work has ended', async () => {
      const pool = newPool();
      let ended = false;
      let ends = () => {};
      const work = new Promise<void>((settle) => {
        ends = settle;
      });
      const slow = await join(pool, { onChange: ({ lost }) => (lost.length > 0 ? work : undefined) });
      const next = await join(pool, { onChange: ({ gained }) => assert.ok(ended || gained.length === 0) });
      await until('half is given up', () => slow.owned().size === 128);
      await setTimeout(200);
      assert.equal(next.owned().size, 0);
      ended = true;
      ends();
      await until('both share', () => balanced([slow, next]));
    });

    test('never has two owners of a bucket, while workers come, go and die', async () => {
      interface Mark {
        readonly kind: 'bucket';
        readonly bucket: number;
        readonly token?: number;
      }
      const pool = newPool();
      const buckets = 16;
      const container = await store.container<PoolBody | Mark>(poolContainer(pool));
      const start = await feedEnd(container);
      const stop = new AbortController();
      let refused = 0;
      /** Writes under each of a member's leases, over and over, also when they may be lost already. */
      const mark = async (member: PoolMember) => {
        for (; !stop.signal.aborted; await setTimeout(1)) {
          for (const [bucket, lease] of member.owned()) {
            const owners = joined.filter((other) => other.isOwned(bucket)).length;
            assert.ok(owners <= 1, `${owners} own ${bucket}`);
            await setTimeout(1);
            try {
              await container.update(lease, () => ({ kind: 'bucket', bucket, token: lease.token }), { lease });
            } catch (error) {
              assert.ok(isStoreError(error, 'LeaseLost'), String(error));
              refused++;
            }
          }
        }
      };
      const marking: Promise<void>[] = [];
      const add = async () => {
        const own = await openAnother();
        const member = await join(pool, { store: own, buckets, leaseSeconds: shortLeaseSeconds });
        marking.push(mark(member));
        return { member, own };
      };
      const present = [await add(), await add(), await add()];
      const churn = async () => {
        for (let turn = 0; turn < 9; turn++) {
          await setTimeout(400);
          const oldest = present.shift();
          await (turn % 3 === 2 ? oldest?.own.close() : oldest?.member.leave());
          present.push(await add());
        }
        const rest = present.map(({ member }) => member);
        await until('the last three share', () => balanced(rest, buckets));
      };
      try {
        await Promise.race([churn(), Promise.all(marking)]);
      } finally {
        stop.abort();
      }
      await Promise.all(marking);

      const tokens = new Map<string, number>();
      let marks = 0;
      for await (const { changes, caughtUp } of container.changes({ from: { continuation: start } })) {
        for (const { document } of changes) {
          if (!('token' in document.body) || document.body.token === undefined) continue;
          assert.ok(document.body.token >= (tokens.get(document.id) ?? 0), `${document.id} was marked by an old owner`);
          tokens.set(document.id, document.body.token);
          marks++;
        }
        if (caughtUp) break;
      }
      assert.equal(tokens.size, buckets);
      assert.ok(marks > buckets, `${marks} marks, ${refused} refused`);
    });

    test('refuses a member that counts other buckets than the rest', async () => {
      const pool = newPool();
      await join(pool, { buckets: 8 });
      await assert.rejects(join(pool, { buckets: 4 }), (error) => isStoreError(error, 'Invalid'));
    });

    test('keeps apart from another pool in the same store', async () => {
      const members = await Promise.all([join(newPool()), join(newPool())]);
      assert.deepEqual(counts(members), [256, 256]);
    });

    test('is left once, however often that is asked', async () => {
      const pool = newPool();
      const member = await join(pool, { buckets: 4 });
      await Promise.all([member.leave(), member.leave()]);
      await member.leave();
      const again = await join(pool, { buckets: 4 });
      assert.equal(again.owned().size, 4);
      await again.leave();
    });
  });
}
