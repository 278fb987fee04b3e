// The functions on texts that Kubernetes adds. Positions count characters.

import { PatternError, pattern } from '../../crd/patterns.ts';
import { goQuote } from '../../schema/go-text.ts';
import type { Budget } from '../budget.ts';
import type { Declaration } from '../overloads.ts';
import { CelError, type CelValue, Duration, isMapping, kindOf, List, Timestamp, TypeValue, Uint } from '../values.ts';
import { doubleText } from './operators.ts';
import { durationText, timestampText } from './times.ts';

const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`);

/** Characters of a text, read at the cost of its length. */
function characters(text: string, budget: Budget): string[] {
  budget.read(text.length);
  return [...text];
}

function position(index: bigint, length: number): number {
  if (index < 0n || index > BigInt(length)) throw outOfRange(index);
  return Number(index);
}

function find(text: string, part: string, from: bigint | undefined, last: boolean, budget: Budget): bigint {
  const [where, what] = [characters(text, budget), characters(part, budget)];
  budget.spend((where.length * what.length) / 10);
  const start = from === undefined ? (last ? where.length : 0) : position(from, where.length);
  const fits = (at: number): boolean => what.every((character, index) => where[at + index] === character);
  if (last) {
    for (let at = Math.min(start, where.length - what.length); at >= 0; at -= 1) if (fits(at)) return BigInt(at);
  } else for (let at = start; at <= where.length - what.length; at += 1) if (fits(at)) return BigInt(at);
  return -1n;
}

function substring(text: string, from: bigint, to: bigint | undefined, budget: Budget): string {
  const all = characters(text, budget);
  const start = position(from, all.length);
  const end = to === undefined ? all.length : position(to, all.length);
  if (start > end) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`);
  return all.slice(start, end).join('');
}

function split(text: string, by: string, most: bigint | undefined, budget: Budget): List {
  budget.read(text.length);
  const parts = by === '' ? [...text] : text.split(by);
  if (most === undefined || most < 0n) return new List(parts);
  if (most === 0n) return new List([]);
  const limit = Number(most);
  if (parts.length <= limit) return new List(parts);
  return new List([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(by)]);
}

function replace(text: string, old: string, by: string, most: bigint | undefined, budget: Budget): string {
  budget.read(text.length + (old === '' ? text.length : text.length / old.length) * by.length);
  if (most === undefined || most < 0n) return text.split(old).join(by);
  const parts = text.split(old);
  const limit = Number(most);
  let made = parts[0] ?? '';
  parts.slice(1).forEach((part, index) => {
    made += (index < limit ? by : old) + part;
  });
  return made;
}

function join(list: List, by: string, budget: Budget): string {
  budget.spend(list.items.length);
  return list.items
    .map((item) => {
      if (typeof item !== 'string') throw new CelError('no such overload');
      budget.read(item.length + by.length);
      return item;
    })
    .join(by);
}

const ascii = (text: string, upper: boolean): string =>
  text.replace(upper ? /[a-z]+/g : /[A-Z]+/g, (part) => (upper ? part.toUpperCase() : part.toLowerCase()));

/** A value as `%s` shows it. */
function shown(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return doubleText(value);
  if (value === null || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof List) return `[${value.items.map(shown).join(', ')}]`;
  if (isMapping(value)) {
    const entries = value.keys().map((key) => `${shown(key)}: ${shown(value.get(key) ?? null)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  throw new CelError(`could not convert argument to string: ${kindOf(value)}`);
}

const integerOf = (value: CelValue, verb: string): bigint => {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  if (typeof value === 'boolean' && verb === 'b') return value ? 1n : 0n;
  throw new CelError(`error during formatting: %${verb} can only be used on integers, was given ${kindOf(value)}`);
};

const fractionOf = (value: CelValue, verb: string): number => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  throw new CelError(`error during formatting: %${verb} can only be used on doubles, was given ${kindOf(value)}`);
};

function hexadecimal(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return integerOf(value, 'x').toString(16);
}

function formatted(value: CelValue, verb: string, precision: number | undefined): string {
  switch (verb) {
    case 's':
      return shown(value);
    case 'd':
      return typeof value === 'number' && Number.isInteger(value) ? String(value) : String(integerOf(value, verb));
    case 'f':
      return fractionOf(value, verb).toFixed(precision ?? 6);
    case 'e':
      return fractionOf(value, verb)
        .toExponential(precision ?? 6)
        .replace(/e([+-])(\d)$/, 'e$10$2');
    case 'b':
      return integerOf(value, verb).toString(2);
    case 'o':
      return integerOf(value, verb).toString(8);
    case 'x':
      return hexadecimal(value);
    case 'X':
      return hexadecimal(value).toUpperCase();
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function format(text: string, { items }: List, budget: Budget): string {
  budget.read(text.length);
  let next = 0;
  return text.replace(/%(%|(?:\.(\d+))?(.))/g, (_all, whole: string, precision: string | undefined, verb: string) => {
    if (whole === '%') return '%';
    const value = items[next];
    if (value === undefined) throw new CelError(`index ${next} out of range`);
    next += 1;
    const made = formatted(value, verb, precision === undefined ? undefined : Number(precision));
    budget.read(made.length);
    return made;
  });
}

function found(text: string, expression: string, most: number, budget: Budget): string[] {
  budget.spend(1 + (text.length / 10) * (1 + expression.length / 4));
  try {
    const matcher = pattern(expression).matcher(text);
    const parts: string[] = [];
    while (parts.length < most && matcher.find()) parts.push(matcher.group() ?? '');
    return parts;
  } catch (error) {
    if (error instanceof PatternError) throw new CelError(error.message);
    throw error;
  }
}

/** A function of a text that costs as much as reading it. */
const reading =
  (make: (text: string) => string) =>
  (text: string, budget: Budget): string => {
    budget.read(text.length);
    return make(text);
  };

export const stringFunctions: readonly Declaration[] = [
  [
    '.charAt(string, int): string',
    (text: string, index: bigint, budget: Budget) => {
      const all = characters(text, budget);
      return all[position(index, all.length)] ?? '';
    },
  ],
  [
    '.indexOf(string, string): int',
    (text: string, part: string, budget: Budget) => find(text, part, undefined, false, budget),
  ],
  [
    '.indexOf(string, string, int): int',
    (text: string, part: string, from: bigint, budget: Budget) => find(text, part, from, false, budget),
  ],
  [
    '.lastIndexOf(string, string): int',
    (text: string, part: string, budget: Budget) => find(text, part, undefined, true, budget),
  ],
  [
    '.lastIndexOf(string, string, int): int',
    (text: string, part: string, from: bigint, budget: Budget) => find(text, part, from, true, budget),
  ],
  ['.lowerAscii(string): string', reading((text) => ascii(text, false))],
  ['.upperAscii(string): string', reading((text) => ascii(text, true))],
  [
    '.replace(string, string, string): string',
    (text: string, old: string, by: string, budget: Budget) => replace(text, old, by, undefined, budget),
  ],
  ['.replace(string, string, string, int): string', replace],
  [
    '.split(string, string): list<string>',
    (text: string, by: string, budget: Budget) => split(text, by, undefined, budget),
  ],
  ['.split(string, string, int): list<string>', split],
  [
    '.substring(string, int): string',
    (text: string, from: bigint, budget: Budget) => substring(text, from, undefined, budget),
  ],
  ['.substring(string, int, int): string', substring],
  ['.trim(string): string', reading((text) => text.trim())],
  ['.reverse(string): string', (text: string, budget: Budget) => characters(text, budget).reverse().join('')],
  ['.join(list<string>): string', (list: List, budget: Budget) => join(list, '', budget)],
  ['.join(list<string>, string): string', join],
  ['.format(string, list<dyn>): string', format],
  ['strings.quote(string): string', reading((text) => goQuote(text))],
  [
    '.find(string, string): string',
    (text: string, expression: string, budget: Budget) => found(text, expression, 1, budget)[0] ?? '',
  ],
  [
    '.findAll(string, string): list<string>',
    (text: string, expression: string, budget: Budget) =>
      new List(found(text, expression, Number.POSITIVE_INFINITY, budget)),
  ],
  [
    '.findAll(string, string, int): list<string>',
    (text: string, expression: string, most: bigint, budget: Budget) =>
      new List(found(text, expression, most < 0n ? Number.POSITIVE_INFINITY : Number(most), budget)),
  ],
];
