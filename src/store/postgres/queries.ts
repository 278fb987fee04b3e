// Reads: one document, a page of a query, a count.
import type { Cursor, EngineContainer, EngineQuery, Layout, Row } from '../engine.ts';
import type { OrderBy } from '../filter.ts';
import { type Cells, type Connections, prepared, type Statement, type Value } from './connection.ts';
import { type Bind, fieldValue } from './json-value.ts';
import type { Names } from './names.ts';
import { filterSql } from './sql-filter.ts';

/** For SELECT; `rowOf` reads them. */
export const rowColumns = (table: string) =>
  `${table}.partition, ${table}.id, ${table}.revision, ${table}.body::text,
   floor(extract(epoch FROM ${table}.expires_at) * 1000)::bigint`;

export const rowColumnCount = 5;

export function rowOf([partition, id, revision, json, expiresAt]: Cells): Row {
  const row = { partition: partition ?? '', id: id ?? '', revision: Number(revision), json: json ?? '' };
  return expiresAt === null || expiresAt === undefined ? row : { ...row, expiresAt: Number(expiresAt) };
}

/** As stored, so compressed; the texts may be a few times larger. */
const pageBytes = 4 * 1024 * 1024;

const alive = 'd.expires_at IS NULL OR d.expires_at > now()';

export function queriesOf(
  connections: Connections,
  names: Names,
  layout: Layout,
): Pick<EngineContainer, 'read' | 'query' | 'count'> {
  const point = prepared(
    `SELECT ${rowColumns('d')} FROM ${names.documents} d WHERE d.partition = $1 AND d.id = $2 AND (${alive})`,
  );
  const shape = preparedShapes();

  function where(query: Pick<EngineQuery, 'partition' | 'filter'>, bind: Bind): string[] {
    const parts = [`(${alive})`];
    if (query.partition !== undefined) parts.push(`d.partition = ${bind(query.partition, 'text')}`);
    if (query.filter !== undefined) parts.push(`(${filterSql(layout, query.filter, bind)})`);
    return parts;
  }

  return {
    async read(partition, id) {
      const [cells] = await connections.read(point, [partition, id]);
      return cells && rowOf(cells);
    },
    async query(query) {
      const { values, bind } = binder();
      const columns = query.orderBy.map((order) => fieldValue(layout, order.field, order.type, bind));
      const parts = where(query, bind);
      if (query.after !== undefined)
        parts.push(
          afterSql(
            query.orderBy,
            columns.map(({ exact }) => exact),
            query.after,
            bind,
          ),
        );
      const order = query.orderBy.flatMap(({ direction, type }, index) => {
        const column = columns[index];
        if (column === undefined) return [];
        const way = direction === 'descending' ? 'DESC NULLS LAST' : 'ASC NULLS FIRST';
        // The index has the order of the beginnings, and PostgreSQL sorts what is left.
        const keys =
          type === 'string' && column.indexed !== undefined ? [column.indexed, column.exact] : [column.exact];
        return keys.map((key) => `${key} ${way}`);
      });
      const keys = columns.map(({ exact }, index) => `${exact} AS k${index}`);
      // One row more than asked for tells whether more follow; so does a page cut short by its size.
      const text = `SELECT ${[rowColumns('p'), 'p.found', ...columns.map((_, index) => `p.k${index}`)].join(', ')} FROM (
          SELECT s.*, count(*) OVER () AS found, row_number() OVER () AS number,
            sum(pg_column_size(s.body)) OVER (ROWS UNBOUNDED PRECEDING) - pg_column_size(s.body) AS size_before
          FROM (SELECT ${['d.*', ...keys].join(', ')} FROM ${names.documents} d
            WHERE ${parts.join(' AND ')} ORDER BY ${[...order, 'd.partition', 'd.id'].join(', ')}
            LIMIT ${bind(query.limit + 1, 'bigint')} OFFSET ${bind(query.offset, 'bigint')}) s) p
        WHERE p.size_before < ${pageBytes} AND p.number <= ${bind(query.limit, 'bigint')} ORDER BY p.number`;
      const found = await connections.read(shape(text), values);
      const rows = found.map((cells) => ({
        row: rowOf(cells),
        values: query.orderBy.map(({ type }, index) => {
          const value = cells[rowColumnCount + 1 + index] ?? null;
          return value === null || type === 'string' ? value : Number(value);
        }),
      }));
      return { rows, more: Number(found[0]?.[rowColumnCount] ?? 0) > rows.length };
    },
    async count(partition, filter) {
      const { values, bind } = binder();
      const parts = where(
        { ...(partition === undefined ? {} : { partition }), ...(filter === undefined ? {} : { filter }) },
        bind,
      );
      const text = `SELECT count(*) FROM ${names.documents} d WHERE ${parts.join(' AND ')}`;
      const [cells] = await connections.read(shape(text), values);
      return Number(cells?.[0] ?? 0);
    },
  };
}

/**
 * The rows behind a cursor: those further along in the first order value, or equal there and further along in the next, and
 * so on to partition and id. Missing values are the smallest.
 */
function afterSql(orderBy: readonly OrderBy[], columns: readonly string[], cursor: Cursor, bind: Bind): string {
  const last = `(d.partition, d.id) > (${bind(cursor.partition, 'text')}, ${bind(cursor.id, 'text')})`;
  return orderBy.reduceRight((rest, { type, direction }, index) => {
    const column = columns[index] ?? 'NULL';
    const value = cursor.values[index] ?? null;
    const bound = value === null ? undefined : bind(value, type === 'string' ? 'text' : 'float8');
    if (bound === undefined) {
      return direction === 'descending'
        ? `(${column} IS NULL AND ${rest})`
        : `(${column} IS NOT NULL OR (${column} IS NULL AND ${rest}))`;
    }
    return direction === 'descending'
      ? `(${column} < ${bound} OR ${column} IS NULL OR (${column} = ${bound} AND ${rest}))`
      : `(${column} >= ${bound} AND (${column} > ${bound} OR ${rest}))`;
  }, last);
}

function binder(): { values: Value[]; bind: Bind } {
  const values: Value[] = [];
  return { values, bind: (value, type) => `$${values.push(value)}::${type}` };
}

/** Shapes of queries beyond this many, and very long ones, are not worth keeping prepared on every connection. */
const mostShapes = 200;
const longestShape = 8192;

function preparedShapes(): (text: string) => Statement {
  const seen = new Map<string, Statement>();
  return (text) => {
    const known = seen.get(text);
    if (known) return known;
    if (seen.size >= mostShapes || text.length > longestShape) return { text };
    const statement = prepared(text);
    seen.set(text, statement);
    return statement;
  };
}
