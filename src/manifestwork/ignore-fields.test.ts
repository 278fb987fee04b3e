import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IgnoreFieldError, reduceIgnored, specHashAnnotation } from './ignore-fields.ts';

const object = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  spec: {
    replicas: 3,
    containers: [
      { name: 'x', image: '1' },
      { name: 'y', image: '2' },
    ],
  },
};

test('fields ignored while present are taken out of what is applied to an object that is there', () => {
  const selectors: readonly object[] = [
    { jsonPaths: ['.spec.replicas'] },
    { jsonPointers: ['/spec/replicas', '/spec/nothing/here'] },
    { jqPathExpressions: ['.spec.replicas'] },
  ];
  for (const selector of selectors) {
    const { whole, reduced } = reduceIgnored(object, [{ condition: 'OnSpokePresent', ...selector }]);
    assert.deepEqual(reduced.spec, { containers: object.spec.containers });
    assert.deepEqual(whole.spec, object.spec);
    assert.equal(object.spec.replicas, 3, 'the manifest is as it was');
  }
  const selected = [{ jqPathExpressions: ['.spec.containers[] | select(.name == "y") | .image'] }];
  assert.deepEqual((reduceIgnored(object, selected).reduced.spec as typeof object.spec).containers, [
    { name: 'x', image: '1' },
    { name: 'y' },
  ]);
});

test('the hash changes with what is not ignored, and with what is ignored on change', () => {
  const hash = (replicas: number, condition: string) =>
    reduceIgnored({ ...object, spec: { ...object.spec, replicas } }, [{ condition, jsonPaths: ['.spec.replicas'] }])
      .hash;
  assert.equal(hash(1, 'OnSpokePresent'), hash(2, 'OnSpokePresent'));
  assert.notEqual(hash(1, 'OnSpokeChange'), hash(2, 'OnSpokeChange'));
  const { whole, hash: value } = reduceIgnored(object, [{ condition: 'OnSpokeChange', jsonPaths: ['.spec.replicas'] }]);
  assert.equal(whole.metadata.annotations?.[specHashAnnotation], value);
});

test('a selector that cannot be read is said', () => {
  for (const selector of [{ jsonPaths: ['.a['] }, { jsonPointers: ['a'] }, { jqPathExpressions: ['map(.a)'] }]) {
    assert.throws(() => reduceIgnored(object, [selector]), IgnoreFieldError);
  }
});
