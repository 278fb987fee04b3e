/** The first string, by UTF-8 bytes, after all strings that begin with `prefix`; undefined when there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix);
  for (;;) {
    const last = points.pop()?.codePointAt(0);
    if (last === undefined) return undefined;
    if (last === 0x10ffff) continue;
    // The byte order of UTF-8 is the order of code points, and surrogates are not code points of text.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return points.join('') + String.fromCodePoint(next);
  }
}
