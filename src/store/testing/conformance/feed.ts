import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Change, Changes, Container, FeedOptions } from '../../store.ts';
import { type Body, refused, type World } from './world.ts';

/** No feed of these tests goes on longer than this, whatever is wrong. */
const patienceMs = 30_000;

interface Follower {
  /** Waits for the next delivery. */
  next(): Promise<Changes<Body>>;
  /** Waits until this many changes have come since the last call. */
  take(count: number): Promise<Change<Body>[]>;
  /** The continuation of the last delivery. */
  readonly continuation: string;
  end(): Promise<void>;
}

function follow(things: Container<Body>, options: FeedOptions): Follower {
  const feed = things.changes({ signal: AbortSignal.timeout(patienceMs), ...options })[Symbol.asyncIterator]();
  const kept: Change<Body>[] = [];
  let continuation = '';
  const next = async () => {
    const { value, done } = await feed.next();
    assert(!done, 'the feed ended');
    continuation = value.continuation;
    return value;
  };
  return {
    next,
    async take(count) {
      while (kept.length < count) kept.push(...(await next()).changes);
      return kept.splice(0, count);
    },
    get continuation() {
      return continuation;
    },
    async end() {
      await feed.return?.();
    },
  };
}

const told = ({ kind, document }: Change<Body>) => [kind, document.id, document.body.n];

export function feeds(world: World): void {
  const key = (id: string) => ({ partition: 'p', id });

  describe('the change feed', () => {
    it('shows creates, replaces and deletes in order, deletes with the last body', async () => {
      const things = await world.container();
      const feed = follow(things, { from: 'now' });
      const start = await feed.next();
      assert.deepEqual([start.changes, start.caughtUp], [[], true]);
      const a = await things.create(key('a'), { n: 1 });
      const a2 = await things.replace(a, { n: 2 });
      const b = await things.create(key('b'), { n: 3 });
      await things.delete(a2);
      const changes = await feed.take(4);
      assert.deepEqual(changes.map(told), [
        ['create', 'a', 1],
        ['replace', 'a', 2],
        ['create', 'b', 3],
        ['delete', 'a', 2],
      ]);
      assert.deepEqual(
        changes.slice(0, 3).map(({ document }) => document),
        [a, a2, b],
      );
      const revisions = changes.map(({ document }) => document.revision);
      assert.deepEqual(
        revisions,
        revisions.toSorted((one, other) => one - other),
      );
      assert.equal(new Set(revisions).size, 4);
      await feed.end();
    });

    it('shows nothing of what came before, from now', async () => {
      const things = await world.container();
      await things.create(key('a'), { n: 1 });
      const feed = follow(things, { from: 'now' });
      await feed.next();
      await things.create(key('b'), { n: 2 });
      assert.deepEqual((await feed.take(1)).map(told), [['create', 'b', 2]]);
      await feed.end();
    });

    it('shows what exists as creates, from the beginning, says when that is done, and goes on', async () => {
      const things = await world.container();
      const a = await things.create(key('a'), { n: 1 });
      await things.replace(a, { n: 2 });
      await things.delete(await things.create(key('gone'), { n: 0 }));
      for (let n = 0; n < 150; n++) await things.create({ partition: `q${n % 7}`, id: `d${n}` }, { n });
      const feed = follow(things, { from: 'beginning' });
      const seen: Change<Body>[] = [];
      for (;;) {
        const { changes, caughtUp } = await feed.next();
        seen.push(...changes);
        if (caughtUp) break;
      }
      assert.equal(seen.length, 151);
      assert(seen.every(({ kind }) => kind === 'create'));
      assert.deepEqual(seen.map(({ document }) => document.body.n).filter((n) => n === 2).length, 2);
      await things.create(key('b'), { n: 3 });
      assert.deepEqual((await feed.take(1)).map(told), [['create', 'b', 3]]);
      await feed.end();
    });

    it('says at once that an empty container has nothing', async () => {
      const feed = follow(await world.container(), { from: 'beginning' });
      const { changes, caughtUp } = await feed.next();
      assert.deepEqual([changes, caughtUp], [[], true]);
      await feed.end();
    });

    it('goes on from a continuation, in this store and in another', async () => {
      const name = world.unique();
      const things = await world.store.container<Body>({ name });
      const feed = follow(things, { from: 'now' });
      await feed.next();
      const { continuation } = feed;
      for (let n = 0; n < 10; n++) await things.create(key(`d${n}`), { n });
      const first = await feed.take(10);
      await feed.end();
      const again = follow(things, { from: { continuation } });
      assert.deepEqual(await again.take(10), first);
      const other = await (await world.open()).container<Body>({ name });
      await again.end();
      const later = follow(other, { from: { continuation: again.continuation } });
      const { changes, caughtUp } = await later.next();
      assert.deepEqual([changes, caughtUp], [[], true]);
      await things.create(key('e'), { n: 10 });
      assert.deepEqual((await later.take(1)).map(told), [['create', 'e', 10]]);
      await later.end();
    });

    it('goes on from any delivery of what existed, and misses nothing written meanwhile', async () => {
      const things = await world.container();
      for (let n = 0; n < 200; n++) await things.create(key(`d${n}`), { n });
      const seen = new Map<string, unknown>();
      const note = (changes: readonly Change<Body>[]) => {
        for (const { kind, document } of changes)
          if (kind === 'delete') seen.delete(document.id);
          else seen.set(document.id, document.body.n);
      };
      let from: FeedOptions['from'] = 'beginning';
      for (let round = 0; ; round++) {
        const feed: Follower = follow(things, { from });
        const { changes, caughtUp } = await feed.next();
        note(changes);
        from = { continuation: feed.continuation };
        await feed.end();
        if (caughtUp) break;
        // One that was shown, one that will be, a new one, and one that is gone before its turn.
        await things.update(key('d0'), () => ({ n: 1000 + round }));
        await things.update(key('d99'), () => ({ n: 2000 + round }));
        await things.create(key(`a${round}`), { n: 0 });
        const last = await things.read(key(`d${198 - round}`));
        assert(last && round < 60, 'it ends');
        if (round < 3) await things.delete(last);
        if (round > 5) break;
      }
      const feed = follow(things, { from });
      for (;;) {
        const { changes, caughtUp } = await feed.next();
        note(changes);
        if (caughtUp) break;
      }
      await feed.end();
      const { documents } = await things.query({ limit: 1000 });
      assert.deepEqual(Object.fromEntries(seen), Object.fromEntries(documents.map(({ id, body }) => [id, body.n])));
    });

    it('shows one partition when one is asked', async () => {
      const things = await world.container();
      for (const partition of ['p', 'q']) await things.create({ partition, id: 'before' }, { n: 1 });
      const feed = follow(things, { from: 'beginning', partition: 'q' });
      assert.equal((await feed.take(1))[0]?.document.partition, 'q');
      while (!(await feed.next()).caughtUp);
      for (let n = 0; n < 20; n++) await things.create({ partition: n % 2 ? 'q' : 'p', id: `d${n}` }, { n });
      const changes = await feed.take(10);
      assert.deepEqual(
        changes.map(({ document }) => document.body.n),
        [1, 3, 5, 7, 9, 11, 13, 15, 17, 19],
      );
      await feed.end();
      await refused(
        things
          .changes({ from: { continuation: feed.continuation } })
          [Symbol.asyncIterator]()
          .next(),
        'InvalidContinuation',
      );
      await refused(
        things
          .changes({ from: { continuation: feed.continuation }, partition: 'p' })
          [Symbol.asyncIterator]()
          .next(),
        'InvalidContinuation',
      );
      const again = follow(things, { from: { continuation: feed.continuation }, partition: 'q' });
      assert.deepEqual((await again.next()).changes, []);
      await again.end();
    });

    it('shows a batch whole and in its order', async () => {
      const things = await world.container();
      const a = await things.create(key('a'), { n: 0 });
      const b = await things.create(key('b'), { n: 0 });
      const feed = follow(things, { from: 'now' });
      await feed.next();
      await refused(
        things.batch('p', [
          { kind: 'create', id: 'z', body: {} },
          { kind: 'create', id: 'a', body: {} },
        ]),
        'Exists',
      );
      await things.batch('p', [
        { kind: 'replace', version: b, body: { n: 1 } },
        { kind: 'create', id: 'c', body: { n: 2 } },
        { kind: 'delete', version: a },
      ]);
      assert.deepEqual((await feed.take(3)).map(told), [
        ['replace', 'b', 1],
        ['create', 'c', 2],
        ['delete', 'a', 0],
      ]);
      await feed.end();
    });

    it('wakes for a writer in another store', async () => {
      const name = world.unique();
      const things = await world.store.container<Body>({ name });
      const other = await (await world.open()).container<Body>({ name });
      const feed = follow(things, { from: 'now' });
      await feed.next();
      for (let n = 0; n < 5; n++) {
        await other.create(key(`d${n}`), { n });
        assert.deepEqual((await feed.take(1)).map(told), [['create', `d${n}`, n]]);
      }
      await feed.end();
    });

    it('refuses continuations that it did not give', async () => {
      const things = await world.container();
      const feed = follow(things, { from: 'now' });
      await feed.next();
      await feed.end();
      const { continuation } = feed;
      const others = await world.container();
      const wrong: unknown[] = ['', 'x', '%', continuation.slice(1), `${continuation}A`, 'A'.repeat(100), 1, null];
      for (const one of wrong) {
        const from = { continuation: one as string };
        await refused(things.changes({ from })[Symbol.asyncIterator]().next(), 'InvalidContinuation');
      }
      await refused(others.changes({ from: { continuation } })[Symbol.asyncIterator]().next(), 'InvalidContinuation');
      for (const from of ['later', undefined, null, {}, 1])
        await refused(
          things
            .changes({ from: from as 'now' })
            [Symbol.asyncIterator]()
            .next(),
          'Invalid',
        );
      await refused(things.changes({ from: 'now', partition: '' })[Symbol.asyncIterator]().next(), 'Invalid');
      await refused(things.query({ continuation }), 'InvalidContinuation');
    });

    it('ends at once when it is aborted, waiting or not', async () => {
      const things = await world.container();
      const before = things.changes({ from: 'now', signal: AbortSignal.abort() })[Symbol.asyncIterator]();
      assert.deepEqual(await before.next(), { value: undefined, done: true });
      const controller = new AbortController();
      const feed = things.changes({ from: 'now', signal: controller.signal })[Symbol.asyncIterator]();
      await feed.next();
      const waiting = feed.next();
      await setTimeout(20);
      controller.abort();
      assert.deepEqual(await waiting, { value: undefined, done: true });
      assert.deepEqual(await feed.next(), { value: undefined, done: true });
    });

    it('ends at once when the consumer leaves, also in the middle of a wait', async () => {
      const things = await world.container();
      const feed = things.changes({ from: 'now' })[Symbol.asyncIterator]();
      await feed.next();
      const waiting = feed.next();
      await setTimeout(20);
      assert.deepEqual(await feed.return?.(), { value: undefined, done: true });
      assert.deepEqual(await waiting, { value: undefined, done: true });
      const unstarted = things.changes({ from: 'now' })[Symbol.asyncIterator]();
      await unstarted.return?.();
      assert.equal((await unstarted.next()).done, true);
    });

    it('ends with Closed when the store is closed', async () => {
      const store = await world.open();
      const things = await store.container<Body>({ name: world.unique() });
      const feed = things.changes({ from: 'now' })[Symbol.asyncIterator]();
      await feed.next();
      const waiting = refused(feed.next(), 'Closed');
      await setTimeout(20);
      await store.close();
      await waiting;
    });

    it('delivers large documents in small portions, and goes on after any of them without repeating', async () => {
      const things = await world.container();
      const text = 'x'.repeat(150_000);
      const start = follow(things, { from: 'now' });
      await start.next();
      await start.end();
      for (let n = 0; n < 20; n++) await things.create(key(`d${String(n).padStart(2, '0')}`), { n, text });
      for (const beginning of ['beginning', { continuation: start.continuation }] as const) {
        let from: FeedOptions['from'] = beginning;
        const seen: unknown[] = [];
        for (let isDone = false; !isDone; ) {
          const feed: Follower = follow(things, { from });
          const { changes, caughtUp } = await feed.next();
          isDone = caughtUp;
          assert(changes.length <= 5, `${changes.length} documents of 150 KB at once`);
          seen.push(...changes.map(({ document }) => document.body.n));
          from = { continuation: feed.continuation };
          await feed.end();
          assert(seen.length <= 20, 'something came again');
        }
        assert.deepEqual(
          seen,
          Array.from({ length: 20 }, (_, n) => n),
        );
      }
    });
  });

  describe('the change feed under many writers', () => {
    it('loses nothing and reorders nothing within a partition', async () => {
      const [writers, writes, partitions] = [6, 60, 3];
      const name = world.unique();
      const stores = [world.store, await world.open(), await world.open()];
      const containers = await Promise.all(stores.map((store) => store.container<Body>({ name })));
      const [things, , reader] = containers;
      assert(things && reader);
      const whole = follow(reader, { from: 'now' });
      await whole.next();
      const parts = Array.from({ length: partitions }, (_, at) => follow(things, { from: 'now', partition: `p${at}` }));
      for (const part of parts) await part.next();

      await Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          const mine = containers[writer % containers.length];
          assert(mine);
          for (let n = 0; n < writes; n++) {
            const partition = `p${(writer + n) % partitions}`;
            const id = `w${writer}`;
            const before = await mine.read({ partition, id });
            if (!before) await mine.create({ partition, id }, { n });
            else if (n % 10 < 8) await mine.replace(before, { n });
            else await mine.delete(before);
          }
        }),
      );

      const total = writers * writes;
      const all = await whole.take(total);
      const inPartition = (partition: string) => all.filter(({ document }) => document.partition === partition);
      for (const [at, part] of parts.entries()) {
        const expected = inPartition(`p${at}`);
        assert.deepEqual(await part.take(expected.length), expected, 'every reader sees the same order');
        const revisions = expected.map(({ document }) => document.revision);
        assert.deepEqual(
          revisions,
          revisions.toSorted((one, other) => one - other),
          'commit order',
        );
        for (let writer = 0; writer < writers; writer++) {
          const mine = expected.filter(({ document }) => document.id === `w${writer}`);
          let isThere = false;
          for (const { kind, document } of mine) {
            assert.equal(
              kind === 'create',
              !isThere,
              `${kind} of ${document.id} when it is ${isThere ? '' : 'not '}there`,
            );
            isThere = kind !== 'delete';
          }
          assert.equal((await things.read({ partition: `p${at}`, id: `w${writer}` })) !== undefined, isThere);
        }
      }
      assert.equal(new Set(all.map(({ document }) => document.revision)).size, total);
      await whole.end();
      for (const part of parts) await part.end();
    });
  });
}
