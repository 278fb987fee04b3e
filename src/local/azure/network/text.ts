/** A value that came from outside, as a text. Unlike `String` it never throws: members such as `toString` may be anything there. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}
