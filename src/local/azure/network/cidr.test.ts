// Ranges of addresses: overlaps and containment among many.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cidr, containment, overlapAmong, parseCidr } from './cidr.ts';
import { checkSubnets } from './subnets.ts';

function range(text: string): Cidr {
  const parsed = parseCidr(text);
  assert.ok(parsed, text);
  return parsed;
}

const itself = (one: Cidr): Cidr => one;

/** `10.0.0.0/29`, `10.0.0.8/29`, …: as many as asked for, the last ones first. */
function many(count: number): Cidr[] {
  return Array.from({ length: count }, (_, at) => {
    const first = (count - 1 - at) * 8;
    return range(`10.${(first >> 16) & 255}.${(first >> 8) & 255}.${first & 255}/29`);
  });
}

test('two ranges that overlap are found wherever they stand', () => {
  const texts = (list: string[]) => overlapAmong(list.map(range), itself)?.map(({ text }) => text);
  assert.equal(texts([]), undefined);
  assert.equal(texts(['10.1.0.0/16', '10.0.0.0/16', '10.2.0.0/16']), undefined);
  assert.deepEqual(texts(['10.9.0.0/16', '10.3.4.0/24', '10.5.0.0/16', '10.0.0.0/13']), ['10.0.0.0/13', '10.3.4.0/24']);
  assert.deepEqual(texts(['10.0.0.0/24', '10.0.0.0/24'])?.length, 2);
  assert.equal(texts(['::/0', '0.0.0.0/0']), undefined, 'of different versions');
  assert.deepEqual(texts(['10.0.0.0/8', '2001:db8::/32', '2001:db8:1::/48']), ['2001:db8::/32', '2001:db8:1::/48']);
});

test('containment is that of the one range that begins before', () => {
  const isInside = containment(['10.2.0.0/16', '10.0.0.0/16', '2001:db8::/32'].map(range));
  for (const text of ['10.0.0.0/16', '10.0.255.0/24', '10.2.0.8/29', '2001:db8:5::/64'])
    assert.ok(isInside(range(text)), text);
  for (const text of ['10.1.0.0/24', '10.0.0.0/15', '9.255.0.0/16', '10.3.0.0/16', '2001:db9::/64', '::/64'])
    assert.ok(!isInside(range(text)), text);
  assert.ok(!containment([])(range('10.0.0.0/8')));
});

test('a hundred thousand ranges are compared without comparing every pair', () => {
  const ranges = many(100_000);
  assert.equal(overlapAmong(ranges, itself), undefined);
  assert.ok(overlapAmong([...ranges, range('10.0.200.0/30')], itself));
  const subnets = ranges.map((one, at) => ({ name: `s${at}`, ranges: [one] }));
  checkSubnets('net', ranges, subnets);
});
