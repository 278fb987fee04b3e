import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFeedback } from './feedback.ts';

const object = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  status: { replicas: 2, readyReplicas: 1, ratio: 0.5, paused: false, text: 'x', list: ['a', 'b'] },
};
const limit = 1024;
const paths = (...texts: readonly string[]) => [
  { type: 'JSONPaths', jsonPaths: texts.map((path) => ({ name: path, path })) },
];

test('well-known values are those of the kind, as far as they are there', () => {
  const { values, condition } = readFeedback(object, [{ type: 'WellKnownStatus' }], limit);
  assert.deepEqual(values, [
    { name: 'ReadyReplicas', fieldValue: { type: 'Integer', integer: 1 } },
    { name: 'Replicas', fieldValue: { type: 'Integer', integer: 2 } },
  ]);
  assert.deepEqual(condition, {
    type: 'StatusFeedbackSynced',
    status: 'True',
    reason: 'StatusFeedbackSynced',
    message: '',
  });
});

test('values have the type they are of; all else, and several, are JSON', () => {
  const { values } = readFeedback(
    object,
    paths('.status.text', '.status.paused', '.status.ratio', '.status.list', '.status.list[*]', '.status', '.missing'),
    limit,
  );
  assert.deepEqual(
    values.map(({ fieldValue }) => fieldValue),
    [
      { type: 'String', string: 'x' },
      { type: 'Boolean', boolean: false },
      { type: 'JsonRaw', jsonRaw: '0.5' },
      { type: 'JsonRaw', jsonRaw: '["a","b"]' },
      { type: 'JsonRaw', jsonRaw: '["a","b"]' },
      { type: 'JsonRaw', jsonRaw: JSON.stringify(object.status) },
    ],
  );
});

test('one value that cannot be had fails the condition, and the others are kept', () => {
  const cases: readonly (readonly [object[], RegExp])[] = [
    [[{ type: 'WellKnownStatus' }], /cannot find the wellknown statuses/],
    [
      [{ type: 'JSONPaths', jsonPaths: [{ name: 'v', path: '.a', version: 'v2' }] }],
      /version set in the path v is not matched/,
    ],
    [paths('.a['), /failed to parse json path \.a\[ of \.a\[/],
    [paths('.data'), /larger than the maximum length 1024/],
    [[{ type: 'Other' }], /not known/],
  ];
  const large = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data: { a: 'x'.repeat(2000) }, good: 1 };
  for (const [rules, message] of cases) {
    const { values, condition } = readFeedback(large, [...rules, ...paths('.good')], limit);
    assert.equal(condition.reason, 'StatusFeedbackSyncFailed');
    assert.match(condition.message, message);
    assert.deepEqual(values, [{ name: '.good', fieldValue: { type: 'Integer', integer: 1 } }]);
  }
});

test('many values together are bounded too', () => {
  const large = { metadata: {}, data: { a: 'x'.repeat(900) } };
  const rules = paths(...Array.from({ length: 10 }, () => '.data'));
  const { values, condition } = readFeedback(large, rules, limit);
  assert.equal(values.length, 4);
  assert.match(condition.message, /no room/);
});

test('without rules there is nothing, which is right', () => {
  const { values, condition } = readFeedback(object, [], limit);
  assert.deepEqual([values, condition.status, condition.reason], [[], 'True', 'NoStatusFeedbackSynced']);
});
