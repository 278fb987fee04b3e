// The text of a search, cut into tokens.
import { MaestroError } from '../maestro-error.ts';

export type Token =
  | { readonly kind: 'name' | 'text' | 'sign'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly text: string; readonly value: number; readonly at: number }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number };

export const maxSearchLength = 65_536;

const forms: readonly (readonly [Token['kind'] | 'blank', RegExp])[] = [
  ['blank', /\s+/y],
  // A quote inside a text is doubled, or has a backslash before it.
  ['text', /'(?:[^'\\]|''|\\[\s\S])*'|"(?:[^"\\]|""|\\[\s\S])*"/y],
  ['sign', /->>|->|@>|<>|!=|~=|!~|<=|>=|=|<|>|\(|\)|,/y],
  ['number', /-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y],
  ['name', /[A-Za-z_][\w.]*/y],
];

/** Throws MaestroError 21 for what no token begins with. */
export function tokensOf(search: string): readonly Token[] {
  if (search.length > maxSearchLength) throw searchError(`it is longer than ${maxSearchLength} characters`);
  const tokens: Token[] = [];
  let at = 0;
  while (at < search.length) {
    const found = tokenAt(search, at);
    if (found === undefined) throw searchError(`it cannot be read at character ${at + 1}`);
    if (found.token !== undefined) tokens.push(found.token);
    at = found.end;
  }
  tokens.push({ kind: 'end', text: '', at });
  return tokens;
}

function tokenAt(search: string, at: number): { readonly token?: Token; readonly end: number } | undefined {
  for (const [kind, form] of forms) {
    form.lastIndex = at;
    const text = form.exec(search)?.[0];
    if (text === undefined) continue;
    const end = at + text.length;
    if (kind === 'blank') return { end };
    if (kind === 'number') return { token: { kind, text, value: Number(text), at }, end };
    if (kind === 'text') return { token: { kind, text: unquoted(text), at }, end };
    if (kind === 'name' || kind === 'sign') return { token: { kind, text, at }, end };
  }
  return undefined;
}

function unquoted(text: string): string {
  const quote = text.charAt(0);
  return text.slice(1, -1).replace(/''|""|\\([\s\S])/g, (found, escaped: string | undefined) => {
    // In a pattern a backslash takes the next character literally, so only one before a quote or a backslash goes.
    if (escaped !== undefined) return escaped === quote || escaped === '\\' ? escaped : found;
    return found === quote + quote ? quote : found;
  });
}

export function searchError(why: string): MaestroError {
  return new MaestroError(21, `Failed to parse search query: ${why}`);
}
