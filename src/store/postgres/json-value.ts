// Places in a document as SQL expressions. A declared field is written out, so that its index is found; any other is bound.
// Every expression is NULL when the value is missing or of another type.
import type { Layout } from '../engine.ts';
import type { Field, Path } from '../filter.ts';
import { literal } from './names.ts';

export type ValueType = 'string' | 'number' | 'boolean';

/** Longer strings are indexed by their beginning: an index entry, with partition and id, must stay under 2,704 bytes. */
export const indexedCharacters = 128;

/** Takes a value and gives the text that stands for it: `$3::text`. */
export type Bind = (
  value: string | number | boolean | null | readonly (string | number | boolean)[],
  type: string,
) => string;

export interface TypedValue {
  /** The whole value. */
  readonly exact: string;
  /** What the index holds: for strings, their beginning. Undefined when no index was declared. */
  readonly indexed: string | undefined;
}

/** The jsonb at a path of declared member names. */
export function literalPlace(path: Path): string {
  return ['body', ...path.map(literal)].join(' -> ');
}

export function boundPlace(path: Path, bind: Bind): string {
  return ['body', ...path.map((member) => bind(member, 'text'))].join(' -> ');
}

/** What a declared index is made over. */
export function indexedValue(path: Path, type: ValueType): string {
  const exact = typed(literalPlace(path), type, (value) => `left(${value}, ${indexedCharacters})`);
  return type === 'string' ? `(${exact} COLLATE "C")` : `(${exact})`;
}

export function fieldValue(layout: Layout, field: Field, type: ValueType, bind: Bind): TypedValue {
  if (field === 'id') return { exact: type === 'string' ? 'id' : `NULL::${sqlTypes[type]}`, indexed: undefined };
  const isDeclared = layout.indexes.some((index) => index.type === type && samePath(index.field, field));
  const place = isDeclared ? literalPlace(field) : boundPlace(field, bind);
  const exact = typed(place, type, (value) => value);
  return {
    exact: type === 'string' ? `(${exact} COLLATE "C")` : `(${exact})`,
    indexed: isDeclared ? indexedValue(field, type) : undefined,
  };
}

export const sqlTypes: Readonly<Record<ValueType, string>> = { string: 'text', number: 'float8', boolean: 'boolean' };

function typed(place: string, type: ValueType, shorten: (value: string) => string): string {
  const value = type === 'string' ? shorten(`(${place}) #>> '{}'`) : `(${place})::${sqlTypes[type]}`;
  return `CASE WHEN jsonb_typeof(${place}) = '${type}' THEN ${value} END`;
}

function samePath(one: Path, other: Path): boolean {
  return one.length === other.length && one.every((member, index) => member === other[index]);
}
