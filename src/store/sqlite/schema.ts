// All tables and indexes, and how opening brings a file to what this code wants.
import type { DatabaseSync } from 'node:sqlite';
import type { Layout } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { prepare } from './database.ts';
import { damaged, isSqlite, resultCode } from './errors.ts';
import { declaredValue, jsonPath, uniqueValue } from './json-value.ts';
import { identifier, literal, raw } from './sql.ts';
import { tablesOf } from './tables.ts';

/** Raised when an older version of this code could not use the file any more. */
const schemaVersion = 1;

const storeTables = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;`;

/** Whether the file's own tables are there and of this version. Throws Corrupt for a file that is somebody else's or newer. */
export function isPrepared(db: DatabaseSync, file: string): boolean {
  const tables = prepare<[string]>(db, `SELECT name FROM sqlite_master WHERE type = 'table'`).all();
  if (tables.length === 0) return false;
  if (!tables.some(([name]) => name === 'meta')) {
    throw new StoreError('Corrupt', `database ${file}: ${damaged('it belongs to another program')}`);
  }
  const version = Number(prepare<[string]>(db, `SELECT value FROM meta WHERE name = 'schema'`).get()?.[0]);
  if (version > schemaVersion) {
    throw new StoreError(
      'Corrupt',
      `database ${file} was written by a newer version (schema ${version}, this code knows ${schemaVersion}): run that version or newer`,
    );
  }
  return version === schemaVersion;
}

/** Inside a write transaction. */
export function makeStoreTables(db: DatabaseSync): void {
  db.exec(storeTables);
  prepare(db, `INSERT OR REPLACE INTO meta VALUES ('schema', ?)`).run(String(schemaVersion));
}

function containerTables(name: string): string {
  const tables = tablesOf(name);
  const table = (key: 'documents' | 'changes' | 'queue' | 'turns') => identifier(tables[key]);
  const index = (suffix: string) => identifier(`${name}/${suffix}`);
  return `
  CREATE TABLE IF NOT EXISTS ${table('documents')} (
    partition TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, expires_at INTEGER, body TEXT NOT NULL,
    PRIMARY KEY (partition, id));
  CREATE INDEX IF NOT EXISTS ${index('expiry')} ON ${table('documents')} (expires_at) WHERE expires_at IS NOT NULL;

  -- The feed's history and the source of revisions: a new row's number is one more than the largest, because the newest row is
  -- never deleted. Writers take turns, so the order of revisions is the order of commits, and there are no gaps.
  CREATE TABLE IF NOT EXISTS ${table('changes')} (
    revision INTEGER PRIMARY KEY, partition TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
    expires_at INTEGER, body TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS ${index('changes-by-partition')} ON ${table('changes')} (partition, revision);

  -- One row per document that wants work. Ready: ready_seq is its place in the line of its fairness key, the rest is NULL.
  -- Leased or put off: wake_at is when it becomes ready again, since is when that was decided; owner and token name the lease.
  CREATE TABLE IF NOT EXISTS ${table('queue')} (
    partition TEXT NOT NULL, id TEXT NOT NULL, fair_key TEXT NOT NULL, ready_seq INTEGER, wake_at INTEGER, since INTEGER,
    owner TEXT, token INTEGER NOT NULL DEFAULT 0, dequeues INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (partition, id)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS ${index('queue-ready')} ON ${table('queue')} (fair_key, ready_seq) WHERE ready_seq IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ${index('queue-wake')} ON ${table('queue')} (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ${index('queue-since')} ON ${table('queue')} (since) WHERE since IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ${index('queue-owner')} ON ${table('queue')} (owner) WHERE owner IS NOT NULL;

  -- One row per fairness key that has a ready document; the smallest turn is served next.
  CREATE TABLE IF NOT EXISTS ${table('turns')} (fair_key TEXT PRIMARY KEY, turn INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS ${index('turns-by-turn')} ON ${table('turns')} (turn);`;
}

/** Bodies are not given to CREATE INDEX IF NOT EXISTS: the text is compared with what the file has. */
function declaredIndexes(layout: Layout): ReadonlyMap<string, string> {
  const tables = tablesOf(layout.name);
  const documents = identifier(tables.documents);
  const wanted = new Map<string, string>();
  for (const { field, type } of layout.indexes) {
    const name = `${tables.indexPrefix}${type}${jsonPath(field)}`;
    // Partition and id at the end make a page of one value come out of the index in key order.
    const columns = `${declaredValue(field, type).text}, partition, id`;
    wanted.set(name, `CREATE INDEX ${identifier(name)} ON ${documents} (${columns})`);
  }
  for (const key of layout.uniqueKeys) {
    const name = `${tables.uniquePrefix}${key.name}`;
    const columns = key.paths.map((path) => uniqueValue(raw('body'), path).text).join(', ');
    wanted.set(name, `CREATE UNIQUE INDEX ${identifier(name)} ON ${documents} (partition, ${columns})`);
  }
  return wanted;
}

function layoutText(layout: Layout): string {
  return JSON.stringify([
    schemaVersion,
    [...declaredIndexes(layout).values()].sort(),
    layout.labels === undefined ? null : jsonPath(layout.labels),
  ]);
}

/** Whether the container's tables are there and shaped for this layout. */
export function hasLayout(db: DatabaseSync, layout: Layout): boolean {
  return storedLayout(db, layout.name) === layoutText(layout);
}

export function hasContainer(db: DatabaseSync, name: string): boolean {
  return storedLayout(db, name) !== undefined;
}

function storedLayout(db: DatabaseSync, name: string): string | undefined {
  return prepare<[string]>(db, 'SELECT value FROM meta WHERE name = ?').get(`layout/${name}`)?.[0];
}

/** Makes and drops tables and indexes for this layout, inside a write transaction. Takes long on a large container. */
export function applyLayout(db: DatabaseSync, layout: Layout): void {
  const before = storedLayout(db, layout.name);
  if (before === layoutText(layout)) return;
  db.exec(containerTables(layout.name));
  prepare(db, 'INSERT OR IGNORE INTO counters VALUES (?, 0)').run(layout.name);
  applyIndexes(db, layout);
  applyLabels(db, layout, before === undefined ? null : labelsPath(before));
  prepare(db, 'INSERT OR REPLACE INTO meta VALUES (?, ?)').run(`layout/${layout.name}`, layoutText(layout));
}

function labelsPath(text: string): string | null {
  const stored: unknown = JSON.parse(text);
  const path: unknown = Array.isArray(stored) ? stored[2] : null;
  return typeof path === 'string' ? path : null;
}

function applyIndexes(db: DatabaseSync, layout: Layout): void {
  const tables = tablesOf(layout.name);
  const wanted = declaredIndexes(layout);
  const present = new Map<string, string>();
  const list = prepare<[string, string]>(
    db,
    `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`,
  );
  for (const [name, text] of list.all(tables.documents)) {
    if (name.startsWith(tables.indexPrefix) || name.startsWith(tables.uniquePrefix)) present.set(name, text);
  }
  for (const [name, text] of present) {
    if (wanted.get(name) !== text) {
      db.exec(`DROP INDEX ${identifier(name)}`);
      present.delete(name);
    }
  }
  for (const [name, text] of wanted) {
    if (!present.has(name)) makeIndex(db, layout, name, text);
  }
}

function makeIndex(db: DatabaseSync, layout: Layout, name: string, text: string): void {
  try {
    db.exec(text);
  } catch (error) {
    if (!isSqlite(error, resultCode.constraint)) throw error;
    const uniqueKey = name.slice(tablesOf(layout.name).uniquePrefix.length);
    throw new StoreError(
      'UniqueKey',
      `container ${layout.name} has documents that share the values of the new unique key ${uniqueKey}; change or delete them first`,
      { uniqueKey, cause: error },
    );
  }
}

function applyLabels(db: DatabaseSync, layout: Layout, before: string | null): void {
  const wanted = layout.labels === undefined ? null : jsonPath(layout.labels);
  if (wanted === before) return;
  const tables = tablesOf(layout.name);
  const labels = identifier(tables.labels);
  db.exec(`DROP TABLE IF EXISTS ${labels}`);
  if (wanted === null) return;
  db.exec(`
    CREATE TABLE ${labels} (key TEXT NOT NULL, value TEXT NOT NULL, partition TEXT NOT NULL, id TEXT NOT NULL,
      PRIMARY KEY (key, value, partition, id)) WITHOUT ROWID;
    INSERT INTO ${labels} SELECT label.key, label.value, partition, document.id
      FROM ${identifier(tables.documents)} AS document, json_each(body, ${literal(wanted)}) AS label
      WHERE json_type(body, ${literal(wanted)}) = 'object' AND label.type = 'text';
    CREATE INDEX ${identifier(`${layout.name}/labels-by-document`)} ON ${labels} (partition, id);`);
}
