// The functions on lists, and on lists as sets, that Kubernetes adds.
import type { Budget } from '../budget.ts';
import type { Declaration } from '../overloads.ts';
import { CelError, type CelValue, compare, Duration, equal, List, Uint } from '../values.ts';
import { checkedInt } from './operators.ts';

const ordered = ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'timestamp', 'duration'];

const inOrder = (one: CelValue, other: CelValue): number => {
  const order = compare(one, other);
  if (order === undefined) throw new CelError('no such overload');
  return order;
};

function isSorted({ items }: List, budget: Budget): boolean {
  budget.spend(items.length);
  return items.every((item, index) => index === 0 || inOrder(items[index - 1] ?? null, item) <= 0);
}

const extreme =
  (name: string, sign: number) =>
  ({ items }: List, budget: Budget): CelValue => {
    budget.spend(items.length);
    const [first, ...rest] = items;
    if (first === undefined) throw new CelError(`${name} called on empty list`);
    return rest.reduce((best, item) => (inOrder(item, best) * sign > 0 ? item : best), first);
  };

const sums: readonly Declaration[] = [
  [
    '.sum(list<int>): int',
    ({ items }: List) => items.reduce((sum: bigint, item) => checkedInt(sum + (item as bigint)), 0n),
  ],
  [
    '.sum(list<uint>): uint',
    ({ items }: List) => new Uint(items.reduce((sum: bigint, item) => sum + (item as Uint).value, 0n)),
  ],
  ['.sum(list<double>): double', ({ items }: List) => items.reduce((sum: number, item) => sum + (item as number), 0)],
  [
    '.sum(list<duration>): duration',
    ({ items }: List) => new Duration(items.reduce((sum: bigint, item) => sum + (item as Duration).nanos, 0n)),
  ],
];

function positions(last: boolean): (list: List, item: CelValue, budget: Budget) => bigint {
  return ({ items }, item, budget) => {
    budget.spend(items.length);
    const test = (each: CelValue): boolean => equal(each, item);
    return BigInt(last ? items.findLastIndex(test) : items.findIndex(test));
  };
}

const has = ({ items }: List, item: CelValue): boolean => items.some((each) => equal(each, item));

function contains(one: List, other: List, budget: Budget): boolean {
  budget.spend(one.items.length * other.items.length);
  return other.items.every((item) => has(one, item));
}

function sorted({ items }: List, budget: Budget): List {
  budget.spend(items.length * 4);
  return new List([...items].sort(inOrder));
}

/** Items that are lists give theirs, down to a depth. */
function flatten({ items }: List, depth: bigint, budget: Budget): List {
  budget.spend(items.length);
  if (depth < 0n) throw new CelError('level must be non-negative');
  return new List(
    items.flatMap((item) => (item instanceof List && depth > 0n ? flatten(item, depth - 1n, budget).items : [item])),
  );
}

function distinct({ items }: List, budget: Budget): List {
  budget.spend(items.length * items.length);
  return new List(items.filter((item, index) => items.findIndex((each) => equal(each, item)) === index));
}

export const listFunctions: readonly Declaration[] = [
  ...ordered.flatMap((type): Declaration[] => [
    [`.isSorted(list<${type}>): bool`, isSorted],
    [`.min(list<${type}>): ${type}`, extreme('min', -1)],
    [`.max(list<${type}>): ${type}`, extreme('max', 1)],
  ]),
  ...sums,
  ['.indexOf(list<T>, T): int', positions(false)],
  ['.lastIndexOf(list<T>, T): int', positions(true)],
  [
    '.slice(list<T>, int, int): list<T>',
    ({ items }: List, from: bigint, to: bigint) => {
      if (from < 0n || to < from || to > BigInt(items.length))
        throw new CelError(`cannot slice(${from}, ${to}), list is length ${items.length}`);
      return new List(items.slice(Number(from), Number(to)));
    },
  ],
  ['.flatten(list<dyn>): list<dyn>', (list: List, budget: Budget) => flatten(list, 1n, budget)],
  ['.flatten(list<dyn>, int): list<dyn>', flatten],
  ['.reverse(list<T>): list<T>', ({ items }: List) => new List([...items].reverse())],
  ['.distinct(list<T>): list<T>', distinct],
  ...ordered.map((type): Declaration => [`.sort(list<${type}>): list<${type}>`, sorted]),
  [
    'lists.range(int): list<int>',
    (count: bigint, budget: Budget) => {
      budget.spend(Number(count));
      return new List(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)));
    },
  ],
  ['sets.contains(list<T>, list<T>): bool', contains],
  [
    'sets.equivalent(list<T>, list<T>): bool',
    (one: List, other: List, budget: Budget) => contains(one, other, budget) && contains(other, one, budget),
  ],
  [
    'sets.intersects(list<T>, list<T>): bool',
    (one: List, other: List, budget: Budget) => {
      budget.spend(one.items.length * other.items.length);
      return one.items.some((item) => has(other, item));
    },
  ],
];
