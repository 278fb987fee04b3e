// What Go's YAML library says of a text that this server's finds wrong.

interface Wording {
  readonly of: RegExp;
  /** What stands last before the place of the error, where that matters. */
  readonly after?: RegExp;
  readonly says: string;
  /** Its parser and its scanner count lines differently. */
  readonly by: 'parser' | 'scanner';
}

const expectedNode = 'did not find expected node content';
const noToken = 'found character that cannot start any token';

/** The errors people make most; what is found first counts. */
const wordings: readonly Wording[] = [
  { of: /^Flow (map|sequence)/, after: /[:,{[]/, says: expectedNode, by: 'parser' },
  { of: /^Flow map/, says: "did not find expected ',' or '}'", by: 'parser' },
  { of: /^Flow sequence/, says: "did not find expected ',' or ']'", by: 'parser' },
  { of: /^Block collections are not allowed within flow/, says: "did not find expected ',' or '}'", by: 'parser' },
  { of: /^All mapping items must start/, says: 'did not find expected key', by: 'parser' },
  { of: /^Maximum call stack/, says: 'exceeded max depth of 10000', by: 'scanner' },
  { of: /Tabs are not allowed/, says: noToken, by: 'scanner' },
  { of: /^Plain value cannot start with/, says: noToken, by: 'scanner' },
  { of: /^Nested mappings are not allowed/, says: 'mapping values are not allowed in this context', by: 'scanner' },
  { of: /^Missing closing ["']/, says: 'found unexpected end of stream', by: 'scanner' },
  { of: /^Invalid escape sequence/, says: 'found unknown escape character', by: 'scanner' },
  { of: /^Block scalar header/, says: 'did not find expected comment or line break', by: 'scanner' },
];

const blank = /\s/;

/** The last character before a place that is no blank. */
function lastBefore(text: string, place: number): string {
  let at = place - 1;
  while (at >= 0 && blank.test(text.charAt(at))) at -= 1;
  return text.charAt(at);
}

/** How many lines end before a place; the end of a text ends the last. */
function linesBefore(text: string, place: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < place; at = text.indexOf('\n', at + 1)) lines += 1;
  return place >= text.length && !text.endsWith('\n') ? lines + 1 : lines;
}

/** The error that the library found at a place, in the words of Go's. */
export function goYamlText(text: string, message: string, place: number): string {
  const before = lastBefore(text, place);
  const known = wordings.find(({ of, after }) => of.test(message) && (!after || after.test(before)));
  const says = known?.says ?? message.split('\n', 1)[0] ?? message;
  // The sign that may not be there, not the start of what it follows.
  const at = message.startsWith('Nested mappings') ? Math.max(text.indexOf(': ', place), place) : place;
  // Neither names the first line. The scanner means the line it is in, the parser the one before.
  const lines = known?.by === 'scanner' ? linesBefore(text, Math.min(at, text.length - 1)) : linesBefore(text, at);
  if (lines === 0) return says;
  return `line ${known?.by === 'scanner' ? lines + 1 : lines}: ${says}`;
}
