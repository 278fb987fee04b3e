import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations } from '../../kubelet/stage.ts';
import { cronJobs, events, jobs, pods } from '../kinds.ts';
import { conditionOf } from '../pods.ts';
import { controlled, template } from '../testing/controlled.ts';
import { nextTime } from './cron-times.ts';
import { formatIndexes, parseIndexes } from './indexes.ts';

const work = (outcome?: string) => ({
  metadata: { ...(outcome ? { annotations: { [annotations.outcome]: outcome } } : {}) },
  spec: { ...template({}).spec, restartPolicy: 'Never' },
});

const jobOf = (name: string, spec: Record<string, unknown>, outcome?: string) => ({
  metadata: { name },
  spec: { template: work(outcome), ...spec },
});

test('a job runs its pods to completion, so many at a time', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  let most = 0;
  const unsubscribe = one.cluster.objects.watchAll(({ entry }) => {
    if (entry.type !== '/pods') return;
    const active = one.hands.list(pods, 'default').filter(({ status }) => status?.phase !== 'Succeeded').length;
    most = Math.max(most, active);
  });
  await one.create(jobs, 'default', jobOf('sum', { completions: 5, parallelism: 2 }));
  unsubscribe();
  const { status } = one.read(jobs, 'default', 'sum');
  assert.equal(status?.succeeded, 5);
  assert.equal(most, 2);
  assert.deepEqual(
    status?.conditions?.map(({ type, reason }) => [type, reason]),
    [
      ['SuccessCriteriaMet', 'CompletionsReached'],
      ['Complete', 'CompletionsReached'],
    ],
  );
  assert.ok(status?.completionTime);
  const left = one.hands.list(pods, 'default');
  assert.equal(left.length, 5);
  assert.ok(
    left.every(({ metadata }) => metadata.finalizers === undefined),
    'counted pods are free to go',
  );
});

test('a job that fails too often is a failed job', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(jobs, 'default', jobOf('sum', { backoffLimit: 1 }, 'fail'));
  assert.equal(one.read(jobs, 'default', 'sum').status?.failed, 1);
  assert.equal(one.hands.list(pods, 'default').length, 1, 'the next attempt waits');
  await one.pass(11);
  const { status } = one.read(jobs, 'default', 'sum');
  assert.equal(status?.failed, 2);
  assert.equal(conditionOf(status?.conditions, 'Failed')?.message, 'Job has reached the specified backoff limit');
  assert.ok(one.hands.list(events, 'default').some(({ reason }) => reason === 'BackoffLimitExceeded'));
});

test('an indexed job has a pod for every index', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(jobs, 'default', jobOf('part', { completions: 3, parallelism: 3, completionMode: 'Indexed' }));
  const { status } = one.read(jobs, 'default', 'part');
  assert.equal(status?.completedIndexes, '0-2');
  assert.equal(status?.succeeded, 3);
  const made = one.hands.list(pods, 'default');
  assert.deepEqual(made.map(({ spec }) => spec.hostname).sort(), ['part-0', 'part-1', 'part-2']);
});

test('a deadline ends a job, suspension stops it, and time to live removes it', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(jobs, 'default', jobOf('slow', { activeDeadlineSeconds: 5 }, 'never-ready'));
  await one.pass(6);
  assert.equal(conditionOf(one.read(jobs, 'default', 'slow').status?.conditions, 'Failed')?.reason, 'DeadlineExceeded');

  await one.create(jobs, 'default', jobOf('later', { suspend: true, ttlSecondsAfterFinished: 10 }));
  assert.equal(conditionOf(one.read(jobs, 'default', 'later').status?.conditions, 'Suspended')?.status, 'True');
  assert.equal(one.read(jobs, 'default', 'later').status?.active, undefined);
  await one.change(jobs, 'default', 'later', ({ spec }) => {
    spec.suspend = false;
  });
  assert.equal(one.read(jobs, 'default', 'later').status?.succeeded, 1);
  await one.pass(11);
  assert.equal(one.hands.get(jobs, 'default', 'later'), undefined);
  assert.ok(!one.hands.list(pods, 'default').some(({ metadata }) => metadata.labels?.['job-name'] === 'later'));
});

test('a cron job makes a job at each of its times and keeps a few', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(cronJobs, 'default', {
    metadata: { name: 'tidy' },
    spec: { schedule: '*/2 * * * *', successfulJobsHistoryLimit: 2, jobTemplate: { spec: { template: work() } } },
  });
  assert.equal(one.cluster.objects.count(jobs.type.storage), 0);
  await one.pass(10 * 60 + 1);
  const made = one.hands.list(jobs, 'default').map(({ metadata }) => metadata.name);
  const minute = Math.floor(one.clock.now / 60_000);
  assert.deepEqual(made, [`tidy-${minute - 2}`, `tidy-${minute}`]);
  assert.equal(one.read(cronJobs, 'default', 'tidy').status?.lastScheduleTime, '2026-01-01T00:10:00Z');
});

test('a cron job may run at intervals, counted from the time before', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.pass(7);
  await one.create(cronJobs, 'default', {
    metadata: { name: 'often' },
    spec: { schedule: '@every 90s', jobTemplate: { spec: { template: work() } } },
  });
  await one.pass(89);
  assert.equal(one.cluster.objects.count(jobs.type.storage), 0);
  await one.pass(1);
  assert.equal(one.read(cronJobs, 'default', 'often').status?.lastScheduleTime, '2026-01-01T00:01:37Z');
  await one.pass(90);
  assert.equal(one.read(cronJobs, 'default', 'often').status?.lastScheduleTime, '2026-01-01T00:03:07Z');
  assert.equal(one.cluster.objects.count(jobs.type.storage), 2);
});

test('times of schedules, also in a zone with summer time', () => {
  const at = (text: string): number => Date.parse(text);
  const next = (schedule: string, after: string, zone?: string): string | undefined => {
    const due = nextTime(schedule, at(after), zone);
    return due === undefined ? undefined : new Date(due).toISOString();
  };
  assert.equal(next('0 3 * * *', '2026-01-01T03:00:00Z'), '2026-01-02T03:00:00.000Z');
  assert.equal(next('*/15 9-17 * * mon-fri', '2026-01-02T17:50:00Z'), '2026-01-05T09:00:00.000Z');
  assert.equal(next('0 0 13 * 5', '2026-01-01T00:00:00Z'), '2026-01-02T00:00:00.000Z');
  assert.equal(next('@monthly', '2026-01-15T00:00:00Z'), '2026-02-01T00:00:00.000Z');
  assert.equal(next('0 12 * * *', '2026-07-01T00:00:00Z', 'Europe/Berlin'), '2026-07-01T10:00:00.000Z');
  assert.equal(next('0 12 * * *', '2026-01-01T00:00:00Z', 'Europe/Berlin'), '2026-01-01T11:00:00.000Z');
  assert.equal(next('0 0 */30 * 5', '2026-01-02T00:00:00Z'), '2026-01-09T00:00:00.000Z', 'a step restricts the day');
  assert.equal(next('0 0 * * 5', '2026-01-02T00:00:00Z'), '2026-01-09T00:00:00.000Z');
  assert.equal(next('@every 1h30m', '2026-01-01T00:00:10Z'), '2026-01-01T01:30:10.000Z');
  assert.equal(next('@every 10ms', '2026-01-01T00:00:10.5Z'), '2026-01-01T00:00:11.000Z');
  for (const [macro, due] of [
    ['@yearly', '2027-01-01'],
    ['@annually', '2027-01-01'],
    ['@weekly', '2026-01-18'],
    ['@daily', '2026-01-16'],
    ['@midnight', '2026-01-16'],
  ] as const) {
    assert.equal(next(macro, '2026-01-15T00:00:00Z'), `${due}T00:00:00.000Z`);
  }
  assert.equal(next('@hourly', '2026-01-15T00:20:00Z'), '2026-01-15T01:00:00.000Z');
  assert.equal(next('0 0 30 2 *', '2026-01-01T00:00:00Z'), undefined);
});

test('sets of indexes are written as ranges', () => {
  assert.equal(formatIndexes([4, 0, 2, 3, 7, 8]), '0,2-4,7,8');
  assert.deepEqual([...parseIndexes('0,2-4,7,8')], [0, 2, 3, 4, 7, 8]);
});
