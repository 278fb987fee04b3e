// The expression language of templates: texts in square brackets, to a tree.
import { foldCase } from '../../../../arm/resource-id.ts';
import { TemplateError } from './template-error.ts';

export type Node =
  | { readonly kind: 'literal'; readonly value: string | number }
  | {
      readonly kind: 'call';
      readonly namespace?: string;
      readonly name: string;
      /** The name, folded. */
      readonly key: string;
      readonly args: readonly Node[];
    }
  | { readonly kind: 'member'; readonly target: Node; readonly name: string }
  | { readonly kind: 'index'; readonly target: Node; readonly index: Node };

/** Documented limit of an expression's length. */
export const expressionMaxLength = 24_576;
const depthMax = 128;

type TokenKind =
  | 'String'
  | 'Number'
  | 'Identifier'
  | 'LeftParenthesis'
  | 'RightParenthesis'
  | 'LeftSquareBracket'
  | 'RightSquareBracket'
  | 'Comma'
  | 'Dot'
  | 'EndOfData';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const punctuation: { readonly [mark: string]: TokenKind } = {
  '(': 'LeftParenthesis',
  ')': 'RightParenthesis',
  '[': 'LeftSquareBracket',
  ']': 'RightSquareBracket',
  ',': 'Comma',
  '.': 'Dot',
};

/** Whether a text of a template is an expression: in square brackets, the first not doubled. */
export function isExpression(text: string): boolean {
  return text.length > 1 && text.startsWith('[') && text.endsWith(']') && text[1] !== '[';
}

/** The text that a text which is no expression stands for: `[[` at the start is a `[`. */
export function literalText(text: string): string {
  return text.startsWith('[[') ? text.slice(1) : text;
}

/** Parses an expression with its brackets. Throws TemplateError. */
export function parseExpression(text: string): Node {
  if (text.length > expressionMaxLength) {
    throw new TemplateError(
      `The language expression length limit exceeded. Limit: '${expressionMaxLength}' and actual: '${text.length}'`,
    );
  }
  const tokens = tokenise(text.slice(1, -1), text);
  let at = 0;
  let depth = 0;

  const peek = (): Token => tokens[at] ?? { kind: 'EndOfData', text: '' };
  const unexpected = (expected: TokenKind): TemplateError =>
    new TemplateError(
      `Unable to parse language expression '${shown(text)}': expected token '${expected}' and actual '${peek().kind}'`,
    );
  const take = (kind: TokenKind): Token => {
    const token = peek();
    if (token.kind !== kind) throw unexpected(kind);
    at++;
    return token;
  };
  const argumentsOf = (): Node[] => {
    take('LeftParenthesis');
    const args: Node[] = [];
    if (peek().kind !== 'RightParenthesis') {
      args.push(expression());
      while (peek().kind === 'Comma') {
        at++;
        args.push(expression());
      }
    }
    take('RightParenthesis');
    return args;
  };
  const primary = (): Node => {
    const token = peek();
    if (token.kind === 'String') {
      at++;
      return { kind: 'literal', value: token.text };
    }
    if (token.kind === 'Number') {
      at++;
      return { kind: 'literal', value: Number(token.text) };
    }
    const name = take('Identifier').text;
    if (peek().kind !== 'Dot') return { kind: 'call', name, key: foldCase(name), args: argumentsOf() };
    at++;
    const member = take('Identifier').text;
    return { kind: 'call', namespace: name, name: member, key: foldCase(member), args: argumentsOf() };
  };
  const expression = (): Node => {
    if (++depth > depthMax)
      throw new TemplateError(`The language expression is nested deeper than '${depthMax}' levels`);
    let node = primary();
    let length = 0;
    for (;;) {
      const kind = peek().kind;
      if (kind !== 'Dot' && kind !== 'LeftSquareBracket') break;
      if (++length > depthMax)
        throw new TemplateError(`The language expression has more than '${depthMax}' accessors in a row`);
      at++;
      if (kind === 'Dot') {
        node = { kind: 'member', target: node, name: take('Identifier').text };
      } else {
        node = { kind: 'index', target: node, index: expression() };
        take('RightSquareBracket');
      }
    }
    depth--;
    return node;
  };

  const node = expression();
  if (peek().kind !== 'EndOfData') throw unexpected('EndOfData');
  return node;
}

function tokenise(body: string, whole: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < body.length) {
    const char = body[at] ?? '';
    if (char === ' ' || char === '\t' || char === '\n' || char === '\r') {
      at++;
      continue;
    }
    const mark = punctuation[char];
    if (mark !== undefined) {
      tokens.push({ kind: mark, text: char });
      at++;
    } else if (char === "'") {
      const { text, end } = stringAt(body, at, whole);
      tokens.push({ kind: 'String', text });
      at = end;
    } else {
      const rest = /[A-Za-z_$][A-Za-z0-9_$]*|-?[0-9]+(?:\.[0-9]+)?/y;
      rest.lastIndex = at;
      const text = rest.exec(body)?.[0];
      if (text === undefined) {
        throw new TemplateError(
          `The template language expression '${shown(whole)}' is not valid: unexpected character '${char}'`,
        );
      }
      tokens.push({ kind: /^[-0-9]/.test(text) ? 'Number' : 'Identifier', text });
      at += text.length;
    }
  }
  return tokens;
}

function stringAt(body: string, start: number, whole: string): { readonly text: string; readonly end: number } {
  let text = '';
  let at = start + 1;
  for (;;) {
    const quote = body.indexOf("'", at);
    if (quote === -1) {
      throw new TemplateError(
        `The template language expression '${shown(whole)}' is not valid: the string literal is not closed`,
      );
    }
    text += body.slice(at, quote);
    if (body[quote + 1] !== "'") return { text, end: quote + 1 };
    text += "'";
    at = quote + 2;
  }
}

function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
