// Secrets inside texts: messages and stacks quote URLs, headers and files whole. Only forms that are secrets whatever stands
// around them are looked for; what has a name is found by its name (sensitive-names.ts).

const redacted = '[redacted]';

/**
 * No form can be in a text that this is not in, and most texts end here: with few alternatives and no case folding it costs a
 * fraction of the patterns.
 */
const suspicious =
  /:\/\/|[aA][rR][eE][rR]\s|[aA][sS][iI][cC]\s|PRIVATE KEY|eyJ|(?:[gGeEdDyYtT]|[kK][eE][nN]|[tT][iI][oO][nN])=/;

/** The first group, if any, stays. Each takes time in proportion to the text, however hostile. */
const forms: readonly RegExp[] = [
  // postgres://user:password@host
  /(:\/\/)[^\s/?#"'<>]*(?=@)/g,
  // Bearer eyJ..., but neither a challenge (Bearer realm="...") nor talk of bearer tokens
  /\b(bearer\s{1,4})(?!(?:realm|error|scope|error_description|authorization_uri|resource)=|(?:tokens?|auth|authentication|authorization|scheme|is|was|and|or)(?![\w.~+/=-]))[\w.~+/=-]+/gi,
  /\b((?:[Bb]asic|BASIC)\s{1,4})(?=[a-z]*[A-Z0-9+/=])[A-Za-z0-9+/]{6,}={0,2}/g,
  /(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----)[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g,
  // A JSON Web Token
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]*\.?[\w-]*/g,
  // Queries, forms and connection strings
  /\b((?:sig|signature|password|pwd|(?:account|sharedaccess)key|client_secret|clientsecret|client_assertion|(?:access|refresh|id)_token|token)=)[^\s&;,"'<>]+/gi,
];

/** The text with what is certainly a secret in it replaced. */
export function maskedText(text: string): string {
  if (!suspicious.test(text)) return text;
  return forms.reduce((masked, form) => masked.replace(form, replacement), text);
}

function replacement(_: string, kept: unknown): string {
  // Without a group, the second argument is the place of the match.
  return typeof kept === 'string' ? kept + redacted : redacted;
}
