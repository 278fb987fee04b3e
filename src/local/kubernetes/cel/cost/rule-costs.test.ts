// What a real server makes of costs is in test/interop/kubernetes/crd-cases/rule-costs.ts; here is why.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { validateSchema } from '../../crd/validate-schema.ts';
import type { Schema } from '../../schema/schema.ts';
import { checkRuleExpression } from '../rule-program.ts';
import { declaredBy } from './declared-sizes.ts';
import { estimateCost } from './estimate.ts';
import { extend, namesOf, pathOf } from './field-paths.ts';

const text: Schema = { type: 'string', maxLength: 10 };
const list = (items: Schema, maxItems?: number): Schema => ({
  type: 'array',
  items,
  ...(maxItems === undefined ? {} : { maxItems }),
});
const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties });

const self = object({
  n: { type: 'integer' },
  a: text,
  any: { type: 'string' },
  texts: list(text, 20),
  items: list(object({ long: list(text, 1000), short: list(text, 2), tags: list(text, 5) }), 3),
});

function costOf(rule: string, schema: Schema = self): number {
  const declared = declaredBy(schema);
  assert.ok(declared);
  return estimateCost(checkRuleExpression(rule, schema, { rule }, false), declared);
}

suite('the estimated cost of an expression', () => {
  test('names, members and operators cost one each, literals nothing', () => {
    assert.equal(costOf('true'), 0);
    assert.equal(costOf('self.n > 3'), 3);
    assert.equal(costOf('self.n + 1 > 3'), 4);
    assert.equal(costOf('-1 < self.n'), 3);
  });

  test('text costs a tenth for each of the bytes it may have', () => {
    // Four bytes for each of ten characters, on both sides.
    assert.equal(costOf('self.a == self.a'), 4 + 4);
    assert.equal(costOf("self.a == 'abc'"), 2 + 1);
    assert.equal(costOf("self.any == 'abc'"), 2 + 1);
    assert.equal(costOf('self.any == self.any'), 4 + 314_573);
  });

  test('asking whether a member is there is free', () => {
    assert.equal(costOf('has(self.a)'), 1);
  });

  test('what is done with an item is done with as many as there may be', () => {
    assert.equal(costOf('self.texts.all(x, true)'), 2 + 20 * 3 + 1);
    assert.equal(costOf('self.texts.exists(x, true)'), 2 + 20 * 4 + 1);
    assert.equal(costOf('self.texts.all(x, self.texts.all(y, true))'), 2 + 20 * (3 + 2 + 20 * 3 + 1) + 1);
  });

  test('of two ways the dearer one counts, of two sides both', () => {
    assert.equal(costOf('self.n > 3 ? self.a == self.a : true'), 3 + 8);
    assert.equal(costOf('self.n > 3 && self.a == self.a'), 3 + 8);
  });

  test('lists that nothing bounds are as long as a request has room for', () => {
    const request = 3 * 1024 * 1024;
    const count = (items: Schema): number => (costOf('self.all(x, true)', list(items)) - 2) / 3;
    assert.equal(count({ type: 'integer' }), Math.floor((request - 2) / 2));
    assert.equal(count({ type: 'string' }), Math.floor((request - 2) / 3));
    const named: Schema = { ...object({ name: text }), required: ['name'] };
    assert.equal(count(named), Math.floor((request - 2) / ('{"name":"",}'.length + 1)));
  });

  test('what cannot be bounded costs more than anything may', () => {
    assert.equal(costOf("self.texts.map(x, x).join(',') == 'a'"), Number.POSITIVE_INFINITY);
    assert.equal(costOf("string(self.n) + 'a' == 'b'"), Number.POSITIVE_INFINITY);
  });

  test('paths that grow from one place overwrite each other, as those of the real server do', () => {
    const item = extend(extend(pathOf('self'), 'items'), '@items');
    const first = extend(item, 'long');
    extend(item, 'short');
    assert.deepEqual(namesOf(first), ['items', '@items', 'short']);
    // So the list is taken to be as long as the one that was named last.
    const walk = (rule: string): number => costOf(`self.items.all(x, ${rule})`);
    assert.ok(walk('x.long.all(y, x.short.size() > 1)') < walk('x.long.all(y, true)'));
  });
});

suite('definitions whose rules cost too much', () => {
  const definition = (maxItems: number, rule: string): Schema =>
    object({ spec: object({ a: list({ type: 'integer', 'x-kubernetes-validations': [{ rule }] }, maxItems) }) });
  const causes = (schema: Schema, unchanged?: () => boolean): string[] =>
    validateSchema(schema, 'schema', unchanged).map(({ field, message }) => `${field}: ${message}`);
  const at = 'schema.properties[spec].properties[a].items.x-kubernetes-validations[0].rule';

  test('a rule may cost ten million for one object', () => {
    assert.deepEqual(causes(definition(5_000_000, 'self > 3')), []);
    assert.deepEqual(causes(definition(5_000_001, 'self > 3')), [
      `${at}: Forbidden: estimated rule cost exceeds budget by factor of 1.000000x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
    ]);
  });

  test('what was taken before stays while it is not changed', () => {
    const dear = definition(6_000_000, 'self > 3');
    assert.deepEqual(
      causes(dear, () => true),
      [],
    );
    assert.equal(causes(dear).length, 1);
  });

  test('all rules together may cost a hundred million, whatever was taken before', () => {
    const dear = definition(60_000_000, 'self > 3');
    assert.deepEqual(
      causes(dear, () => true).map((cause) => cause.replace(/ \(try .*/, '')),
      [
        `${at}: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
        'schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.200000x',
      ],
    );
  });
});
