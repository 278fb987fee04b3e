// What rules may cost: of each, the longest list with which it is taken, and one item more.
import { type Case, definition, definitions, type JsonMap, many, object, type Step, withSpec } from './case.ts';

const text: JsonMap = { type: 'string', maxLength: 10 };
const unbounded: JsonMap = { type: 'string' };
const integer: JsonMap = { type: 'integer' };
const list = (items: JsonMap, maxItems?: number): JsonMap => ({
  type: 'array',
  items,
  ...(maxItems === undefined ? {} : { maxItems }),
});
const map = (values: JsonMap, maxProperties?: number): JsonMap => ({
  type: 'object',
  additionalProperties: values,
  ...(maxProperties === undefined ? {} : { maxProperties }),
});
const intOrString: JsonMap = { 'x-kubernetes-int-or-string': true };

const ruled = (schema: JsonMap, rule: string, more: JsonMap = {}): JsonMap => ({
  ...schema,
  'x-kubernetes-validations': [{ rule, ...more }],
});

/** Only asked: nothing is made. */
const ask = (properties: JsonMap): Step => ({
  method: 'POST',
  path: `${definitions}?dryRun=All`,
  body: definition(withSpec(properties)),
});

/** A rule on each item of a list with this many items, and with one more. */
const limit = (rule: string, schema: JsonMap, most: number): Case =>
  many(
    `cost: ${rule} ${JSON.stringify(schema.type ?? 'any')} ${most}`,
    ask({ a: list(ruled(schema, rule), most) }),
    ask({ a: list(ruled(schema, rule), most + 1) }),
  );
const asked = (name: string, properties: JsonMap): Case => many(`cost: ${name}`, ask(properties));

const pair = object({ a: text, b: text, u: unbounded, n: integer, on: { type: 'boolean' } });
const lists = object({
  a: text,
  u: unbounded,
  texts: list(text, 20),
  numbers: list(integer, 30),
  items: list(object({ k: text, w: text, v: list(text, 5) }, { required: ['k'] }), 12),
  map: map(text, 15),
  any: intOrString,
});

const choices = object({ items: list(object({ long: list(text, 3000), short: list(text, 2) }), 3) });

const rules: readonly (readonly [rule: string, schema: JsonMap, most: number])[] = [
  ['self.n == 3', pair, 5000000],
  ['self.a == self.b', pair, 1250000],
  ['self.u == self.u', pair, 31],
  ["self.a + self.b == 'abc'", pair, 769230],
  ["self.on ? self.a == 'x' : self.n == 2", pair, 2000000],
  ['has(self.a) && !has(self.b)', pair, 3333333],
  ['-self.n == -1 || !!self.on', pair, 1666666],
  ['self.a.startsWith(self.b)', pair, 1250000],
  ['self.a.contains(self.b)', pair, 500000],
  ["self.a.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')", pair, 270270],
  ["self.u.matches('^a$')", pair, 31],
  ["self.a.replace('a', 'abc') == self.u", pair, 416666],
  ["self.a.split(',').all(x, isIP(x))", pair, 58479],
  ['self.a.lowerAscii().trim() == self.a', pair, 625000],
  ["self.a.find('[0-9]+') == 'x'", pair, 769230],
  ['ip(self.a) == ip(self.b)', pair, 769230],
  ['cidr(self.a).containsCIDR(self.b)', pair, 526315],
  ['quantity(self.a).isLessThan(quantity(self.b))', pair, 769230],
  ['quantity(self.a) == quantity(self.b)', pair, 769230],
  ['url(self.a).getHost() == self.b', pair, 769230],
  ['!format.dns1123Label().validate(self.a).hasValue()', pair, 75187],
  ["self.?a.orValue('') == self.b", pair, 1111111],
  ['self.?n.optMap(x, x + 1).orValue(1) == 1', pair, 476190],
  ["'%s and %d'.format([self.u, self.n]) == self.u", pair, 31],
  ['self.texts.all(x, x == self.a)', lists, 49261],
  ['self.texts.exists(x, x == self.a)', lists, 44843],
  ['self.texts.exists_one(x, x == self.a)', lists, 54347],
  ['self.texts.filter(x, x == self.a).size() == 1', lists, 24096],
  ["self.texts.map(x, x + 'abc')[0] == self.u", lists, 26246],
  ["self.texts.all(i, x, i < 10 && x == 'abc')", lists, 69930],
  ["self.texts.transformList(i, x, i > 2, x + 'a').size() == 2", lists, 24096],
  ["self.map.transformMap(k, v, v + 'a').size() == 2", lists, 58823],
  ["self.map.all(k, self.map[k] == 'abcdefghijkl')", lists, 72463],
  ['self.items.all(x, x.v.all(y, y == x.k))', lists, 2051],
  ['self.items.all(x, x.v.exists(y, self.items.exists(z, z.k == y && x.w == y)))', lists, 93],
  ['self.items.filter(x, x.k == self.a)[0].w == self.u', lists, 31],
  ["self.texts.join(',') == self.u", lists, 59523],
  ['self.texts.isSorted()', lists, 98039],
  ['self.numbers.sum() > 3', lists, 303030],
  ["sets.contains(self.texts, ['a', 'b'])", lists, 188679],
  ['self.a in self.texts', lists, 416666],
  ["self.texts + ['a'] == self.texts", lists, 588235],
  ["{'a': self.a}['a'] == self.u", lists, 256410],
  ["type(self.any) == string ? self.any == 'abc' : self.any > 3", lists, 1428571],
  ['self.size() > 3', unbounded, 3333333],
  ['self.all(x, self.exists_one(y, y == x))', list(text, 20), 3010],
  ["self.all(x, x == 'a')", list(text), 1],
  ["self.all(k, self[k] == 'abcdefghij')", map(text, 7), 196078],
  ['self == self', intOrString, 31],
  ['!(!self.on) && !!self.on && -(1) < self.n', pair, 1000000],
  ['self.items.all(x, x.long.all(y, true))', choices, 370],
  // The path of the second list takes the place of the first one's.
  ['self.items.all(x, x.long.all(y, x.short.size() > 1))', choices, 158730],
];

/** As many lists of this length, each with a cheap rule on its items. */
const several = (count: number, maxItems: number): JsonMap =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`a${index}`, list(ruled(integer, 'self > 3'), maxItems - index)]),
  );

export const ruleCostCases: readonly Case[] = [
  ...rules.map(([rule, schema, most]) => limit(rule, schema, most)),
  asked('text that nothing bounds, matched', { a: list(ruled(unbounded, "self.matches('^[a-z]+$')")) }),
  asked('lists that nothing bounds, one within the other', {
    a: ruled(list(unbounded), 'self.all(x, self.exists_one(y, x == y))'),
  }),
  asked('a list that nothing bounds', { a: list(ruled(integer, 'self > 3')) }),
  asked('a map that nothing bounds', { a: map(ruled(text, 'self.size() > 3')) }),
  asked('items with what is required in them', {
    a: list(ruled(object({ name: text, n: integer }, { required: ['name'] }), "self.name == 'abcdefghij'")),
  }),
  asked('a bounded list in a list that nothing bounds', {
    a: list(object({ b: list(ruled(text, "self.contains('abcdefghijk')"), 3) })),
  }),
  asked('a list in a map, together too long', {
    a: map(object({ b: list(ruled(pair, "self.a == 'abcdefghijkl'"), 1001) }), 2500),
  }),
  asked('no items at all', { a: list(ruled(unbounded, 'self.matches(self)'), 0) }),
  asked('two and a quarter times too much', { a: list(ruled(integer, 'self > 3'), 11_250_000) }),
  asked('all together just cheap enough', several(10, 5_000_000)),
  asked('all together too much', several(12, 4_500_000)),
  asked('many cheap ones too much together', several(120, 450_000)),
  asked('a message that reads what nothing bounds', {
    a: ruled(unbounded, 'self.size() > 3', { messageExpression: "self + ' is too short'" }),
  }),
  asked('a message as long as no number can be', {
    a: ruled(integer, 'self > 3', { messageExpression: "'is ' + string(self)" }),
  }),
  asked('a message with a format', {
    a: ruled(integer, 'self > 3', { messageExpression: "'is %d'.format([self])" }),
  }),
  asked('a message that joins', {
    a: ruled(list(unbounded, 1000), 'self.size() > 3', { messageExpression: "self.join(',')" }),
  }),
];
