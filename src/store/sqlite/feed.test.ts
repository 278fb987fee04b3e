import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineContainer } from '../engine.ts';
import { isStoreError } from '../errors.ts';
import {
  creation,
  layoutOf,
  nextLine,
  openEngine,
  openThings,
  replacement,
  startPeer,
  temporaryFile,
  testClock,
} from './testing/engines.ts';

/** Resolves when the container says that something was committed. */
function nextWake(things: EngineContainer): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = things.onCommit(() => {
      unsubscribe();
      resolve();
    });
  });
}

async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('the feed', () => {
  it('shows every change after a position, in commit order, of all partitions or one', async (t) => {
    const things = await openThings(t);
    const start = await things.feedEnd();
    const [a = 0] = await things.write('p', [creation('a', { n: 1 })]);
    await things.write('q', [creation('b', {}, { ttlSeconds: 100 })]);
    const [second = 0] = await things.write('p', [replacement('a', a, { n: 2 })]);
    await things.write('p', [{ kind: 'delete', id: 'a', revision: second }]);

    const all = await things.changesAfter(start, 10);
    assert.deepEqual(
      all.map(({ kind, partition, id, json }) => [kind, partition, id, json]),
      [
        ['create', 'p', 'a', '{"n":1}'],
        ['create', 'q', 'b', '{}'],
        ['replace', 'p', 'a', '{"n":2}'],
        ['delete', 'p', 'a', '{"n":2}'],
      ],
    );
    assert.ok(all.every(({ revision }, index) => index === 0 || revision > (all[index - 1]?.revision ?? 0)));
    assert.ok(all[1]?.expiresAt !== undefined && all[0]?.expiresAt === undefined);
    const [, ...rest] = await things.changesAfter(start, 10, 'p');
    assert.deepEqual(rest, await things.changesAfter(all[0]?.position ?? '', 10, 'p'));
    assert.deepEqual(await things.changesAfter(await things.feedEnd(), 10), []);
  });

  it('gives large changes in small portions', async (t) => {
    const things = await openThings(t);
    for (let index = 0; index < 6; index++) await things.write('p', [creation(`${index}`, { x: 'x'.repeat(600_000) })]);
    const first = await things.changesAfter('0', 100);
    assert.ok(first.length < 6);
    const rest = await things.changesAfter(first.at(-1)?.position ?? '', 100);
    assert.equal(rest[0]?.id, String(first.length));
  });

  it('refuses a position that is none, and one that the history does not reach', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now, historySeconds: 60 });
    for (const text of ['', 'x', '-1', '1.5', '99999999999999999999']) {
      await assert.rejects(things.changesAfter(text, 1), (error) => isStoreError(error, 'InvalidContinuation'), text);
    }
    await assert.rejects(
      things.changesAfter('7', 1),
      (error) => isStoreError(error, 'ContinuationExpired'),
      'from ahead',
    );

    for (let index = 0; index < 500; index++) await things.write('p', [creation(`${index}`, {})]);
    clock.advance(61_000);
    const end = await things.feedEnd();
    await things.write('p', [creation('young', {})]);
    const expired = async () => {
      try {
        await things.changesAfter('0', 1);
        return false;
      } catch (error) {
        return isStoreError(error, 'ContinuationExpired');
      }
    };
    await eventually('the history is trimmed', expired);
    await eventually('all of the old history is trimmed', async () => {
      const before = String(Number(end) - 1);
      return things.changesAfter(before, 1).then(
        () => false,
        (error) => isStoreError(error, 'ContinuationExpired'),
      );
    });
    const [young] = await things.changesAfter(end, 10);
    assert.equal(young?.id, 'young');
    const [revision = 0] = await things.write('p', [creation('next', {})]);
    assert.equal(revision, (young?.revision ?? 0) + 1, 'revisions go on');
  });

  it('shows documents that time removed', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now });
    await things.write('p', [creation('a', { n: 1 }, { ttlSeconds: 5 })]);
    await things.write('p', [creation('large', { x: 'x'.repeat(600_000) }, { ttlSeconds: 6 }), creation('b', {})]);
    clock.advance(6_001);
    await eventually('the sweep', async () => (await things.changesAfter('0', 10)).length === 5);
    const changes = await things.changesAfter('3', 10);
    assert.deepEqual(
      changes.map(({ kind, id }) => `${kind} ${id}`),
      ['delete a', 'delete large'],
    );
  });

  it('wakes on commits of its own process and of others', async (t) => {
    const file = await temporaryFile(t);
    const things = await (await openEngine(t, { file })).open(layoutOf());
    const own = nextWake(things);
    await things.write('p', [creation('own', {})]);
    await own;

    const peer = await startPeer(t, file, 'write');
    assert.equal(await nextLine(peer), 'ready');
    for (let round = 0; round < 50; round++) {
      const other = nextWake(things);
      peer.stdin?.write('go\n');
      await other;
      assert.equal((await things.read('p', `peer-${round}`))?.id, `peer-${round}`);
    }
  });
});
