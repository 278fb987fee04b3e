import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonPathError, parseJsonPath } from './json-path.ts';

const object = {
  metadata: { annotations: { 'example.com/a.b': 'dotted' } },
  spec: { items: [1, 2, 3, 4] },
  status: {
    phase: 'Ready',
    conditions: [
      { type: 'Ready', status: 'True', count: 2 },
      { type: 'Failed', status: 'False', count: 1, inner: [{ name: 'x', value: 7 }] },
    ],
    none: null,
  },
};

const found: readonly (readonly [path: string, values: readonly unknown[]])[] = [
  ['.status.phase', ['Ready']],
  ['$.status.phase', ['Ready']],
  ['.status.missing.deeper', []],
  ['.status.phase.deeper', []],
  ["['status']['phase']", ['Ready']],
  [String.raw`.metadata.annotations.example\.com/a\.b`, ['dotted']],
  [".metadata.annotations['example.com/a.b']", ['dotted']],
  ['.spec.items[0]', [1]],
  ['.spec.items[-1]', [4]],
  ['.spec.items[1:3]', [2, 3]],
  ['.spec.items[::2]', [1, 3]],
  ['.spec.items[0,3]', [1, 4]],
  ['.spec.items[*]', [1, 2, 3, 4]],
  ['.status.conditions[*].type', ['Ready', 'Failed']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type == 'Failed')].status", ['False']],
  ['.status.conditions[?(@.count>1)].type', ['Ready']],
  ['.status.conditions[?(@.inner)].type', ['Failed']],
  ['.status.conditions[?(@.inner[?(@.name=="x")].value==7)].type', ['Failed']],
  ['.status.conditions[?(@.count=="1")].type', []],
  ['..value', [7]],
  ['..type', ['Ready', 'Failed']],
  ['.status.none', [null]],
];

test('a path leads to what kubectl would find', () => {
  for (const [path, values] of found) assert.deepEqual(parseJsonPath(path).find(object), values, path);
});

test('what is no path, and what does not fit the object, is said', () => {
  for (const path of ['.a[', '.a]', '.a[?(@.b', '.a[?(@.b=~"x")]', '..', 'status', '.a b', '.a[1:2:0]', '.a}{.b']) {
    assert.throws(() => parseJsonPath(path), JsonPathError, path);
  }
  assert.throws(() => parseJsonPath('.spec.items[9]').find(object), /array index out of bounds: index 9, length 4/);
  assert.throws(() => parseJsonPath('.status[0]').find(object), JsonPathError);
});

test('a path that would lead to too many values ends', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100; level++) deep = { a: deep };
  assert.throws(() => parseJsonPath('..*..*..*..*..*').find(deep), /too many values/);
});

test('members are removed wherever the path leads', () => {
  const copy = structuredClone(object);
  parseJsonPath('.status.conditions[*].count').remove(copy);
  parseJsonPath('.status.missing.deeper').remove(copy);
  assert.deepEqual(copy.status.conditions[0], { type: 'Ready', status: 'True' });
  parseJsonPath('.spec.items[0]').remove(copy);
  assert.equal(copy.spec.items.length, 4);
});
