// What the query of a list says: which page, in which order, which fields, and what is searched for.
import type { OrderBy } from '../../store/filter.ts';
import { MaestroError } from './maestro-error.ts';
import type { Searchable } from './search/compile.ts';

export interface ListArguments {
  /** From 1. */
  readonly page: number;
  /** 0 asks for the total alone. */
  readonly size: number;
  readonly search: string;
  readonly orderBy: readonly OrderBy[];
  /** The fields to show, as paths; undefined for all. `id` is always among them. */
  readonly fields?: readonly (readonly string[])[];
}

const defaultSize = 100;
export const maxSize = 65_500;
const maxOrders = 8;
const maxFields = 100;

type Query = Readonly<Record<string, unknown>>;

/** Throws MaestroError 21 for what cannot be read. A parameter that is given twice has its first value. */
export function listArguments(query: Query, searchable: Searchable, shown: readonly string[]): ListArguments {
  const fields = fieldsOf(textOf(query, 'fields'), shown);
  const size = numberOf(query, 'size', defaultSize);
  return {
    page: Math.max(1, numberOf(query, 'page', 1)),
    size: size < 0 || size > maxSize ? maxSize : size,
    search: textOf(query, 'search').trim(),
    orderBy: orderOf(textOf(query, 'orderBy'), searchable),
    ...(fields === undefined ? {} : { fields }),
  };
}

function textOf(query: Query, name: string): string {
  const value = query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : '';
}

function numberOf(query: Query, name: string, fallback: number): number {
  const text = textOf(query, name).trim();
  if (text === '') return fallback;
  if (!/^-?\d{1,9}$/.test(text)) throw new MaestroError(21, `${name} must be a whole number`);
  return Number(text);
}

function orderOf(text: string, { columns, table }: Searchable): readonly OrderBy[] {
  if (text.trim() === '') return [];
  const parts = text.split(',', maxOrders + 1);
  if (parts.length > maxOrders) throw new MaestroError(21, `bad order value: over ${maxOrders} columns`);
  return parts.map((part) => {
    const [name = '', direction = 'asc', ...more] = part.trim().split(/\s+/);
    const plain = name.startsWith(`${table}.`) ? name.slice(table.length + 1) : name;
    const column = Object.hasOwn(columns, plain) ? columns[plain] : undefined;
    const isDirection = /^(?:asc|desc)$/i.test(direction);
    if (column === undefined || column.kind === 'json' || !isDirection || more.length > 0) {
      throw new MaestroError(21, 'bad order value: it must be a list of columns, each with asc or desc or neither');
    }
    return {
      field: column.field,
      type: column.kind === 'number' ? 'number' : 'string',
      direction: direction.toLowerCase() === 'desc' ? 'descending' : 'ascending',
    };
  });
}

function fieldsOf(text: string, shown: readonly string[]): readonly (readonly string[])[] | undefined {
  if (text.trim() === '') return undefined;
  const names = text.split(',', maxFields + 1).map((name) => name.trim());
  if (names.length > maxFields) throw new MaestroError(21, `fields: over ${maxFields} of them`);
  const paths = names.filter((name) => name !== '').map((name) => name.split('.'));
  for (const [top = ''] of paths) {
    if (!shown.includes(top))
      throw new MaestroError(21, `fields: there is none of that name; known are ${shown.join(', ')}`);
  }
  return [['id'], ...paths];
}

/** The object with these members alone. */
export function projected(value: unknown, fields: readonly (readonly string[])[]): Readonly<Record<string, unknown>> {
  const out: Record<string, unknown> = {};
  for (const path of fields) copy(value, path, out);
  return out;
}

function copy(from: unknown, [name, ...rest]: readonly string[], into: Record<string, unknown>): void {
  if (name === undefined || typeof from !== 'object' || from === null || !Object.hasOwn(from, name)) return;
  const member = (from as Readonly<Record<string, unknown>>)[name];
  if (rest.length === 0) {
    into[name] = member;
    return;
  }
  const inner = Object.hasOwn(into, name) ? into[name] : {};
  if (typeof inner !== 'object' || inner === null || inner === member) return;
  into[name] = inner;
  copy(member, rest, inner as Record<string, unknown>);
}
