// Label selectors as Kubernetes writes them: `app=web,tier in (a,b),!canary`.
import { badRequest } from '../status.ts';

type Labels = Readonly<Record<string, string>> | undefined;
export type LabelMatcher = (labels: Labels) => boolean;

type Token = {
  readonly kind: 'word' | 'end' | ',' | '(' | ')' | '=' | '==' | '!=' | '!' | '<' | '>';
  readonly text: string;
};

const special = new Set(['=', '!', '(', ')', ',', '>', '<']);
const blank = new Set([' ', '\t', '\r', '\n']);

function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (blank.has(character)) {
      at += 1;
    } else if (special.has(character)) {
      const two = text.slice(at, at + 2);
      const symbol = two === '==' || two === '!=' ? two : character;
      found.push({ kind: symbol as Token['kind'], text: symbol });
      at += symbol.length;
    } else {
      let end = at;
      while (end < text.length && !special.has(text.charAt(end)) && !blank.has(text.charAt(end))) end += 1;
      found.push({ kind: 'word', text: text.slice(at, end) });
      at = end;
    }
  }
  found.push({ kind: 'end', text: '' });
  return found;
}

const refuse = (message: string): Error => badRequest(`unable to parse requirement: ${message}`);

const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const prefixPart = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const nameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const prefixRule =
  "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

function checkKey(key: string): void {
  const slash = key.indexOf('/');
  const [prefix, name] = slash < 0 ? [undefined, key] : [key.slice(0, slash), key.slice(slash + 1)];
  const problems: string[] = [];
  if (name.includes('/')) {
    problems.push(
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    );
  } else {
    if (prefix === '') problems.push('prefix part must be non-empty');
    else if (prefix !== undefined && prefix.length > 253) problems.push('prefix part must be no more than 253 bytes');
    else if (prefix !== undefined && !prefixPart.test(prefix)) problems.push(prefixRule);
    if (name === '') problems.push('name part must be non-empty');
    else if (name.length > 63) problems.push('name part must be no more than 63 bytes');
    if (!namePart.test(name)) problems.push(nameRule);
  }
  if (problems.length > 0) throw refuse(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problems.join('; ')}`);
}

function checkValue(key: string, value: string, index: number): void {
  const problems: string[] = [];
  if (value.length > 63) problems.push('must be no more than 63 bytes');
  if (value !== '' && !namePart.test(value)) problems.push(valueRule);
  if (problems.length > 0) {
    throw refuse(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problems.join('; ')}`);
  }
}

const operators = 'in, notin, =, ==, !=, gt, lt';

/** Reads a selector; undefined matches everything. Refuses with 400 in the server's words. */
export function parseLabelSelector(text: string | undefined): LabelMatcher | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const list = tokens(text);
  let at = 0;
  const peek = (): Token => list[at] ?? { kind: 'end', text: '' };
  const take = (): Token => {
    const token = peek();
    at += 1;
    return token;
  };
  const word = (): string => {
    const token = take();
    if (token.kind !== 'word') throw refuse(`found '${token.text}', expected: identifier`);
    return token.text;
  };
  const values = (): string[] => {
    const open = take();
    if (open.kind !== '(') throw refuse(`found '${open.text}' expected: '('`);
    const found: string[] = [];
    if (peek().kind === ')') {
      take();
      return [''];
    }
    for (;;) {
      const next = take();
      if (next.kind === 'word') {
        found.push(next.text);
        const after = take();
        if (after.kind === ')') return found;
        if (after.kind !== ',') throw refuse(`found '${after.text}', expected: ',' or ')'`);
        if (peek().kind === ')') {
          take();
          return [...found, ''];
        }
      } else if (next.kind === ',') {
        found.push('');
        if (peek().kind === ')') {
          take();
          return [...found, ''];
        }
      } else throw refuse(`found '${next.text}', expected: ',', ')' or identifier`);
    }
  };

  const requirement = (): LabelMatcher => {
    const negated = peek().kind === '!';
    if (negated) take();
    const keyToken = take();
    if (keyToken.kind !== 'word') throw refuse(`found '${keyToken.text}', expected: identifier`);
    const key = keyToken.text;
    checkKey(key);
    const has = (labels: Labels): boolean => labels !== undefined && Object.hasOwn(labels, key);
    const next = peek();
    if (negated) return (labels) => !has(labels);
    if (next.kind === 'end' || next.kind === ',') return has;
    take();
    if (next.kind === '=' || next.kind === '==' || next.kind === '!=') {
      const value = peek().kind === ',' || peek().kind === 'end' ? '' : word();
      checkValue(key, value, 0);
      return next.kind === '!='
        ? (labels) => !has(labels) || labels?.[key] !== value
        : (labels) => has(labels) && labels?.[key] === value;
    }
    if (next.kind === '<' || next.kind === '>') {
      const value = word();
      checkValue(key, value, 0);
      if (!/^[+-]?\d+$/.test(value)) {
        throw refuse(
          `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
        );
      }
      const bound = Number(value);
      return (labels) => {
        const own = has(labels) ? labels?.[key] : undefined;
        if (own === undefined || !/^[+-]?\d+$/.test(own)) return false;
        return next.kind === '<' ? Number(own) < bound : Number(own) > bound;
      };
    }
    if (next.text === 'in' || next.text === 'notin') {
      const allowed = new Set(values());
      [...allowed].forEach((value, index) => {
        checkValue(key, value, index);
      });
      return next.text === 'in'
        ? (labels) => has(labels) && allowed.has(labels?.[key] ?? '')
        : (labels) => !has(labels) || !allowed.has(labels?.[key] ?? '');
    }
    throw refuse(`found '${next.text}', expected: ${operators}`);
  };

  const requirements: LabelMatcher[] = [];
  for (;;) {
    const first = peek();
    if (first.kind !== 'word' && first.kind !== '!') {
      if (first.kind === 'end') break;
      throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(requirement());
    const next = take();
    if (next.kind === 'end') break;
    if (next.kind !== ',') throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`);
    if (peek().kind !== 'word' && peek().kind !== '!') {
      throw badRequest(`found '${peek().text}', expected: identifier after ','`);
    }
  }
  if (requirements.length === 1) return requirements[0];
  return (labels) => requirements.every((matches) => matches(labels));
}
