import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWarnings } from './warnings.ts';

const headersOf = (texts: Iterable<string>): readonly string[] => {
  const warnings = createWarnings();
  for (const text of texts) warnings.add(text);
  return warnings.headers;
};

test('a text is told once, in quotes', () => {
  assert.deepEqual(headersOf(['a', 'say "b"', 'a', '']), ['299 - "a"', '299 - "say \\"b\\""']);
});

test('what no header can carry is left out', () => {
  assert.deepEqual(headersOf(['a\nb', 'c\u0085', 'd']), ['299 - "d"']);
});

test('characters beyond ASCII are sent as UTF-8', () => {
  assert.deepEqual(headersOf(['é']), ['299 - "Ã©"']);
});

test('texts are whole up to 4096 characters in all, and then have 256 each', () => {
  const whole = headersOf(['a'.repeat(4000), 'b'.repeat(96)]);
  assert.deepEqual(
    whole.map((header) => header.length),
    [4000, 96].map((length) => length + '299 - ""'.length),
  );
  const cut = headersOf(['a'.repeat(4000), 'b'.repeat(97), '😀'.repeat(300)]);
  assert.deepEqual(
    cut.map((header) => Buffer.from(header, 'latin1').toString().slice('299 - "'.length, -1)),
    ['a'.repeat(256), 'b'.repeat(97), '😀'.repeat(256)],
  );
});

test('a million texts are as few headers as fit, and take no time', { timeout: 60_000 }, () => {
  function* many(): Generator<string> {
    for (let index = 0; index < 1_000_000; index += 1) yield `unknown field ${String(index).padStart(16, '0')}`;
  }
  assert.equal(headersOf(many()).length, Math.ceil(4096 / 'unknown field 0123456789012345'.length));
});
