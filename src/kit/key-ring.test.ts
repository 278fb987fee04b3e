import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { type Key, keyRing, SealError } from './key-ring.ts';
import { Secret } from './secret.ts';

const key = (id: string, fill: number): Key => ({ id, bytes: new Secret(Buffer.alloc(32, fill)) });
const ring = keyRing([key('new', 2), key('old', 1)]);
const oldRing = keyRing([key('old', 1)]);

const text = fc.string({ unit: 'grapheme' });
const place = fc.string({ unit: 'grapheme' });

function reasonOf(open: () => string): string {
  try {
    open();
  } catch (error) {
    if (error instanceof SealError) return error.reason;
    throw error;
  }
  return 'opened';
}

/** Every text that differs from this one in a single bit of its bytes. */
function* flips(sealed: string): Generator<string> {
  for (let at = 0; at < sealed.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const bytes = Buffer.from(sealed, 'latin1');
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
      yield bytes.toString('latin1');
    }
  }
}

suite('a key ring', () => {
  test('opens what it sealed', () => {
    fc.assert(fc.property(text, place, (plain, context) => ring.open(ring.seal(plain, context), context) === plain));
  });

  test('never seals the same text to the same value twice', () => {
    const seen = new Set(Array.from({ length: 1000 }, () => ring.seal('same', 'same')));
    assert.equal(seen.size, 1000);
  });

  test('shows nothing of the text in the sealed value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), (plain) => {
        const sealed = ring.seal(plain, 'here');
        return !sealed.includes(plain) && !sealed.includes(Buffer.from(plain).toString('base64url'));
      }),
    );
  });

  test('seals with its first key and says so', () => {
    assert.equal(ring.current, 'new');
    assert.match(ring.seal('x', 'here'), /^sealed\.1\.new\./);
    assert.equal(ring.keyOf(ring.seal('x', 'here')), 'new');
  });

  test('opens with an older key what that key sealed', () => {
    const sealed = oldRing.seal('from before', 'here');
    assert.equal(ring.keyOf(sealed), 'old');
    assert.equal(ring.open(sealed, 'here'), 'from before');
  });

  test('refuses every single flipped bit, whatever the length', () => {
    fc.assert(
      fc.property(text, place, (plain, context) => {
        for (const changed of flips(ring.seal(plain, context))) {
          assert.notEqual(
            reasonOf(() => ring.open(changed, context)),
            'opened',
            changed,
          );
        }
      }),
      { numRuns: 40 },
    );
  });

  test('refuses another spelling of the same bytes', () => {
    // 1 + 28 bytes leave two bits of the last base64 character unused.
    const sealed = ring.seal('1', 'here');
    const body = sealed.slice(sealed.lastIndexOf('.') + 1);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const twins = [...alphabet]
      .map((last) => sealed.slice(0, -1) + last)
      .filter((other) => other !== sealed)
      .filter((other) =>
        Buffer.from(other.slice(other.lastIndexOf('.') + 1), 'base64url').equals(Buffer.from(body, 'base64url')),
      );
    assert.equal(twins.length, 3);
    for (const twin of twins)
      assert.equal(
        reasonOf(() => ring.open(twin, 'here')),
        'changed',
      );
  });

  test('refuses a value cut short or made longer', () => {
    const sealed = ring.seal('some text', 'here');
    for (let length = 0; length < sealed.length; length++)
      assert.equal(
        reasonOf(() => ring.open(sealed.slice(0, length), 'here')),
        'changed',
      );
    for (const more of ['A', 'AAAA', '=', '\n', ' ', '.new'])
      assert.equal(
        reasonOf(() => ring.open(sealed + more, 'here')),
        'changed',
        JSON.stringify(more),
      );
  });

  test('refuses a value moved to another place', () => {
    fc.assert(
      fc.property(text, place, place, (plain, here, there) => {
        fc.pre(here !== there);
        return reasonOf(() => ring.open(ring.seal(plain, here), there)) === 'changed';
      }),
    );
  });

  test('names the key it lacks and the keys it has', () => {
    const sealed = ring.seal('x', 'here');
    assert.throws(
      () => oldRing.open(sealed, 'here'),
      (error: unknown) =>
        error instanceof SealError &&
        error.reason === 'unknown-key' &&
        /key new\b/.test(error.message) &&
        /\(old\)/.test(error.message),
    );
  });

  test('refuses a key of the right name with other bytes', () => {
    const impostor = keyRing([key('new', 9)]);
    assert.equal(
      reasonOf(() => impostor.open(ring.seal('x', 'here'), 'here')),
      'changed',
    );
  });

  test('refuses a value relabelled with the name of another key it has', () => {
    const sealed = ring.seal('x', 'here');
    assert.equal(
      reasonOf(() => ring.open(sealed.replace('.new.', '.old.'), 'here')),
      'changed',
    );
  });

  test('throws SealError and nothing else for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String().map((body) => `sealed.1.new.${body}`),
        ),
        (junk) => {
          assert.notEqual(
            reasonOf(() => ring.open(junk, 'here')),
            'opened',
          );
        },
      ),
    );
  });

  test('takes only the form it writes for a sealed text', () => {
    fc.assert(fc.property(fc.string(), (plain) => ring.keyOf(plain) === undefined));
    assert.equal(ring.keyOf('sealed.2.new.AAAA'), undefined);
    assert.equal(ring.keyOf(` ${ring.seal('x', 'here')}`), undefined);
    assert.equal(ring.keyOf(`${ring.seal('x', 'here')}\n`), undefined);
  });

  test('does not seal text that would come back altered', () => {
    assert.throws(() => ring.seal('\ud800', 'here'), TypeError);
  });

  test('gives away neither key nor text when printed or when opening fails', () => {
    const bytes = Buffer.from('0123456789abcdef0123456789abcdef');
    const one = keyRing([{ id: 'k', bytes: new Secret(bytes) }]);
    const sealed = one.seal('hush hush', 'here');
    const shown = [inspect(one, { depth: 9, showHidden: true }), JSON.stringify(one)];
    try {
      one.open(sealed, 'there');
    } catch (error) {
      shown.push(inspect(error, { depth: 9, showHidden: true }));
    }
    assert.equal(shown.length, 3);
    for (const print of shown) {
      for (const form of ['hush hush', bytes.toString(), bytes.toString('hex'), bytes.toString('base64')])
        assert.equal(print.includes(form), false, print);
    }
  });
});

suite('a key ring is not made of', () => {
  const refusals: readonly [string, readonly [Key, ...Key[]], RegExp][] = [
    ['a key that is too short', [{ id: 'k', bytes: new Secret(Buffer.alloc(16)) }], /key k has 16 bytes/],
    ['a key that is too long', [{ id: 'k', bytes: new Secret(Buffer.alloc(64)) }], /64 bytes/],
    ['a key id that would break the form', [key('a.b', 1)], /"a\.b"/],
    ['an empty key id', [key('', 1)], /""/],
    ['the same key id twice', [key('k', 1), key('k', 2)], /k is in the ring twice/],
  ];
  for (const [what, keys, message] of refusals) {
    test(what, () => {
      assert.throws(() => keyRing(keys), { name: 'TypeError', message });
    });
  }
});
