// Operators, and the functions that every CEL has.
import { PatternError, pattern } from '../../crd/patterns.ts';
import type { Budget } from '../budget.ts';
import type { Declaration } from '../overloads.ts';
import {
  CelError,
  type CelValue,
  compare,
  Duration,
  equal,
  List,
  type Mapping,
  Optional,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
} from '../values.ts';
import { durationText, parseDuration, parseTimestamp, timestampText } from './times.ts';

const leastInt = -(2n ** 63n);
const mostInt = 2n ** 63n - 1n;
const mostUint = 2n ** 64n - 1n;

export function checkedInt(value: bigint): bigint {
  if (value < leastInt || value > mostInt) throw new CelError('integer overflow');
  return value;
}

function checkedUint(value: bigint): Uint {
  if (value < 0n || value > mostUint) throw new CelError('unsigned integer overflow');
  return new Uint(value);
}

const nonZero = (value: bigint, what: string): bigint => {
  if (value === 0n) throw new CelError(what);
  return value;
};

function concatenate(one: List, other: List, budget: Budget): List {
  budget.spend(1);
  if (!one.identity) return new List([...one.items, ...other.items]);
  // Of lists that are sets or maps the second adds to the first, or replaces what has the same key.
  const { identity } = one;
  const merged = new Map(one.items.map((item) => [identity(item), item]));
  for (const item of other.items) merged.set(identity(item), item);
  return new List([...merged.values()], identity);
}

const arithmetic: readonly Declaration[] = [
  ['_+_(int, int): int', (a: bigint, b: bigint) => checkedInt(a + b)],
  ['_+_(uint, uint): uint', (a: Uint, b: Uint) => checkedUint(a.value + b.value)],
  ['_+_(double, double): double', (a: number, b: number) => a + b],
  [
    '_+_(string, string): string',
    (a: string, b: string, budget: Budget) => {
      budget.read(a.length + b.length);
      return a + b;
    },
  ],
  ['_+_(bytes, bytes): bytes', (a: Uint8Array, b: Uint8Array) => new Uint8Array(Buffer.concat([a, b]))],
  ['_+_(list<T>, list<T>): list<T>', concatenate],
  ['_+_(timestamp, duration): timestamp', (a: Timestamp, b: Duration) => new Timestamp(a.nanos + b.nanos)],
  ['_+_(duration, timestamp): timestamp', (a: Duration, b: Timestamp) => new Timestamp(a.nanos + b.nanos)],
  ['_+_(duration, duration): duration', (a: Duration, b: Duration) => new Duration(a.nanos + b.nanos)],
  ['_-_(int, int): int', (a: bigint, b: bigint) => checkedInt(a - b)],
  ['_-_(uint, uint): uint', (a: Uint, b: Uint) => checkedUint(a.value - b.value)],
  ['_-_(double, double): double', (a: number, b: number) => a - b],
  ['_-_(timestamp, timestamp): duration', (a: Timestamp, b: Timestamp) => new Duration(a.nanos - b.nanos)],
  ['_-_(timestamp, duration): timestamp', (a: Timestamp, b: Duration) => new Timestamp(a.nanos - b.nanos)],
  ['_-_(duration, duration): duration', (a: Duration, b: Duration) => new Duration(a.nanos - b.nanos)],
  ['_*_(int, int): int', (a: bigint, b: bigint) => checkedInt(a * b)],
  ['_*_(uint, uint): uint', (a: Uint, b: Uint) => checkedUint(a.value * b.value)],
  ['_*_(double, double): double', (a: number, b: number) => a * b],
  ['_/_(int, int): int', (a: bigint, b: bigint) => checkedInt(a / nonZero(b, 'division by zero'))],
  ['_/_(uint, uint): uint', (a: Uint, b: Uint) => new Uint(a.value / nonZero(b.value, 'division by zero'))],
  ['_/_(double, double): double', (a: number, b: number) => a / b],
  ['_%_(int, int): int', (a: bigint, b: bigint) => a % nonZero(b, 'modulus by zero')],
  ['_%_(uint, uint): uint', (a: Uint, b: Uint) => new Uint(a.value % nonZero(b.value, 'modulus by zero'))],
  ['-_(int): int', (a: bigint) => checkedInt(-a)],
  ['-_(double): double', (a: number) => -a],
  ['!_(bool): bool', (a: boolean) => !a],
];

const ordered = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];
const numbers = ['int', 'uint', 'double'];
const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
};

function comparison(name: string, test: (order: number) => boolean): Declaration[] {
  const pairs = [
    ...ordered.map((type) => [type, type] as const),
    ...numbers.flatMap((one) => numbers.filter((other) => other !== one).map((other) => [one, other] as const)),
  ];
  const call = (a: CelValue, b: CelValue, budget: Budget): boolean => {
    if (typeof a === 'string' && typeof b === 'string') budget.read(Math.min(a.length, b.length));
    // What is no number has no order.
    if ((typeof a === 'number' && Number.isNaN(a)) || (typeof b === 'number' && Number.isNaN(b))) return false;
    return test(compare(a, b) ?? 0);
  };
  return pairs.map(([one, other]) => [`${name}(${one}, ${other}): bool`, call]);
}

/** The work of comparing is that of reading the smaller one. */
function equality(a: CelValue, b: CelValue, budget: Budget): boolean {
  const weight = (value: CelValue): number =>
    typeof value === 'string' ? value.length : value instanceof List ? value.items.length * 10 : 1;
  budget.read(Math.min(weight(a), weight(b)));
  return equal(a, b);
}

const selections: readonly Declaration[] = [
  ['_==_(T, T): bool', equality],
  ['_!=_(T, T): bool', (a: CelValue, b: CelValue, budget: Budget) => !equality(a, b, budget)],
  ['_?_:_(bool, T, T): T', (_test: boolean, yes: CelValue) => yes],
  ['_[_](list<T>, int): T', (_list: List, _index: bigint) => null],
  ['_[_](map<K, V>, K): V', (_map: Mapping, _key: CelValue) => null],
  [
    '@in(T, list<T>): bool',
    (item: CelValue, list: List, budget: Budget) => {
      budget.spend(list.items.length);
      return list.items.some((each) => equal(each, item));
    },
  ],
  ['@in(K, map<K, V>): bool', (key: CelValue, map: Mapping) => map.get(key) !== undefined],
];

const characters = (text: string): bigint => {
  let count = 0n;
  for (const _ of text) count += 1n;
  return count;
};

function sizes(): Declaration[] {
  const found: (readonly [string, (value: never, budget: Budget) => bigint])[] = [
    [
      'string',
      (text: string, budget) => {
        budget.read(text.length);
        return characters(text);
      },
    ],
    ['bytes', (bytes: Uint8Array) => BigInt(bytes.length)],
    ['list<T>', (list: List) => BigInt(list.items.length)],
    ['map<K, V>', (map: Mapping) => BigInt(map.size)],
  ];
  return found.flatMap(([type, call]): Declaration[] => [
    [`size(${type}): int`, call],
    [`.size(${type}): int`, call],
  ]);
}

/** Whether a text has what an expression describes. */
export function matches(text: string, expression: string, budget: Budget): boolean {
  budget.spend(1 + (text.length / 10) * (1 + expression.length / 4));
  try {
    return pattern(expression).matcher(text).find();
  } catch (error) {
    if (error instanceof PatternError) throw new CelError(error.message);
    throw error;
  }
}

const texts: readonly Declaration[] = [
  ['.startsWith(string, string): bool', (text: string, part: string) => text.startsWith(part)],
  ['.endsWith(string, string): bool', (text: string, part: string) => text.endsWith(part)],
  [
    '.contains(string, string): bool',
    (text: string, part: string, budget: Budget) => {
      budget.spend(1 + (text.length / 10) * (1 + part.length / 10));
      return text.includes(part);
    },
  ],
  ['.matches(string, string): bool', matches],
  ['matches(string, string): bool', matches],
];

function intOf(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw new CelError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return checkedInt(BigInt(text.replace(/^\+/, '')));
}

function doubleOf(text: string): number {
  if (text.trim() !== text || text === '' || (Number.isNaN(Number(text)) && text !== 'NaN')) {
    throw new CelError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

function truncated(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) throw new CelError('integer overflow');
  return BigInt(Math.trunc(value));
}

/** A number with a fraction as Go prints it. */
export const doubleText = (value: number): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
};

const conversions: readonly Declaration[] = [
  ['dyn(T): dyn', (value: CelValue) => value],
  ['type(T): type', (value: CelValue) => new TypeValue(typeNameOf(value))],
  ['bool(bool): bool', (value: boolean) => value],
  [
    'bool(string): bool',
    (text: string) => {
      if (['true', 'TRUE', 'True', 't', '1'].includes(text)) return true;
      if (['false', 'FALSE', 'False', 'f', '0'].includes(text)) return false;
      throw new CelError(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
    },
  ],
  ['int(int): int', (value: bigint) => value],
  ['int(uint): int', (value: Uint) => checkedInt(value.value)],
  ['int(double): int', truncated],
  ['int(string): int', intOf],
  ['int(timestamp): int', (value: Timestamp) => value.nanos / 1_000_000_000n],
  ['int(duration): int', (value: Duration) => value.nanos],
  ['uint(uint): uint', (value: Uint) => value],
  ['uint(int): uint', checkedUint],
  ['uint(double): uint', (value: number) => checkedUint(truncated(value))],
  ['uint(string): uint', (text: string) => checkedUint(intOf(text))],
  ['double(double): double', (value: number) => value],
  ['double(int): double', Number],
  ['double(uint): double', (value: Uint) => Number(value.value)],
  ['double(string): double', doubleOf],
  ['string(string): string', (value: string) => value],
  ['string(int): string', String],
  ['string(uint): string', (value: Uint) => String(value.value)],
  ['string(double): string', doubleText],
  ['string(bool): string', String],
  ['string(bytes): string', (value: Uint8Array) => Buffer.from(value).toString()],
  ['string(timestamp): string', timestampText],
  ['string(duration): string', durationText],
  ['bytes(bytes): bytes', (value: Uint8Array) => value],
  ['bytes(string): bytes', (text: string) => new Uint8Array(Buffer.from(text))],
  ['timestamp(timestamp): timestamp', (value: Timestamp) => value],
  ['timestamp(string): timestamp', parseTimestamp],
  ['timestamp(int): timestamp', (seconds: bigint) => new Timestamp(seconds * 1_000_000_000n)],
  ['duration(duration): duration', (value: Duration) => value],
  ['duration(string): duration', parseDuration],
  ['duration(int): duration', (nanos: bigint) => new Duration(nanos)],
];

const isZero = (value: CelValue): boolean => {
  if (value === null || value === false || value === 0 || value === 0n || value === '') return true;
  if (value instanceof List) return value.items.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  return typeof value === 'object' && 'isMapping' in value && value.size === 0;
};

const optionals: readonly Declaration[] = [
  ['optional.of(T): optional<T>', (value: CelValue) => new Optional(value)],
  ['optional.none(): optional<T>', () => new Optional()],
  ['optional.ofNonZeroValue(T): optional<T>', (value: CelValue) => new Optional(isZero(value) ? undefined : value)],
  ['.hasValue(optional<T>): bool', ({ content }: Optional) => content !== undefined],
  [
    '.value(optional<T>): T',
    ({ content }: Optional) => {
      if (content === undefined) throw new CelError('optional.none() dereference');
      return content;
    },
  ],
  [
    '.or(optional<T>, optional<T>): optional<T>',
    (one: Optional, other: Optional) => (one.content === undefined ? other : one),
  ],
  ['.orValue(optional<T>, T): T', ({ content }: Optional, other: CelValue) => content ?? other],
];

export const operators: readonly Declaration[] = [
  ...arithmetic,
  ...Object.entries(comparisons).flatMap(([name, test]) => comparison(name, test)),
  ...selections,
  ...sizes(),
  ...texts,
  ...conversions,
  ...optionals,
];
