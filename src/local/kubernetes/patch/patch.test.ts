// What recorded answers of a real server do not show; the bulk is in test/interop/kubernetes/apply.test.ts.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../object.ts';
import { definition } from '../schema/definitions.ts';
import { StatusError } from '../status.ts';
import { applyJsonPatch } from './json-patch.ts';
import { cloneJson, equalJson } from './json-tree.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
const object = fc.dictionary(fc.string({ maxLength: 3 }), json) as fc.Arbitrary<JsonObject>;
const configMap = definition('io.k8s.api.core.v1.ConfigMap');
const pod = definition('io.k8s.api.core.v1.Pod');

const operation = fc.record(
  {
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
    path: fc.constantFrom('', '/a', '/a/b', '/a/0', '/a/-', '/list/-1', '/list/9', 'a', '/__proto__/x', '/constructor'),
    from: fc.constantFrom('', '/a', '/list', '/list/0', '/zork', '/__proto__'),
    value: json,
  },
  { requiredKeys: ['op', 'path'] },
);

const throwsOnlyStatus = (work: () => unknown): void => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    assert.ok(error.status.code >= 400 && error.status.code < 500);
  }
};

describe('patches', () => {
  test('a JSON patch cannot make an object deeper than can be walked', () => {
    const doubling = Array.from({ length: 20 }, (_, times) => ({
      op: 'copy',
      from: '/a',
      path: `/a${'/a'.repeat(2 ** times)}`,
    }));
    assert.throws(() => applyJsonPatch({ a: { a: {} } }, doubling), /deeper than 1000 levels/);
    const nested = JSON.parse(`${'{"a":'.repeat(999)}1${'}'.repeat(999)}`) as JsonValue;
    const put = (path: string) => applyJsonPatch({ a: {} }, [{ op: 'add', path, value: nested }]);
    assert.ok(put('/b'));
    assert.throws(() => put('/a/b'), /deeper than 1000 levels/);
  });

  test('any document is merged or refused as the client’s fault, and the target stays as it was', () => {
    fc.assert(
      fc.property(object, json, (target, body) => {
        const before = cloneJson(target);
        throwsOnlyStatus(() => applyJsonPatch(target, body));
        throwsOnlyStatus(() => applyMergePatch(target, body));
        throwsOnlyStatus(() => applyStrategicMergePatch(target, body, configMap));
        assert.ok(equalJson(before, target));
      }),
    );
  });

  test('any operations are carried out or refused as the client’s fault, and no prototype is touched', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (operations) => {
        const target: JsonObject = { a: { b: 1 }, list: [1, 2] };
        throwsOnlyStatus(() => applyJsonPatch(target, operations));
        assert.deepEqual(target, { a: { b: 1 }, list: [1, 2] });
        assert.equal(({} as Record<string, unknown>).x, undefined);
      }),
    );
  });

  test('a value added twice is two values', () => {
    const value = { n: 1 };
    const result = applyJsonPatch({}, [
      { op: 'add', path: '/a', value },
      { op: 'add', path: '/b', value },
      { op: 'replace', path: '/a/n', value: 2 },
    ]);
    assert.deepEqual(result, { a: { n: 2 }, b: { n: 1 } });
    assert.deepEqual(value, { n: 1 });
  });

  test('copies beyond a limit are refused', () => {
    const operations = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    assert.throws(() => applyJsonPatch({ a: ['x'.repeat(1000)] }, operations), StatusError);
  });

  test('a pointer without a slash names a member of the document', () => {
    assert.deepEqual(applyJsonPatch({ data: {} }, [{ op: 'add', path: 'data/b', value: 1 }]), { data: {}, b: 1 });
  });

  test('a merge patch may set a member named __proto__', () => {
    const result = applyMergePatch({}, JSON.parse('{"__proto__":{"x":1}}'));
    assert.deepEqual(Object.keys(result), ['__proto__']);
    assert.equal(Object.getPrototypeOf(result), Object.prototype);
  });

  test('long lists are merged by key in good time', () => {
    const containers = Array.from({ length: 20_000 }, (_, index) => ({ name: `c${index}`, image: 'a' }));
    const patch = { spec: { containers: containers.map(({ name }) => ({ name, image: 'b' })) } };
    const result = applyStrategicMergePatch({ spec: { containers } }, patch, pod) as {
      spec: { containers: unknown[] };
    };
    assert.deepEqual(result.spec.containers[19_999], { name: 'c19999', image: 'b' });
  });
});
