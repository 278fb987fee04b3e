import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition } from '../kube/conditions.ts';
import { type ManifestResult, nextStatus } from './status.ts';
import type { ManifestWork } from './work.ts';

const meta = (ordinal: number, name: string) => ({
  ...{ ordinal, group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespace: 'n', name },
});
const present = (ordinal: number, name: string, phase = 'A'): ManifestResult => ({
  meta: meta(ordinal, name),
  config: { feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'phase', path: '.phase' }] }] },
  failure: undefined,
  observed: { state: 'present', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, phase } },
});
const work: ManifestWork = { metadata: { name: 'w', generation: 3 } };
const at = (now: string) => ({ maxJsonRawLength: 1024, now: Date.parse(now) });
const early = at('2026-01-01T00:00:00Z');
const late = at('2026-01-02T00:00:00Z');

test('a status that says the same is the same', () => {
  const status = nextStatus(work, [present(0, 'a')], early);
  assert.equal(nextStatus({ ...work, status }, [present(0, 'a')], late), status);
});

test('times move with what they are of: a value, and nothing else', () => {
  const status = nextStatus(work, [present(0, 'a'), present(1, 'b')], early);
  const next = nextStatus({ ...work, status }, [present(0, 'a', 'B'), present(1, 'b')], late);
  const times = next.resourceStatus?.manifests?.map(({ conditions }) =>
    Object.fromEntries(conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])),
  );
  const [then, now] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
  assert.deepEqual(times, [
    { Applied: then, Available: then, StatusFeedbackSynced: now },
    { Applied: then, Available: then, StatusFeedbackSynced: then },
  ]);
});

test('a manifest that has moved keeps its conditions, and one that is gone loses them', () => {
  const status = nextStatus(work, [present(0, 'a'), present(1, 'b')], early);
  const next = nextStatus({ ...work, status }, [present(0, 'b')], late);
  assert.deepEqual(
    next.resourceStatus?.manifests?.map(({ resourceMeta, conditions }) => [
      resourceMeta.name,
      findCondition(conditions, 'Applied')?.lastTransitionTime,
    ]),
    [['b', '2026-01-01T00:00:00Z']],
  );
});

test('what cannot be seen is unknown, what is not there is not available, and both are counted', () => {
  const other = (ordinal: number, observed: ManifestResult['observed']): ManifestResult => ({
    ...present(ordinal, `m${ordinal}`),
    observed,
  });
  const of = (...results: readonly ManifestResult[]) => {
    const found = findCondition(nextStatus(work, results, early).conditions, 'Available');
    return [found?.status, found?.reason, found?.message];
  };
  const unknown = other(1, { state: 'unknown', message: 'x' });
  assert.deepEqual(of(present(0, 'a'), unknown), [
    'Unknown',
    'ResourcesStatusUnknown',
    '1 of 2 resources have unknown status',
  ]);
  assert.deepEqual(of(present(0, 'a'), unknown, other(2, { state: 'absent' })), [
    'False',
    'ResourcesNotAvailable',
    '1 of 3 resources are not available',
  ]);
});

test('conditions of others stay, those of rules that are gone do not, and long messages are cut', () => {
  const foreign = { type: 'Theirs', status: 'True', reason: 'R', message: '', lastTransitionTime: '' } as const;
  const old = { ...foreign, type: 'Complete', reason: 'ConditionRulesAggregated', observedGeneration: 2 };
  const failed: ManifestResult = {
    ...present(0, 'a'),
    failure: { reason: 'AppliedManifestFailed', message: 'x'.repeat(100_000) },
  };
  const next = nextStatus({ ...work, status: { conditions: [foreign, old] } }, [failed], early);
  assert.deepEqual(
    next.conditions?.map(({ type, status }) => [type, status]),
    [
      ['Theirs', 'True'],
      ['Applied', 'False'],
      ['Available', 'True'],
    ],
  );
  const message = findCondition(next.resourceStatus?.manifests?.[0]?.conditions, 'Applied')?.message ?? '';
  assert.ok(message.length < 5000);
});
