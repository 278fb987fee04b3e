// Names of properties as expressions write them: what CEL could not read is escaped.

const keywords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const escapes: readonly (readonly [RegExp, string])[] = [
  [/__/g, '__underscores__'],
  [/\./g, '__dot__'],
  [/-/g, '__dash__'],
  [/\//g, '__slash__'],
];

/** The name of a property in expressions; undefined for one that cannot be named. */
export function escapeName(name: string): string | undefined {
  if (keywords.has(name)) return `__${name}__`;
  const escaped = escapes.reduce((text, [what, by]) => text.replace(what, by), name);
  return /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(escaped) ? escaped : undefined;
}
