// Addresses and networks: ip(…), cidr(…).
import { isIPv4, isIPv6 } from 'node:net';
import type { Declaration } from '../overloads.ts';
import { opaqueNames } from '../types.ts';
import { CelError, Opaque } from '../values.ts';

interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

interface Network {
  readonly address: Address;
  readonly length: number;
}

const bitsOfFamily = (family: 4 | 6): number => (family === 4 ? 32 : 128);

function groupsOf(text: string): bigint[] {
  // The last four bytes may be written as in IPv4.
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const [a = 0, b = 0, c = 0, d = 0] = (dotted?.[2] ?? '').split('.').map(Number);
  const plain = dotted ? `${dotted[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}` : text;
  const [head = '', tail] = plain.split('::');
  const parse = (part: string): bigint[] => (part === '' ? [] : part.split(':').map((group) => BigInt(`0x${group}`)));
  const [first, last] = [parse(head), parse(tail ?? '')];
  if (tail === undefined) return first;
  return [...first, ...Array<bigint>(8 - first.length - last.length).fill(0n), ...last];
}

/** Reads an address; undefined for what is none. Zones, leading zeros and IPv4 in IPv6 are not taken. */
function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) {
    return { family: 4, bits: text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n) };
  }
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return { family: 6, bits: groupsOf(text).reduce((bits, group) => (bits << 16n) | group, 0n) };
}

function addressText({ family, bits }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  let best = { from: 0, length: 0 };
  for (let from = 0; from < 8; from += 1) {
    let length = 0;
    while (groups[from + length] === '0') length += 1;
    if (length > best.length) best = { from, length };
  }
  if (best.length < 2) return groups.join(':');
  return `${groups.slice(0, best.from).join(':')}::${groups.slice(best.from + best.length).join(':')}`;
}

const isMapped = ({ family, bits }: Address): boolean => family === 6 && bits >> 32n === 0xffffn;

function strictAddress(text: string): Address {
  const address = parseAddress(text);
  if (!address)
    throw new CelError(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`,
    );
  if (isMapped(address)) throw new CelError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return address;
}

const isAddress = (text: string): boolean => {
  const address = parseAddress(text);
  return address !== undefined && !isMapped(address);
};

const ipValue = (address: Address): Opaque => new Opaque(opaqueNames.ip, address, addressText(address));

function parseNetwork(text: string): Network | undefined {
  const slash = text.lastIndexOf('/');
  const length = text.slice(slash + 1);
  const address = parseAddress(text.slice(0, Math.max(slash, 0)));
  if (slash < 0 || !address || isMapped(address) || !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined;
  return Number(length) <= bitsOfFamily(address.family) ? { address, length: Number(length) } : undefined;
}

function strictNetwork(text: string): Network {
  const network = parseNetwork(text);
  if (!network)
    throw new CelError(
      `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): no '/'`,
    );
  return network;
}

function masked({ address, length }: Network): Network {
  const rest = BigInt(bitsOfFamily(address.family) - length);
  return { address: { family: address.family, bits: (address.bits >> rest) << rest }, length };
}

const networkText = ({ address, length }: Network): string => `${addressText(address)}/${length}`;
const cidrValue = (network: Network): Opaque => new Opaque(opaqueNames.cidr, network, networkText(network));

function containsAddress(network: Network, address: Address): boolean {
  if (network.address.family !== address.family) return false;
  const rest = BigInt(bitsOfFamily(address.family) - network.length);
  return network.address.bits >> rest === address.bits >> rest;
}

const containsNetwork = (outer: Network, inner: Network): boolean =>
  inner.length >= outer.length && containsAddress(outer, inner.address);

const ipOf = ({ value }: Opaque): Address => value as Address;
const networkOf = ({ value }: Opaque): Network => value as Network;

const within = (address: Address, network: string): boolean => containsAddress(strictNetwork(network), address);

const isGlobalUnicast = (address: Address): boolean =>
  address.bits !== 0n &&
  !(address.family === 4 && address.bits === 0xffffffffn) &&
  !['127.0.0.0/8', '::1/128', '224.0.0.0/4', 'ff00::/8', '169.254.0.0/16', 'fe80::/10'].some((network) =>
    within(address, network),
  );

export const addressFunctions: readonly Declaration[] = [
  ['isIP(string): bool', isAddress],
  ['ip(string): ip', (text: string) => ipValue(strictAddress(text))],
  ['ip.isCanonical(string): bool', (text: string) => addressText(strictAddress(text)) === text],
  ['.family(ip): int', (ip: Opaque) => BigInt(ipOf(ip).family)],
  ['.isUnspecified(ip): bool', (ip: Opaque) => ipOf(ip).bits === 0n],
  ['.isLoopback(ip): bool', (ip: Opaque) => within(ipOf(ip), '127.0.0.0/8') || within(ipOf(ip), '::1/128')],
  [
    '.isLinkLocalMulticast(ip): bool',
    (ip: Opaque) => within(ipOf(ip), '224.0.0.0/24') || within(ipOf(ip), 'ff02::/16'),
  ],
  [
    '.isLinkLocalUnicast(ip): bool',
    (ip: Opaque) => within(ipOf(ip), '169.254.0.0/16') || within(ipOf(ip), 'fe80::/10'),
  ],
  ['.isGlobalUnicast(ip): bool', (ip: Opaque) => isGlobalUnicast(ipOf(ip))],
  ['string(ip): string', (ip: Opaque) => ip.same],
  ['isCIDR(string): bool', (text: string) => parseNetwork(text) !== undefined],
  ['cidr(string): cidr', (text: string) => cidrValue(strictNetwork(text))],
  [
    '.containsIP(cidr, string): bool',
    (cidr: Opaque, text: string) => containsAddress(networkOf(cidr), strictAddress(text)),
  ],
  ['.containsIP(cidr, ip): bool', (cidr: Opaque, ip: Opaque) => containsAddress(networkOf(cidr), ipOf(ip))],
  [
    '.containsCIDR(cidr, string): bool',
    (cidr: Opaque, text: string) => containsNetwork(networkOf(cidr), strictNetwork(text)),
  ],
  [
    '.containsCIDR(cidr, cidr): bool',
    (cidr: Opaque, other: Opaque) => containsNetwork(networkOf(cidr), networkOf(other)),
  ],
  ['.ip(cidr): ip', (cidr: Opaque) => ipValue(networkOf(cidr).address)],
  ['.masked(cidr): cidr', (cidr: Opaque) => cidrValue(masked(networkOf(cidr)))],
  ['.prefixLength(cidr): int', (cidr: Opaque) => BigInt(networkOf(cidr).length)],
  ['string(cidr): string', (cidr: Opaque) => cidr.same],
];
