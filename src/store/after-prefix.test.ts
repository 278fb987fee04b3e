import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterPrefix } from './after-prefix.ts';

test('a range of prefixes ends at the next string by UTF-8 bytes', () => {
  const cases: [string, string | undefined][] = [
    ['abc', 'abd'],
    ['a\u{10ffff}', 'b'],
    ['\u{10ffff}', undefined],
    ['', undefined],
    ['a\ud7ff', 'a\ue000'],
    ['a\uffff', 'a\u{10000}'],
    ['a\u007f', 'a\u0080'],
  ];
  for (const [prefix, next] of cases) assert.equal(afterPrefix(prefix), next, JSON.stringify(prefix));
});
