import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Secret } from '../kit/secret.ts';
import { StoreError } from './errors.ts';
import { bytesWithin, serialise } from './json.ts';

const text = (body: unknown) => serialise(() => 'document p/a', body);
const refuses = (body: unknown, message: RegExp) =>
  assert.throws(
    () => text(body),
    (error) => error instanceof StoreError && error.code === 'Invalid' && message.test(error.message),
  );

describe('the text of a body', () => {
  it('is its JSON', () => {
    for (const body of [{}, { a: [1, { b: null }] }, { at: new Date(0) }, { '\\u0000': '\\ud800\\' }])
      assert.equal(text(body), JSON.stringify(body));
  });

  it('is refused for what JSON would turn into null, and only for that', () => {
    for (const body of [{ a: Number.NaN }, { a: { b: [Number.POSITIVE_INFINITY] } }, { a: [undefined] }])
      refuses(body, /would become null/);
    assert.equal(text({ a: null, b: undefined, c: 'null' }), '{"a":null,"c":"null"}');
  });
  it('is refused for exactly the texts with a NUL or half a surrogate pair in them', () => {
    const pieces = fc.constantFrom(
      '\\',
      '\\\\',
      'u',
      'u0000',
      'ud800',
      '\0',
      '\ud800',
      '\udc00',
      '\u{1f600}',
      '"',
      '\u0001',
      'x',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), fc.boolean(), (parts, isName) => {
        const joined = parts.join('');
        const body = isName ? { [joined]: 1 } : { text: joined };
        if (joined.isWellFormed() && !joined.includes('\0')) assert.equal(text(body), JSON.stringify(body));
        else refuses(body, /NUL character or a broken surrogate pair/);
      }),
      { numRuns: 2000 },
    );
  });

  it('is refused past 500 levels, whatever the brackets within texts', () => {
    const deep = (levels: number, inner: unknown): unknown => {
      let body = inner;
      for (let level = 0; level < levels; level++) body = level % 2 === 0 ? [body, ']}'] : { '{[': body, '\\"': '"\\' };
      return { body };
    };
    text(deep(499, 1));
    refuses(deep(500, 1), /500 levels/);
    text({ many: Array(5000).fill([{}]), text: '[{"'.repeat(5000) });
    refuses(deep(20_000, 1), /levels/);
  });

  it('is refused for a Secret anywhere, and not for a text that looks like one', () => {
    refuses({ a: [{ b: new Secret('x') }] }, /a\.0\.b/);
    refuses({ a: '[redacted]', b: new Secret(1) }, /the body\.b/);
    text({ a: '[redacted]' });
  });

  it('is never shown in an error', () => {
    for (const body of [
      { word: 'mellon\0' },
      { word: 'mellon', n: 1n },
      'mellon',
      { word: 'mellon', key: new Secret('mellon') },
    ])
      assert.throws(
        () => text(body),
        (error) => error instanceof StoreError && !`${error.stack}${error.cause}`.includes('mellon'),
      );
  });
});

describe('the bytes of a text', () => {
  it('are never said to be fewer than they are, and are exact near the limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(100), (some, limit) => {
        const exact = Buffer.byteLength(some);
        const bytes = bytesWithin(some, limit);
        assert(bytes >= exact);
        assert.equal(bytes > limit, exact > limit);
      }),
    );
  });
});
