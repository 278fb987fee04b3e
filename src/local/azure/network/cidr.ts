// Ranges of addresses, as numbers.
import ipaddr from 'ipaddr.js';

export interface Cidr {
  readonly text: string;
  readonly version: 4 | 6;
  readonly length: number;
  /** The first and the last address. */
  readonly first: bigint;
  readonly last: bigint;
  /** Whether nothing is set behind the prefix. */
  readonly isAligned: boolean;
}

const v4Form = /^\d{1,3}(\.\d{1,3}){3}$/;

/** Undefined for what is no range: `10.0.0.0/8`, `2001:db8::/32`. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', digits = '', more] = text.split('/');
  if (more !== undefined || !/^\d{1,3}$/.test(digits)) return undefined;
  const base = parseAddress(address);
  const length = Number(digits);
  if (base === undefined || length > bitsOf(base.version)) return undefined;
  const hosts = 1n << BigInt(bitsOf(base.version) - length);
  const first = base.value - (base.value % hosts);
  return {
    text,
    version: base.version,
    length,
    first,
    last: first + hosts - 1n,
    isAligned: first === base.value,
  };
}

export interface Address {
  readonly version: 4 | 6;
  readonly value: bigint;
}

/** Undefined for what is no address. Short forms of IPv4 (`10.1`) are none. */
export function parseAddress(text: string): Address | undefined {
  const isV4 = v4Form.test(text);
  if (!isV4 && !text.includes(':')) return undefined;
  if (isV4 ? !ipaddr.IPv4.isValidFourPartDecimal(text) : !ipaddr.IPv6.isValid(text) || text.includes('%'))
    return undefined;
  const parsed = ipaddr.parse(text);
  let value = 0n;
  for (const byte of parsed.toByteArray()) value = (value << 8n) | BigInt(byte);
  return { version: parsed.kind() === 'ipv4' ? 4 : 6, value };
}

export function addressText({ version, value }: Address): string {
  const bytes: number[] = [];
  for (let rest = value, at = 0; at < bitsOf(version) / 8; at++, rest >>= 8n) bytes.unshift(Number(rest & 255n));
  return ipaddr.fromByteArray(bytes).toString();
}

/** `10.0.0.0/24` for a range that was written as `10.0.0.7/24`. */
export function alignedText({ version, first, length }: Cidr): string {
  return `${addressText({ version, value: first })}/${length}`;
}

export function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.version === inner.version && outer.first <= inner.first && inner.last <= outer.last;
}

export function overlaps(a: Cidr, b: Cidr): boolean {
  return a.version === b.version && a.first <= b.last && b.first <= a.last;
}

/** In the order of versions and first addresses. */
export function inOrder<T>(items: readonly T[], rangeOf: (item: T) => Cidr): readonly T[] {
  return items.toSorted((one, other) => {
    const [a, b] = [rangeOf(one), rangeOf(other)];
    return a.version - b.version || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0);
  });
}

/** Two that overlap, if any do: in order, one that overlaps with anything overlaps with the next or is overlapped by the one before. */
export function overlapAmong<T>(items: readonly T[], rangeOf: (item: T) => Cidr): readonly [T, T] | undefined {
  let before: T | undefined;
  for (const item of inOrder(items, rangeOf)) {
    if (before !== undefined && overlaps(rangeOf(before), rangeOf(item))) return [before, item];
    before = item;
  }
  return undefined;
}

/** Tells whether one of the outer ranges, which do not overlap, contains a range. */
export function containment(outers: readonly Cidr[]): (inner: Cidr) => boolean {
  const sorted = inOrder(outers, (range) => range);
  return (inner) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = sorted[middle];
      const isAfter = at !== undefined && (at.version - inner.version || (at.first > inner.first ? 1 : 0)) > 0;
      if (isAfter) high = middle;
      else low = middle + 1;
    }
    const last = sorted[low - 1];
    return last !== undefined && contains(last, inner);
  };
}

export function hasAddress(range: Cidr, address: Address): boolean {
  return range.version === address.version && range.first <= address.value && address.value <= range.last;
}

/** The first four addresses of a subnet and its last are Azure's own. */
export function isReserved(range: Cidr, address: Address): boolean {
  return address.value < range.first + 4n || (range.version === 4 && address.value === range.last);
}

function bitsOf(version: 4 | 6): number {
  return version === 4 ? 32 : 128;
}
