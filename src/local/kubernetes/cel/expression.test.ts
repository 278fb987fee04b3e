import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createBudget } from './budget.ts';
import { CompileError, compileExpression, evaluate } from './expression.ts';
import { readAny } from './json-values.ts';
import { dyn, int, listOf, text } from './types.ts';
import { CelError, CostError } from './values.ts';

const variables = { self: dyn, name: text, count: int, names: listOf(text) };
const values = {
  self: readAny({ a: 1, b: { c: 'x' }, list: [3, 1, 2], on: true, ratio: 0.5, none: null, tags: ['a', 'b'] }),
  name: 'widget',
  count: 4n,
  names: readAny(['a', 'b']),
};
const run = (source: string): unknown => evaluate(compileExpression(source, { variables }), values);

/** Expressions that hold, by subject. */
const truths: Readonly<Record<string, readonly string[]>> = {
  numbers: [
    '1 + 2 * 3 == 7',
    '7 / 2 == 3',
    '-7 / 2 == -3',
    '7 % 3 == 1',
    '1.5 + 1.5 == 3.0',
    'count < 4.5',
    'int("12") == 12',
    'int(2.9) == 2',
    'double(2) == 2.0',
    'string(1.5) == "1.5"',
    '9223372036854775807 > 0',
    'self.ratio < 1',
    '5u + 1u == 6u',
    'uint(3) == 3u',
  ],
  'texts and lists': [
    'name.size() == 6',
    'size("é😀") == 2',
    '"a" in ["a", "b"]',
    '"b" in self',
    '[1, 2] + [3] == [1, 2, 3]',
    'self.list[0] == 3',
    '{"a": 1}["a"] == 1',
    '{"a": 1}.a == 1',
    'b"abc" == bytes("abc")',
    'self.b == {"c": "x"}',
    'type(self.a) == int && type(self.tags) == list && type("x") == string',
    'name.startsWith("wid") && name.endsWith("get") && name.contains("dg")',
    'name.matches("^w.*t$") && matches(name, "d")',
  ],
  macros: [
    'has(self.a) && !has(self.z)',
    'self.list.all(x, x > 0)',
    'self.list.exists(x, x == 2)',
    'self.list.exists_one(x, x == 2)',
    'self.list.filter(x, x > 1) == [3, 2]',
    'self.list.map(x, x * 2) == [6, 2, 4]',
    'self.list.map(x, x > 1, x * 2) == [6, 4]',
    'self.b.all(k, k == "c")',
    'self.b.exists(k, v, k == "c" && v == "x")',
    'self.list.all(i, v, i < 3 && v > 0)',
    'self.list.transformList(i, v, v + i) == [3, 2, 4]',
    '{"a": 1}.transformMap(k, v, v + 1) == {"a": 2}',
    'cel.bind(x, 2, x * x) == 4',
    'self.list.all(x, self.list.exists(y, y == x))',
  ],
  'errors that something else decides': [
    'true || self.z == 1',
    'self.z == 1 || true',
    '!(false && self.z == 1)',
    '!(self.z == 1 && false)',
    '[1, 0].exists(x, 1 / x == 1)',
    '![1, 0].all(x, 1 / x == 5)',
  ],
  optionals: [
    'self.?a.hasValue() && !self.?z.hasValue()',
    'self.?b.c.orValue("d") == "x"',
    'self.?z.c.orValue("d") == "d"',
    'self.list[?7].orValue(9) == 9',
    'optional.of(1).or(optional.of(2)).value() == 1',
    'optional.none().orValue(3) == 3',
    'self.?a.optMap(x, x + 1).value() == 2',
    'optional.ofNonZeroValue("").hasValue() == false',
  ],
  strings: [
    '"abc".charAt(1) == "b"',
    '"a-b-a".indexOf("a", 1) == 4 && "a-b-a".lastIndexOf("a") == 4 && "abc".indexOf("z") == -1',
    '"AbC".lowerAscii() == "abc" && "AbC".upperAscii() == "ABC"',
    '"aaa".replace("a", "b") == "bbb" && "aaa".replace("a", "b", 2) == "bba"',
    '"a,b,c".split(",") == ["a", "b", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"]',
    '["a", "b"].join("-") == "a-b" && ["a", "b"].join() == "ab"',
    '"abcd".substring(2) == "cd" && "abcd".substring(1, 3) == "bc"',
    '"  x ".trim() == "x"',
    '"%s has %d of %.2f, %x %b %%".format(["a", 3, 1.5, 255, 5]) == "a has 3 of 1.50, ff 101 %"',
    'strings.quote("a\\"b") == "\\"a\\\\\\"b\\""',
    '"a12b3".find("[0-9]+") == "12" && "a12b3".findAll("[0-9]+") == ["12", "3"] && "a1b2".findAll("[0-9]", 1) == ["1"]',
  ],
  lists: [
    '[1, 2, 2].isSorted() && !["b", "a"].isSorted()',
    '[1, 2].sum() == 3 && [1.5, 2.0].sum() == 3.5',
    '[3, 1].min() == 1 && ["a", "c"].max() == "c"',
    '[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(5) == -1',
    'sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1]) && sets.intersects([1, 2], [2, 3])',
  ],
  'times and durations': [
    'duration("90m") == duration("1h30m") && duration("1h").getMinutes() == 60',
    'timestamp("2024-02-29T12:00:00Z").getMonth() == 1',
    'timestamp("2024-01-01T00:00:00Z") + duration("24h") == timestamp("2024-01-02T00:00:00Z")',
    'timestamp("2024-01-02T00:00:00Z") - timestamp("2024-01-01T00:00:00Z") == duration("24h")',
    'timestamp("2024-01-01T00:30:00Z").getHours("+02:00") == 2',
  ],
  'URLs and addresses': [
    'isURL("https://a.b/c?d=e") && !isURL("a b") && isURL("/path")',
    'url("https://a.b:80/c?d=e&d=f").getHost() == "a.b:80"',
    'url("https://[::1]:80/").getHostname() == "::1" && url("https://a:80/").getPort() == "80"',
    'url("https://a/b?c=d").getQuery()["c"] == ["d"] && url("https://a/b%20c").getEscapedPath() == "/b%20c"',
    'isIP("::1") && !isIP("1.2.3") && ip("10.0.0.1").family() == 4 && ip("::1").isLoopback()',
    'ip("0.0.0.0").isUnspecified() && ip("169.254.1.1").isLinkLocalUnicast() && ip("8.8.8.8").isGlobalUnicast()',
    'ip("::ffff") == ip("0:0::ffff") && ip.isCanonical("::1") && !ip.isCanonical("0::1")',
    'isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0/33") && cidr("10.0.0.0/8").containsIP(ip("10.1.2.3"))',
    'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8")',
    'cidr("10.0.0.0/8").prefixLength() == 8 && cidr("10.0.0.0/8").ip() == ip("10.0.0.0")',
  ],
  'quantities, versions, formats': [
    'quantity("1Gi").isGreaterThan(quantity("1G")) && quantity("500m").isLessThan(quantity("1"))',
    'quantity("1k").asInteger() == 1000 && !quantity("1m").isInteger() && isQuantity("5Ki") && !isQuantity("x")',
    'quantity("1").add(quantity("2")) == quantity("3") && quantity("5").sub(2).compareTo(quantity("3")) == 0',
    'semver("1.2.3").isLessThan(semver("1.10.0")) && semver("1.0.0-rc.1").isLessThan(semver("1.0.0"))',
    'isSemver("1.2.3") && !isSemver("v1.2") && semver("v1.2", true).minor() == 2',
    '!format.dns1123Label().validate("abc").hasValue() && format.dns1123Label().validate("A").hasValue()',
    'format.named("uuid").hasValue() && !format.named("nothing").hasValue()',
  ],
};

for (const [subject, expressions] of Object.entries(truths)) {
  describe(subject, () => {
    for (const source of expressions) test(source, () => assert.equal(run(source), true));
  });
}

describe('what cannot go on', () => {
  const failures: readonly (readonly [string, string])[] = [
    ['self.z', 'no such key: z'],
    ['self.b["z"]', 'no such key: z'],
    ['names[5]', 'index out of bounds: 5'],
    ['1 / 0', 'division by zero'],
    ['9223372036854775807 + 1', 'integer overflow'],
    ['quantity("x")', 'quantities must match'],
    ['self.a + self.name2', 'no such key'],
    ['self.a < "x"', 'no such overload'],
    ['self.a && true', 'no such overload'],
    ['"x".substring(5)', 'index out of range: 5'],
    ['[].min()', 'min called on empty list'],
  ];
  for (const [source, message] of failures) {
    test(source, () => {
      assert.throws(
        () => run(source),
        (error: unknown) => error instanceof CelError && error.message.startsWith(message),
      );
    });
  }
});

describe('what is refused before it is run', () => {
  const refusals: readonly (readonly [string, string])[] = [
    ['nobody', "ERROR: <input>:1:1: undeclared reference to 'nobody' (in container '')\n | nobody\n | ^"],
    [
      'name + 1',
      "ERROR: <input>:1:6: found no matching overload for '_+_' applied to '(string, int)'\n | name + 1\n | .....^",
    ],
    [
      'name.shout()',
      "ERROR: <input>:1:11: undeclared reference to 'shout' (in container '')\n | name.shout()\n | ..........^",
    ],
    [
      'count.startsWith("x")',
      "ERROR: <input>:1:17: found no matching overload for 'startsWith' applied to 'int.(string)'\n | count.startsWith(\"x\")\n | ................^",
    ],
    [
      'name.all(x, true)',
      "ERROR: <input>:1:1: expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)\n | name.all(x, true)\n | ^",
    ],
  ];
  for (const [source, message] of refusals) {
    test(source, () => assert.throws(() => compileExpression(source, { variables }), new CompileError(message)));
  }
  test('a text beyond all measure', () => {
    assert.throws(() => compileExpression(`${'('.repeat(5000)}1${')'.repeat(5000)}`, { variables }), CompileError);
    assert.throws(() => compileExpression('a'.repeat(100_000), { variables }), CompileError);
  });
});

describe('what an expression may cost', () => {
  const many = readAny(Array.from({ length: 2000 }, (_, index) => index));
  const expensive: readonly string[] = [
    'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))',
    'self.map(a, self.map(b, "x")).size() > 0',
    'lists.range(1000000000).size() > 0',
  ];
  for (const source of expensive) {
    test(`${source} is cut off`, () => {
      const program = compileExpression(source, { variables });
      assert.throws(() => evaluate(program, { self: many }), CostError);
    });
  }
  test('nothing absorbs it', () => {
    const program = compileExpression('self.all(a, self.all(b, a + b >= 0)) || true', { variables });
    assert.throws(() => evaluate(program, { self: many }, createBudget(1000)), CostError);
  });
  test('texts do not grow without end', () => {
    const doubled = 'self.map(x, name + name + name + name + name + name + name + name)';
    const program = compileExpression(doubled, { variables });
    assert.throws(() => evaluate(program, { self: many, name: 'x'.repeat(100_000) }), CostError);
  });
});

test('a program says which variables it names', () => {
  assert.deepEqual([...compileExpression('self.a == count', { variables }).uses], ['self', 'count']);
});
