// Text as Go prints it, where the server's messages show it.

const escapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

function escaped(character: string): string {
  const known = escapes[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** A string in double quotes, as Go's %q. */
export const goQuote = (text: string): string =>
  // Printable is what is neither control, format, surrogate, private, unassigned nor a separator other than the space.
  `"${text.replace(/["\\]|[^\P{C}]|(?! )\p{Z}/gu, escaped)}"`;
