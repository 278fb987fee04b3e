// Pages that come out of an index in key order: all documents, those with one label, those with one value of a declared
// field. They cost what they return, so they run on the main thread.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cursor, EnginePage, EngineQuery, Layout } from '../engine.ts';
import type { Filter } from '../filter.ts';
import type { statementCache } from './database.ts';
import { declaredValue, isDeclared } from './json-value.ts';
import type { Line } from './line.ts';
import { type DocumentCells, documentColumns, pageCharacters, rowOf } from './rows.ts';
import { identifier, joined, raw, type Sql, sql } from './sql.ts';
import { tablesOf } from './tables.ts';

/** Rows looked at before other work gets a turn: expired documents that await the sweep are passed over one by one. */
const chunkRows = 1000;

/** Where a scan reads and under which condition; its rows are ordered by `key`'s partition and id. */
interface Scan {
  readonly from: Sql;
  readonly where: Sql;
  readonly key: 'document' | 'label';
}

/** The scan that answers the query exactly, or undefined when there is none. */
export function scanFor(layout: Layout, query: EngineQuery): Scan | undefined {
  if (query.orderBy.length > 0 || query.offset > 0) return undefined;
  const { filter } = query;
  const tables = tablesOf(layout.name);
  const documents = raw(`${identifier(tables.documents)} AS document`);
  if (filter === undefined) return { from: documents, where: raw('1'), key: 'document' };
  if (filter.op === 'label' && layout.labels !== undefined) {
    const labels = raw(`${identifier(tables.labels)} AS label`);
    return {
      from: sql`${labels} CROSS JOIN ${documents} ON document.partition = label.partition AND document.id = label.id`,
      where: sql`label.key = ${filter.key} AND label.value = ${filter.value}`,
      key: 'label',
    };
  }
  const equal = declaredEquality(layout, filter);
  return equal && { from: documents, where: equal, key: 'document' };
}

function declaredEquality(layout: Layout, filter: Filter): Sql | undefined {
  if (filter.op !== 'eq' || filter.field === 'id') return undefined;
  const { field, value } = filter;
  const type = typeof value === 'string' ? 'string' : typeof value === 'number' ? 'number' : 'boolean';
  if (!isDeclared(layout, field, type)) return undefined;
  return sql`${declaredValue(field, type)} = ${typeof value === 'boolean' ? Number(value) : value}`;
}

export interface ScanContext {
  readonly reads: Line;
  readonly clock: () => number;
  readonly statement: ReturnType<typeof statementCache>;
}

export async function runScan(context: ScanContext, scan: Scan, query: EngineQuery): Promise<EnginePage> {
  const rows: EnginePage['rows'][number][] = [];
  let more = false;
  let characters = 0;
  let after: Pick<Cursor, 'partition' | 'id'> | undefined = query.after;

  /** Reads on until the page is full and the row after it is seen, or the chunk ends; true when the scan must go on. */
  function readChunk(): boolean {
    const { text, params } = scanSql(scan, query.partition, after);
    const now = context.clock();
    let seen = 0;
    for (const cells of context.statement<DocumentCells>(text).iterate(...params)) {
      seen++;
      after = { partition: cells[0], id: cells[1] };
      if (cells[3] !== null && cells[3] <= now) continue;
      if (rows.length >= query.limit || characters >= pageCharacters) {
        more = true;
        return false;
      }
      rows.push({ row: rowOf(cells), values: [] });
      characters += cells[4].length;
    }
    return seen === chunkRows;
  }

  while (await context.reads.run(readChunk)) await nextTurn();
  return { rows, more };
}

function scanSql(scan: Scan, partition: string | undefined, after: Pick<Cursor, 'partition' | 'id'> | undefined): Sql {
  const where = [scan.where];
  const keyPartition = raw(`${scan.key}.partition`);
  const keyId = raw(`${scan.key}.id`);
  if (partition !== undefined) {
    where.push(sql`${keyPartition} = ${partition}`);
    if (after !== undefined) where.push(sql`${keyId} > ${after.id}`);
  } else if (after !== undefined) {
    where.push(sql`(${keyPartition}, ${keyId}) > (${after.partition}, ${after.id})`);
  }
  const columns = documentColumns
    .split(', ')
    .map((column) => `document.${column}`)
    .join(', ');
  return sql`SELECT ${raw(columns)} FROM ${scan.from} WHERE ${joined(where, 'AND', raw('1'))}
    ORDER BY ${keyPartition}, ${keyId} LIMIT ${chunkRows}`;
}
