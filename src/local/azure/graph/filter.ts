// OData's $filter, parsed to a tree.
import { badQuery } from './graph-error.ts';

export type Literal = string | number | boolean | null;
export type Comparison = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le';
export type TextTest = 'startswith' | 'endswith' | 'contains';

/** A path of members; within `any` the first may be the name of the element. */
export type FieldPath = readonly string[];

export type Filter =
  | { readonly op: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly op: 'not'; readonly filter: Filter }
  | { readonly op: Comparison; readonly field: FieldPath; readonly value: Literal }
  | { readonly op: 'in'; readonly field: FieldPath; readonly values: readonly Literal[] }
  | { readonly op: TextTest; readonly field: FieldPath; readonly value: string }
  /** Some element fits, or, without a filter, there is one. */
  | { readonly op: 'any'; readonly field: FieldPath; readonly element: string; readonly filter?: Filter };

const maxLength = 8192;
const maxDepth = 32;
const comparisons: readonly string[] = ['eq', 'ne', 'gt', 'ge', 'lt', 'le'] satisfies Comparison[];
const textTests: readonly string[] = ['startswith', 'endswith', 'contains'] satisfies TextTest[];

interface Token {
  readonly kind: 'word' | 'text' | 'number' | 'sign';
  readonly text: string;
  readonly at: number;
}

const tokenForm =
  /\s*(?:(?<text>'(?:[^']|'')*')|(?<date>\d{4}-\d{2}-\d{2}T[0-9:.]+(?:Z|[+-]\d{2}:\d{2}))|(?<guid>[0-9a-fA-F]{8}-[0-9a-fA-F-]{27})|(?<number>-?\d+(?:\.\d+)?)|(?<word>[A-Za-z_@][A-Za-z0-9_.@]*)|(?<sign>[(),:/]))/y;

/** Throws BadRequest saying where the text stops making sense. */
export function parseFilter(text: string): Filter {
  if (text.length > maxLength) throw badQuery(`The filter has more than ${maxLength} characters.`);
  const tokens = tokensOf(text);
  let next = 0;

  const fail = (): never => {
    throw badQuery(`Syntax error: character ${tokens[next]?.at ?? text.length} in the filter is not valid.`);
  };
  const peek = (): Token | undefined => tokens[next];
  const sign = (wanted: string): boolean => {
    const token = peek();
    if (token?.kind !== 'sign' || token.text !== wanted) return false;
    next++;
    return true;
  };
  const expect = (wanted: string): void => {
    if (!sign(wanted)) fail();
  };
  const word = (...wanted: readonly string[]): string | undefined => {
    const token = peek();
    const lower = token?.kind === 'word' ? token.text.toLowerCase() : undefined;
    if (lower === undefined || !wanted.includes(lower)) return undefined;
    next++;
    return lower;
  };
  const name = (): string => {
    const token = peek();
    if (token?.kind !== 'word') return fail();
    next++;
    return token.text;
  };
  const literal = (): Literal => {
    const token = peek();
    next++;
    if (token?.kind === 'text') return token.text;
    if (token?.kind === 'number') return Number(token.text);
    if (token?.kind === 'word') {
      const known: Readonly<Record<string, Literal>> = { true: true, false: false, null: null };
      const value = known[token.text.toLowerCase()];
      if (value !== undefined) return value;
    }
    next--;
    return fail();
  };
  const list = (read: (depth: number) => Filter, op: 'and' | 'or', depth: number): Filter => {
    const filters = [read(depth)];
    while (word(op)) filters.push(read(depth));
    const [only] = filters;
    return filters.length === 1 && only ? only : { op, filters };
  };
  const either = (depth: number): Filter => {
    if (depth > maxDepth) throw badQuery(`The filter is nested more than ${maxDepth} levels deep.`);
    return list(both, 'or', depth);
  };
  const both = (depth: number): Filter => list(single, 'and', depth);
  const single = (depth: number): Filter => {
    if (word('not')) {
      if (depth > maxDepth) throw badQuery(`The filter is nested more than ${maxDepth} levels deep.`);
      return { op: 'not', filter: single(depth + 1) };
    }
    if (sign('(')) {
      const inner = either(depth + 1);
      expect(')');
      return inner;
    }
    return condition(depth);
  };
  const condition = (depth: number): Filter => {
    const test = word(...textTests);
    if (test !== undefined) return textTest(test as TextTest);
    const field = [name()];
    while (sign('/')) {
      if (word('any')) return any(field, depth);
      field.push(name());
    }
    if (word('in')) {
      expect('(');
      const values = [literal()];
      while (sign(',')) values.push(literal());
      expect(')');
      return { op: 'in', field, values };
    }
    const op = word(...comparisons);
    if (op === undefined) return fail();
    return { op: op as Comparison, field, value: literal() };
  };
  const textTest = (op: TextTest): Filter => {
    expect('(');
    const field = [name()];
    while (sign('/')) field.push(name());
    expect(',');
    const value = literal();
    expect(')');
    if (typeof value !== 'string') return fail();
    // Some clients write the older form: startswith(…) eq true.
    if (word('eq') && literal() !== true) return fail();
    return { op, field, value };
  };
  const any = (field: FieldPath, depth: number): Filter => {
    expect('(');
    if (sign(')')) return { op: 'any', field, element: '' };
    const element = name();
    expect(':');
    const filter = either(depth + 1);
    expect(')');
    return { op: 'any', field, element, filter };
  };

  const filter = either(0);
  if (next < tokens.length) fail();
  return filter;
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end; ) {
    tokenForm.lastIndex = at;
    const match = tokenForm.exec(text);
    const groups = match?.groups;
    if (!match || !groups) throw badQuery(`Syntax error: character ${at} in the filter is not valid.`);
    at = tokenForm.lastIndex;
    const start = at - match[0].trimStart().length;
    if (groups.text !== undefined) {
      tokens.push({ kind: 'text', text: groups.text.slice(1, -1).replaceAll("''", "'"), at: start });
    } else if (groups.date ?? groups.guid) {
      tokens.push({ kind: 'text', text: groups.date ?? groups.guid ?? '', at: start });
    } else if (groups.number !== undefined) tokens.push({ kind: 'number', text: groups.number, at: start });
    else if (groups.word !== undefined) tokens.push({ kind: 'word', text: groups.word, at: start });
    else tokens.push({ kind: 'sign', text: groups.sign ?? '', at: start });
  }
  return tokens;
}
