import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { EngineClaim, EngineContainer } from '../engine.ts';
import { isStoreError } from '../errors.ts';
import {
  creation,
  layoutOf,
  openEngine,
  openThings,
  replacement,
  temporaryFile,
  testClock,
} from './testing/engines.ts';

const ids = (claims: readonly EngineClaim[]) => claims.map(({ row }) => row.id);
const leaseOf = ({ row, token }: EngineClaim) => ({ partition: row.partition, id: row.id, token });

async function fill(things: EngineContainer, entries: readonly (readonly [id: string, key: string])[]): Promise<void> {
  for (const [id, queue] of entries) await things.write('p', [creation(id, {}, { queue })]);
}

async function claimOne(things: EngineContainer, owner = 'me', leaseSeconds = 10): Promise<EngineClaim> {
  const [claim] = await things.claim(owner, leaseSeconds, 1, undefined);
  assert.ok(claim, 'something to claim');
  return claim;
}

describe('the queue', () => {
  it('serves the keys in turns and each key oldest first, in one claim and over several', async (t) => {
    const entries = [
      ['a1', 'a'],
      ['a2', 'a'],
      ['a3', 'a'],
      ['b1', 'b'],
      ['b2', 'b'],
      ['c1', 'c'],
    ] as const;
    const expected = ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'];
    const atOnce = await openThings(t);
    await fill(atOnce, entries);
    assert.deepEqual(ids(await atOnce.claim('me', 10, 10, undefined)), expected);
    assert.deepEqual(await atOnce.claim('me', 10, 10, undefined), []);

    const oneByOne = await openThings(t);
    await fill(oneByOne, entries);
    const claimed: string[] = [];
    while (claimed.length < entries.length) claimed.push((await claimOne(oneByOne)).row.id);
    assert.deepEqual(claimed, expected);
  });

  it('leaves the document and the feed alone', async (t) => {
    const things = await openThings(t);
    await fill(things, [['a', 'k']]);
    const before = await things.read('p', 'a');
    const claim = await claimOne(things);
    assert.deepEqual(claim.row, before);
    await things.renew([leaseOf(claim)], 10);
    await things.release(leaseOf(claim), 0);
    assert.equal((await things.changesAfter('0', 10)).length, 1);
  });

  it('counts what waits, and how often each was claimed', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now });
    await fill(things, [
      ['a', 'k'],
      ['b', 'k'],
      ['c', 'k'],
    ]);
    assert.equal(await things.waiting(), 3);
    const first = await claimOne(things);
    const second = await claimOne(things);
    await things.release(leaseOf(second), 60);
    assert.deepEqual([await things.waiting(), first.dequeues], [1, 1]);
    clock.advance(10_001);
    assert.equal(await things.waiting(), 2, 'the lease lapsed');
    clock.advance(60_000);
    assert.equal(await things.waiting(), 3, 'the delay is over');
    assert.equal((await things.claimOne('p', 'a', 'me', 10))?.dequeues, 2);
  });

  it('bounds what one owner holds', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now });
    await fill(things, [
      ['a', 'k'],
      ['b', 'k'],
      ['c', 'k'],
      ['d', 'k'],
    ]);
    assert.equal((await things.claim('me', 10, 10, 2)).length, 2);
    assert.equal((await things.claim('me', 10, 10, 2)).length, 0);
    assert.equal((await things.claim('me', 10, 10, 3)).length, 1);
    assert.equal((await things.claim('you', 10, 10, 2)).length, 1);
    clock.advance(10_001);
    assert.equal((await things.claim('me', 10, 10, 2)).length, 2, 'lapsed leases do not count');
  });

  it('fences writes: only the holder of the lease passes, and only while it lasts', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now });
    await fill(things, [['a', 'k']]);
    const lost = (error: unknown) => isStoreError(error, 'LeaseLost');
    const touch = (token: number) => things.write('p', [creation(`x${Math.random()}`, {})], { id: 'a', token });
    const first = await claimOne(things);
    await touch(first.token);
    await assert.rejects(touch(first.token + 1), lost);
    clock.advance(10_001);
    await assert.rejects(touch(first.token), lost);
    assert.deepEqual(await things.renew([leaseOf(first)], 10), []);

    const second = await claimOne(things, 'you');
    assert.ok(second.token > first.token);
    await assert.rejects(touch(first.token), lost);
    await things.release(leaseOf(first), 0);
    await touch(second.token);
    await things.release(leaseOf(second), 30);
    await assert.rejects(touch(second.token), lost);
  });

  it('never gives a token twice, also when the document was away', async (t) => {
    const things = await openThings(t);
    const tokens: number[] = [];
    for (let round = 0; round < 3; round++) {
      await things.write('p', [creation('a', {}, { queue: 'k' })]);
      const { token, row } = await claimOne(things);
      tokens.push(token);
      const [revision = 0] = await things.write('p', [replacement('a', row.revision, {})]);
      assert.equal(await things.claimOne('p', 'a', 'me', 10), undefined, 'it left the queue');
      const [back = 0] = await things.write('p', [replacement('a', revision, {}, { queue: 'k' })]);
      const again = await claimOne(things);
      tokens.push(again.token);
      assert.equal(again.dequeues, 1);
      await things.write('p', [{ kind: 'delete', id: 'a', revision: back }]);
      assert.deepEqual(await things.claim('me', 10, 1, undefined), []);
    }
    assert.deepEqual(
      tokens,
      [...new Set(tokens)].sort((left, right) => left - right),
    );
  });

  it('keeps a lease over a replace that stays in the queue, under another key too', async (t) => {
    const things = await openThings(t);
    await fill(things, [
      ['a', 'k'],
      ['b', 'k'],
    ]);
    const { token, row } = await claimOne(things);
    await things.write('p', [replacement('a', row.revision, {}, { queue: 'l' })], { id: 'a', token });
    assert.equal((await things.renew([{ partition: 'p', id: 'a', token }], 10)).length, 1);
    const waiting = await things.read('p', 'b');
    await things.write('p', [replacement('b', waiting?.revision ?? 0, {}, { queue: 'm' })]);
    assert.deepEqual(ids(await things.claim('me', 10, 10, undefined)), ['b']);
  });

  it('passes over documents that have expired, with their delete changes', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now });
    for (let from = 0; from < 120; from += 60) {
      const batch = Array.from({ length: 60 }, (_, index) =>
        creation(`e${from + index}`, {}, { queue: 'k', ttlSeconds: 5 }),
      );
      await things.write('p', batch);
    }
    await fill(things, [['live', 'k']]);
    clock.advance(5_001);
    assert.equal(await things.waiting(), 1);
    assert.deepEqual(ids(await things.claim('me', 10, 5, undefined)), ['live']);
    assert.equal(await things.waiting(), 0);
  });

  it('gives up leases and delays that a clock set back would make last for ever', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now });
    await fill(things, [
      ['leased', 'k'],
      ['put off', 'k'],
    ]);
    const [leased, putOff] = await things.claim('me', 30, 2, undefined);
    assert.ok(leased && putOff);
    await things.release(leaseOf(putOff), 30);

    clock.advance(-1_000);
    assert.deepEqual(await things.claim('you', 30, 2, undefined), [], 'a small step back changes nothing');
    assert.equal((await things.renew([leaseOf(leased)], 30)).length, 1);

    clock.advance(-3_600_000);
    await assert.rejects(things.write('p', [creation('x', {})], { id: leased.row.id, token: leased.token }), (error) =>
      isStoreError(error, 'LeaseLost'),
    );
    assert.deepEqual(ids(await things.claim('you', 30, 2, undefined)).sort(), ['leased', 'put off']);
  });

  it('lets leases lapse when the clock jumps ahead, and refuses what is written under them', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now });
    await fill(things, [['a', 'k']]);
    const first = await claimOne(things);
    clock.advance(86_400_000);
    const second = await claimOne(things, 'you');
    await assert.rejects(things.write('p', [creation('x', {})], { id: 'a', token: first.token }), (error) =>
      isStoreError(error, 'LeaseLost'),
    );
    await things.write('p', [creation('x', {})], { id: 'a', token: second.token });
  });

  it('never has two holders of one document, whatever two processes do in whatever order', async (t) => {
    const steps = fc.array(
      fc.record({
        who: fc.constantFrom(0, 1),
        what: fc.constantFrom('claim', 'release', 'put off', 'renew', 'pass', 'enter', 'leave'),
        pick: fc.nat(5),
      }),
      { minLength: 5, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const clock = testClock();
        const file = await temporaryFile(t);
        const engines = await Promise.all([
          openEngine(t, { file, clock: clock.now }),
          openEngine(t, { file, clock: clock.now }),
        ]);
        const [one, other] = await Promise.all(engines.map((engine) => engine.open(layoutOf())));
        assert.ok(one && other);
        await fill(one, [
          ['d0', 'a'],
          ['d1', 'a'],
          ['d2', 'b'],
          ['d3', 'c'],
        ]);
        const held = new Map<string, { readonly token: number; readonly until: number }>();
        let lastToken = 0;
        for (const { who, what, pick } of sequence) {
          const things: EngineContainer = who === 0 ? one : other;
          const mine = [...held].map(([id, { token }]) => ({ partition: 'p', id, token }));
          const lease = mine[pick % Math.max(1, mine.length)];
          const document = await things.read('p', `d${pick % 4}`);
          if (what === 'claim') {
            for (const claim of await things.claim(`owner ${who}`, 10, 2, undefined)) {
              assert.ok((held.get(claim.row.id)?.until ?? 0) <= clock.now(), `${claim.row.id} had a holder`);
              assert.ok(claim.token > lastToken, 'tokens grow');
              lastToken = claim.token;
              held.set(claim.row.id, { token: claim.token, until: clock.now() + 10_000 });
            }
          } else if (what === 'pass') clock.advance(4_000);
          else if (what === 'enter' && document) {
            await things.write('p', [replacement(document.id, document.revision, {}, { queue: `k${pick}` })]);
          } else if (what === 'leave' && document) {
            await things.write('p', [replacement(document.id, document.revision, {})]);
            held.delete(document.id);
          } else if (lease && what === 'renew') {
            const isHeld: boolean = (await things.renew([lease], 10)).length === 1;
            assert.equal(isHeld, (held.get(lease.id)?.until ?? 0) > clock.now());
            if (isHeld) held.set(lease.id, { token: lease.token, until: clock.now() + 10_000 });
          } else if (lease && (what === 'release' || what === 'put off')) {
            await things.release(lease, what === 'release' ? 0 : 20);
            held.delete(lease.id);
          }
        }
        // In the end everything that is in the queue can be claimed: nothing was lost on the way.
        clock.advance(60_000);
        const waiting = await one.waiting();
        const last = await one.claim('last', 10, 10, undefined);
        assert.equal(last.length, waiting);
        await Promise.all(engines.map((engine) => engine.close()));
      }),
      { numRuns: 25 },
    );
  });
});
