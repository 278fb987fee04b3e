// Queries of any shape: filter, sort, skip. What they cost depends on the data, so on all but small containers they run in
// the background worker. Pages that an index hands out in order are in scans.ts.
import type { DatabaseSync } from 'node:sqlite';
import type { Cursor, EnginePage, EngineQuery, Layout } from '../engine.ts';
import type { Filter, OrderBy } from '../filter.ts';
import { prepare, type Statement, statementCache } from './database.ts';
import { fieldValue } from './json-value.ts';
import { type DocumentCells, documentColumns, pageCharacters, rowOf } from './rows.ts';
import { commaSeparated, identifier, joined, raw, type Sql, sql } from './sql.ts';
import { filterSql } from './sql-filter.ts';
import { tablesOf } from './tables.ts';

type OrderValue = string | number | null;

export interface Queries {
  query(layout: Layout, query: EngineQuery, now: number): EnginePage;
  count(layout: Layout, partition: string | undefined, filter: Filter | undefined, now: number): number;
}

/** Queries on one connection. Synchronous: the caller sees to it that they are short or not on the main thread. */
export function createQueries(db: DatabaseSync): Queries {
  const statement = statementCache(db);
  const begin = prepare(db, 'BEGIN');
  const end = prepare(db, 'COMMIT');

  /** Both steps of a query look at the same state of the database. */
  function snapshot<T>(work: () => T): T {
    begin.run();
    try {
      return work();
    } finally {
      end.run();
    }
  }

  return {
    query(layout, query, now) {
      const { text, params } = keysSql(layout, query, now);
      const documents = identifier(tablesOf(layout.name).documents);
      return snapshot(() => {
        const keys = statement<[number, ...OrderValue[]]>(text).all(...params);
        const read = statement<DocumentCells>(`SELECT ${documentColumns} FROM ${documents} WHERE rowid = ?`);
        return readPage(read, keys, query.limit);
      });
    },
    count(layout, partition, filter, now) {
      const documents = raw(identifier(tablesOf(layout.name).documents));
      const where = whereSql(layout, partition, filter, now);
      const { text, params } = sql`SELECT count(*) FROM ${documents} WHERE ${where}`;
      return statement<[number]>(text).get(...params)?.[0] ?? 0;
    },
  };
}

/** Sorting rows without their bodies keeps the sort small; the bodies of the page are read afterwards. */
function keysSql(layout: Layout, query: EngineQuery, now: number): Sql {
  const documents = raw(identifier(tablesOf(layout.name).documents));
  const values = query.orderBy.map((order) => fieldValue(layout, order.field, order.type));
  const where = [whereSql(layout, query.partition, query.filter, now)];
  if (query.after !== undefined) where.push(afterSql(layout, query.orderBy, query.after));
  const columns = commaSeparated([raw('rowid'), ...values]);
  const order = query.orderBy.map((by, index) => raw(`${index + 2}${by.direction === 'descending' ? ' DESC' : ''}`));
  const orderBy = commaSeparated([...order, raw('partition'), raw('id')]);
  return sql`SELECT ${columns} FROM ${documents} WHERE ${joined(where, 'AND', raw('1'))}
    ORDER BY ${orderBy} LIMIT ${query.limit + 1} OFFSET ${query.offset}`;
}

/** The keys are one more than the limit when more rows follow. */
function readPage(
  read: Statement<DocumentCells>,
  keys: readonly (readonly [number, ...OrderValue[]])[],
  limit: number,
): EnginePage {
  const rows: EnginePage['rows'][number][] = [];
  let characters = 0;
  for (const [rowid, ...values] of keys) {
    if (rows.length >= limit || characters >= pageCharacters) break;
    const cells = read.get(rowid);
    if (cells === undefined) continue;
    const row = rowOf(cells);
    rows.push({ row, values });
    characters += row.json.length;
  }
  return { rows, more: rows.length < keys.length };
}

function whereSql(layout: Layout, partition: string | undefined, filter: Filter | undefined, now: number): Sql {
  const parts = [sql`(expires_at IS NULL OR expires_at > ${now})`];
  if (partition !== undefined) parts.push(sql`partition = ${partition}`);
  if (filter !== undefined) parts.push(sql`(${filterSql(layout, filter)})`);
  return joined(parts, 'AND', raw('1'));
}

/**
 * The rows behind a cursor: those further along in the first order value, or equal there and further along in the next, and
 * so on to partition and id. NULL is the smallest value, as it is to SQLite's ORDER BY.
 */
function afterSql(layout: Layout, orderBy: readonly OrderBy[], cursor: Cursor): Sql {
  return orderBy.reduceRight<Sql>((rest, order, index) => {
    const value = fieldValue(layout, order.field, order.type);
    const last = cursor.values[index] ?? null;
    return sql`(${furtherSql(value, last, order.direction === 'descending')} OR (${value} IS ${last} AND ${rest}))`;
  }, sql`(partition, id) > (${cursor.partition}, ${cursor.id})`);
}

function furtherSql(value: Sql, last: OrderValue, descending: boolean): Sql {
  if (descending) return last === null ? raw('0') : sql`(${value} < ${last} OR ${value} IS NULL)`;
  return last === null ? sql`${value} IS NOT NULL` : sql`${value} > ${last}`;
}

const smallDocuments = 200;
const smallBytes = 256 * 1024;

/** Whether a container is so small that any query on it is quick. Looks at sizes only, never at the bodies. */
export function smallContainer(db: DatabaseSync, container: string): () => boolean {
  const documents = identifier(tablesOf(container).documents);
  const look = prepare<[number, number]>(
    db,
    `SELECT count(*), total(bytes) FROM (SELECT octet_length(body) AS bytes FROM ${documents} LIMIT ${smallDocuments + 1})`,
  );
  return () => {
    const [count, bytes] = look.get() ?? [0, 0];
    return count <= smallDocuments && bytes <= smallBytes;
  };
}
