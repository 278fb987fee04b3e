import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from './json-text.ts';

test('what is no JSON is told in the words of Go', () => {
  const cases: readonly [text: string, message: string][] = [
    ['', 'unexpected end of JSON input'],
    [' ', 'unexpected end of JSON input'],
    ['{bad', "invalid character 'b' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
    ['{"a":-}', "invalid character '}' in numeric literal"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['nul', "invalid character ' ' in literal null (expecting 'l')"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['{} x', "invalid character 'x' after top-level value"],
  ];
  for (const [text, message] of cases) assert.throws(() => parseJson(text), { message }, text);
});

test('members named twice are found where they are', () => {
  const duplicates = (text: string) => parseJson(text).duplicates;
  assert.deepEqual(duplicates('{"a":1,"b":{"c":[{"d":1,"d":2}]},"a":2}'), [
    'duplicate field "b.c[0].d"',
    'duplicate field "a"',
  ]);
  assert.deepEqual(duplicates('{"a":"\\"a\\":1","b":"x:y{"}'), []);
});

test('any JSON is read as JSON.parse reads it and has no doubled members', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(3), (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), undefined, indent);
      const { value, duplicates } = parseJson(spaced);
      assert.deepEqual({ value, duplicates }, { value: JSON.parse(spaced), duplicates: [] });
    }),
  );
});

test('texts that go too deep are refused, not followed', () => {
  assert.throws(() => parseJson('['.repeat(100_000) + ']'.repeat(100_000)), /exceeded max depth/);
});

test('texts as deep as Go reads them are read', () => {
  const { depth } = parseJson('['.repeat(10_000) + ']'.repeat(10_000));
  assert.equal(depth, 10_000);
  assert.throws(() => parseJson('['.repeat(10_001) + ']'.repeat(10_001)), /exceeded max depth/);
});

test('half a surrogate pair becomes the sign for what is no character', () => {
  const cases: readonly [text: string, value: unknown][] = [
    ['"\\ud800"', '\ufffd'],
    ['"\\uDC00x"', '\ufffdx'],
    ['"\\ud83d\\ude00"', '\u{1f600}'],
    ['"\\ud800\\ud83d\\ude00"', '\ufffd\u{1f600}'],
    ['"\\\\ud800"', '\\ud800'],
    ['{"\\ud800":1}', { '\ufffd': 1 }],
  ];
  for (const [text, value] of cases) assert.deepEqual(parseJson(text).value, value, text);
});
