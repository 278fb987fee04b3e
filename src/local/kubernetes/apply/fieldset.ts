// Sets of field paths, in the form they are written in managedFields (FieldsV1): a tree whose keys are path elements,
//
//   f:<name>      a member of an object          k:<keys>    an item of a list of type map, its keys as JSON in order of name
//   v:<value>     an item of a list of type set  i:<index>   an item of a list by position
//
// A node without entries is a path that belongs to the set; a node with entries belongs to it when it has the entry `.`.
// Working on that form saves decoding and encoding every manager's set on every write. Sets are never changed in place; results
// share what they can with their operands.

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** A set under construction. */
export interface MutableFieldSet {
  [element: string]: FieldSet;
}

/** The end of a path that belongs to a set. As a whole set it is the empty one. */
export const leaf: FieldSet = Object.freeze({});

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

const isMember = (node: FieldSet): boolean => '.' in node || isEmpty(node);

/** A node from whether it is a member and what is below it; undefined when there is nothing to say. */
function nodeOf(member: boolean, children: FieldSet | undefined): FieldSet | undefined {
  if (!children) return member ? leaf : undefined;
  if (member === '.' in children) return children;
  const { '.': _, ...rest } = children;
  return member ? { '.': leaf, ...rest } : rest;
}

type Combine = (a: FieldSet, b: FieldSet) => FieldSet | undefined;

/** What `keep` leaves of the nodes below `a`: `a` itself when that is all of them, undefined when it is none. */
function filterBelow(
  a: FieldSet,
  keep: (node: FieldSet, element: string) => FieldSet | undefined,
): FieldSet | undefined {
  let result: MutableFieldSet | undefined;
  let same = true;
  let any = false;
  for (const element in a) {
    const node = a[element];
    if (element === '.' || !node) continue;
    const kept = keep(node, element);
    if (kept !== node && same) {
      same = false;
      result = {};
      for (const before in a) {
        if (before === element) break;
        if (before !== '.') result[before] = a[before] ?? leaf;
      }
    }
    if (!kept) continue;
    any = true;
    if (result) result[element] = kept;
  }
  if (!any) return undefined;
  return same ? a : result;
}

function unionNode(a: FieldSet, b: FieldSet, root = false): FieldSet | undefined {
  let result: MutableFieldSet | undefined;
  for (const element in b) {
    const inB = b[element];
    if (element === '.' || !inB) continue;
    const inA = a[element];
    const node = inA ? unionNode(inA, inB) : inB;
    if (!node || node === inA) continue;
    result ??= { ...a };
    result[element] = node;
  }
  const children = result ?? (isEmpty(a) ? undefined : a);
  return nodeOf(!root && (isMember(a) || isMember(b)), children);
}

const differenceNode: Combine = (a, b) => nodeOf(isMember(a) && !isMember(b), below(a, b, differenceNode));

const recursiveDifferenceNode: Combine = (a, b) =>
  isMember(b) ? undefined : nodeOf(isMember(a), below(a, b, recursiveDifferenceNode));

/** The nodes below `a`, those that `b` has too combined with them. */
const below = (a: FieldSet, b: FieldSet, combine: Combine): FieldSet | undefined =>
  filterBelow(a, (node, element) => {
    const other = b[element];
    return other ? combine(node, other) : node;
  });

const shared = (a: FieldSet, b: FieldSet): FieldSet | undefined =>
  filterBelow(a, (node, element) => {
    const other = b[element];
    return other && nodeOf(isMember(node) && isMember(other), shared(node, other));
  });

export const union = (a: FieldSet, b: FieldSet): FieldSet => (isEmpty(a) ? b : (unionNode(a, b, true) ?? leaf));

/** The union of any number of sets, halves first: each path is copied as often as the number of sets can be halved. */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 1) return sets[0] ?? leaf;
  const half = sets.length >> 1;
  return union(unionAll(sets.slice(0, half)), unionAll(sets.slice(half)));
}

/** The union of what two sets have below one path, which belongs to the result when it does to either. */
export const unionBelow = (a: FieldSet, b: FieldSet): FieldSet => unionNode(a, b) ?? leaf;

/** The paths of `a` that are not paths of `b`. A path of `a` below one of `b` stays. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmpty(b) ? a : (below(a, b, differenceNode) ?? leaf);

/** The paths of `a` that are neither paths of `b` nor below one. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmpty(b) ? a : (below(a, b, recursiveDifferenceNode) ?? leaf);

export const intersection = (a: FieldSet, b: FieldSet): FieldSet => shared(a, b) ?? leaf;

/** A set from paths of member names, such as `['metadata', 'labels']`. */
export function setOfMembers(...paths: readonly (readonly string[])[]): FieldSet {
  return paths.reduce<FieldSet>(
    (set, path) =>
      union(
        set,
        path.reduceRight<FieldSet>((node, name) => ({ [`f:${name}`]: node }), leaf),
      ),
    leaf,
  );
}

const rank: Readonly<Record<string, number>> = { '.': 0, f: 1, k: 2, v: 3, i: 4 };

/** Order of path elements: members by name, items by their keys or values, then by index. */
function compareElements(a: string, b: string): number {
  const [kindA, kindB] = [a.charAt(0), b.charAt(0)];
  if (kindA !== kindB) return (rank[kindA] ?? 5) - (rank[kindB] ?? 5);
  if (kindA === 'f') return a < b ? -1 : 1;
  return compareValues(parse(a), parse(b));
}

function parse(element: string): unknown {
  try {
    return JSON.parse(element.slice(2));
  } catch {
    return element;
  }
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    const [entriesA, entriesB] = [Object.entries(a), Object.entries(b)];
    for (const [index, [name, value]] of entriesA.entries()) {
      const other = entriesB[index];
      if (!other) return 1;
      const order = name === other[0] ? compareValues(value, other[1]) : name < other[0] ? -1 : 1;
      if (order !== 0) return order;
    }
    return entriesA.length - entriesB.length;
  }
  const [textA, textB] = [JSON.stringify(a), JSON.stringify(b)];
  return textA === textB ? 0 : textA < textB ? -1 : 1;
}

/** The same set with its elements in order, as it is written. */
export function sorted(set: FieldSet): FieldSet {
  const elements = Object.keys(set);
  let inOrder = true;
  let same = true;
  const children: FieldSet[] = [];
  for (let index = 0; index < elements.length; index += 1) {
    const element = elements[index] ?? '';
    const child = set[element] ?? leaf;
    const after = isEmpty(child) ? child : sorted(child);
    children.push(after);
    if (after !== child) same = false;
    if (index > 0 && compareElements(elements[index - 1] ?? '', element) > 0) inOrder = false;
  }
  if (inOrder && same) return set;
  const order = elements.map((_, index) => index);
  if (!inOrder) order.sort((a, b) => compareElements(elements[a] ?? '', elements[b] ?? ''));
  const result: MutableFieldSet = {};
  for (const index of order) result[elements[index] ?? ''] = children[index] ?? leaf;
  return result;
}

/** Every path of a sorted set, written like `.spec.containers[name="web"].image`; those of a level before those below it. */
export function pathsOf(set: FieldSet, prefix = ''): string[] {
  const paths: string[] = [];
  for (const element in set) {
    const node = set[element];
    if (node && element !== '.' && isMember(node)) paths.push(prefix + elementText(element));
  }
  for (const element in set) {
    const node = set[element];
    if (node && element !== '.' && !isEmpty(node)) paths.push(...pathsOf(node, prefix + elementText(element)));
  }
  return paths;
}

/** A path element as messages show it. */
export function elementText(element: string): string {
  const content = element.slice(2);
  if (element.startsWith('f:')) return `.${content}`;
  if (element.startsWith('v:')) return `[=${content}]`;
  const keys = parse(element);
  if (typeof keys !== 'object' || keys === null) return `[${content}]`;
  return `[${Object.entries(keys)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`;
}
