// A search's syntax tree to a filter of the store. Names of columns are looked up in a table: nothing of the text is used as a name
// anywhere else.
import { parseJson } from '../../../arm/json-text.ts';
import { isRecord } from '../../../arm/record.ts';
import type { Filter, Json, Path } from '../../../store/filter.ts';
import { parseTimestamp } from '../../protocol/timestamp.ts';
import { type Comparison, type Node, type Place, parseSearch, type Value } from './parse.ts';
import { searchError } from './tokens.ts';

/** What can be searched, and where it is in a document. */
export interface Searchable {
  /** By the names that clients use. */
  readonly columns: Readonly<Record<string, Column>>;
  /** The name of the table, which may stand before a column and a dot. */
  readonly table: string;
}

export type Column =
  | { readonly kind: 'text' | 'number'; readonly field: Path }
  | { readonly kind: 'time'; readonly field: Path }
  /** A place inside it is a place inside the document. */
  | {
      readonly kind: 'json';
      /** The way in the column to the way in the document; the longest that fits counts. */
      readonly members: readonly { readonly path: Path; readonly field: Path; readonly labels?: true }[];
    };

/** What a place in a search comes to. */
type Target =
  | { readonly kind: 'text' | 'number' | 'time' | 'json'; readonly field: Path }
  | { readonly kind: 'label'; readonly key: string; readonly field: Path }
  | { readonly kind: 'labels'; readonly field: Path };

/** Throws MaestroError 21 for what cannot be read or is not searchable. */
export function compileSearch(search: string, searchable: Searchable): Filter {
  return compile(parseSearch(search), searchable);
}

function compile(node: Node, searchable: Searchable): Filter {
  switch (node.kind) {
    case 'and':
    case 'or':
      return { op: node.kind, filters: node.nodes.map((part) => compile(part, searchable)) };
    case 'not':
      return { op: 'not', filter: compile(node.node, searchable) };
    case 'null': {
      const target = targetOf(node.place, searchable);
      return target.kind === 'label'
        ? { op: 'not', filter: { op: 'hasLabel', key: target.key } }
        : { op: 'isNull', field: target.field };
    }
    case 'compare':
      return compare(targetOf(node.place, searchable), node.operator, node.value);
    case 'in': {
      const target = targetOf(node.place, searchable);
      if (target.kind === 'label') return { op: 'labelIn', key: target.key, values: node.values.map(String) };
      return { op: 'in', field: target.field, values: node.values.map((value) => operand(target, value)) };
    }
    case 'between': {
      const target = targetOf(node.place, searchable);
      return {
        op: 'between',
        field: target.field,
        low: ordered(operand(target, node.low)),
        high: ordered(operand(target, node.high)),
      };
    }
    case 'like':
    case 'ilike': {
      const { field } = targetOf(node.place, searchable);
      if (/(?<!\\)(?:\\\\)*\\$/.test(node.pattern)) throw searchError('a pattern ends in a backslash');
      return { op: node.kind, field, pattern: node.pattern };
    }
    case 'contains':
      return contains(targetOf(node.place, searchable), node.json);
  }
}

const operators = { '=': 'eq', '<>': 'ne', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' } as const;

function compare(target: Target, operator: Comparison, value: Value): Filter {
  if (target.kind === 'label') {
    const { key } = target;
    if (operator === '=') return { op: 'label', key, value: String(value) };
    // As in SQL: a label that is not there is neither equal nor unequal.
    if (operator === '<>') {
      return {
        op: 'and',
        filters: [
          { op: 'hasLabel', key },
          { op: 'not', filter: { op: 'label', key, value: String(value) } },
        ],
      };
    }
  }
  const op = operators[operator];
  const compared = operand(target, value);
  return op === 'eq' || op === 'ne'
    ? { op, field: target.field, value: compared }
    : { op, field: target.field, value: ordered(compared) };
}

function ordered(value: Value): string | number {
  if (typeof value === 'boolean') throw searchError('true and false have no order');
  return value;
}

/** The value in the form in which the document has it. */
function operand(target: Target, value: Value): Value {
  switch (target.kind) {
    case 'time':
      return timeText(value);
    case 'number':
      return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    case 'text':
      return String(value);
    default:
      return value;
  }
}

/** Times are kept with milliseconds in UTC, so that they order as text. */
function timeText(value: Value): string {
  const text = String(value);
  const stamp =
    parseTimestamp(text) ??
    parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text.replace(' ', 'T'));
  if (stamp === undefined) throw searchError('a time is not of RFC 3339');
  return new Date(stamp.seconds * 1000 + Math.floor(stamp.nanos / 1e6)).toISOString();
}

function contains(target: Target, text: string): Filter {
  const parsed = parseJson(Buffer.from(text), 16);
  if (!parsed.ok) throw searchError(`what stands after @> is not JSON: ${parsed.message}`);
  const value = parsed.value as Json;
  if (target.kind === 'label') throw searchError('a label is no JSON: compare it with =');
  if (target.kind !== 'labels') return { op: 'contains', field: target.field, value };
  const wanted = isRecord(value) ? Object.entries(value) : undefined;
  if (wanted?.every(([, member]) => typeof member === 'string')) {
    const filters = wanted.map(([key, member]): Filter => ({ op: 'label', key, value: String(member) }));
    const [first] = filters;
    return filters.length === 1 && first !== undefined ? first : { op: 'and', filters };
  }
  return { op: 'contains', field: target.field, value };
}

function targetOf(place: Place, { columns, table }: Searchable): Target {
  const dot = place.column.indexOf('.');
  const isQualified = dot !== -1 && place.column.slice(0, dot) === table;
  const name = isQualified ? place.column.slice(dot + 1) : place.column;
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (column === undefined)
    throw searchError(`there is no column of that name; known are ${Object.keys(columns).join(', ')}`);
  if (column.kind !== 'json') {
    if (place.path.length > 0) throw searchError(`${name} is no JSON column`);
    return { kind: column.kind, field: column.field };
  }
  for (const { path, field, labels } of column.members) {
    if (!path.every((member, at) => place.path[at] === member)) continue;
    const rest = place.path.slice(path.length);
    const [key] = rest;
    if (labels && rest.length === 1 && key !== undefined) return { kind: 'label', key, field: [...field, key] };
    if (labels && rest.length === 0) return { kind: 'labels', field };
    if (rest.includes('') || rest.includes('*')) break;
    if (!labels) return { kind: 'json', field: [...field, ...rest] };
  }
  throw searchError(`that part of ${name} is not searchable`);
}
