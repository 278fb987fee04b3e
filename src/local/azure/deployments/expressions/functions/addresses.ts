// Address ranges.
import ipaddr from 'ipaddr.js';
import type { JsonObject } from '../../../kernel/record.ts';
import { type FunctionTable, func } from '../environment.ts';
import { TemplateError } from '../template-error.ts';
import { wantInteger, wantText } from '../values.ts';

interface Range {
  readonly bits: 32 | 128;
  readonly prefix: number;
  readonly first: bigint;
}

export const addressFunctions: FunctionTable = {
  parsecidr: func(1, ([text], call) => described(parseRange(wantText(text, call)))),
  cidrsubnet: func(3, ([text, prefix, index], call) => {
    const range = parseRange(wantText(text, call));
    const length = wantInteger(prefix, call);
    const at = wantInteger(index, call);
    if (length < range.prefix || length > range.bits || at < 0) throw outside('cidrSubnet');
    if (BigInt(at) >= 1n << BigInt(length - range.prefix)) throw outside('cidrSubnet');
    return `${shown(range.first + (BigInt(at) << BigInt(range.bits - length)), range.bits)}/${length}`;
  }),
  cidrhost: func(2, ([text, index], call) => {
    const range = parseRange(wantText(text, call));
    const at = wantInteger(index, call);
    const size = 1n << BigInt(range.bits - range.prefix);
    // Counted from the first usable address: that of the network is not a host's.
    const offset = BigInt(at) + (range.bits === 32 && size > 2n ? 1n : 0n);
    const last = range.bits === 32 && size > 2n ? size - 2n : size - 1n;
    if (at < 0 || offset > last) throw outside('cidrHost');
    return shown(range.first + offset, range.bits);
  }),
};

function outside(name: string): TemplateError {
  return new TemplateError(
    `The parameters of the template language function '${name}' are outside of the address range`,
  );
}

function parseRange(text: string): Range {
  const slash = text.lastIndexOf('/');
  const address = text.slice(0, Math.max(0, slash));
  const prefixText = text.slice(slash + 1);
  if (text.length > 64 || slash < 1 || !/^\d{1,3}$/.test(prefixText) || !isAddress(address)) throw notCidr(text);
  const parsed = ipaddr.parse(address);
  const bits = parsed.kind() === 'ipv4' ? 32 : 128;
  const prefix = Number(prefixText);
  if (prefix > bits) throw notCidr(text);
  let value = 0n;
  for (const byte of parsed.toByteArray()) value = (value << 8n) | BigInt(byte);
  const host = BigInt(bits - prefix);
  return { bits, prefix, first: (value >> host) << host };
}

function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

function notCidr(text: string): TemplateError {
  return new TemplateError(`The value '${text.slice(0, 64)}' is not a valid CIDR address range`);
}

function shown(value: bigint, bits: 32 | 128): string {
  const bytes: number[] = [];
  for (let shift = bits - 8; shift >= 0; shift -= 8) bytes.push(Number((value >> BigInt(shift)) & 255n));
  return ipaddr.fromByteArray(bytes).toString();
}

function described(range: Range): JsonObject {
  const size = 1n << BigInt(range.bits - range.prefix);
  const last = range.first + size - 1n;
  const ones = ((1n << BigInt(range.prefix)) - 1n) << BigInt(range.bits - range.prefix);
  const narrow = size <= 2n;
  const common = { network: shown(range.first, range.bits), netmask: shown(ones, range.bits) };
  if (range.bits === 128) {
    return { ...common, firstUsable: shown(range.first, 128), lastUsable: shown(last, 128), cidr: range.prefix };
  }
  return {
    ...common,
    broadcast: shown(last, 32),
    firstUsable: shown(narrow ? range.first : range.first + 1n, 32),
    lastUsable: shown(narrow ? last : last - 1n, 32),
    cidr: range.prefix,
  };
}
