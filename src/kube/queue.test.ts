import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createMetrics } from '../kit/metrics.ts';
import { createBackoff } from './backoff.ts';
import { createQueue, type QueueOptions } from './queue.ts';
import { queueMetrics } from './queue-metrics.ts';

const queue = (options: Partial<QueueOptions<string>> = {}) =>
  createQueue<string>({ keyOf: (item) => item, ...options });

describe('a work queue', () => {
  it('hands out items in order, each once however often it was added', async () => {
    const q = queue();
    for (const item of ['a', 'b', 'a', 'c', 'b']) q.add(item);
    assert.equal(q.depth, 3);
    assert.deepEqual([await q.take(), await q.take(), await q.take()], ['a', 'b', 'c']);
  });

  it('gives an item that is added while a worker has it to nobody until that worker is done', async () => {
    const q = queue();
    q.add('a');
    assert.equal(await q.take(), 'a');
    q.add('a');
    q.add('a');
    q.add('b');
    assert.equal(await q.take(), 'b');
    q.done('a');
    assert.equal(await q.take(), 'a');
    q.done('a');
    assert.equal(q.depth, 0);
  });

  it('gives an item to the worker that has waited longest', async () => {
    const q = queue();
    const first = q.take();
    const second = q.take();
    q.add('a');
    q.add('b');
    assert.deepEqual(await Promise.all([first, second]), ['a', 'b']);
  });

  it('lets lanes take turns, so that a long one does not hold up a short one', async () => {
    const q = queue({ laneOf: (item) => item.charAt(0) });
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) q.add(item);
    const order: unknown[] = [];
    for (let left = 7; left > 0; left--) order.push(await q.take());
    assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  });

  it('adds later, and of several delays of one item the shortest counts', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const q = queue();
    q.addAfter('a', 60_000);
    q.addAfter('a', 1000);
    q.addAfter('a', 30_000);
    q.addAfter('b', 0);
    assert.equal(q.depth, 1);
    t.mock.timers.tick(999);
    assert.equal(q.depth, 1);
    t.mock.timers.tick(1);
    assert.equal(q.depth, 2);
    t.mock.timers.tick(100_000);
    assert.equal(q.depth, 2);
    await q.shutDown();
  });

  it('waits longer after each failure of an item, and not after it was forgotten', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const q = queue({ backoff: { baseMs: 100, maxMs: 350 } });
    for (const wait of [100, 200, 350, 350]) {
      q.addRateLimited('a');
      t.mock.timers.tick(wait - 1);
      assert.equal(q.depth, 0);
      t.mock.timers.tick(1);
      assert.equal(q.depth, 1, `after ${wait} ms`);
      assert.equal(await q.take(), 'a');
      q.done('a');
    }
    assert.equal(q.failures('a'), 4);
    q.forget('a');
    q.addRateLimited('a');
    t.mock.timers.tick(100);
    assert.equal(q.depth, 1);
  });

  it('drains: hands out what is there, takes nothing more, and ends when the last worker is done', async () => {
    const q = queue();
    q.add('a');
    q.add('b');
    q.addAfter('c', 1000);
    assert.equal(await q.take(), 'a');
    q.add('a');
    let ended = false;
    const down = q.shutDown({ drain: true }).then(() => {
      ended = true;
    });
    q.add('d');
    assert.equal(await q.take(), 'b');
    q.done('a');
    assert.equal(await q.take(), 'a', 'it was added before the end');
    q.done('b');
    assert.equal(await q.take(), undefined);
    assert.equal(ended, false);
    q.done('a');
    await down;
  });

  it('shut down without draining, it releases workers that wait and waits for those that work', async () => {
    const q = queue();
    q.add('a');
    assert.equal(await q.take(), 'a');
    const waiting = q.take();
    q.add('a');
    const down = q.shutDown();
    assert.equal(await waiting, undefined);
    assert.equal(await q.take(), undefined);
    q.done('a');
    await down;
    assert.equal(q.depth, 0);
  });

  it('never gives one item to two workers, and loses none, whatever happens in whatever order', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), item: fc.constantFrom('a', 'b', 'c', 'd') }),
      fc.record({ do: fc.constant('take' as const), item: fc.constant('') }),
      fc.record({ do: fc.constant('done' as const), item: fc.constantFrom('a', 'b', 'c', 'd') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const q = queue({ laneOf: (item) => (item < 'c' ? '1' : '2') });
        const busy = new Set<string>();
        const due = new Set<string>();
        for (const each of steps) {
          if (each.do === 'add') {
            q.add(each.item);
            due.add(each.item);
          } else if (each.do === 'take' && q.depth > 0) {
            const item = (await q.take()) ?? '';
            assert.ok(!busy.has(item) && due.has(item));
            busy.add(item);
            due.delete(item);
          } else if (each.do === 'done' && busy.delete(each.item)) q.done(each.item);
        }
        for (const item of busy) q.done(item);
        assert.equal(q.depth, due.size);
      }),
      { numRuns: 200 },
    );
  });

  it('tells its depth, adds and retries', async () => {
    const metrics = createMetrics();
    const q = queue({ metrics: queueMetrics(metrics, 'things'), backoff: { baseMs: 1 } });
    q.add('a');
    q.add('b');
    q.done((await q.take()) ?? '');
    q.addRateLimited('a');
    const { body } = await metrics.scrape();
    assert.match(body, /workqueue_depth\{name="things"\} 1/);
    assert.match(body, /workqueue_adds_total\{name="things"\} 2/);
    assert.match(body, /workqueue_retries_total\{name="things"\} 1/);
    assert.match(body, /workqueue_work_duration_seconds_count\{name="things"\} 1/);
    await q.shutDown();
  });
});

describe('the backoff of all items together', () => {
  it('lets a burst through, then one after the other', () => {
    let now = 0;
    const backoff = createBackoff({ baseMs: 1, overall: { perSecond: 10, burst: 2 } }, () => now);
    const waits = ['a', 'b', 'c', 'd'].map((key) => backoff.next(key));
    assert.deepEqual(waits, [1, 1, 100, 200]);
    now = 10_000;
    assert.equal(backoff.next('e'), 1);
  });
});
