// The OData options of a list: which objects, which properties, in which order, how many.
import type { JsonObject } from '../kernel/record.ts';
import { type Filter, parseFilter } from './filter.ts';
import { fieldsOf, isAdvanced, matches } from './filter-match.ts';
import { badQuery, unknownProperty, unsupportedQuery } from './graph-error.ts';

export interface ListOptions {
  readonly filter?: Filter;
  readonly select?: readonly string[];
  readonly orderBy?: { readonly property: string; readonly descending: boolean };
  readonly top: number;
  readonly after?: Position;
  readonly count: boolean;
}

/** Where a page ended: the value that the list is ordered by, and the id. */
type Position = readonly [value: string, id: string];

export interface QueryText {
  get(name: string): string | null;
  keys(): Iterable<string>;
  toString(): string;
}

const pageSize = 100;
const pageMax = 999;
const known: ReadonlySet<string> = new Set([
  '$filter',
  '$select',
  '$top',
  '$skiptoken',
  '$count',
  '$orderby',
  '$format',
  'api-version',
]);

/** Reads and checks the options. `properties` are those of the type, which may be named. */
export function listOptions(
  query: QueryText,
  type: string,
  properties: ReadonlySet<string>,
  consistencyLevel: string | undefined,
): ListOptions {
  for (const name of query.keys()) {
    if (name.startsWith('$') && !known.has(name.toLowerCase())) {
      throw unsupportedQuery(`The query option '${name.slice(0, 32)}' is not supported here.`);
    }
  }
  const eventual = consistencyLevel?.toLowerCase() === 'eventual';
  const filter = query.get('$filter') ? parseFilter(query.get('$filter') ?? '') : undefined;
  if (filter) {
    for (const field of fieldsOf(filter)) if (!properties.has(field)) throw unknownProperty(field, type);
    if (isAdvanced(filter) && !eventual) {
      throw unsupportedQuery(
        'The filter has operators that need the header ConsistencyLevel: eventual and the query option $count=true.',
      );
    }
  }
  const count = query.get('$count')?.toLowerCase() === 'true';
  if (count && !eventual) throw badQuery('$count is not currently supported without ConsistencyLevel: eventual.');
  const select = selectOf(query, type, properties);
  const orderBy = orderOf(query.get('$orderby'), type, properties);
  const after = positionOf(query.get('$skiptoken'));
  return {
    top: topOf(query.get('$top')),
    count,
    ...(filter ? { filter } : {}),
    ...(select ? { select } : {}),
    ...(orderBy ? { orderBy } : {}),
    ...(after ? { after } : {}),
  };
}

export function selectOf(
  query: Pick<QueryText, 'get'>,
  type: string,
  properties: ReadonlySet<string>,
): readonly string[] | undefined {
  const text = query.get('$select');
  if (!text) return undefined;
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) if (name !== '*' && !properties.has(name)) throw unknownProperty(name, type);
  return names.includes('*') ? undefined : names;
}

/** Only what was selected. */
export function selected(object: JsonObject, select: readonly string[] | undefined): JsonObject {
  if (!select) return object;
  return Object.fromEntries(
    Object.entries(object).filter(([name]) => select.includes(name) || name.startsWith('@odata')),
  );
}

export interface ListPage {
  readonly value: readonly JsonObject[];
  readonly count: number;
  /** For the next page; undefined on the last. */
  readonly skipToken?: string;
}

export function pageOf(all: Iterable<JsonObject>, options: ListOptions): ListPage {
  const { filter, orderBy, after } = options;
  const property = orderBy?.property;
  const sign = orderBy?.descending ? -1 : 1;
  const keyed: { readonly object: JsonObject; readonly position: Position }[] = [];
  for (const object of all) {
    if (filter && !matches(filter, object)) continue;
    const value = property === undefined ? '' : object[property];
    keyed.push({ object, position: [typeof value === 'string' ? value.toLowerCase() : '', String(object.id)] });
  }
  keyed.sort((a, b) => order(a.position, b.position, sign));
  const start = after ? keyed.findIndex(({ position }) => order(position, after, sign) > 0) : 0;
  const page = start === -1 ? [] : keyed.slice(start, start + options.top);
  const last = page.at(-1);
  const more = last !== undefined && start + page.length < keyed.length;
  return {
    value: page.map(({ object }) => selected(object, options.select)),
    count: keyed.length,
    ...(more ? { skipToken: Buffer.from(JSON.stringify(last.position)).toString('base64url') } : {}),
  };
}

/** By value in the order asked for, then by id. */
function order(a: Position, b: Position, sign: number): number {
  if (a[0] !== b[0]) return a[0] < b[0] ? -sign : sign;
  return a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0;
}

function topOf(text: string | null): number {
  if (text === null) return pageSize;
  const top = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
  if (top < 1 || top > pageMax)
    throw badQuery(`Invalid page size specified: '${text.slice(0, 16)}'. Must be between 1 and ${pageMax} inclusive.`);
  return top;
}

function orderOf(text: string | null, type: string, properties: ReadonlySet<string>): ListOptions['orderBy'] {
  if (!text) return undefined;
  const [, property = '', direction = 'asc'] = /^\s*([A-Za-z]+)(?:\s+(asc|desc))?\s*$/i.exec(text) ?? [];
  if (property === '') throw badQuery('$orderby must name one property, and asc or desc.');
  if (!properties.has(property)) throw unknownProperty(property, type);
  return { property, descending: direction.toLowerCase() === 'desc' };
}

function positionOf(text: string | null): Position | undefined {
  if (!text) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === 'string')) {
      return value as unknown as Position;
    }
  } catch {
    // Falls through to the one answer for all tokens that are not ours.
  }
  throw badQuery('The skiptoken is not valid for this list. Start the list again without it.');
}
