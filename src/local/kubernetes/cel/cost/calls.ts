// What calls cost, by what is called. Arguments are counted elsewhere.
import type { Overload } from '../overloads.ts';
import { type CelType, opaqueNames } from '../types.ts';
import { costOf, fixedSize, perCharacter, perPatternCharacter, productOf, type Size, sumOf, times } from './amounts.ts';

/** What is known of the target or an argument of a call. */
export interface Operand {
  readonly type: CelType;
  readonly size: Size;
  /** Whether the size is more than a guess. */
  readonly known: boolean;
  /** The size of each item, of lists. */
  readonly item: () => Size;
  /** The number, where one is written. */
  readonly literal: number | undefined;
}

export interface Call {
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
}

export interface CallCost {
  readonly cost: number;
  /** How large the result is, where that can be told. */
  readonly size?: Size;
}

type Estimator = (call: Call) => CallCost | undefined;

const constant: Estimator = () => ({ cost: 1 });

/** Reads its first argument once. */
const reading =
  (each = perCharacter): Estimator =>
  ({ args: [first] }) =>
    first && { cost: costOf(first.size, each) };

/** Reads its target and gives something no longer. */
const shortening: Estimator = ({ target }) => target && { cost: costOf(target.size, perCharacter), size: target.size };

const isText = ({ kind }: CelType): boolean => kind === 'string' || kind === 'bytes';

/** Looks at every item of a list; at every character of text. */
const searching: Estimator = ({ target }) => {
  if (!target) return undefined;
  if (target.type.kind !== 'list') return { cost: costOf(target.size, perCharacter) };
  const each = 1 + (isText(target.type.of) ? costOf(target.item(), perCharacter) : 0);
  return { cost: times(target.size.most, each) };
};

const matching = (text: Size, pattern: Size): number =>
  times(costOf(sumOf(text, fixedSize(1)), perCharacter), costOf(pattern, perPatternCharacter));

const finding: Estimator = ({ target, args: [pattern] }) =>
  target && pattern && { cost: matching(target.size, pattern.size), size: { least: 0, most: target.size.most } };

/** How long text can get, or must, when one part of it is put in the place of another. */
function replacedLength(length: number, part: number, by: number, grows: boolean): number {
  if (part === 0) return times(length + 1, by) + length;
  return grows ? times(Math.ceil(length / part), by) : length;
}

const replacing: Estimator = ({ target, args: [part, by] }) => {
  if (!target || !part || !by) return undefined;
  const { least, most } = target.size;
  return {
    cost: costOf(target.size, 2 * perCharacter),
    size: {
      least: replacedLength(least, part.size.most, by.size.least, part.size.most > by.size.least),
      most: replacedLength(most, part.size.least, by.size.most, by.size.most > part.size.least),
    },
  };
};

const splitting: Estimator = ({ target, args: [, limit] }) => {
  if (!target) return undefined;
  const { literal } = limit ?? {};
  // A limit below zero is none.
  const most = literal === undefined ? target.size.most : literal < 0 ? Number.POSITIVE_INFINITY : literal;
  return { cost: costOf(target.size, 2 * perCharacter), size: { least: 0, most } };
};

const joining: Estimator = ({ target, args: [separator] }) => {
  if (!target) return undefined;
  const between = { least: Math.max(0, target.size.least - 1), most: Math.max(0, target.size.most - 1) };
  const items = target.type.kind === 'list' ? productOf(target.size, target.item()) : fixedSize(0);
  const size = separator ? sumOf(items, productOf(separator.size, between)) : items;
  return { cost: costOf(size, perCharacter), size };
};

/** Of an address, in bytes. */
const address: Size = { least: 4, most: 16 };
const twoAddresses = costOf(sumOf(address, address), perCharacter);

/** Whether a network holds something; text is read first. */
const holding =
  (work: number): Estimator =>
  ({ args: [first] }) =>
    first && { cost: work + (first.type.kind === 'string' ? costOf(first.size, perCharacter) : 0) };

const longestFormatPattern = 128;

const validating: Estimator = ({ args: [first] }) =>
  first && {
    cost: Math.ceil(times(costOf(first.size, perCharacter), longestFormatPattern * perPatternCharacter)),
  };

const comparingSets =
  (rounds: number): Estimator =>
  ({ args: [one, other] }) =>
    one && other && { cost: costOf(productOf(one.size, other.size), rounds) + 1 };

const authorizationCheck: Estimator = () => ({ cost: 350_000 });

const named = (names: string, estimator: Estimator): readonly (readonly [string, Estimator])[] =>
  names.split(' ').map((name) => [name, estimator] as const);

/** Functions whose cost is the same for all overloads. */
const byName: ReadonlyMap<string, Estimator> = new Map([
  ...named('sets.contains sets.intersects', comparingSets(1)),
  ...named('sets.equivalent', comparingSets(2)),
  ...named('check', authorizationCheck),
  ...named('isSorted sum max min indexOf lastIndexOf', searching),
  ...named('url', (call) => {
    const [first] = call.args;
    return first && { cost: costOf(first.size, perCharacter), size: first.size };
  }),
  ...named('lowerAscii upperAscii substring trim', shortening),
  ...named('replace', replacing),
  ...named('split', splitting),
  ...named('join', joining),
  ...named('find findAll', finding),
  ...named('cidr isIP isCIDR quantity isQuantity semver isSemver', reading()),
  ...named('ip', (call) => (call.target ? { cost: 1 } : reading()(call))),
  ...named('ip.isCanonical', reading(2 * perCharacter)),
  ...named('containsIP', holding(twoAddresses)),
  ...named('containsCIDR', holding(twoAddresses + costOf(address, perCharacter) + 1)),
  ...named('validate', validating),
]);

/** Types of which two values are compared in one step. */
const atomic: ReadonlySet<string> = new Set([
  opaqueNames.ip,
  opaqueNames.cidr,
  opaqueNames.quantity,
  opaqueNames.semver,
]);
const longestFormat = 64;

/** The work of comparing is that of reading the smaller one. */
const comparing: Estimator = ({ args: [one, other] }) =>
  one && other && { cost: Math.ceil(times(Math.min(one.size.most, other.size.most), perCharacter)) };

const equality: Estimator = (call) => {
  const [one, other] = call.args;
  if (one?.type.kind !== 'opaque' || other?.type.kind !== 'opaque' || one.type.name !== other.type.name) {
    return comparing(call);
  }
  const { name } = one.type;
  if (atomic.has(name)) return { cost: 1 };
  if (name === opaqueNames.format) return { cost: Math.ceil(longestFormat * perCharacter) };
  if (name === opaqueNames.url) return { cost: other.known ? costOf(other.size, perCharacter) : 1 };
  return comparing(call);
};

const adding: Estimator = ({ args: [one, other] }) => {
  if (!one || !other) return undefined;
  const size = sumOf(one.size, other.size);
  return { cost: costOf(size, perCharacter), size };
};

/** Functions and operators by the type of their first argument; `*` is any. */
const byOverload: ReadonlyMap<string, Estimator> = new Map([
  ['_==_ *', equality],
  ['_!=_ *', comparing],
  ...['_<_', '_<=_', '_>_', '_>=_'].flatMap((name) =>
    ['string', 'bytes'].map((type): [string, Estimator] => [`${name} ${type}`, comparing]),
  ),
  ['_+_ string', adding],
  ['_+_ bytes', adding],
  ['_+_ list', (call) => withCost(adding(call), 1)],
  ['.startsWith string', reading()],
  ['.endsWith string', reading()],
  [
    '.contains string',
    ({ target, args: [part] }) =>
      target && part && { cost: times(costOf(target.size, perCharacter), costOf(part.size, perCharacter)) },
  ],
  ['.matches string', ({ target, args: [part] }) => target && part && { cost: matching(target.size, part.size) }],
  ['.format string', ({ target }) => target && { cost: costOf(target.size, perCharacter) }],
  [
    'bytes string',
    ({ args: [text] }) =>
      text && {
        cost: costOf(text.size, perCharacter),
        size: { least: text.size.least, most: text.size.most * 4 },
      },
  ],
  [
    'string bytes',
    ({ args: [bytes] }) =>
      bytes && {
        cost: costOf(bytes.size, perCharacter),
        size: { least: Math.floor(bytes.size.least / 4), most: bytes.size.most },
      },
  ],
  [
    'strings.quote string',
    ({ args: [text] }) =>
      text && {
        cost: costOf(text.size, perCharacter),
        size: { least: text.size.least + 2, most: text.size.most * 2 + 2 },
      },
  ],
]);

const withCost = (found: CallCost | undefined, cost: number): CallCost | undefined => found && { ...found, cost };

/** The cost of one overload of a function, without that of its arguments. */
export function callCost(name: string, { params }: Overload, call: Call): CallCost {
  const shown = call.target ? `.${name}` : name;
  const [first] = params;
  const estimator = shown.startsWith('@in')
    ? containment(params)
    : (byName.get(name) ?? byOverload.get(`${shown} *`) ?? byOverload.get(`${shown} ${first?.kind}`));
  return estimator?.(call) ?? { cost: 1 };
}

const containment = ([, container]: readonly CelType[]): Estimator =>
  container?.kind === 'list' ? ({ args: [, list] }) => list && { cost: list.size.most } : constant;
