// Filters as SQL conditions on a row of a documents table. A condition may come out NULL where the contract says false: both
// are "not true" to WHERE, AND and OR, and `not` is compiled so that it does not tell them apart either.

import { afterPrefix } from '../after-prefix.ts';
import type { Layout } from '../engine.ts';
import type { Filter, Json, Scalar } from '../filter.ts';
import { fieldValue, jsonPath, typedValue, type ValueType } from './json-value.ts';
import { identifier, joined, raw, type Sql, sql } from './sql.ts';
import { tablesOf } from './tables.ts';

const never = raw('0');
const always = raw('1');
const comparisons = { eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;

/** The condition for WHERE, over the columns partition, id and body of the container's documents. */
export function filterSql(layout: Layout, filter: Filter): Sql {
  switch (filter.op) {
    case 'eq':
    case 'ne':
    case 'lt':
    case 'le':
    case 'gt':
    case 'ge':
      return compare(layout, filter.field, comparisons[filter.op], filter.value);
    case 'in':
      return isOneOf(layout, filter.field, filter.values);
    case 'between': {
      const { field, low, high } = filter;
      if (typeof low !== typeof high) return never;
      return joined([compare(layout, field, '>=', low), compare(layout, field, '<=', high)], 'AND', always);
    }
    case 'prefix': {
      const value = fieldValue(layout, filter.field, 'string');
      const end = afterPrefix(filter.value);
      return end === undefined
        ? sql`${value} >= ${filter.value}`
        : sql`(${value} >= ${filter.value} AND ${value} < ${end})`;
    }
    case 'like':
      return sql`${fieldValue(layout, filter.field, 'string')} GLOB ${globOf(filter.pattern)}`;
    case 'ilike':
      return sql`${fieldValue(layout, filter.field, 'string')} LIKE ${likeOf(filter.pattern)} ESCAPE '\\'`;
    case 'isNull':
      return sql`coalesce(json_type(body, ${jsonPath(filter.field)}), 'null') = 'null'`;
    case 'contains':
      return containsAt(raw('body'), jsonPath(filter.field), filter.value, 0);
    case 'label':
      return labelled(layout, filter.key, sql`AND value = ${filter.value}`);
    case 'labelIn':
      return labelled(
        layout,
        filter.key,
        sql`AND value IN (SELECT value FROM json_each(${JSON.stringify(filter.values)}))`,
      );
    case 'hasLabel':
      return labelled(layout, filter.key, raw(''));
    case 'not':
      return sql`(${filterSql(layout, filter.filter)}) IS NOT TRUE`;
    case 'and':
      return joined(
        filter.filters.map((part) => sql`(${filterSql(layout, part)})`),
        'AND',
        always,
      );
    case 'or':
      return joined(
        filter.filters.map((part) => sql`(${filterSql(layout, part)})`),
        'OR',
        never,
      );
  }
}

function typeOf(value: Scalar): ValueType {
  return typeof value === 'string' ? 'string' : typeof value === 'number' ? 'number' : 'boolean';
}

/** Booleans are 0 and 1 in SQLite. */
function stored(value: Scalar): string | number {
  return typeof value === 'boolean' ? Number(value) : value;
}

function compare(layout: Layout, field: readonly string[] | 'id', operator: string, value: Scalar): Sql {
  return sql`${fieldValue(layout, field, typeOf(value))} ${raw(operator)} ${stored(value)}`;
}

function isOneOf(layout: Layout, field: readonly string[] | 'id', values: readonly Scalar[]): Sql {
  const byType = Map.groupBy(values, typeOf);
  const parts = [...byType].map(([type, group]) => {
    const list = JSON.stringify(group.map(stored));
    return sql`${fieldValue(layout, field, type)} IN (SELECT value FROM json_each(${list}))`;
  });
  return joined(parts, 'OR', never);
}

/** A list of keys rather than a question for every document: the planner can start from the list. */
function labelled(layout: Layout, key: string, more: Sql): Sql {
  if (layout.labels === undefined) return never;
  const labels = raw(identifier(tablesOf(layout.name).labels));
  return sql`(partition, id) IN (SELECT partition, id FROM ${labels} WHERE key = ${key} ${more})`;
}

/**
 * Whether the JSON text `source` holds `needle` at `path`. Elements of arrays are looked at through json_each, whose value is
 * JSON text only for objects and arrays; CASE keeps SQLite from reading a plain string as JSON.
 */
function containsAt(source: Sql, path: string, needle: Json, depth: number): Sql {
  if (needle === null) return sql`json_type(${source}, ${path}) = 'null'`;
  if (typeof needle !== 'object') {
    return sql`${typedValue(source, path, typeOf(needle))} = ${stored(needle)}`;
  }
  if (isArray(needle)) {
    const each = `e${depth}`;
    const parts = needle.map(
      (element) =>
        sql`EXISTS (SELECT 1 FROM json_each(${source}, ${path}) AS ${raw(each)} WHERE ${elementContains(each, element, depth + 1)})`,
    );
    return sql`CASE json_type(${source}, ${path}) WHEN 'array' THEN ${joined(parts, 'AND', always)} END`;
  }
  const parts = Object.entries(needle).map(([member, value]) =>
    containsAt(source, `${path}.${JSON.stringify(member)}`, value, depth),
  );
  return sql`CASE json_type(${source}, ${path}) WHEN 'object' THEN ${joined(parts, 'AND', always)} END`;
}

function elementContains(each: string, needle: Json, depth: number): Sql {
  const type = raw(`${each}.type`);
  const value = raw(`${each}.value`);
  if (needle === null) return sql`${type} = 'null'`;
  switch (typeof needle) {
    case 'string':
      return sql`(${type} = 'text' AND ${value} = ${needle})`;
    case 'number':
      return sql`(${type} IN ('integer', 'real') AND ${value} = ${needle})`;
    case 'boolean':
      return sql`${type} = ${String(needle)}`;
    default:
      return sql`CASE WHEN ${type} IN ('object', 'array') THEN ${containsAt(value, '$', needle, depth)} END`;
  }
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

interface PatternPart {
  readonly kind: 'run' | 'one' | 'text';
  readonly character: string;
}

function* partsOf(pattern: string): Generator<PatternPart> {
  let literally = false;
  for (const character of pattern) {
    if (literally) {
      literally = false;
      yield { kind: 'text', character };
    } else if (character === '\\') literally = true;
    else if (character === '%') yield { kind: 'run', character };
    else if (character === '_') yield { kind: 'one', character };
    else yield { kind: 'text', character };
  }
  if (literally) yield { kind: 'text', character: '\\' };
}

/** The pattern for GLOB, which minds case. */
function globOf(pattern: string): string {
  let glob = '';
  for (const part of partsOf(pattern)) {
    if (part.kind === 'run') glob += '*';
    else if (part.kind === 'one') glob += '?';
    else glob += '*?['.includes(part.character) ? `[${part.character}]` : part.character;
  }
  return glob;
}

/** The pattern for LIKE, which ignores the case of A to Z only. */
function likeOf(pattern: string): string {
  let like = '';
  for (const part of partsOf(pattern)) {
    if (part.kind === 'run') like += '%';
    else if (part.kind === 'one') like += '_';
    else like += '%_\\'.includes(part.character) ? `\\${part.character}` : part.character;
  }
  return like;
}
