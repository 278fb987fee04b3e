import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeZone, scheduleProblem } from './cron-schedule.ts';

test('schedules of five fields, with ranges, lists, steps and names, and the named ones are taken', () => {
  for (const text of ['* * * * *', '*/5 0-6,12 1 JAN-mar sun', '0 0 ? * 1', '@daily', '@every 1h', '  5 4 * * *  ']) {
    assert.equal(scheduleProblem(text), undefined, text);
  }
});

test('others are refused with what is wrong', () => {
  assert.equal(
    scheduleProblem('@every 1x'),
    'failed to parse duration @every 1x: time: unknown unit "x" in duration "1x"',
  );
  assert.equal(scheduleProblem('@every 1'), 'failed to parse duration @every 1: time: missing unit in duration "1"');
  assert.equal(scheduleProblem('@every x'), 'failed to parse duration @every x: time: invalid duration "x"');
  assert.equal(scheduleProblem('x'), 'expected exactly 5 fields, found 1: [x]');
  assert.equal(scheduleProblem('70 * * * *'), 'end of range (70) above maximum (59): 70');
  assert.equal(scheduleProblem('* * 0 * *'), 'beginning of range (0) below minimum (1): 0');
  assert.equal(scheduleProblem('5-1 * * * *'), 'beginning of range (5) beyond end of range (1): 5-1');
  assert.equal(scheduleProblem('*/0 * * * *'), 'step of range should be a positive number: */0');
  assert.equal(scheduleProblem('a * * * *'), 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax');
  assert.equal(scheduleProblem('@sometimes'), 'unrecognized descriptor: @sometimes');
});

test('time zones are those that are known', () => {
  assert.ok(isTimeZone('Europe/Berlin'));
  assert.ok(!isTimeZone('Nowhere/City'));
});
