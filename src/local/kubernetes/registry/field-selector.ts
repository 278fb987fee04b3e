// Field selectors: `metadata.name=web,status.phase!=Running`, over what a type says may be asked.
import type { Entry } from '../objects/objects.ts';
import { badRequest } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';

export interface FieldSelector {
  matches(entry: Entry): boolean;
  /** The one name that can match, where the selector says so. */
  readonly name: string | undefined;
}

interface Term {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

/** Splits at commas that no backslash stands before. */
function terms(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === ',') {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== '');
}

function parseTerm(part: string, whole: string): Term {
  for (let at = 0; at < part.length; at += 1) {
    const rest = part.slice(at);
    const operator = ['!=', '==', '='].find((candidate) => rest.startsWith(candidate));
    if (operator === undefined) continue;
    return {
      field: part.slice(0, at),
      value: unescaped(rest.slice(operator.length)),
      equal: operator !== '!=',
    };
  }
  throw badRequest(`invalid selector: '${whole}'; can't understand '${part}'`);
}

function unescaped(value: string): string {
  let out = '';
  for (let at = 0; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (character === '\\') {
      const next = value.charAt(at + 1);
      if (next !== '\\' && next !== ',' && next !== '=') {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${next}`);
      }
      out += next;
      at += 1;
    } else if (character === '=' || character === ',') {
      throw badRequest(`invalid field selector: unescaped character in value: ${character}`);
    } else out += character;
  }
  return out;
}

const known = new WeakMap<ResourceType, ReadonlySet<string>>();

/** The fields that a type's selectors may name beside those of metadata. */
function fieldsOf(type: ResourceType): ReadonlySet<string> {
  let names = known.get(type);
  if (!names) {
    const empty = { apiVersion: '', kind: type.kind, metadata: {}, spec: {}, status: {} };
    names = new Set(Object.keys(type.strategy.fields?.(empty) ?? {}));
    known.set(type, names);
  }
  return names;
}

function refuseField(type: ResourceType, field: string): Error {
  return type.custom || type.strategy.fields
    ? badRequest(`field label not supported: ${field}`)
    : badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

function valueOfField(entry: Entry, field: string): string {
  if (field === 'metadata.name') return entry.name;
  if (field === 'metadata.namespace') return entry.namespace;
  return entry.fields?.[field] ?? '';
}

/** Reads a selector; undefined matches everything. Refuses with 400 in the server's words. */
export function parseFieldSelector(type: ResourceType, text: string | undefined): FieldSelector | undefined {
  if (text === undefined || text === '') return undefined;
  // An empty field that is to be empty, or not, selects everything.
  const wanted = terms(text)
    .map((part) => parseTerm(part, text))
    .filter(({ field, value }) => field !== '' || value !== '');
  if (wanted.length === 0) return undefined;
  for (const { field } of wanted) {
    if (field === 'metadata.name' || field === 'metadata.namespace') continue;
    if (!fieldsOf(type).has(field)) throw refuseField(type, field);
  }
  return {
    matches: (entry) => wanted.every(({ field, value, equal }) => (valueOfField(entry, field) === value) === equal),
    name: wanted.find(({ field, equal }) => equal && field === 'metadata.name')?.value,
  };
}

const noPathPart = /^\.{1,2}$|[/%]/;

/** The one name that a selector asks for; empty where it does not, cannot be read, or asks for what no object can be called. */
export function exactName(text: string): string {
  try {
    const wanted = terms(text).map((part) => parseTerm(part, text));
    const name = wanted.find(({ field, equal }) => equal && field === 'metadata.name')?.value ?? '';
    return noPathPart.test(name) ? '' : name;
  } catch {
    return '';
  }
}
