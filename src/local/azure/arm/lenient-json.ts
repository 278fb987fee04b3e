// JSON as Resource Manager takes it. Templates may hold comments, texts over several lines and single quotes, and the Azure CLI puts
// them into its requests as they are, under a name without quotes.
import { type ParsedJson, parseJson } from '../../../arm/json-text.ts';

/** As {@link parseJson}; text that is no JSON but means some is understood too. What is wrong is told of the text as it was sent. */
export function parseLenientJson(bytes: Buffer, maxDepth: number): ParsedJson {
  const strict = parseJson(bytes, maxDepth);
  if (strict.ok) return strict;
  const meant = toStrictJson(bytes.toString('utf8'));
  if (meant === undefined) return strict;
  const lenient = parseJson(Buffer.from(meant), maxDepth);
  return lenient.ok ? lenient : strict;
}

const blank = /\s+/y;
const comment = /\/\/[^\n\r]*|\/\*[\s\S]*?\*\//y;
const word = /[A-Za-z_$][A-Za-z0-9_$]*/y;
const number = /-?[0-9][0-9.eE+-]*/y;
/** Characters of a text that stand for themselves in JSON too. */
const plainRun = /[^"'\\\p{Cc}]+/uy;
const literals: ReadonlySet<string> = new Set(['true', 'false', 'null']);

/** Comments left out, names and texts quoted, commas before an end dropped; undefined when that cannot be done. One pass. */
function toStrictJson(text: string): string | undefined {
  const out: string[] = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const take = (form: RegExp): string | undefined => {
    form.lastIndex = at;
    const found = form.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  while (at < text.length) {
    if (take(blank) !== undefined || take(comment) !== undefined) continue;
    const next = text[at] ?? '';
    if (next === '"' || next === "'") {
      const quoted = quotedText(text, at);
      if (quoted === undefined) return undefined;
      out.push(quoted.json);
      at = quoted.end;
    } else if ('{}[],:'.includes(next)) {
      if ((next === '}' || next === ']') && out.at(-1) === ',') out.pop();
      out.push(next);
      at++;
    } else {
      const token = take(number) ?? take(word);
      if (token === undefined) return undefined;
      out.push(/^[-0-9]/.test(token) || literals.has(token) ? token : JSON.stringify(token));
    }
  }
  return out.join('');
}

function quotedText(text: string, start: number): { readonly json: string; readonly end: number } | undefined {
  const quote = text[start];
  const parts: string[] = [];
  let at = start + 1;
  while (at < text.length) {
    plainRun.lastIndex = at;
    const run = plainRun.exec(text)?.[0];
    if (run !== undefined) {
      parts.push(run);
      at += run.length;
      continue;
    }
    const next = text[at] ?? '';
    if (next === quote) return { json: `"${parts.join('')}"`, end: at + 1 };
    if (next === '\\') {
      const escaped = text[at + 1] ?? '';
      parts.push(escaped === "'" ? "'" : `\\${escaped}`);
      at += 2;
    } else {
      parts.push(next === "'" ? next : JSON.stringify(next).slice(1, -1));
      at++;
    }
  }
  return undefined;
}
