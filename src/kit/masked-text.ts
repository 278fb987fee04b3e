// Secrets inside texts: messages and stacks quote URLs, headers and files whole. Only forms that are secrets whatever stands
// around them are looked for; what has a name is found by its name (sensitive-names.ts).

const redacted = '[redacted]';

interface Form {
  /** The form cannot be in a text that has none of these; looking for them is much cheaper than the pattern. */
  readonly markers: readonly string[];
  /** The first group, if any, stays. Each pattern takes time in proportion to the text, however hostile. */
  readonly pattern: RegExp;
}

const forms: readonly Form[] = [
  // postgres://user:password@host
  { markers: ['://'], pattern: /(:\/\/)[^\s/?#"'<>]*(?=@)/g },
  // Bearer eyJ..., but neither a challenge (Bearer realm="...") nor talk of bearer tokens
  {
    markers: ['earer', 'EARER'],
    pattern:
      /\b(bearer\s{1,4})(?!(?:realm|error|scope|error_description|authorization_uri|resource)=|(?:tokens?|auth|authentication|authorization|scheme|is|was|and|or)(?![\w.~+/=-]))[\w.~+/=-]+/gi,
  },
  {
    markers: ['asic ', 'ASIC '],
    pattern: /\b((?:[Bb]asic|BASIC)\s{1,4})(?=[a-z]*[A-Z0-9+/=])[A-Za-z0-9+/]{6,}={0,2}/g,
  },
  {
    markers: ['PRIVATE KEY'],
    pattern: /(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----)[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g,
  },
  // A JSON Web Token
  { markers: ['eyJ'], pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]*\.?[\w-]*/g },
  // Queries, forms and connection strings
  {
    markers: ['='],
    pattern:
      /\b((?:sig|signature|password|pwd|(?:account|sharedaccess)key|client_secret|clientsecret|client_assertion|(?:access|refresh|id)_token|token)=)[^\s&;,"'<>]+/gi,
  },
];

/** The text with what is certainly a secret in it replaced. */
export function maskedText(text: string): string {
  let masked = text;
  for (const { markers, pattern } of forms) {
    for (const marker of markers) {
      if (!masked.includes(marker)) continue;
      masked = masked.replace(pattern, replacement);
      break;
    }
  }
  return masked;
}

function replacement(_: string, kept: unknown): string {
  // Without a group, the second argument is the place of the match.
  return typeof kept === 'string' ? kept + redacted : redacted;
}
