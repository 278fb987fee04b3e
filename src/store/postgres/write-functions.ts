// The database's side of a write: functions that do it in one round trip and one transaction. Their names hold a hash of
// their text, so versions of this code with different functions work on one database side by side.
import type { Write } from '../engine.ts';
import { refusalState } from './errors.ts';
import { digest, type Names } from './names.ts';

/** A function of a container in the database. */
export interface SqlFunction {
  /** Qualified, for SQL text. */
  readonly name: string;
  readonly create: string;
}

export interface WriteFunctions {
  /** Of one operation: (partition, id, revision, body, ttl seconds, fair key, fence id, fence token) → revision */
  readonly single: Readonly<Record<Write['kind'], SqlFunction>>;
  /** (partition, kinds, ids, revisions, bodies, ttl seconds, fair keys, fence id, fence token) → revisions */
  readonly batch: SqlFunction;
  /**
   * The same, for when uniqueness was violated: that may be owed to a document that has expired, and does not tell which
   * operation it was. Expired documents are removed first, and each operation stands in a block of its own.
   */
  readonly carefulBatch: SqlFunction;
  /** (partition, limit) → how many expired documents it deleted */
  readonly sweep: SqlFunction;
  /** In the order in which they must be made. */
  readonly all: readonly SqlFunction[];
}

export function sqlFunction(names: Names, use: string, signature: string, body: string): SqlFunction {
  const name = `"${names.schema}"."${names.container}_${use}_${digest(signature + body, 8)}"`;
  return { name, create: `CREATE OR REPLACE FUNCTION ${name}${signature} LANGUAGE plpgsql AS $aro$\n${body}\n$aro$` };
}

/** Ends the transaction with a refusal; `operation` is an SQL expression. */
function refuse(code: string, operation?: string): string {
  const where = operation === undefined ? '' : `, DETAIL = (${operation})::text`;
  return `RAISE EXCEPTION USING ERRCODE = '${refusalState}', MESSAGE = '${code}'${where};`;
}

/**
 * The order of locks: the partition, then the lease's row, then rows of the partition, then fairness keys, last the turns in
 * the order of their keys. Claims wait for none of them but newly inserted turns, so there is no circle.
 */
export function writeFunctions(names: Names): WriteFunctions {
  // Every writer of a partition takes this lock before anything gives its transaction an id: so within a partition the order of
  // transaction ids is the order of commits, which is what the feed goes by.
  const lockPartition = `PERFORM pg_advisory_xact_lock(hashtextextended(p, ${names.partitionLocks}));`;

  // Nobody can claim the document before this transaction has ended: a claim would have to change the locked row.
  const checkFence = `
    IF fence_id IS NOT NULL THEN
      PERFORM 1 FROM ${names.queue} q WHERE q.partition = p AND q.id = fence_id AND q.token = fence_token
        AND q.owner IS NOT NULL AND q.wake_at > clock_timestamp() FOR SHARE;
      IF NOT FOUND THEN ${refuse('LeaseLost')} END IF;
    END IF;`;

  const ensureTurns = ensureTurnsFunction(names);

  const sweep = sqlFunction(
    names,
    'sweep',
    '(p text, most int) RETURNS int',
    `
DECLARE gone record; swept int := 0;
BEGIN
  ${lockPartition}
  FOR gone IN SELECT d.id FROM ${names.documents} d WHERE d.partition = p AND d.expires_at <= clock_timestamp() LIMIT most LOOP
    WITH d AS (DELETE FROM ${names.documents} d WHERE d.partition = p AND d.id = gone.id RETURNING d.id, d.body, d.expires_at)
      INSERT INTO ${names.changes} (revision, kind, partition, id, expires_at, body)
        SELECT nextval('${names.revisions}'), 'delete', p, d.id, d.expires_at, d.body FROM d;
    DELETE FROM ${names.queue} q WHERE q.partition = p AND q.id = gone.id;
    swept := swept + 1;
  END LOOP;
  RETURN swept;
END`,
  );

  const refuseVersion = sqlFunction(
    names,
    'refuse',
    '(op int, p text, i text) RETURNS void',
    `
BEGIN
  PERFORM 1 FROM ${names.documents} d WHERE d.partition = p AND d.id = i AND ${unexpired};
  IF FOUND THEN ${refuse('Changed', 'op')} END IF;
  ${refuse('NotFound', 'op')}
END`,
  );

  // Statements rather than functions of their own: a call with a document as argument costs more than its insert. They use the
  // variables op, p, i, expected, new_body, ttl, fair, and set revised.
  const operations = operationStatements(names, refuseVersion);
  const variables = 'revised bigint; expires timestamptz;';
  const expiry = `expires := CASE WHEN ttl IS NOT NULL THEN clock_timestamp() + ttl * interval '1 second' END;`;

  const singleOf = (kind: Write['kind']) =>
    sqlFunction(
      names,
      kind,
      `(p text, i text, expected bigint, new_body jsonb, ttl float8, fair text, fence_id text, fence_token bigint)
  RETURNS bigint`,
      `
DECLARE op int := 0; ${variables}
BEGIN
  ${lockPartition}
  ${checkFence}
  ${expiry}
  ${operations[kind]}
  IF fair IS NOT NULL THEN PERFORM ${ensureTurns.name}(ARRAY[fair]); END IF;
  RETURN revised;
END`,
    );
  const single = {
    create: singleOf('create'),
    replace: singleOf('replace'),
    delete: singleOf('delete'),
    check: singleOf('check'),
  };

  const batchOf = (use: string, first: string, around: (operation: string) => string) =>
    sqlFunction(
      names,
      use,
      `(p text, kinds text[], ids text[], revisions bigint[], bodies jsonb[], ttls float8[], fairs text[],
  fence_id text, fence_token bigint) RETURNS bigint[]`,
      `
DECLARE
  op int; i text; expected bigint; new_body jsonb; ttl float8; fair text; ${variables}
  answer bigint[] := '{}'; violated text;
BEGIN
  ${lockPartition}
  ${first}
  ${checkFence}
  FOR n IN 1 .. cardinality(kinds) LOOP
    op := n - 1; i := ids[n]; expected := revisions[n]; new_body := bodies[n]; ttl := ttls[n]; fair := fairs[n];
    ${expiry}
    ${around(`
    IF kinds[n] = 'create' THEN ${operations.create}
    ELSIF kinds[n] = 'replace' THEN ${operations.replace}
    ELSIF kinds[n] = 'delete' THEN ${operations.delete}
    ELSE ${operations.check}
    END IF;`)}
    answer[n] := revised;
  END LOOP;
  PERFORM ${ensureTurns.name}(fairs);
  RETURN answer;
END`,
    );
  const batch = batchOf('batch', '', (operation) => operation);
  const carefulBatch = batchOf(
    'careful_batch',
    `PERFORM ${sweep.name}(p, 10000);`,
    (operation) => `
    BEGIN ${operation}
    EXCEPTION WHEN unique_violation THEN
      GET STACKED DIAGNOSTICS violated = CONSTRAINT_NAME;
      RAISE EXCEPTION USING ERRCODE = '${refusalState}', DETAIL = op::text, CONSTRAINT = violated,
        MESSAGE = CASE WHEN violated = '${names.container}_documents_pkey' THEN 'Exists' ELSE 'UniqueKey' END;
    END;`,
  );

  return {
    single,
    batch,
    carefulBatch,
    sweep,
    all: [ensureTurns, sweep, refuseVersion, ...Object.values(single), batch, carefulBatch],
  };
}

const unexpired = '(d.expires_at IS NULL OR d.expires_at > clock_timestamp())';

function operationStatements(names: Names, refuseVersion: SqlFunction): Readonly<Record<Write['kind'], string>> {
  const thatVersion = `d.partition = p AND d.id = i AND d.revision = expected AND ${unexpired}`;
  const orRefuse = `IF NOT FOUND THEN PERFORM ${refuseVersion.name}(op, p, i); END IF;`;
  return {
    create: `
    revised := nextval('${names.revisions}');
    INSERT INTO ${names.documents} (partition, id, revision, expires_at, body) VALUES (p, i, revised, expires, new_body);
    INSERT INTO ${names.changes} (revision, kind, partition, id, expires_at, body)
      VALUES (revised, 'create', p, i, expires, new_body);
    IF fair IS NOT NULL THEN
      INSERT INTO ${names.queue} (partition, id, fair_key, place) VALUES (p, i, fair, nextval('${names.places}'));
    END IF;`,
    replace: `
    revised := nextval('${names.revisions}');
    UPDATE ${names.documents} d SET revision = revised, expires_at = expires, body = new_body WHERE ${thatVersion};
    ${orRefuse}
    INSERT INTO ${names.changes} (revision, kind, partition, id, expires_at, body)
      VALUES (revised, 'replace', p, i, expires, new_body);
    IF fair IS NULL THEN
      DELETE FROM ${names.queue} q WHERE q.partition = p AND q.id = i;
    ELSE
      INSERT INTO ${names.queue} AS q (partition, id, fair_key, place) VALUES (p, i, fair, nextval('${names.places}'))
        ON CONFLICT (partition, id) DO UPDATE SET fair_key = excluded.fair_key WHERE q.fair_key <> excluded.fair_key;
    END IF;`,
    delete: `
    WITH d AS (DELETE FROM ${names.documents} d WHERE ${thatVersion} RETURNING d.body, d.expires_at)
      INSERT INTO ${names.changes} (revision, kind, partition, id, expires_at, body)
        SELECT nextval('${names.revisions}'), 'delete', p, i, d.expires_at, d.body FROM d
        RETURNING revision INTO revised;
    ${orRefuse}
    DELETE FROM ${names.queue} q WHERE q.partition = p AND q.id = i;`,
    check: `
    PERFORM 1 FROM ${names.documents} d WHERE ${thatVersion};
    ${orRefuse}
    revised := expected;`,
  };
}

/**
 * Whoever makes documents wait calls this before committing: each of their fairness keys then has a turn. The shared lock
 * keeps a claim, which finds a key empty, from removing its turn while the documents are not yet visible to it.
 */
export function ensureTurnsFunction(names: Names): SqlFunction {
  return sqlFunction(
    names,
    'turns',
    '(fairs text[]) RETURNS void',
    `
DECLARE fair text;
BEGIN
  FOR fair IN SELECT DISTINCT f COLLATE "C" FROM unnest(fairs) f WHERE f IS NOT NULL ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(fair, ${names.fairKeyLocks}));
    PERFORM 1 FROM ${names.turns} t WHERE t.fair_key = fair;
    IF NOT FOUND THEN
      INSERT INTO ${names.turns} (fair_key, turn) VALUES (fair, nextval('${names.places}')) ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
END`,
  );
}
