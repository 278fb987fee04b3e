// Names made of other names: the same for the same arguments, in every deployment and in the real cloud.
import { createHash } from 'node:crypto';
import type { Json } from '../../../kernel/record.ts';
import { textUnits } from '../budget.ts';
import { type Call, type FunctionTable, func } from '../environment.ts';
import { wantText } from '../values.ts';

export const hashFunctions: FunctionTable = {
  uniquestring: func([1, 256], (args, call) => base32(murmur64(Buffer.from(name(args, call))))),
  guid: func([1, 256], (args, call) => guidOf(name(args, call))),
};

function name(args: readonly Json[], call: Call): string {
  const text = args.map((arg) => wantText(arg, call)).join('-');
  call.budget.spend(textUnits(text));
  return text;
}

/** The namespace of name-based GUIDs (version 5) in templates. */
const guidNamespace = Buffer.from('11fb06fb712d4ddd98c7e71bbd588830', 'hex');

export function guidOf(text: string): string {
  const hash = createHash('sha1').update(guidNamespace).update(text).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const digits = 'abcdefghijklmnopqrstuvwxyz234567';

/** 13 digits of 5 bits from the top; the last has one bit and zeros. */
function base32(value: bigint): string {
  let text = '';
  let rest = value;
  for (let at = 0; at < 13; at++) {
    text += digits[Number(rest >> 59n)] ?? '';
    rest = BigInt.asUintN(64, rest << 5n);
  }
  return text;
}

const c1 = 0x239b961b;
const c2 = 0xab0e9789;

/** The cloud's 64-bit relative of MurmurHash3: two 32-bit lanes over 8 bytes at a time. */
function murmur64(bytes: Buffer): bigint {
  const length = bytes.length;
  let a = 0;
  let b = 0;
  let at = 0;
  for (; at + 8 <= length; at += 8) {
    a = rotate(a ^ mix(bytes.readUInt32LE(at), c1, 15, c2), 19);
    a = (Math.imul((a + b) | 0, 5) + 0x561ccd1b) | 0;
    b = rotate(b ^ mix(bytes.readUInt32LE(at + 4), c2, 17, c1), 13);
    b = (Math.imul((b + a) | 0, 5) + 0x0bcaa747) | 0;
  }
  const rest = length - at;
  if (rest > 0) a ^= mix(bytes.readUIntLE(at, Math.min(4, rest)), c1, 15, c2);
  if (rest > 4) b ^= mix(bytes.readUIntLE(at + 4, rest - 4), c2, 17, c1);
  a ^= length;
  b ^= length;
  a = (a + b) | 0;
  b = (b + a) | 0;
  a = finish(a);
  b = finish(b);
  a = (a + b) | 0;
  b = (b + a) | 0;
  return (BigInt(b >>> 0) << 32n) | BigInt(a >>> 0);
}

function mix(value: number, first: number, turn: number, second: number): number {
  return Math.imul(rotate(Math.imul(value, first), turn), second);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function finish(value: number): number {
  let made = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  made = Math.imul(made ^ (made >>> 13), 0xc2b2ae35);
  return made ^ (made >>> 16);
}
