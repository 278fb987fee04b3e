import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseFilter } from './filter.ts';
import { fieldsOf, isAdvanced, matches } from './filter-match.ts';
import { GraphError } from './graph-error.ts';

const object = {
  appId: 'ABC',
  displayName: "Ada's app",
  accountEnabled: true,
  mail: null,
  size: 7,
  createdDateTime: '2026-01-02T00:00:00Z',
  servicePrincipalNames: ['abc', 'https://one.example'],
  keys: [{ name: 'one' }, { name: 'two' }],
  info: { owner: 'x' },
};

const cases: readonly (readonly [string, boolean])[] = [
  ["appId eq 'abc'", true],
  ["appId ne 'abc'", false],
  ["displayName eq 'Ada''s app'", true],
  ["startswith(displayName,'ADA')", true],
  ["startsWith(displayName, 'bob')", false],
  ["endswith(displayName,'app')", true],
  ['accountEnabled eq true', true],
  ['mail eq null', true],
  ['mail ne null', false],
  ['missing eq null', true],
  ['size gt 6 and size le 7', true],
  ['size gt 7', false],
  ['createdDateTime ge 2026-01-01T00:00:00Z', true],
  ["appId in ('x','ABC')", true],
  ["appId in ('x')", false],
  ["servicePrincipalNames/any(n:n eq 'HTTPS://one.example')", true],
  ["servicePrincipalNames/any(n:startswith(n,'https'))", true],
  ['servicePrincipalNames/any()', true],
  ["keys/any(k:k/name eq 'two' and accountEnabled eq true)", true],
  ["keys/any(k:k/name eq 'three')", false],
  ["info/owner eq 'x'", true],
  ["not (appId eq 'abc')", false],
  ["appId eq 'no' or appId eq 'abc' and size eq 7", true],
  ["(appId eq 'abc' or appId eq 'no') and size eq 8", false],
  ["size eq 'seven'", false],
];

for (const [text, expected] of cases) {
  test(`${text} is ${expected}`, () => assert.equal(matches(parseFilter(text), object), expected));
}

test('and binds closer than or', () => {
  assert.deepEqual(parseFilter('a eq 1 or b eq 2 and not c eq 3'), {
    op: 'or',
    filters: [
      { op: 'eq', field: ['a'], value: 1 },
      {
        op: 'and',
        filters: [
          { op: 'eq', field: ['b'], value: 2 },
          { op: 'not', filter: { op: 'eq', field: ['c'], value: 3 } },
        ],
      },
    ],
  });
});

test('the properties that a filter names are known, those of elements apart', () => {
  assert.deepEqual(fieldsOf(parseFilter('a eq 1 and b/any(x:x/c eq 2 and d eq 3)')), ['a', 'b', 'd']);
});

test('what only the index answers is told apart', () => {
  assert.equal(isAdvanced(parseFilter('a eq 1 or (b ne 2)')), true);
  assert.equal(isAdvanced(parseFilter("startswith(a,'x') and b in (1,2)")), false);
});

for (const text of [
  '',
  'a',
  'a eq',
  "a eq 'x",
  'a like 1',
  "a eq 'x')",
  '(a eq 1',
  'a eq 1 b eq 2',
  'startswith(a)',
  'startswith(a,1)',
  'a in ()',
  'a/any(x)',
  'a eq b',
  '\u0000',
  `${'('.repeat(100)}a eq 1${')'.repeat(100)}`,
  `${'not '.repeat(100)}a eq 1`,
  `a eq '${'x'.repeat(10_000)}'`,
]) {
  test(`${JSON.stringify(text.slice(0, 40))} is refused`, () => {
    assert.throws(
      () => parseFilter(text),
      (error) => error instanceof GraphError && error.status === 400,
    );
  });
}

test('any text is parsed or refused, never a crash', () => {
  const words = fc.constantFrom(
    'a',
    'eq',
    'and',
    'or',
    'not',
    '(',
    ')',
    "'x'",
    '/',
    'any',
    ':',
    ',',
    'in',
    '1',
    ' ',
    'null',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words).map((list) => list.join(' ')),
      ),
      (text) => {
        try {
          matches(parseFilter(text), object);
        } catch (error) {
          assert.ok(error instanceof GraphError && error.status === 400);
        }
      },
    ),
  );
});
