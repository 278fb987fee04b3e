import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  QuantityError,
  quantityMilliValue,
  quantityValue,
} from './quantity.ts';

test('a quantity has one canonical form', () => {
  const forms: Readonly<Record<string, string>> = {
    '0': '0',
    '0Gi': '0',
    '1': '1',
    '+1': '1',
    '01.50': '1500m',
    '1000m': '1',
    '0.5': '500m',
    '0.5Gi': '512Mi',
    '1.5Gi': '1536Mi',
    '1024': '1024',
    '1023Ki': '1023Ki',
    '2048Mi': '2Gi',
    '0.1Ki': '102400m',
    '1000k': '1M',
    '100M': '100M',
    '1e3': '1e3',
    '12E6': '12e6',
    '0.0001': '100u',
    '0.1n': '1n',
    '-2': '-2',
    '5E': '5E',
    '10Ei': '9223372036854775807',
  };
  for (const [text, canonical] of Object.entries(forms)) assert.equal(canonicalQuantity(text), canonical, text);
});

test('what is no quantity is refused in the server’s words', () => {
  const form = /quantities must match the regular expression/;
  for (const text of ['', 'abc', '1x', '1 Gi', '1.2.3']) assert.throws(() => parseQuantity(text), form, text);
  for (const text of ['1KK', '1i', '1e', '--1'])
    assert.throws(() => parseQuantity(text), /unable to parse quantity's suffix/, text);
  assert.throws(() => parseQuantity('1e999999999'), QuantityError);
});

test('values are rounded up', () => {
  assert.equal(quantityValue(parseQuantity('1500m')), 2n);
  assert.equal(quantityMilliValue(parseQuantity('0.0001')), 1n);
  assert.equal(quantityValue(parseQuantity('1Ki')), 1024n);
});

test('order is by value whatever the form', () => {
  assert.equal(compareQuantities(parseQuantity('1Gi'), parseQuantity('1G')), 1);
  assert.equal(compareQuantities(parseQuantity('1000m'), parseQuantity('1')), 0);
  assert.equal(compareQuantities(parseQuantity('-1'), parseQuantity('0')), -1);
});

test('the canonical form is its own canonical form and means the same', () => {
  const text = fc
    .tuple(
      fc.integer({ min: -99999, max: 99999 }),
      fc.integer({ min: 0, max: 9999 }),
      fc.constantFrom('', 'm', 'k', 'Ki', 'Mi', 'G', 'u', 'e3'),
    )
    .map(([whole, fraction, suffix]) => `${whole}.${fraction}${suffix}`);
  fc.assert(
    fc.property(text, (one) => {
      const canonical = canonicalQuantity(one);
      assert.equal(canonicalQuantity(canonical), canonical);
      assert.equal(parseQuantity(canonical).nanos, parseQuantity(one).nanos);
    }),
  );
});
