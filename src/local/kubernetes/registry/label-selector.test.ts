import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLabelSelector } from './label-selector.ts';

const matching = (selector: string, labels: Record<string, string> | undefined): boolean =>
  parseLabelSelector(selector)?.(labels) ?? true;

test('what selectors match', () => {
  const cases: readonly [selector: string, labels: Record<string, string> | undefined, matches: boolean][] = [
    ['', { a: 'b' }, true],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['!a', {}, true],
    ['!a', { a: 'x' }, false],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a=', { a: '' }, true],
    ['a=', undefined, false],
    ['a!=b', undefined, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b,c)', { a: 'c' }, true],
    ['a in (b,c)', {}, false],
    ['a notin (b,c)', {}, true],
    ['a notin (b,c)', { a: 'b' }, false],
    ['a in ()', { a: '' }, true],
    ['n>4,n<9', { n: '5' }, true],
    ['n>4', { n: 'x' }, false],
    ['example.com/a = b , c', { 'example.com/a': 'b', c: 'd' }, true],
    ['constructor', {}, false],
  ];
  for (const [selector, labels, matches] of cases) assert.equal(matching(selector, labels), matches, selector);
});

test('what is no selector is refused in the words of a real server', () => {
  const cases: readonly [selector: string, message: string][] = [
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a===', "unable to parse requirement: found '=', expected: identifier"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['=', "found '=', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['/a', 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'],
  ];
  for (const [selector, message] of cases) {
    assert.throws(() => parseLabelSelector(selector), { message }, selector);
  }
});
