import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { createLogger } from '../../../kit/log.ts';
import { createSystemClock, type SystemClock, type SystemClockOptions } from './system-clock.ts';

const hour = 3_600_000;
const year = 365 * 24 * hour;

function start(t: TestContext, more: Partial<SystemClockOptions> = {}): SystemClock {
  const clock = createSystemClock({ logger: createLogger({ service: 'test', level: 'silent' }), ...more });
  t.after(() => clock.stop());
  return clock;
}

test('it goes with the clock of the machine, ahead by what was skipped', async (t) => {
  const clock = start(t, { skippedMs: hour });
  assert.ok(clock.now() >= Date.now() + hour - 1);
  await clock.advance(hour);
  assert.ok(clock.now() >= Date.now() + 2 * hour - 1);
  assert.ok(clock.skippedMs <= 2 * hour);
  await assert.rejects(clock.advance(-1), RangeError);
});

test('what is due is called by itself, what has passed at once', async (t) => {
  const clock = start(t);
  await new Promise<void>((resolve) => clock.at(clock.now() + 5, resolve));
  await new Promise<void>((resolve) => clock.at(0, resolve));
});

test('skipping runs what becomes due in the order of its times, at its time', async (t) => {
  const clock = start(t);
  const begin = clock.now();
  const seen: string[] = [];
  const note = (name: string, at: number) =>
    clock.at(begin + at, () => {
      seen.push(name);
      assert.ok(clock.now() >= begin + at);
      assert.ok(clock.now() < begin + at + hour, 'no later than its time, by what the machine needs');
    });
  note('third', 3 * year);
  note('first', year);
  note('second', 2 * year);
  note('beyond', 5 * year);
  await clock.advance(4 * year);
  assert.deepEqual(seen, ['first', 'second', 'third']);
});

test('skipping waits for the work, and for what that puts on the clock itself', async (t) => {
  const clock = start(t);
  let done = false;
  clock.at(clock.now() + hour, async () => {
    await new Promise<void>((resolve) => clock.at(clock.now() + hour, resolve));
    done = true;
  });
  await clock.advance(3 * hour);
  assert.equal(done, true);
});

test('what is cancelled is not called, and work that fails does not stop the rest', async (t) => {
  const clock = start(t);
  const seen: string[] = [];
  const cancel = clock.at(clock.now() + hour, () => void seen.push('cancelled'));
  clock.at(clock.now() + hour, () => Promise.reject(new Error('failed')));
  clock.at(clock.now() + hour, () => void seen.push('kept'));
  cancel();
  await clock.advance(2 * hour);
  assert.deepEqual(seen, ['kept']);
});

test('what is skipped is kept before anything runs at the later time', async (t) => {
  const events: string[] = [];
  const clock = start(t, { keep: (skipped) => void events.push(`kept ${skipped}`) });
  clock.at(clock.now() + hour, () => void events.push('ran'));
  await clock.advance(hour);
  assert.deepEqual(events, [`kept ${hour}`, 'ran']);
});

test('times beyond what a timer can wait do not come early', async (t) => {
  const clock = start(t);
  let called = false;
  clock.at(clock.now() + year, () => {
    called = true;
  });
  await clock.advance(0);
  await new Promise<void>((resolve) => clock.at(clock.now() + 5, resolve));
  assert.equal(called, false);
});
