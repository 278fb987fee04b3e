// Gives names to the values that differ from run to run (ids, tokens, etags, times), so that what was said in one run can be compared
// with, and said again in, another. A value gets its name when it is first seen; the same value has the same name from then on.
import { randomUUID } from 'node:crypto';

export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [member: string]: Plain };

export interface Naming {
  /** Text or a document with names in the place of values; members and lists in an order that is the same in every run. */
  named<T extends Plain>(value: T): T;
  /** The same in the order in which it was sent: what is said again must be the same to the letter. */
  namedAsSent<T extends Plain>(value: T): T;
  /** Text with the values of this run in the place of names; a name that nothing has yet gets a value of its kind. */
  actual(text: string): string;
}

interface Kind {
  readonly name: string;
  readonly form: RegExp;
}

/** In this order: what one form finds is not looked at by the next. */
const kinds: readonly Kind[] = [
  { name: 'token', form: /eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g },
  { name: 'time', form: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g },
  { name: 'duration', form: /PT\d+(?:\.\d+)?S/g },
  { name: 'date', form: /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g },
  { name: 'guid', form: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi },
  { name: 'id', form: /(?<![0-9A-Za-z])[0-9A-F]{16}(?![0-9A-Za-z])/g },
  { name: 'etag', form: /0x[0-9A-F]{12,16}/g },
  { name: 'key', form: /[A-Za-z0-9+/]{86}==/g },
  { name: 'hex', form: /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/g },
];

/** Nobody says these again, so it does not matter which one it was. */
const unnumbered = new Set(['time', 'date', 'duration', 'hint']);

/** Members whose whole value is new in every run, by the kind of name it gets. */
const membersByKind: { readonly [member: string]: string } = {
  etag: 'etag',
  'if-match': 'etag',
  secretText: 'secret',
  refresh_token: 'secret',
  _etag: 'etag',
  _rid: 'unique',
  resourceUID: 'unique',
  uniqueId: 'unique',
  hint: 'hint',
  value: 'key',
};

/** Times as numbers. */
const epochMembers = new Set([
  '_ts',
  'created',
  'updated',
  'nbf',
  'exp',
  'expires_on',
  'not_before',
  'scheduledPurgeDate',
  'deletedDate',
]);
const firstEpoch = 1_500_000_000;

/** `fixed` are values of the run with names given in advance, such as its origin; `constant` texts are never named. */
export function createNaming(fixed: { readonly [name: string]: string }, constant: readonly string[]): Naming {
  const nameGiven = new Map<string, string>();
  const valueNamed = new Map<string, string>();
  const counts = new Map<string, number>();
  const constants = new Set(constant.map((text) => text.toLowerCase()));
  const fixedByLength = Object.entries(fixed).sort(([, one], [, other]) => other.length - one.length);

  function name(kind: string, value: string): string {
    const key = kind === 'guid' ? value.toLowerCase() : value;
    if (constants.has(key)) return value;
    if (unnumbered.has(kind)) return `{${kind}}`;
    const known = nameGiven.get(key);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const made = `{${kind}:${count}}`;
    nameGiven.set(key, made);
    valueNamed.set(made, value);
    return made;
  }

  function namedText(text: string): string {
    let rest = text;
    for (const [fixedName, value] of fixedByLength) rest = rest.replaceAll(value, `{${fixedName}}`);
    for (const { name: kind, form } of kinds) rest = rest.replaceAll(form, (found) => name(kind, found));
    return rest;
  }

  function namedValue(value: Plain, member: string, sort: boolean): Plain {
    if (typeof value === 'number') return epochMembers.has(member) && value > firstEpoch ? '{epoch}' : value;
    if (typeof value === 'string') {
      const kind = membersByKind[member];
      if (kind === 'key') return namedText(value);
      return kind === undefined || value === '*' || value === '' ? namedText(value) : name(kind, value);
    }
    if (isList(value)) return (sort ? inStableOrder(value) : value).map((one) => namedValue(one, member, sort));
    if (value === null || typeof value !== 'object') return value;
    const members = Object.entries(value);
    if (sort) members.sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(members.map(([key, inner]) => [namedText(key), namedValue(inner, key, sort)]));
  }

  return {
    named: (value) => namedValue(value, '', true) as typeof value,
    namedAsSent: (value) => namedValue(fromNow(value), '', false) as typeof value,
    actual(text) {
      const made = text
        .replaceAll(nowForm, (_found, seconds: string) => timeText(Number(seconds)))
        .replaceAll(/\{(guid|hex|id|etag|key|secret|token|unique):\d+\}/g, (found, kind: string) => {
          const known = valueNamed.get(found);
          if (known !== undefined) return known;
          if (kind !== 'guid') throw new Error(`${found} is asked for before anything has given it`);
          const value = randomUUID();
          nameGiven.set(value, found);
          valueNamed.set(found, value);
          counts.set(kind, Math.max(counts.get(kind) ?? 0, Number(/\d+/.exec(found)?.[0])));
          return value;
        });
      return Object.entries(fixed).reduce((rest, [fixedName, value]) => rest.replaceAll(`{${fixedName}}`, value), made);
    },
  };
}

const nowForm = /\{now([+-]\d+)s\}/g;

/** Times that a request names are kept by how far ahead they were: said again another day, they must lie as far ahead then. */
function fromNow(value: Plain): Plain {
  const form = kinds.find(({ name }) => name === 'time')?.form ?? nowForm;
  const text = JSON.stringify(value).replaceAll(form, (found) => {
    const seconds = Math.round((Date.parse(found) - Date.now()) / 1000);
    return `{now${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s}`;
  });
  return JSON.parse(text) as Plain;
}

function timeText(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString();
}

/** Lists that come in the order of random ids are put into the order of what is not random about them. */
function inStableOrder(list: readonly Plain[]): readonly Plain[] {
  if (list.some((one) => one === null || typeof one !== 'object')) return list;
  const masked = (value: Plain): string => {
    let text = JSON.stringify(value);
    for (const { form } of kinds) text = text.replaceAll(form, '');
    return text;
  };
  return list
    .map((value) => ({ value, key: masked(value) }))
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    .map(({ value }) => value);
}

function isList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value);
}
