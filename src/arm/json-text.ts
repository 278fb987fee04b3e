// JSON from outside to a value that is safe to walk and to merge: bounded depth, no `__proto__`, and an error that says where.
// The error never quotes the text, which may hold secrets.
import { isUtf8 } from 'node:buffer';
import { isRecord } from './record.ts';

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Parses UTF-8 JSON text (a byte order mark is let pass). A member given twice has its last value, as in every decoder in use. */
export function parseJson(bytes: Buffer, maxDepth: number): ParsedJson {
  if (!isUtf8(bytes)) return { ok: false, message: 'it is not UTF-8 text' };
  const start = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const text = bytes.toString('utf8', start);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, message: `it is not valid JSON: ${whereInvalid(text)}` };
  }
  const problem = walk(value, maxDepth, mayPollute(text));
  return problem === undefined ? { ok: true, value } : { ok: false, message: problem };
}

function mayPollute(text: string): boolean {
  return text.includes('__proto__') || text.includes('constructor') || text.includes('\\u');
}

/** Level by level instead of by recursion: a deep text must not exhaust the stack here. */
function walk(root: unknown, maxDepth: number, checkNames: boolean): string | undefined {
  let level: object[] = isNode(root) ? [root] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return `it is nested more than ${maxDepth} levels deep`;
    const next: object[] = [];
    for (const node of level) {
      if (checkNames && pollutes(node)) return "it has a member named '__proto__' or 'constructor.prototype'";
      if (Array.isArray(node)) {
        for (const item of node) if (isNode(item)) next.push(item);
      } else {
        const members = node as Readonly<Record<string, unknown>>;
        for (const name of Object.keys(members)) {
          const member = members[name];
          if (isNode(member)) next.push(member);
        }
      }
    }
    level = next;
  }
  return undefined;
}

function pollutes(node: object): boolean {
  if (Object.hasOwn(node, '__proto__')) return true;
  if (!Object.hasOwn(node, 'constructor')) return false;
  const value = (node as { constructor: unknown }).constructor;
  return isRecord(value) && Object.hasOwn(value, 'prototype');
}

function isNode(value: unknown): value is object {
  return Array.isArray(value) || isRecord(value);
}

/** Where a text stops being JSON: `unexpected character at line 3, column 14`. Only called for text that does not parse. */
export function whereInvalid(text: string): string {
  const at = invalidAt(text);
  if (at >= text.length) return `it ends too early (after ${text.length} characters)`;
  let line = 1;
  let lineStart = 0;
  for (let i = text.indexOf('\n'); i !== -1 && i < at; i = text.indexOf('\n', i + 1)) {
    line++;
    lineStart = i + 1;
  }
  return `unexpected character at line ${line}, column ${at - lineStart + 1} (position ${at})`;
}

const space = /[ \t\n\r]*/y;
const numberToken = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const wordToken = /true|false|null/y;

/** The position of the first character that cannot be there; the text's length when more is missing. */
function invalidAt(text: string): number {
  const open: string[] = [];
  let at = 0;
  let expect: 'value' | 'valueOrEnd' | 'name' | 'nameOrEnd' | 'commaOrEnd' = 'value';
  const skip = (token: RegExp): boolean => {
    token.lastIndex = at;
    const match = token.exec(text);
    if (match === null || match[0] === '') return false;
    at += match[0].length;
    return true;
  };
  const skipString = (): boolean => {
    const end = stringEnd(text, at);
    at = Math.abs(end);
    return end > 0;
  };
  for (;;) {
    skip(space);
    const next = text[at];
    if (next === undefined) return at;
    if (expect === 'commaOrEnd') {
      const inside = open.at(-1);
      if (inside === undefined) return at;
      if (next === ',') expect = inside === '{' ? 'name' : 'value';
      else if (next === (inside === '{' ? '}' : ']')) open.pop();
      else return at;
      at++;
    } else if (expect === 'name' || expect === 'nameOrEnd') {
      if (next === '}' && expect === 'nameOrEnd') {
        open.pop();
        at++;
        expect = 'commaOrEnd';
        continue;
      }
      if (!skipString()) return at;
      skip(space);
      if (text[at] !== ':') return at;
      at++;
      expect = 'value';
    } else if (next === ']' && expect === 'valueOrEnd') {
      open.pop();
      at++;
      expect = 'commaOrEnd';
    } else if (next === '{' || next === '[') {
      open.push(next);
      at++;
      expect = next === '{' ? 'nameOrEnd' : 'valueOrEnd';
    } else {
      if (!(next === '"' ? skipString() : skip(numberToken) || skip(wordToken))) return at;
      expect = 'commaOrEnd';
    }
  }
}

/** The position after the string that starts here; when it is not a valid one, the position where it goes wrong, negated. */
function stringEnd(text: string, start: number): number {
  if (text[start] !== '"') return -start;
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) return i + 1;
    if (code < 0x20) return -i;
    if (code !== 92) continue;
    const escaped = text[i + 1] ?? '';
    if (escaped === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(i + 2, i + 6))) return -i;
      i += 5;
    } else if (escaped !== '' && '"\\/bfnrt'.includes(escaped)) i++;
    else return -i;
  }
  return -text.length;
}
