// Regular expressions as the server's language has them (RE2), compiled once for all clusters.
import { RE2JS, RE2JSSyntaxException } from 're2js';

export class PatternError extends Error {}

/** How many compiled expressions are kept; the ones used longest ago go first. */
const most = 5000;
const compiled = new Map<string, RE2JS>();

/** The expression of a text. Throws PatternError in the server's words. */
export function pattern(text: string): RE2JS {
  let found = compiled.get(text);
  if (found) return found;
  try {
    found = RE2JS.compile(text);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new PatternError(`error parsing regexp: ${describe(error)}`);
  }
  compiled.set(text, found);
  if (compiled.size > most) {
    const [oldest] = compiled.keys();
    if (oldest !== undefined) compiled.delete(oldest);
  }
  return found;
}

function describe(error: RE2JSSyntaxException): string {
  const input = error.getPattern();
  return `${error.getDescription()}${input ? `: \`${input}\`` : ''}`;
}
