// A search to a syntax tree. One grammar for both of what clients write: the tree search language, and PostgreSQL's operators on JSON.
//
//   or      := and ('or' and)*
//   and     := not ('and' not)*
//   not     := 'not' not | '(' or ')' | test
//   test    := place ( compare value | 'is' 'not'? 'null' | 'not'? ('in' '(' value,* ')' | 'between' value 'and' value
//              | 'like' value | 'ilike' value) | '@>' text )
//   place   := name ( ('->' | '->>') (text | number) )*
import { searchError, type Token, tokensOf } from './tokens.ts';

export type Value = string | number | boolean;

/** A column, and the way inside it where it is JSON. */
export interface Place {
  readonly column: string;
  readonly path: readonly string[];
}

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Node =
  | { readonly kind: 'compare'; readonly place: Place; readonly operator: Comparison; readonly value: Value }
  | { readonly kind: 'null'; readonly place: Place }
  | { readonly kind: 'in'; readonly place: Place; readonly values: readonly Value[] }
  | { readonly kind: 'between'; readonly place: Place; readonly low: Value; readonly high: Value }
  | { readonly kind: 'like' | 'ilike'; readonly place: Place; readonly pattern: string }
  | { readonly kind: 'contains'; readonly place: Place; readonly json: string }
  | { readonly kind: 'not'; readonly node: Node }
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly Node[] };

const maxDepth = 40;
const maxTests = 500;
const maxListed = 1000;

const comparisons: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ['=', '='],
  ['!=', '<>'],
  ['<>', '<>'],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

interface Reader {
  peek(): Token;
  next(): Token;
  /** Takes the word, in any case, if it is next. */
  word(word: string): boolean;
  sign(sign: string): boolean;
  count(): void;
}

/** Throws MaestroError 21, saying where. */
export function parseSearch(search: string): Node {
  const reader = readerOf(tokensOf(search));
  const node = parseOr(reader, 0);
  if (reader.peek().kind !== 'end') throw unexpected(reader.peek());
  return node;
}

function readerOf(tokens: readonly Token[]): Reader {
  let at = 0;
  let tests = 0;
  const end: Token = { kind: 'end', text: '', at: 0 };
  const peek = (): Token => tokens[at] ?? end;
  const take = (matches: boolean): boolean => {
    if (matches) at++;
    return matches;
  };
  return {
    peek,
    next() {
      const token = peek();
      at++;
      return token;
    },
    word: (word) => take(isWord(peek(), word)),
    sign: (sign) => take(peek().kind === 'sign' && peek().text === sign),
    count() {
      if (++tests > maxTests) throw searchError(`it has over ${maxTests} conditions`);
    },
  };
}

function isWord(token: Token, word: string): boolean {
  return token.kind === 'name' && token.text.toLowerCase() === word;
}

function parseOr(reader: Reader, depth: number): Node {
  return joined('or', reader, () => parseAnd(reader, depth));
}

function parseAnd(reader: Reader, depth: number): Node {
  return joined('and', reader, () => parseNot(reader, depth));
}

function joined(kind: 'and' | 'or', reader: Reader, part: () => Node): Node {
  const first = part();
  const nodes = [first];
  while (reader.word(kind)) nodes.push(part());
  return nodes.length === 1 ? first : { kind, nodes };
}

function parseNot(reader: Reader, depth: number): Node {
  if (depth > maxDepth) throw searchError(`it is nested deeper than ${maxDepth} levels`);
  if (reader.word('not')) return { kind: 'not', node: parseNot(reader, depth + 1) };
  if (!reader.sign('(')) return parseTest(reader);
  const node = parseOr(reader, depth + 1);
  if (!reader.sign(')')) throw unexpected(reader.peek());
  return node;
}

function parseTest(reader: Reader): Node {
  reader.count();
  const place = parsePlace(reader);
  if (reader.sign('@>')) return { kind: 'contains', place, json: parseText(reader) };
  if (reader.word('is')) {
    const negated = reader.word('not');
    if (!reader.word('null')) throw unexpected(reader.peek());
    return negatedIf(negated, { kind: 'null', place });
  }
  const negated = reader.word('not');
  if (reader.word('in')) return negatedIf(negated, { kind: 'in', place, values: parseList(reader) });
  if (reader.word('between')) return negatedIf(negated, parseBetween(reader, place));
  for (const kind of ['like', 'ilike'] as const) {
    if (reader.word(kind)) return negatedIf(negated, { kind, place, pattern: parseText(reader) });
  }
  const token = reader.next();
  const operator = token.kind === 'sign' && !negated ? comparisons.get(token.text) : undefined;
  if (operator === undefined) throw unexpected(token);
  // What the Go client writes for "the label is there": `->>'a'<>null`.
  if (reader.word('null')) {
    if (operator !== '=' && operator !== '<>') throw unexpected(token);
    return negatedIf(operator === '<>', { kind: 'null', place });
  }
  return { kind: 'compare', place, operator, value: parseValue(reader) };
}

function negatedIf(negated: boolean, node: Node): Node {
  return negated ? { kind: 'not', node } : node;
}

function parsePlace(reader: Reader): Place {
  const name = reader.next();
  if (name.kind !== 'name' || reserved.has(name.text.toLowerCase())) throw unexpected(name);
  const path: string[] = [];
  while (reader.sign('->') || reader.sign('->>')) {
    const member = reader.next();
    if (member.kind !== 'text' && member.kind !== 'number') throw unexpected(member);
    path.push(member.text);
  }
  return { column: name.text, path };
}

const reserved: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'is', 'null', 'between', 'like', 'ilike']);

function parseBetween(reader: Reader, place: Place): Node {
  const low = parseValue(reader);
  if (!reader.word('and')) throw unexpected(reader.peek());
  return { kind: 'between', place, low, high: parseValue(reader) };
}

function parseList(reader: Reader): readonly Value[] {
  if (!reader.sign('(')) throw unexpected(reader.peek());
  const values = [parseValue(reader)];
  while (reader.sign(',')) {
    values.push(parseValue(reader));
    if (values.length > maxListed) throw searchError(`a list has over ${maxListed} values`);
  }
  if (!reader.sign(')')) throw unexpected(reader.peek());
  return values;
}

function parseValue(reader: Reader): Value {
  const token = reader.next();
  if (token.kind === 'text') return token.text;
  if (token.kind === 'number') return token.value;
  if (isWord(token, 'true')) return true;
  if (isWord(token, 'false')) return false;
  throw unexpected(token);
}

function parseText(reader: Reader): string {
  const token = reader.next();
  if (token.kind !== 'text') throw unexpected(token);
  return token.text;
}

function unexpected(token: Token): Error {
  const what =
    token.kind === 'end' ? 'it ends too early' : `what stands at character ${token.at + 1} does not belong there`;
  return searchError(what);
}
