import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  difference,
  type FieldSet,
  intersection,
  isEmpty,
  leaf,
  pathsOf,
  recursiveDifference,
  setOfMembers,
  sorted,
  union,
  unionAll,
} from './fieldset.ts';

/** A set as the paths it has, which is what the operations are about. */
const paths = (set: FieldSet): Set<string> => new Set(pathsOf(sorted(set)));

const members = fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }), { maxLength: 8 });
const anySet = members.map((list) => setOfMembers(...list));

describe('sets of fields', () => {
  test('operations are those of sets of paths', () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        assert.deepEqual(paths(union(a, b)), new Set([...paths(a), ...paths(b)]));
        assert.deepEqual(paths(difference(a, b)), new Set([...paths(a)].filter((path) => !paths(b).has(path))));
        assert.deepEqual(paths(intersection(a, b)), new Set([...paths(a)].filter((path) => paths(b).has(path))));
        const under = [...paths(a)].filter(
          (path) => ![...paths(b)].some((other) => path === other || path.startsWith(`${other}.`)),
        );
        assert.deepEqual(paths(recursiveDifference(a, b)), new Set(under));
      }),
    );
  });

  test('operands are not changed, and what does not change is shared', () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        const before = JSON.stringify([a, b]);
        union(a, b);
        difference(a, b);
        intersection(a, b);
        recursiveDifference(a, b);
        assert.equal(JSON.stringify([a, b]), before);
      }),
    );
    const set = setOfMembers(['a', 'b'], ['c']);
    assert.equal(difference(set, setOfMembers(['x'])), set);
    assert.equal(union(set, setOfMembers(['a', 'b'])), set);
  });

  test('no node says nothing: a set without paths is empty', () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        assert.equal(isEmpty(difference(a, b)), paths(difference(a, b)).size === 0);
        assert.equal(isEmpty(intersection(a, b)), paths(intersection(a, b)).size === 0);
      }),
    );
  });

  test('a path that stays without what was below it is written as a leaf', () => {
    const set: FieldSet = { 'f:a': { '.': leaf, 'f:b': leaf } };
    assert.deepEqual(difference(set, { 'f:a': { 'f:b': leaf } }), { 'f:a': {} });
    assert.deepEqual(difference(set, { 'f:a': leaf }), { 'f:a': { 'f:b': {} } });
  });

  test('elements are written in order: members, items by key and value', () => {
    const set: FieldSet = {
      'k:{"port":443}': leaf,
      'k:{"port":80}': leaf,
      'v:"b"': leaf,
      'v:"a"': leaf,
      'f:b': { 'f:z': leaf, '.': leaf, 'f:y': leaf },
      'f:a': leaf,
    };
    assert.equal(
      JSON.stringify(sorted(set)),
      '{"f:a":{},"f:b":{".":{},"f:y":{},"f:z":{}},"k:{\\"port\\":80}":{},"k:{\\"port\\":443}":{},"v:\\"a\\"":{},"v:\\"b\\"":{}}',
    );
  });

  test('paths are shown as in messages', () => {
    const set: FieldSet = {
      'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:name': leaf } }, 'f:replicas': leaf },
      'f:metadata': { 'f:finalizers': { 'v:"x.y/z"': leaf } },
    };
    assert.deepEqual(pathsOf(sorted(set)), [
      '.metadata.finalizers[="x.y/z"]',
      '.spec.replicas',
      '.spec.ports[port=80,protocol="TCP"].name',
    ]);
  });
});

test('the union of many sets is that of all of them', () => {
  const sets = Array.from({ length: 20_000 }, (_, at) => setOfMembers(['data', `k${at % 10_000}`]));
  const all = unionAll(sets);
  assert.equal(Object.keys(all['f:data'] ?? {}).length, 10_000);
  assert.deepEqual(unionAll([]), {});
  assert.deepEqual(unionAll(sets.slice(0, 1)), sets[0]);
});
