// Which parameters a listener keeps to itself, however they are written. Parsers of queries differ in case, in encoding, in
// separators and in what they make of repeated parameters, so whatever any of them could take for the parameter counts.

/**
 * Whether a request target gives this parameter this value, both in lower case: in any letter case and encoding, among others
 * of the same name, in a list, separated by `&` or `;`.
 */
export function givesParameter(target: string, name: string, value: string): boolean {
  if (!/[?;#%]/.test(target)) return false;
  const plain = leniently(target).normalize('NFKC').toLowerCase();
  return plain.split(/[?&;#]/).some((piece) => {
    const equals = piece.indexOf('=');
    if (equals < 0 || bare(piece.slice(0, equals).replace(/\[.*/s, '')) !== name) return false;
    return piece
      .slice(equals + 1)
      .split(',')
      .some((one) => bare(one) === value);
  });
}

/** Nobody encodes a query more often than this. */
const decodeLayers = 4;

/** Decodes what can be decoded: encoding that is broken in one place is no reason for a parser to leave the rest as it is. */
function leniently(text: string): string {
  let decoded = text.replaceAll('+', ' ');
  for (let layer = 0; layer < decodeLayers && decoded.includes('%'); layer++) {
    decoded = decoded.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      try {
        return decodeURIComponent(run);
      } catch {
        return run.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
      }
    });
  }
  return decoded;
}

/** Without the blanks, control and invisible characters that some parsers drop. */
function bare(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}"']/gu, '');
}
