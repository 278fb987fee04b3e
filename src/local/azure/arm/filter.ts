// `$filter` on resources and groups: the part of OData that Resource Manager understands, parsed to a tree and asked of a resource.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';

/** What a filter can look at. */
export interface Filterable {
  readonly name: string;
  readonly type: string;
  readonly location?: string | undefined;
  readonly resourceGroup?: string | undefined;
  readonly tags?: { readonly [name: string]: string } | undefined;
}

export type Condition =
  | { readonly op: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly op: 'not'; readonly of: Condition }
  | { readonly op: 'eq' | 'ne' | 'contains' | 'startswith'; readonly field: Field; readonly value: string }
  | { readonly op: 'tag'; readonly name: string; readonly value: string };

const fields = ['name', 'resourcetype', 'location', 'resourcegroup', 'tagname', 'tagvalue'] as const;
export type Field = (typeof fields)[number];

const filterMaxLength = 4096;
const maxDepth = 50;

/** Throws InvalidFilterInQueryString. */
export function parseFilter(text: string): Condition {
  const fail = (): never => {
    throw new ArmError(
      400,
      'InvalidFilterInQueryString',
      `Invalid $filter '${text.slice(0, 200)}' specified in the query string.`,
    );
  };
  if (text.length > filterMaxLength) return fail();
  const tokens = tokensOf(text) ?? fail();
  let at = 0;
  let depth = 0;
  const next = (): string => tokens[at] ?? '';
  const isWord = (word: string): boolean => foldCase(next()) === word;
  const take = (word: string): void => {
    if (!isWord(word)) fail();
    at++;
  };
  const literal = (): string => {
    const token = tokens[at++] ?? '';
    return token.startsWith("'") ? token.slice(1, -1).replaceAll("''", "'") : fail();
  };
  const field = (): Field => {
    const word = foldCase(tokens[at++] ?? '');
    return fields.find((known) => known === word) ?? fail();
  };
  const either = (): Condition => {
    let left = both();
    while (isWord('or')) {
      at++;
      left = { op: 'or', left, right: both() };
    }
    return left;
  };
  const both = (): Condition => {
    let left = one();
    while (isWord('and')) {
      at++;
      left = pairOf(left, one());
    }
    return left;
  };
  const one = (): Condition => {
    if (++depth > maxDepth) return fail();
    try {
      return single();
    } finally {
      depth--;
    }
  };
  const single = (): Condition => {
    if (isWord('(')) {
      at++;
      const inner = either();
      take(')');
      return inner;
    }
    if (isWord('not')) {
      at++;
      return { op: 'not', of: one() };
    }
    if (tokens[at + 1] === '(') {
      const name = foldCase(tokens[at] ?? '');
      at += 2;
      let condition: Condition;
      if (name === 'substringof') {
        const value = literal();
        take(',');
        condition = { op: 'contains', field: field(), value };
      } else if (name === 'startswith' || name === 'contains') {
        const of = field();
        take(',');
        condition = { op: name, field: of, value: literal() };
      } else return fail();
      take(')');
      return condition;
    }
    const of = field();
    const op = foldCase(tokens[at++] ?? '');
    if (op !== 'eq' && op !== 'ne') return fail();
    return { op, field: of, value: literal() };
  };
  const condition = either();
  return at === tokens.length ? condition : fail();
}

/** `tagName eq 'a' and tagValue eq 'b'` is about one tag. */
function pairOf(left: Condition, right: Condition): Condition {
  if (left.op === 'eq' && right.op === 'eq') {
    const [name, value] = left.field === 'tagname' ? [left, right] : [right, left];
    if (name.field === 'tagname' && value.field === 'tagvalue')
      return { op: 'tag', name: name.value, value: value.value };
  }
  return { op: 'and', left, right };
}

const tokenForm = /\s*('(?:[^']|'')*'|[(),]|[A-Za-z][A-Za-z/]*)/y;

function tokensOf(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  tokenForm.lastIndex = 0;
  while (tokenForm.lastIndex < end) {
    const token = tokenForm.exec(text)?.[1];
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
}

export function matches(condition: Condition, item: Filterable): boolean {
  switch (condition.op) {
    case 'and':
      return matches(condition.left, item) && matches(condition.right, item);
    case 'or':
      return matches(condition.left, item) || matches(condition.right, item);
    case 'not':
      return !matches(condition.of, item);
    case 'tag':
      return Object.entries(item.tags ?? {}).some(
        ([name, value]) => foldCase(name) === foldCase(condition.name) && value === condition.value,
      );
    case 'ne':
      return !holds('eq', condition.field, condition.value, item);
    default:
      return holds(condition.op, condition.field, condition.value, item);
  }
}

function holds(op: 'eq' | 'contains' | 'startswith', field: Field, wanted: string, item: Filterable): boolean {
  const value = foldCase(wanted);
  return valuesOf(field, item).some((found) => {
    const text = foldCase(found);
    return op === 'eq' ? text === value : op === 'contains' ? text.includes(value) : text.startsWith(value);
  });
}

function valuesOf(field: Field, item: Filterable): readonly string[] {
  const table: { readonly [name in Field]: () => readonly (string | undefined)[] } = {
    name: () => [item.name],
    resourcetype: () => [item.type],
    location: () => [item.location],
    resourcegroup: () => [item.resourceGroup],
    tagname: () => Object.keys(item.tags ?? {}),
    tagvalue: () => Object.values(item.tags ?? {}),
  };
  return table[field]().filter((value) => value !== undefined);
}

/** The one type that everything the filter lets through is of, where it says so. */
export function onlyType(condition: Condition | undefined): string | undefined {
  if (condition === undefined) return undefined;
  if (condition.op === 'eq' && condition.field === 'resourcetype') return condition.value;
  return condition.op === 'and' ? (onlyType(condition.left) ?? onlyType(condition.right)) : undefined;
}
