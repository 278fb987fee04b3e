import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { stopper } from './stopper.ts';

const minuteMs = 60_000;

suite('a stopper', () => {
  test('ends a wait that began right after another one', async () => {
    const stop = stopper();
    const waiting = (async () => {
      await stop.unless(setImmediate());
      await stop.sleep(minuteMs);
    })();
    await setImmediate();
    await setImmediate();
    stop.now();
    await assert.rejects(waiting, /stopped/);
  });

  test('ends every later wait', async () => {
    const stop = stopper();
    stop.now();
    assert.equal(stop.stopped, true);
    await assert.rejects(stop.sleep(minuteMs), /stopped/);
    await assert.rejects(stop.unless(Promise.reject(new Error('not heard of'))), /stopped/);
  });

  test('remembers a wake that came while nobody slept', async () => {
    const stop = stopper();
    stop.rearm();
    stop.wake();
    await stop.sleepUnlessWoken(minuteMs);
  });

  test('passes on what the work gave', async () => {
    const stop = stopper();
    assert.equal(await stop.unless(Promise.resolve(7)), 7);
    await assert.rejects(stop.unless(Promise.reject(new Error('failed'))), /failed/);
  });
});
