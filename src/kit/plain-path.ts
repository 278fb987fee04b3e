// Which paths a listener keeps to itself, however they are written. The app behind it may be lenient – in case, in encoding, in
// doubled slashes – so a path is brought to the plainest form that any reading of it could lead to before it is judged.

/**
 * The segments of a path in lower case, with every layer of percent-encoding taken off, and empty segments and what follows a
 * `;`, `?` or `#` in a segment dropped; undefined for a target that no honest client sends: not starting with a slash, with dot segments, backslashes,
 * control characters, or encoding that is broken or never ends.
 */
export function plainSegments(target: string): readonly string[] | undefined {
  if (!target.startsWith('/')) return undefined;
  const path = fullyDecoded(target.split(/[?#]/, 1)[0] ?? '');
  if (path === undefined || unreadable.test(path)) return undefined;
  const segments = path
    .normalize('NFKC')
    .toLowerCase()
    .split('/')
    .map((segment) => segment.split(/[;?#]/, 1)[0] ?? '')
    .filter((segment) => segment !== '');
  return segments.some((segment) => /^\.+$/.test(segment)) ? undefined : segments;
}

/** Whether a path is one of the denied, or below one. */
export function isDenied(segments: readonly string[], patterns: readonly (readonly string[])[]): boolean {
  return patterns.some((pattern) => startsWith(segments, pattern));
}

/**
 * Reads a pattern such as `/admin`. A segment `*` stands for any one segment, `**` for any number of them. Throws for a
 * pattern that would deny nothing or everything.
 */
export function denyPattern(pattern: string): readonly string[] {
  const segments = plainSegments(pattern);
  if (segments?.some((segment) => segment !== '**' && segment !== '*')) return segments;
  throw new TypeError(`${JSON.stringify(pattern)} is not a path to deny: it starts with a slash and names a segment`);
}

function startsWith(segments: readonly string[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return true;
  if (first === '**') {
    return segments.some((_, index) => startsWith(segments.slice(index), rest));
  }
  const [segment, ...after] = segments;
  if (segment === undefined || (first !== '*' && first !== segment)) return false;
  return startsWith(after, rest);
}

const unreadable = /[\p{Cc}\\]/u;
/** Nobody encodes a path more often than this. */
const decodeLayers = 4;

function fullyDecoded(text: string): string | undefined {
  let decoded = text;
  for (let layer = 0; layer < decodeLayers; layer++) {
    if (!decoded.includes('%')) return decoded;
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      return undefined;
    }
  }
  return decoded.includes('%') ? undefined : decoded;
}
