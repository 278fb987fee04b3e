import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { StoreError } from './errors.ts';
import { shapeOf } from './schema-shape.ts';
import { carryUnknown } from './unknown-fields.ts';

const carried = (schema: TSchema, stored: unknown, next: unknown): unknown => {
  const before = JSON.stringify([stored, next]);
  const result = carryUnknown(shapeOf(schema), stored, next);
  assert.equal(JSON.stringify([stored, next]), before, 'what is given is left alone');
  return result;
};

describe('members that the schema does not know', () => {
  it('are carried over, those it knows are not', () => {
    const schema = Type.Object({ known: Type.Optional(Type.Number()), gone: Type.Optional(Type.String()) });
    assert.deepEqual(carried(schema, { known: 1, gone: 'x', more: [1] }, { known: 2 }), { known: 2, more: [1] });
    assert.deepEqual(carried(schema, { more: 1 }, { more: 2 }), { more: 2 }, 'a member that is given wins');
    assert.deepEqual(carried(schema, { more: 1 }, { more: null }), { more: null });
    assert.deepEqual(carried(schema, { more: 1, known: 1 }, { more: undefined, known: undefined }), {
      more: 1,
      known: undefined,
    });
  });

  it('are carried at every depth', () => {
    const schema = Type.Object({ a: Type.Object({ b: Type.Object({ known: Type.Number() }) }) });
    const stored = { a: { x: 1, b: { known: 1, y: 2 } } };
    assert.deepEqual(carried(schema, stored, { a: { b: { known: 2 } } }), { a: { x: 1, b: { known: 2, y: 2 } } });
    assert.deepEqual(carried(schema, stored, { a: {} }), { a: { x: 1 } }, 'a known object that is gone is gone whole');
    assert.deepEqual(carried(schema, stored, { a: 5 }), { a: 5 });
    assert.deepEqual(carried(schema, { a: 5 }, { a: { b: { known: 1 } } }), { a: { b: { known: 1 } } });
  });

  it('do not exist in maps: what is taken out of one stays out', () => {
    const item = Type.Object({ known: Type.Optional(Type.Number()) });
    const schemas = [
      Type.Record(Type.String(), item),
      Type.Object({}, { additionalProperties: item }),
      Type.Unsafe({ type: 'object', additionalProperties: item }),
    ];
    for (const map of schemas)
      assert.deepEqual(
        carried(Type.Object({ map }), { map: { a: { x: 1 }, b: { x: 2 } } }, { map: { b: { known: 1 } } }),
        { map: { b: { known: 1, x: 2 } } },
        'and their values are looked into',
      );
    const open = Type.Object({ a: Type.Optional(Type.Number()) }, { additionalProperties: true });
    assert.deepEqual(carried(open, { a: 1, x: 1 }, {}), {});
  });

  it('exist in maps with patterned keys, for the keys that match none', () => {
    const map = Type.Unsafe({ type: 'object', patternProperties: { '^x-': Type.Number() } });
    assert.deepEqual(carried(map, { 'x-a': 1, y: 2 }, {}), { y: 2 });
  });

  it('do not exist in what the schema leaves open', () => {
    for (const any of [Type.Unknown(), Type.Any(), Type.Unsafe({ type: 'object' }), Type.Unsafe({})])
      assert.deepEqual(carried(Type.Object({ any }), { any: { a: { b: 1 } } }, { any: { a: {} } }), { any: { a: {} } });
  });

  it('are those that no alternative knows', () => {
    const schema = Type.Object({
      either: Type.Union([Type.Object({ a: Type.Number() }), Type.Object({ b: Type.Number() }), Type.Null()]),
      both: Type.Intersect([Type.Object({ a: Type.Number() }), Type.Object({ b: Type.Number() })]),
    });
    const stored = { either: { a: 1, b: 2, c: 3 }, both: { a: 1, b: 2, c: 3 } };
    assert.deepEqual(carried(schema, stored, { either: {}, both: {} }), { either: { c: 3 }, both: { c: 3 } });
    assert.deepEqual(carried(schema, stored, { either: null, both: {} }), { either: null, both: { c: 3 } });
    const open = Type.Object({ either: Type.Union([Type.Object({}), Type.Unknown()]) });
    assert.deepEqual(carried(open, { either: { c: 1 } }, { either: {} }), { either: {} });
  });

  it('are found behind references, also in schemas that contain themselves', () => {
    const { Node } = Type.Module({
      Leaf: Type.Object({ known: Type.Optional(Type.Number()) }),
      Node: Type.Object({ leaf: Type.Optional(Type.Ref('Leaf')), next: Type.Optional(Type.Ref('Node')) }),
    });
    let [stored, next, expected]: object[] = [{}, {}, {}];
    for (let level = 0; level < 50; level++) {
      stored = { leaf: { known: 1, x: level }, next: stored, y: level };
      next = { leaf: {}, next };
      expected = { leaf: { x: level }, next: expected, y: level };
    }
    assert.deepEqual(carried(Node, stored, next), expected);
  });

  it('are not looked for with a schema that refers to nothing', () => {
    assert.throws(
      () => shapeOf(Type.Object({ deep: Type.Array(Type.Ref('Nothing')) })),
      (error) => error instanceof StoreError && error.code === 'Invalid' && /Nothing/.test(error.message),
    );
  });

  describe('in arrays', () => {
    const element = Type.Object({
      id: Type.Optional(Type.String()),
      name: Type.Optional(Type.String()),
      known: Type.Optional(Type.Number()),
    });
    const schema = Type.Array(element);

    it('stay with the element that has the same name', () => {
      const stored = [
        { name: 'a', x: 1 },
        { name: 'b', x: 2 },
      ];
      assert.deepEqual(carried(schema, stored, [{ name: 'b' }, { name: 'c' }, { name: 'a', known: 1 }]), [
        { name: 'b', x: 2 },
        { name: 'c' },
        { name: 'a', known: 1, x: 1 },
      ]);
      assert.deepEqual(carried(schema, stored, []), []);
    });

    it('go by id before name, and by resourceId where there is nothing else', () => {
      const stored = [
        { id: '1', name: 'a', x: 1 },
        { id: '2', name: 'b', x: 2 },
      ];
      const swapped = [
        { id: '2', name: 'a' },
        { id: '1', name: 'b' },
      ];
      assert.deepEqual(carried(schema, stored, swapped), [
        { id: '2', name: 'a', x: 2 },
        { id: '1', name: 'b', x: 1 },
      ]);
      const byResource = Type.Array(Type.Object({ resourceId: Type.String() }));
      assert.deepEqual(
        carried(byResource, [{ resourceId: '/a', x: 1 }], [{ resourceId: '/b' }, { resourceId: '/a' }]),
        [{ resourceId: '/b' }, { resourceId: '/a', x: 1 }],
      );
    });

    it('go by place when there is no name and the length is the same', () => {
      assert.deepEqual(carried(schema, [{ x: 1 }, { x: 2 }], [{ known: 1 }, {}]), [{ known: 1, x: 1 }, { x: 2 }]);
      assert.deepEqual(carried(schema, [{ x: 1 }, { x: 2 }], [{ known: 1 }]), [{ known: 1 }]);
      const twins = [
        { name: 'a', x: 1 },
        { name: 'a', x: 2 },
      ];
      assert.deepEqual(carried(schema, twins, [{ name: 'a' }]), [{ name: 'a' }], 'a name that two have names neither');
    });

    it('are looked for in tuples by place', () => {
      const pair = Type.Tuple([Type.Object({}), Type.Unknown()]);
      assert.deepEqual(carried(pair, [{ x: 1 }, { y: 1 }], [{}, {}]), [{ x: 1 }, {}]);
    });
  });

  it('may be called __proto__', () => {
    const result = carried(Type.Object({}), JSON.parse('{"__proto__":{"x":1}}'), {});
    assert.equal(JSON.stringify(result), '{"__proto__":{"x":1}}');
  });

  it('are not put into values that make their own JSON', () => {
    const schema = Type.Object({ at: Type.Object({}) });
    const next = { at: new Date(0) };
    assert.equal(carried(schema, { at: { x: 1 } }, next), next);
  });

  it('cost no copy when there are none', () => {
    const next = { list: [{ name: 'a' }], in: { a: 1 } };
    const schema = Type.Object({
      list: Type.Array(Type.Object({ name: Type.String() })),
      in: Type.Object({ a: Type.Number() }),
    });
    assert.equal(carried(schema, { list: [{ name: 'a' }], in: { a: 2 } }, next), next);
  });
});
