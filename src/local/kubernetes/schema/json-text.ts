// JSON as the server reads it: Go's words for what is wrong, and members that are named twice.
import type { JsonValue } from '../object.ts';
import { recursiveDepth } from './depth.ts';
import { goQuote } from './go-text.ts';

/** The text is no JSON; the message is what Go's decoder says. */
export class JsonTextError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonTextError';
  }
}

/** Deeper texts are refused, as Go's decoder does. */
const maxDepth = 10_000;

const textEnds = 'unexpected end of JSON input';

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

interface Scan {
  readonly members: number;
  readonly depth: number;
}

/** Counts the members of all objects in a text, and how deep it goes, without regard to whether it is JSON. */
function scan(text: string): Scan {
  let members = 0;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at += 1;
      for (;;) {
        const end = text.indexOf('"', at);
        if (end < 0) return { members, depth: deepest };
        let escapes = 0;
        for (let before = end - 1; text.charCodeAt(before) === backslash; before -= 1) escapes += 1;
        at = end;
        if (escapes % 2 === 0) break;
        at += 1;
      }
    } else if (code === colon) members += 1;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return { members, depth: deepest };
}

/** The members of all objects in a value. It may be as deep as a text, so it is not walked by recursion. */
function countMembers(value: JsonValue): number {
  let count = 0;
  const waiting: JsonValue[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object') waiting.push(item);
      continue;
    }
    for (const member in next) {
      count += 1;
      const inner = next[member];
      if (typeof inner === 'object' && inner !== null) waiting.push(inner);
    }
  }
  return count;
}

const surrogate = /\\u[dD][89a-fA-F]/;
const surrogates = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./g;
const loneLength = '\\ud800'.length;

/** A text in which half a surrogate pair is written as an escape; Go's decoder reads the sign for what is no character there. */
const wellFormed = (text: string): string =>
  text.replace(surrogates, (written) => (written.length === loneLength ? '\\ufffd' : written));

export interface ParsedJson {
  readonly value: JsonValue;
  /** Such as `duplicate field "metadata.name"`. */
  readonly duplicates: readonly string[];
  /** How many objects and lists stand within each other at most. */
  readonly depth: number;
}

/** Parses a text. Throws JsonTextError. */
export function parseJson(text: string): ParsedJson {
  const { members, depth } = scan(text);
  if (depth > maxDepth)
    throw new JsonTextError(`invalid character '${text.includes('[[') ? '[' : '{'}' exceeded max depth`);
  let value: JsonValue;
  try {
    value = JSON.parse(surrogate.test(text) ? wellFormed(text) : text) as JsonValue;
  } catch {
    // Where a deep text breaks off is not looked for, as that goes by recursion.
    throw new JsonTextError(depth > recursiveDepth ? textEnds : complaint(text));
  }
  return { value, duplicates: members === countMembers(value) ? [] : duplicatesIn(text), depth };
}

/** So many are named; the server's decoder stops counting there too. */
const mostDuplicates = 100;

/** Finds the members that a text, known to be JSON, names twice. */
function duplicatesIn(text: string): string[] {
  const found = new Set<string>();
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;
  interface Level {
    readonly names: Set<string> | undefined;
    path: string;
    index: number;
  }
  const levels: Level[] = [];
  let last = '';
  let pending: string | undefined;
  const here = (): string => {
    const level = levels.at(-1);
    if (!level) return '';
    return level.names ? level.path : `${level.path}[${level.index}]`;
  };
  for (const [token] of text.matchAll(tokens)) {
    const level = levels.at(-1);
    if (token === '{' || token === '[') {
      const base = here();
      const path = pending === undefined ? base : base === '' ? pending : `${base}.${pending}`;
      levels.push({ names: token === '{' ? new Set() : undefined, path, index: 0 });
      pending = undefined;
    } else if (token === '}' || token === ']') {
      levels.pop();
      pending = undefined;
    } else if (token === ',') {
      if (level && !level.names) level.index += 1;
      pending = undefined;
    } else if (token === ':' && level?.names) {
      const name = JSON.parse(last) as string;
      if (level.names.has(name)) {
        found.add(`duplicate field ${goQuote(level.path === '' ? name : `${level.path}.${name}`)}`);
        if (found.size === mostDuplicates) break;
      }
      level.names.add(name);
      pending = name;
    }
    last = token;
  }
  return [...found];
}

/** What Go's decoder says about a text that is not JSON. */
function complaint(text: string): string {
  let at = 0;
  const end = textEnds;
  const skip = (): void => {
    while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  };
  // Go's decoder adds a blank at the end, to see whether what it is in the middle of may end there.
  const character = (): string => {
    const code = text.codePointAt(at) ?? 0x20;
    const shown = String.fromCodePoint(code);
    if (shown === "'") return "'\\''";
    if (shown === '"') return "'\"'";
    if (code < 0x20) return JSON.stringify(shown).replaceAll('"', "'");
    return `'${shown}'`;
  };
  const bad = (where: string): string => `invalid character ${character()} ${where}`;

  function literal(word: string): string | undefined {
    for (const [index, letter] of [...word].entries()) {
      if (text[at] !== letter) {
        return index === 0 ? bad('looking for beginning of value') : bad(`in literal ${word} (expecting '${letter}')`);
      }
      at += 1;
    }
    return undefined;
  }

  function string(): string | undefined {
    at += 1;
    for (;;) {
      if (at >= text.length) return end;
      const code = text.charCodeAt(at);
      if (code === quote) {
        at += 1;
        return undefined;
      }
      if (code < 0x20) return bad('in string literal');
      if (code === backslash) {
        at += 1;
        if (text[at] === 'u') {
          for (let digit = 0; digit < 4; digit += 1) {
            at += 1;
            if (!/[0-9a-fA-F]/.test(text.charAt(at))) return bad('in \\u hexadecimal character escape');
          }
        } else if (at >= text.length || !'"\\/bfnrt'.includes(text.charAt(at))) return bad('in string escape code');
      }
      at += 1;
    }
  }

  function number(): string | undefined {
    if (text[at] === '-') at += 1;
    if (!/\d/.test(text.charAt(at))) return bad('in numeric literal');
    if (text[at] === '0') at += 1;
    else while (/\d/.test(text.charAt(at))) at += 1;
    if (text[at] === '.') {
      at += 1;
      if (!/\d/.test(text.charAt(at))) return bad('after decimal point in numeric literal');
      while (/\d/.test(text.charAt(at))) at += 1;
    }
    if (text[at] === 'e' || text[at] === 'E') {
      at += 1;
      if (text[at] === '+' || text[at] === '-') at += 1;
      if (!/\d/.test(text.charAt(at))) return bad('in exponent of numeric literal');
      while (/\d/.test(text.charAt(at))) at += 1;
    }
    return undefined;
  }

  function value(): string | undefined {
    skip();
    if (at >= text.length) return end;
    const first = text.charAt(at);
    if (first === '{') return object();
    if (first === '[') return array();
    if (first === '"') return string();
    if (first === '-' || /\d/.test(first)) return number();
    if (first === 't') return literal('true');
    if (first === 'f') return literal('false');
    if (first === 'n') return literal('null');
    return bad('looking for beginning of value');
  }

  function object(): string | undefined {
    at += 1;
    skip();
    if (text[at] === '}') {
      at += 1;
      return undefined;
    }
    for (;;) {
      skip();
      if (at >= text.length) return end;
      if (text[at] !== '"') return bad('looking for beginning of object key string');
      const wrongName = string();
      if (wrongName) return wrongName;
      skip();
      if (at >= text.length) return end;
      if (text[at] !== ':') return bad('after object key');
      at += 1;
      const wrongValue = value();
      if (wrongValue) return wrongValue;
      skip();
      if (at >= text.length) return end;
      if (text[at] === '}') {
        at += 1;
        return undefined;
      }
      if (text[at] !== ',') return bad('after object key:value pair');
      at += 1;
    }
  }

  function array(): string | undefined {
    at += 1;
    skip();
    if (text[at] === ']') {
      at += 1;
      return undefined;
    }
    for (;;) {
      const wrong = value();
      if (wrong) return wrong;
      skip();
      if (at >= text.length) return end;
      if (text[at] === ']') {
        at += 1;
        return undefined;
      }
      if (text[at] !== ',') return bad('after array element');
      at += 1;
    }
  }

  const wrong = value();
  if (wrong) return wrong;
  skip();
  return at < text.length ? bad('after top-level value') : end;
}
