// Rules in CEL, in the manner of those that HyperShift and Gateway API have.
import {
  type Case,
  create,
  define,
  definition,
  type Json,
  type JsonMap,
  many,
  object,
  one,
  redefine,
  type Step,
  update,
  withSpec,
} from './case.ts';

const text: JsonMap = { type: 'string', maxLength: 64 };
const integer: JsonMap = { type: 'integer' };
const list = (items: JsonMap, more: JsonMap = {}): JsonMap => ({ type: 'array', maxItems: 20, items, ...more });

const rules = (...found: readonly (string | JsonMap)[]): JsonMap => ({
  'x-kubernetes-validations': found.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});
/** The definition of one property `a`. */
const property = (schema: JsonMap): JsonMap => definition(withSpec({ a: schema, b: text }));
const ruled = (name: string, schema: JsonMap, ...values: readonly Json[]): Case =>
  many(
    `rule: ${name}`,
    define(property(schema)),
    ...values.map((value, index): Step => create({ a: value }, { metadata: { name: `x${index}` } })),
  );
/** Create with the first value, then update to each of the others. */
const changed = (name: string, schema: JsonMap, first: Json, ...values: readonly Json[]): Case =>
  many(
    `rule: ${name}`,
    define(property(schema)),
    create(first === null ? { b: 'x' } : { a: first }),
    ...values.map((value): Step => update({ spec: { a: value } })),
  );
const wrong = (name: string, schema: JsonMap): Case => one(`rule refused: ${name}`, property(schema));

const addresses = object({ a: text, b: text, n: integer });

export const ruleCases: readonly Case[] = [
  ruled(
    'a rule and its message',
    { ...text, ...rules({ rule: "self.startsWith('x')", message: 'must start with x' }) },
    'xa',
    'a',
  ),
  ruled('without a message', { ...text, ...rules("self.startsWith('x')") }, 'a'),
  ruled(
    'several rules',
    {
      ...integer,
      ...rules('self > 3', { rule: 'self % 2 == 0', message: 'must be even', reason: 'FieldValueForbidden' }),
    },
    1,
    5,
    6,
  ),
  ruled(
    'one of two',
    { ...addresses, ...rules({ rule: 'has(self.a) || has(self.b)', message: 'a or b' }) },
    {},
    { b: 'x' },
  ),
  ruled(
    'a message that is computed',
    {
      ...text,
      ...rules({ rule: 'self.size() < 4', messageExpression: "self + ' is too long'" }),
    },
    'abcdef',
  ),
  ruled(
    'another path',
    {
      ...addresses,
      ...rules({ rule: "self.a == 'x'", fieldPath: '.a', reason: 'FieldValueRequired', message: 'a must be x' }),
    },
    { a: 'y' },
  ),
  ruled('all of a list', { ...list(text), ...rules("self.all(x, x.matches('^[a-z]+$'))") }, ['a', 'b'], ['a', 'B']),
  ruled(
    'exists_one and size',
    {
      ...list(object({ type: text, on: { type: 'boolean' } })),
      ...rules("self.size() <= 2 && self.exists_one(i, i.type == 'main')"),
    },
    [{ type: 'main' }],
    [{ type: 'main' }, { type: 'main' }],
    [],
  ),
  ruled(
    'a map',
    {
      type: 'object',
      maxProperties: 5,
      additionalProperties: text,
      ...rules("self.all(k, k != 'bad' && self[k] != '')"),
    },
    { a: 'x' },
    { bad: 'x' },
  ),
  ruled(
    'filter and map',
    { ...list(integer), ...rules('self.filter(i, i > 2).map(i, i * 2).all(i, i < 20)') },
    [1, 5],
    [11],
  ),
  ruled('a URL', { ...text, ...rules('isURL(self)') }, 'https://example.com/x', 'example'),
  ruled(
    'parts of a URL',
    { ...text, ...rules("url(self).getScheme() == 'https' && url(self).getHost() == 'example.com:80'") },
    'https://example.com:80/x',
    'http://example.com/x',
  ),
  ruled('a runtime error', { ...addresses, ...rules("self.a == 'x'") }, {}),
  ruled('an index out of range', { ...list(text), ...rules("self[1] == 'x'") }, ['a']),
  ruled('division by zero', { ...integer, ...rules('10 / self > 1') }, 0),
  ruled('quantities', { ...text, ...rules("quantity(self).isGreaterThan(quantity('1Gi'))") }, '2Gi', '1Mi', 'x'),
  ruled(
    'an int or a string',
    { 'x-kubernetes-int-or-string': true, ...rules("type(self) == int ? self < 10 : self.endsWith('%')") },
    5,
    11,
    '5%',
    'x',
  ),
  ruled('addresses', { ...text, ...rules('isIP(self) && ip(self).family() == 4') }, '10.0.0.1', '::1', 'x'),
  ruled(
    'networks',
    { ...text, ...rules("cidr(self).containsIP('10.0.0.1') && cidr(self).prefixLength() < 20") },
    '10.0.0.0/8',
    '11.0.0.0/8',
    '10.0.0.0/24',
  ),
  ruled(
    'strings',
    {
      ...text,
      ...rules(
        "self.lowerAscii().split(',').size() == 2 && self.trim() == self && self.indexOf('x') >= 0 && self.replace('x', 'y').contains('y')",
      ),
    },
    'x,b',
    'a,b',
    'x',
  ),
  ruled(
    'joined and cut',
    { ...text, ...rules("self.substring(0, 1) == 'x' && self.charAt(1) == 'y' && self.split('y').size() == 2") },
    'xyz',
    'ayz',
  ),
  ruled(
    'find and findAll',
    { ...text, ...rules("self.find('[0-9]+') == '12' && self.findAll('[0-9]+').size() == 2") },
    'a12b3',
    'a1',
  ),
  ruled(
    'sums and order',
    { ...list(integer), ...rules('self.sum() < 10 && self.isSorted() && self.max() == 5') },
    [1, 5],
    [5, 1],
  ),
  ruled(
    'sets',
    { ...list(text), ...rules("sets.contains(self, ['a']) && !sets.intersects(self, ['z'])") },
    ['a', 'b'],
    ['b'],
  ),
  ruled(
    'times',
    {
      type: 'string',
      format: 'date-time',
      ...rules("self > timestamp('2020-01-01T00:00:00Z') && self.getFullYear() < 2030"),
    },
    '2021-01-01T00:00:00Z',
    '2019-01-01T00:00:00Z',
  ),
  ruled('durations', { type: 'string', format: 'duration', ...rules("self <= duration('1h')") }, '5m', '2h'),
  ruled(
    'names in the way',
    object(
      { 'a-b': text, if: text, 'x.y': text, __z: text },
      rules("self.a__dash__b == 'x' && self.__if__ == 'y' && self.x__dot__y == 'z' && self.__underscores__z == 'w'"),
    ),
    { 'a-b': 'x', if: 'y', 'x.y': 'z', __z: 'w' },
    { 'a-b': 'q', if: 'y', 'x.y': 'z', __z: 'w' },
  ),
  ruled('an optional', object({ a: text }, rules("self.?a.orValue('d') == 'd'")), {}, { a: 'x' }),
  ruled(
    'an enum and a ternary',
    object(
      { kind: { type: 'string', enum: ['A', 'B'] }, x: text },
      rules({ rule: "self.kind == 'A' ? has(self.x) : !has(self.x)", message: 'x goes with A' }),
    ),
    { kind: 'A', x: 'q' },
    { kind: 'B', x: 'q' },
  ),
  ruled('a number', { type: 'number', ...rules('self * 2.0 < 3.5') }, 1.5, 2),
  ruled('in a list', { ...text, ...rules("self in ['a', 'b']") }, 'a', 'c'),
  ruled('a format by name', { ...text, ...rules('!format.dns1123Label().validate(self).hasValue()') }, 'abc', 'A'),
  ruled('a nullable', { ...text, nullable: true, ...rules('self == null || self.size() > 1') }, 'ab'),
  ruled('within items', list(object({ p: integer }, rules({ rule: 'self.p > 0', message: 'must be positive' }))), [
    { p: 1 },
    { p: 0 },
    { p: -1 },
  ]),
  ruled(
    'within a map',
    { type: 'object', maxProperties: 5, additionalProperties: { ...text, ...rules("self != 'x'") } },
    { one: 'x' },
  ),
  changed(
    'it may not change',
    { ...text, ...rules({ rule: 'self == oldSelf', message: 'a is immutable' }) },
    'x',
    'x',
    'y',
  ),
  changed('it may only grow', { ...integer, ...rules('self >= oldSelf') }, 5, 7, 6),
  changed('not checked when it is new', { ...text, ...rules('self == oldSelf') }, null, 'y'),
  changed(
    'checked when it is new',
    {
      ...text,
      ...rules({
        rule: "oldSelf.hasValue() || self == 'first'",
        optionalOldSelf: true,
        message: 'must start as first',
      }),
    },
    null,
    'second',
    'first',
  ),
  changed(
    'items known by their keys',
    list(object({ k: text, v: text }, { required: ['k'], ...rules('self.v == oldSelf.v') }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }),
    [
      { k: 'a', v: '1' },
      { k: 'b', v: '2' },
    ],
    [
      { k: 'b', v: '2' },
      { k: 'c', v: '3' },
    ],
    [{ k: 'b', v: '4' }],
  ),
  changed(
    'once set it stays',
    object({ a: text, b: text }, rules('!has(oldSelf.a) || has(self.a)')),
    { a: 'x' },
    { a: null, b: 'y' },
  ),
  many(
    'rule: at the root',
    define(
      definition(
        object(
          { spec: object({ a: text }) },
          rules({ rule: "self.metadata.name.startsWith('x')", message: 'names start with x' }),
        ),
      ),
    ),
    create({}, { metadata: { name: 'y' } }),
    create({}, { metadata: { name: 'x' } }),
  ),
  many(
    'rule: not checked when the object is invalid',
    define(property({ ...text, ...rules("self == 'x'") })),
    create({ a: 5 }),
  ),
  many(
    'rule: what was invalid may stay',
    define(property(text)),
    create({ a: 'y', b: 'q' }),
    redefine({
      spec: {
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: withSpec({ a: { ...text, ...rules("self == 'x'") }, b: text }) },
          },
        ],
      },
    }),
    update({ spec: { b: 'r' } }),
    update({ spec: { a: 'z' } }),
  ),
  wrong('no rule', { ...text, ...rules({ rule: '  ' }) }),
  wrong('not parseable', { ...text, ...rules('self ==') }),
  wrong('an unknown name', { ...text, ...rules('selv == "x"') }),
  wrong('an unknown field', { ...addresses, ...rules("self.z == 'x'") }),
  wrong('not a boolean', { ...text, ...rules('self + "x"') }),
  wrong('types that do not fit', { ...text, ...rules('self > 3') }),
  wrong('an unknown function', { ...text, ...rules('self.shout()') }),
  wrong('a message with a line break', { ...text, ...rules({ rule: 'true', message: 'a\nb' }) }),
  wrong('a rule with a line break and no message', { ...text, ...rules("self ==\n'x'") }),
  wrong('an unknown reason', { ...text, ...rules({ rule: 'true', reason: 'Because' }) }),
  wrong('a message that is no string', { ...text, ...rules({ rule: 'true', messageExpression: '1 + 1' }) }),
  wrong('a path that leads nowhere', { ...addresses, ...rules({ rule: 'true', fieldPath: '.q' }) }),
  wrong('a path that is none', { ...addresses, ...rules({ rule: 'true', fieldPath: 'a..b' }) }),
  wrong('oldSelf where items cannot be told apart', list({ ...text, ...rules('self == oldSelf') })),
  wrong('optionalOldSelf without oldSelf', { ...text, ...rules({ rule: "self == 'x'", optionalOldSelf: true }) }),
  wrong('within allOf', { type: 'string', allOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }] }),
];
