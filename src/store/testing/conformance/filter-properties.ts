import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Field, Filter, Json, OrderBy, Scalar } from '../../filter.ts';
import { inOrder, matches } from './evaluate.ts';
import { paged } from './paging.ts';
import type { Body, World } from './world.ts';

// Few names and few values, so that filters often meet what they ask for.
const names = fc.constantFrom('a', 'b', '0', "it's", 'é');
const texts = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'A',
    'ab',
    'aB',
    'b',
    '%',
    '_',
    '\\',
    "'",
    '"',
    'é',
    'É',
    '\uff5e',
    '\u{1f600}',
    '1',
    'true',
  ),
  fc.string({ unit: fc.constantFrom('a', 'B', '%', '_', '\\', '\u{1f600}', "'"), maxLength: 4 }),
);
const numbers = fc.oneof(fc.constantFrom(-1, 0, 1, 1.5, 2, 1e21, 0.1), fc.integer({ min: -3, max: 3 }));
const scalars: fc.Arbitrary<Scalar> = fc.oneof(texts, numbers, fc.boolean());
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 2 },
    { weight: 3, arbitrary: scalars },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.array(tie('json'), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.dictionary(names, tie('json'), { maxKeys: 3, noNullPrototype: true }) },
  ),
}));
const labels = fc.dictionary(fc.constantFrom('a', 'a.b/c', '%'), fc.constantFrom('', 'x', "'"), {
  noNullPrototype: true,
});
const bodies: fc.Arbitrary<Body> = fc
  .tuple(fc.dictionary(names, json, { noNullPrototype: true }), fc.option(labels, { nil: undefined }))
  .map(([body, some]) => (some === undefined ? body : { ...body, labels: some }));
const paths = fc.array(names, { minLength: 1, maxLength: 2 });
const fields: fc.Arbitrary<Field> = fc.oneof(
  { weight: 5, arbitrary: paths },
  { weight: 1, arbitrary: fc.constant('id' as const) },
);
const patterns = fc.string({
  unit: fc.constantFrom('a', 'B', '%', '_', '\\\\', '\\%', '\\_', '\u{1f600}'),
  maxLength: 5,
});

const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    fc.record({ op: fc.constantFrom('eq', 'ne'), field: fields, value: scalars }),
    fc.record({ op: fc.constant('in'), field: fields, values: fc.array(scalars, { maxLength: 4 }) }),
    fc.record({ op: fc.constantFrom('lt', 'le', 'gt', 'ge'), field: fields, value: fc.oneof(texts, numbers) }),
    fc.record({ op: fc.constant('between'), field: fields, low: texts, high: texts }),
    fc.record({ op: fc.constant('between'), field: fields, low: numbers, high: numbers }),
    fc.record({ op: fc.constant('prefix'), field: fields, value: texts }),
    fc.record({ op: fc.constantFrom('like', 'ilike'), field: fields, pattern: patterns }),
    fc.record({ op: fc.constant('isNull'), field: paths }),
    fc.record({ op: fc.constant('contains'), field: fc.oneof(paths, fc.constant([])), value: json }),
    fc.record({
      op: fc.constant('label'),
      key: fc.constantFrom('a', 'a.b/c', '%'),
      value: fc.constantFrom('', 'x', "'"),
    }),
    fc.record({ op: fc.constant('labelIn'), key: fc.constantFrom('a', '%'), values: fc.subarray(['', 'x', "'"]) }),
    fc.record({ op: fc.constant('hasLabel'), key: fc.constantFrom('a', 'a.b/c', '%', 'none') }),
    fc.record({ op: fc.constant('not'), filter: tie('filter') }),
    fc.record({ op: fc.constantFrom('and', 'or'), filters: fc.array(tie('filter'), { maxLength: 3 }) }),
  ) as fc.Arbitrary<Filter>,
}));
const orders: fc.Arbitrary<OrderBy[]> = fc.array(
  fc.record({
    field: fields,
    type: fc.constantFrom('string', 'number'),
    direction: fc.constantFrom('ascending', 'descending'),
  }),
  { maxLength: 2 },
);
const ids = fc.oneof(fc.constantFrom('a', 'A', 'ab', '%', '_', '\\', "'", '\uff5e', '\u{1f600}'), fc.uuid());
const documents = fc.dictionary(ids, bodies, { minKeys: 1, maxKeys: 25, noNullPrototype: true });
const questions = fc.array(fc.record({ filter, orderBy: orders, limit: fc.integer({ min: 1, max: 12 }) }), {
  minLength: 15,
  maxLength: 15,
});

export function filterProperties(world: World): void {
  describe('random filters and orders over random documents', () => {
    for (const isIndexed of [false, true])
      it(`answer as the definition says${isIndexed ? ', with indexes' : ''}`, async () => {
        const indexes = [
          { field: ['a'], type: 'string' as const },
          { field: ['a'], type: 'number' as const },
          { field: ['a'], type: 'boolean' as const },
          { field: ['b', 'a'], type: 'string' as const },
          { field: ["it's"], type: 'number' as const },
        ];
        const things = await world.container({ labels: ['labels'], ...(isIndexed ? { indexes } : {}) });
        let run = 0;
        await fc.assert(
          fc.asyncProperty(documents, questions, async (given, asked) => {
            const partition = `run ${++run}`;
            const all = Object.entries(given).map(([id, body]) => ({ partition, id, body }));
            await things.batch(
              partition,
              all.map(({ id, body }) => ({ kind: 'create', id, body })),
            );
            for (const question of asked) {
              const expected = all
                .filter((document) => matches(question.filter, document, ['labels']))
                .toSorted(inOrder(question.orderBy))
                .map(({ id }) => id);
              const found = await paged(things, { partition, ...question });
              const shown = found.map(({ id }) => id);
              assert.deepEqual(shown, expected, JSON.stringify({ question, given }));
              assert.equal(await things.count({ partition, filter: question.filter }), expected.length);
            }
          }),
          { numRuns: 25 },
        );
      });
  });
}
