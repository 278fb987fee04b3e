import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aggregateRules, evaluateRules } from './condition-rules.ts';
import type { ConditionRule } from './work.ts';

const job = (...conditions: readonly object[]) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j' },
  spec: { parallelism: 3 },
  status: { conditions, text: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' },
});

function one(rule: ConditionRule, object: Parameters<typeof evaluateRules>[0] = job()) {
  const [condition] = evaluateRules(object, [{ condition: 'Complete', ...rule }], 4);
  return [condition?.status, condition?.reason, condition?.message];
}

const cel = (...celExpressions: readonly string[]): ConditionRule => ({ type: 'CEL', celExpressions });

test('well-known conditions of jobs and pods', () => {
  const known = { type: 'WellKnownConditions' };
  assert.deepEqual(one(known, job({ type: 'Failed', status: 'True' })), [
    'True',
    'ConditionRuleEvaluated',
    'Job is finished',
  ]);
  assert.deepEqual(one(known, job({ type: 'Complete', status: 'False' }))[0], 'False');
  assert.deepEqual(one(known, { apiVersion: 'batch/v1', kind: 'Job', metadata: {} }), [
    'False',
    'ConditionRuleEvaluated',
    'Job is not finished',
  ]);
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: {}, status: { phase: 'Succeeded' } };
  assert.deepEqual(one(known, pod), ['True', 'ConditionRuleEvaluated', 'Pod is in phase Succeeded']);
  assert.deepEqual(one(known, { apiVersion: 'v1', kind: 'Secret', metadata: {} }).slice(0, 2), [
    'Unknown',
    'ConditionRuleInvalid',
  ]);
});

test('expressions in CEL: all must hold, and the message may be one', () => {
  assert.deepEqual(one(cel('object.spec.parallelism + 1 == 4', "object.kind == 'Job'")), [
    'True',
    'ConditionRuleEvaluated',
    'Manifest is Complete',
  ]);
  assert.deepEqual(one({ ...cel('false'), message: 'mine' }), ['False', 'ConditionRuleEvaluated', 'mine']);
  assert.deepEqual(
    one({ ...cel('true'), messageExpression: "result ? 'yes ' + object.metadata.name : 'no'" })[2],
    'yes j',
  );
  assert.deepEqual(one(cel("object.status.text.matches('^a+!$')"))[0], 'True');
});

test('an expression that is wrong, fails, or would cost too much is a condition that says so', () => {
  for (const wrong of [
    'object.',
    'object.missing == 1',
    '1 + 1',
    'unknown == 1',
    "'a'.matches('(')",
    'x'.repeat(20_000),
  ]) {
    assert.deepEqual(one(cel(wrong)).slice(0, 2), ['False', 'ConditionRuleExpressionError'], wrong.slice(0, 40));
  }
  const wide = { ...job(), items: Array.from({ length: 2000 }, (_, at) => at) };
  const nested = 'object.items.all(a, object.items.all(b, object.items.all(c, a + b + c >= 0)))';
  assert.match(one(cel(nested), wide)[2] ?? '', /cost too much/);
  assert.deepEqual(one(cel('object.items.all(a, a >= 0)'), wide)[0], 'True');
  assert.deepEqual(one(cel("object.status.text.matches('(a+)+$')"))[0], 'False');
  assert.deepEqual(one({ type: 'Other' }).slice(0, 2), ['Unknown', 'ConditionRuleInvalid']);
  assert.deepEqual(one(cel()).slice(0, 2), ['Unknown', 'ConditionRuleInvalid']);
});

test('the work has a condition where all manifests with a rule for it have', () => {
  const manifest = (status: 'True' | 'False', ordinal: number) => ({
    resourceMeta: { ordinal, group: '', version: 'v1', kind: 'Pod', resource: 'pods', name: 'p', namespace: 'n' },
    statusFeedback: {},
    conditions: [{ type: 'Complete', status, reason: 'ConditionRuleEvaluated', message: '', lastTransitionTime: '' }],
  });
  assert.deepEqual(aggregateRules([manifest('True', 0), manifest('False', 1)], 4), [
    {
      type: 'Complete',
      status: 'False',
      reason: 'ConditionRulesAggregated',
      message: '1 of 2 manifests are Complete',
      observedGeneration: 4,
    },
  ]);
  assert.equal(aggregateRules([manifest('True', 0), manifest('True', 1)], 4)[0]?.status, 'True');
  assert.deepEqual(aggregateRules([], 4), []);
});
