import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { givesParameter } from './plain-query.ts';

const isAdmin = (target: string): boolean => givesParameter(target, 'api-version', 'admin');

test('a parameter is found in any mixture of case and encoding, wherever it stands', () => {
  const spelled = (text: string): fc.Arbitrary<string> =>
    fc.tuple(...[...text].map(spelling)).map((parts) => parts.join(''));
  const others = fc.constantFrom('', 'a=1', 'api-version=2024-06-10', '%zz', '=', 'x=%', '%ff%61', 'api-version');
  fc.assert(
    fc.property(others, spelled('api-version'), spelled('admin'), others, (before, name, value, after) => {
      assert.ok(isAdmin(`/subscriptions/x?${before}&${name}=${value}&${after}`));
    }),
  );
});

test('other values, and the words in other places, are not taken for it', () => {
  for (const target of [
    '/admin',
    '/api-version=admin',
    '/x?api-version=2024-06-10-preview',
    '/x?api-version=administrator',
    '/x?api-version=',
    '/x?x-api-version=admin',
    '/x?version=admin',
    '/x?admin=api-version',
    '/x?$filter=name%20eq%20%27admin%27&api-version=2024-06-10',
  ]) {
    assert.equal(isAdmin(target), false, target);
  }
});

function spelling(letter: string): fc.Arbitrary<string> {
  const hex = (letter.codePointAt(0) ?? 0).toString(16);
  const upper = (letter.toUpperCase().codePointAt(0) ?? 0).toString(16);
  return fc.constantFrom(letter, letter.toUpperCase(), `%${hex}`, `%${upper}`, `%25${hex}`);
}
