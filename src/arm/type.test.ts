import assert from 'node:assert/strict';
import test from 'node:test';
import { Type as TypeBox } from 'typebox';
import { bodyErrors } from './check-body.ts';
import { Type } from './type.ts';

type Constructors = typeof Type;

/** The same schemas, by whichever constructors. */
function schemas(by: Constructors) {
  return [
    by.String(),
    by.String({ minLength: 1, pattern: '^a' }),
    by.Integer({ minimum: 3 }),
    by.Number({ maximum: 2.5 }),
    by.Boolean({ description: 'a switch' }),
    by.Null(),
    by.Unknown(),
    by.Literal('a'),
    by.Literal(3),
    by.Literal(true),
    by.Array(by.String(), { maxItems: 2 }),
    by.Union([by.String(), by.Null()]),
    by.Intersect([by.Object({ a: by.String() }), by.Object({ b: by.Optional(by.String()) })]),
    by.Record(by.String(), by.Integer()),
    by.Unsafe<string>({ type: 'string', enum: ['a', 'b'] }),
    by.Object({}),
    by.Object({ a: by.Optional(by.Integer()) }),
    by.Object(
      {
        required: by.String(),
        optional: by.Optional(by.Array(by.Object({ inner: by.Integer(), maybe: by.Optional(by.Boolean()) }))),
      },
      { additionalProperties: false },
    ),
  ] as const;
}

const values = [
  undefined,
  null,
  'a',
  'b',
  '',
  3,
  2.5,
  true,
  [],
  ['a'],
  ['a', 'b', 'c'],
  {},
  { a: 'x' },
  { a: 1 },
  { a: 'x', b: 3 },
  { required: 'x' },
  { required: 'x', optional: [{ inner: 1, maybe: true }] },
  { required: 'x', optional: [{ maybe: true }] },
  { required: 'x', other: 1 },
];

test('the JSON Schema is the one that TypeBox gives', () => {
  const [ours, theirs] = [schemas(Type), schemas(TypeBox)];
  for (const [at, schema] of ours.entries())
    assert.deepEqual(JSON.parse(JSON.stringify(schema)), JSON.parse(JSON.stringify(theirs[at])));
});

test('values are found right and wrong as by the schemas of TypeBox', () => {
  const theirs = schemas(TypeBox);
  for (const [at, schema] of schemas(Type).entries()) {
    const other = theirs[at];
    assert.ok(other);
    for (const value of values) assert.deepEqual(bodyErrors(schema, value), bodyErrors(other, value));
  }
});

test('making a schema optional leaves the schema itself as it was', () => {
  const text = Type.String();
  Type.Optional(text);
  assert.deepEqual(Type.Object({ text }).required, ['text']);
});
