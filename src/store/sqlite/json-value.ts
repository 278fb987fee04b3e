import type { Field, Path } from '../filter.ts';
import { literal, raw, type Sql, sql } from './sql.ts';

export type ValueType = 'string' | 'number' | 'boolean';

/** SQLite's spelling of a path. Every segment is quoted, so a segment of digits is a member name and not an array index. */
export function jsonPath(path: Path): string {
  return `$${path.map((segment) => `.${JSON.stringify(segment)}`).join('')}`;
}

const typedSql: Readonly<Record<ValueType, (source: Sql, path: Sql) => Sql>> = {
  string: (source, path) => sql`CASE WHEN json_type(${source}, ${path}) = 'text' THEN ${source} ->> ${path} END`,
  number: (source, path) =>
    sql`CASE WHEN json_type(${source}, ${path}) IN ('integer', 'real') THEN ${source} ->> ${path} END`,
  boolean: (source, path) => sql`CASE json_type(${source}, ${path}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`,
};

/** The value at a path of JSON text when it is of this type, else NULL. The path is bound. */
export function typedValue(source: Sql, path: string, type: ValueType): Sql {
  return typedSql[type](source, sql`${path}`);
}

/**
 * The same for the body of a document, with the path as text: the form of the declared indexes. The planner takes an index
 * on an expression only for the very same expression, so whatever should use the index must come from here.
 */
export function declaredValue(path: Path, type: ValueType): Sql {
  return typedSql[type](raw('body'), raw(literal(jsonPath(path))));
}

/** What unique keys compare: the JSON text, so that 1, "1" and true differ; NULL, which never collides, when missing or null. */
export function uniqueValue(source: Sql, path: Path): Sql {
  return sql`nullif(${source} -> ${raw(literal(jsonPath(path)))}, 'null')`;
}

export interface DeclaredFields {
  readonly indexes: readonly { readonly field: Path; readonly type: ValueType }[];
}

/** A field's value as SQL, NULL when it is of another type; in the form of its index if one is declared. */
export function fieldValue(layout: DeclaredFields, field: Field, type: ValueType): Sql {
  if (field === 'id') return raw(type === 'string' ? 'id' : 'NULL');
  return isDeclared(layout, field, type) ? declaredValue(field, type) : typedValue(raw('body'), jsonPath(field), type);
}

export function isDeclared(layout: DeclaredFields, field: Path, type: ValueType): boolean {
  return layout.indexes.some((index) => index.type === type && samePath(index.field, field));
}

function samePath(left: Path, right: Path): boolean {
  return left.length === right.length && left.every((segment, index) => segment === right[index]);
}
