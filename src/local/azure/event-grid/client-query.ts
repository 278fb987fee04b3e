// The language that client groups choose clients with: `attributes.role = 'server' AND attributes.floor IN [1, 2]`.

export interface QueriedClient {
  readonly authenticationName: string;
  readonly attributes: { readonly [name: string]: unknown };
}

export type ClientQuery = (client: QueriedClient) => boolean;

export class ClientQueryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ClientQueryError';
  }
}

type Literal = string | number | boolean;

const tokenForm =
  /\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?)|(<=|>=|<>|!=|=|<|>|\(|\)|\[|\]|,)|([A-Za-z_][A-Za-z0-9_.]*))/y;
const maxLength = 2048;
const maxDepth = 32;

type Token =
  | { readonly kind: 'literal'; readonly value: Literal }
  | { readonly kind: 'sign'; readonly text: string }
  | { readonly kind: 'word'; readonly text: string };

/** Throws ClientQueryError for text that is no query. */
export function parseClientQuery(text: string): ClientQuery {
  if (text.length > maxLength) throw new ClientQueryError(`a query has at most ${maxLength} characters`);
  const tokens = tokensOf(text);
  let at = 0;
  let depth = 0;

  const sign = (wanted: string): boolean => {
    const token = tokens[at];
    if (token?.kind !== 'sign' || token.text !== wanted) return false;
    at++;
    return true;
  };
  const word = (wanted: string): boolean => {
    const token = tokens[at];
    if (token?.kind !== 'word' || token.text.toUpperCase() !== wanted) return false;
    at++;
    return true;
  };
  const literal = (): Literal => {
    const token = tokens[at];
    at++;
    if (token?.kind === 'literal') return token.value;
    if (token?.kind === 'word' && /^(true|false)$/i.test(token.text)) return token.text.toLowerCase() === 'true';
    throw new ClientQueryError('a text in quotes, a number, true or false is missing');
  };

  function either(): ClientQuery {
    let left = both();
    while (word('OR')) {
      const [one, other] = [left, both()];
      left = (client) => one(client) || other(client);
    }
    return left;
  }
  function both(): ClientQuery {
    let left = one();
    while (word('AND')) {
      const [first, second] = [left, one()];
      left = (client) => first(client) && second(client);
    }
    return left;
  }
  function one(): ClientQuery {
    if (++depth > maxDepth) throw new ClientQueryError('the query is nested too deeply');
    try {
      if (word('NOT')) {
        const inner = one();
        return (client) => !inner(client);
      }
      if (sign('(')) {
        const inner = either();
        if (!sign(')')) throw new ClientQueryError("')' is missing");
        return inner;
      }
      return comparison();
    } finally {
      depth--;
    }
  }
  function comparison(): ClientQuery {
    const token = tokens[at];
    if (token?.kind !== 'word') throw new ClientQueryError('the name of an attribute is missing');
    at++;
    if (/^(true|false)$/i.test(token.text)) {
      const constant = token.text.toLowerCase() === 'true';
      return () => constant;
    }
    const value = readerOf(token.text);
    if (word('IN')) return listed(value);
    const operator = tokens[at];
    const compare = operator?.kind === 'sign' ? comparisons[operator.text] : undefined;
    if (!compare) throw new ClientQueryError('a comparison is missing: =, <>, <, <=, >, >= or IN');
    at++;
    const wanted = literal();
    return (client) => compare(value(client), wanted);
  }
  function listed(value: (client: QueriedClient) => unknown): ClientQuery {
    if (!sign('[')) throw new ClientQueryError("IN takes a list: ['a', 'b']");
    const wanted: Literal[] = [literal()];
    while (sign(',')) wanted.push(literal());
    if (!sign(']')) throw new ClientQueryError("']' is missing");
    return (client) => {
      const found = value(client);
      return (Array.isArray(found) ? found : [found]).some((item) => wanted.includes(item as Literal));
    };
  }

  const query = either();
  if (at < tokens.length) throw new ClientQueryError('there is something after the end of the query');
  return query;
}

function readerOf(name: string): (client: QueriedClient) => unknown {
  if (/^(client\.)?authenticationName$/.test(name)) return (client) => client.authenticationName;
  const [, attribute] = /^(?:client\.)?attributes\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(name) ?? [];
  if (attribute === undefined)
    throw new ClientQueryError(`'${name}' is neither authenticationName nor attributes.<name>`);
  return ({ attributes }) => (Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined);
}

const ordered =
  (test: (order: number) => boolean) =>
  (found: unknown, wanted: Literal): boolean => {
    if (typeof found === 'number' && typeof wanted === 'number') return test(found - wanted);
    if (typeof found === 'string' && typeof wanted === 'string')
      return test(found < wanted ? -1 : found > wanted ? 1 : 0);
    return false;
  };

const comparisons: { readonly [sign: string]: (found: unknown, wanted: Literal) => boolean } = {
  '=': (found, wanted) => found === wanted,
  '<>': (found, wanted) => found !== wanted,
  '!=': (found, wanted) => found !== wanted,
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
};

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  tokenForm.lastIndex = 0;
  while (tokenForm.lastIndex < end) {
    const from = tokenForm.lastIndex;
    const match = tokenForm.exec(text);
    if (!match) throw new ClientQueryError(`something that cannot be read at position ${from}`);
    const [, single, double, number, signText, name] = match;
    const quoted = single ?? double;
    if (quoted !== undefined) tokens.push({ kind: 'literal', value: quoted.replaceAll(/\\(.)/gs, '$1') });
    else if (number !== undefined) tokens.push({ kind: 'literal', value: Number(number) });
    else if (signText !== undefined) tokens.push({ kind: 'sign', text: signText });
    else tokens.push({ kind: 'word', text: name ?? '' });
  }
  if (tokens.length === 0) throw new ClientQueryError('the query is empty');
  return tokens;
}
