// Everything the store makes in the database: one PostgreSQL schema, a few tables per container, an index for every declared
// field, and the functions of the other files. Making it is safe when several processes do it at once, and when all is there
// already, nothing is touched.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Layout } from '../engine.ts';
import { StoreError } from '../errors.ts';
import type { Connections } from './connection.ts';
import { violatedConstraint } from './errors.ts';
import { indexedValue, literalPlace } from './json-value.ts';
import { digest, lockNumber, type Names } from './names.ts';
import type { SqlFunction } from './write-functions.ts';

/** Of the tables. Raised when their shape changes in a way that older code cannot work with. */
const schemaVersion = 1;
const oldestServer = 130000;
const longestStatementMs = 6 * 3600 * 1000;

interface Index {
  /** Unqualified. */
  readonly name: string;
  readonly isUnique: boolean;
  /** What follows the table's name in CREATE INDEX. */
  readonly on: string;
  /** The unique key's name. */
  readonly key?: string;
}

/** The schema and the tables that all containers share. */
export async function prepareSchema(connections: Connections, schema: string): Promise<void> {
  const [server] = await connections.read(
    { text: `SELECT current_setting('server_version_num'), current_setting('server_encoding')` },
    [],
  );
  if (Number(server?.[0]) < oldestServer) {
    throw new StoreError('Invalid', `PostgreSQL at ${connections.server} must be version 13 or newer`);
  }
  if (server?.[1] !== 'UTF8') {
    throw new StoreError(
      'Invalid',
      `the database at ${connections.server} must have the encoding UTF8, not ${server?.[1]}`,
    );
  }
  if ((await versionOf(connections, schema)) !== schemaVersion) {
    await alone(connections, schema, async (client) => {
      const here = await client.query({
        text: 'SELECT to_regnamespace($1) IS NOT NULL',
        values: [schema],
        rowMode: 'array',
      });
      if (here.rows[0]?.[0] !== 't') await client.query(`CREATE SCHEMA "${schema}"`);
      await client.query(`
        BEGIN;
        CREATE TABLE IF NOT EXISTS "${schema}".meta (name text PRIMARY KEY, value text NOT NULL);
        CREATE TABLE IF NOT EXISTS "${schema}".secrets (name text PRIMARY KEY, value bytea NOT NULL);
        CREATE TABLE IF NOT EXISTS "${schema}".containers (
          name text PRIMARY KEY,
          epoch text NOT NULL,
          trimmed_xid xid8 NOT NULL DEFAULT '0',
          trimmed_revision bigint NOT NULL DEFAULT 0
        );
        -- Immutable, although convert_to is not so in general: the database's encoding is UTF8.
        CREATE OR REPLACE FUNCTION "${schema}".value_hash(jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
          AS $aro$ SELECT sha256(convert_to($1::text, 'UTF8')) $aro$;
        INSERT INTO "${schema}".meta VALUES ('version', '${schemaVersion}') ON CONFLICT DO NOTHING;
        COMMIT`);
    });
  }
  const version = await versionOf(connections, schema);
  if (version !== schemaVersion) {
    throw new StoreError(
      'Corrupt',
      `the schema ${schema} at ${connections.server} has version ${version}, and this program knows ${schemaVersion}: run a newer one`,
    );
  }
}

async function versionOf(connections: Connections, schema: string): Promise<number | undefined> {
  const [there] = await connections.read({ text: 'SELECT to_regclass($1)' }, [`"${schema}".meta`]);
  if (!there?.[0]) return undefined;
  const [cells] = await connections.read({ text: `SELECT value FROM "${schema}".meta WHERE name = 'version'` }, []);
  return cells ? Number(cells[0]) : undefined;
}

/** A container's tables, indexes and functions. Answers with the names of its unique keys by the names of their indexes. */
export async function prepareContainer(
  connections: Connections,
  names: Names,
  layout: Layout,
  functions: readonly SqlFunction[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = indexesOf(names, layout);
  if (!(await isComplete(connections, names, wanted, functions))) {
    await alone(connections, names.schema, async (client) => {
      await client.query(`BEGIN; ${tables(names)}; ${functions.map(({ create }) => create).join('; ')}; COMMIT`);
      await bringIndexes(client, names, wanted);
    });
  }
  return new Map(wanted.flatMap(({ name, key }) => (key === undefined ? [] : [[name, key]])));
}

function tables(names: Names): string {
  const own = (suffix: string) => `"${names.container}_${suffix}"`;
  return `
    CREATE TABLE IF NOT EXISTS ${names.documents} (
      partition text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      revision bigint NOT NULL,
      expires_at timestamptz,
      body jsonb NOT NULL,
      CONSTRAINT ${own('documents_pkey')} PRIMARY KEY (partition, id)
    );
    CREATE INDEX IF NOT EXISTS ${own('documents_expiry')} ON ${names.documents} (expires_at) WHERE expires_at IS NOT NULL;

    -- "at" is for trimming by age. The index by revision finds single entries; it is tiny, as revisions come in order.
    CREATE TABLE IF NOT EXISTS ${names.changes} (
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
      revision bigint NOT NULL,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      expires_at timestamptz,
      kind text NOT NULL,
      partition text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      body jsonb NOT NULL,
      CONSTRAINT ${own('changes_pkey')} PRIMARY KEY (xid, revision)
    );
    CREATE INDEX IF NOT EXISTS ${own('changes_partition')} ON ${names.changes} (partition, xid, revision);
    CREATE INDEX IF NOT EXISTS ${own('changes_revision')} ON ${names.changes} USING brin (revision)
      WITH (pages_per_range = 32, autosummarize = on);

    CREATE TABLE IF NOT EXISTS ${names.queue} (
      partition text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      fair_key text COLLATE "C" NOT NULL,
      place bigint,
      since timestamptz,
      wake_at timestamptz,
      owner text COLLATE "C",
      token bigint NOT NULL DEFAULT 0,
      dequeues int NOT NULL DEFAULT 0,
      CONSTRAINT ${own('queue_pkey')} PRIMARY KEY (partition, id)
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
    CREATE INDEX IF NOT EXISTS ${own('queue_ready')} ON ${names.queue} (fair_key, place) WHERE place IS NOT NULL;
    CREATE INDEX IF NOT EXISTS ${own('queue_wake')} ON ${names.queue} (wake_at) WHERE place IS NULL;
    CREATE INDEX IF NOT EXISTS ${own('queue_since')} ON ${names.queue} (since) WHERE place IS NULL;
    CREATE INDEX IF NOT EXISTS ${own('queue_owner')} ON ${names.queue} (owner) WHERE owner IS NOT NULL;

    CREATE TABLE IF NOT EXISTS ${names.turns} (
      fair_key text COLLATE "C",
      turn bigint NOT NULL,
      CONSTRAINT ${own('turns_pkey')} PRIMARY KEY (fair_key)
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
    CREATE INDEX IF NOT EXISTS ${own('turns_order')} ON ${names.turns} (turn);

    CREATE SEQUENCE IF NOT EXISTS ${names.revisions};
    CREATE SEQUENCE IF NOT EXISTS ${names.places};
    CREATE SEQUENCE IF NOT EXISTS ${names.tokens};
    INSERT INTO ${names.containers} (name, epoch) VALUES ('${names.container}', '${newEpoch()}') ON CONFLICT DO NOTHING`;
}

/** Names the history of one container, so that a place in another one is not mistaken for a place in this. */
export function newEpoch(): string {
  return randomBytes(6).toString('hex');
}

function indexesOf(names: Names, layout: Layout): readonly Index[] {
  const named = (kind: string, on: string) => `${names.container}_${kind}_${digest(on, 12)}`;
  const plain = layout.indexes.map(({ field, type }) => {
    // Partition and id follow, so that the index alone gives pages in order.
    const on = `(${indexedValue(field, type)} NULLS FIRST, partition, id)`;
    return { name: named('by', on), isUnique: false, on };
  });
  const labels = layout.labels === undefined ? [] : [`USING gin ((${literalPlace(layout.labels)}))`];
  const unique = layout.uniqueKeys.map(({ name, paths }) => {
    const on = `(partition, ${paths.map((path) => uniqueValue(names, path)).join(', ')})`;
    return { name: named('key', `${name} ${on}`), isUnique: true, on, key: name };
  });
  return [...plain, ...labels.map((on) => ({ name: named('labels', on), isUnique: false, on })), ...unique];
}

/** Hashed, as values may be of any length; NULL when missing, and NULLs are never equal. */
function uniqueValue(names: Names, path: readonly string[]): string {
  const place = literalPlace(path);
  return `(CASE WHEN jsonb_typeof(${place}) <> 'null' THEN "${names.schema}".value_hash(${place}) END)`;
}

async function isComplete(
  connections: Connections,
  names: Names,
  wanted: readonly Index[],
  functions: readonly SqlFunction[],
): Promise<boolean> {
  const [cells] = await connections.read(
    {
      text: `SELECT
        (SELECT count(*) FROM "${names.schema}".containers WHERE name = $2),
        (SELECT string_agg(c.relname, ',') FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
          WHERE c.relnamespace = to_regnamespace($1) AND i.indisvalid AND c.relname LIKE $2 || '\\_%'),
        (SELECT string_agg(p.proname, ',') FROM pg_proc p
          WHERE p.pronamespace = to_regnamespace($1) AND p.proname LIKE $2 || '\\_%')`,
    },
    [names.schema, names.container],
  );
  const indexes = new Set(cells?.[1]?.split(',') ?? []);
  const made = new Set(cells?.[2]?.split(',').map((name) => `"${names.schema}"."${name}"`) ?? []);
  const undeclared = [...indexes].filter(
    (name) => isUniqueOf(names, name) && !wanted.some((index) => index.name === name),
  );
  return (
    cells?.[0] === '1' &&
    undeclared.length === 0 &&
    wanted.every(({ name }) => indexes.has(name)) &&
    functions.every(({ name }) => made.has(name))
  );
}

function isUniqueOf(names: Names, index: string): boolean {
  return new RegExp(`^${names.container}_key_[0-9a-f]{12}$`).test(index);
}

/**
 * Makes what is missing and removes unique keys that are no longer declared. Other undeclared indexes stay: an older version
 * of a service may still be running and need them.
 */
async function bringIndexes(client: PoolClient, names: Names, wanted: readonly Index[]): Promise<void> {
  const there = await client.query<[string, string]>({
    text: `SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE i.indrelid = $1::regclass`,
    values: [names.documents],
    rowMode: 'array',
  });
  const valid = new Set(there.rows.filter(([, isValid]) => isValid === 't').map(([name]) => name));
  for (const [name, isValid] of there.rows) {
    const isDeclared = wanted.some((index) => index.name === name);
    if (isDeclared ? isValid !== 't' : isUniqueOf(names, name))
      await client.query(`DROP INDEX "${names.schema}"."${name}"`);
  }
  const empty = (await client.query(`SELECT 1 FROM ${names.documents} LIMIT 1`)).rowCount === 0;
  for (const { name, isUnique, on, key } of wanted) {
    if (valid.has(name)) continue;
    // Building an index the plain way keeps writers waiting: fine for a table nobody has written to yet.
    const how = `${isUnique ? 'UNIQUE ' : ''}INDEX ${empty ? '' : 'CONCURRENTLY '}`;
    try {
      await client.query({
        text: `CREATE ${how}"${name}" ON ${names.documents} ${on}`,
        query_timeout: longestStatementMs,
      } as { text: string });
    } catch (error) {
      if (violatedConstraint(error) === undefined) throw error;
      throw new StoreError(
        'UniqueKey',
        `container ${names.container}: documents that are there already break the new unique key ${key ?? ''}; change them first`,
        key === undefined ? {} : { uniqueKey: key },
      );
    }
  }
}

/** One process at a time changes what is in the schema. */
async function alone(
  connections: Connections,
  schema: string,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const lock = lockNumber(`${schema} definitions`);
  await connections.withClient('read', async (client) => {
    await client.query('SET statement_timeout = 0');
    // Not by waiting in the database: whoever waits in a statement keeps an index from being built concurrently.
    const take = { text: `SELECT 1 WHERE pg_try_advisory_lock(${lock})` };
    while ((await client.query(take)).rowCount === 0) await sleep(20 + Math.random() * 30);
    try {
      await work(client);
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      await client.query(`SELECT pg_advisory_unlock(${lock})`).catch(() => undefined);
      await client.query('RESET statement_timeout').catch(() => undefined);
    }
  });
}
