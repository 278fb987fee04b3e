// The database's side of a write: functions that do it in one round trip and one transaction. Their names hold a hash of
// their text, so versions of this code with different functions work on one database side by side.
import { refusalState } from './errors.ts';
import { digest, type Names } from './names.ts';

/** A function of a container in the database. */
export interface SqlFunction {
  /** Qualified, for SQL text. */
  readonly name: string;
  readonly create: string;
}

export interface WriteFunctions {
  /** (partition, kind, id, revision, body, ttl seconds, fair key, fence id, fence token) → revision */
  readonly writeOne: SqlFunction;
  /** (partition, kinds, ids, revisions, bodies, ttl seconds, fair keys, fence id, fence token, careful) → revisions */
  readonly writeMany: SqlFunction;
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

  const apply = sqlFunction(
    names,
    'apply',
    '(op int, kind text, p text, i text, expected bigint, new_body jsonb, ttl float8, fair text) RETURNS bigint',
    `
DECLARE
  expires timestamptz := CASE WHEN ttl IS NOT NULL THEN clock_timestamp() + ttl * interval '1 second' END;
  revised bigint;
BEGIN
  IF kind = 'create' THEN
    revised := nextval('${names.revisions}');
    INSERT INTO ${names.documents} (partition, id, revision, expires_at, body) VALUES (p, i, revised, expires, new_body);
    INSERT INTO ${names.changes} (revision, kind, partition, id, expires_at, body)
      VALUES (revised, 'create', p, i, expires, new_body);
    IF fair IS NOT NULL THEN
      INSERT INTO ${names.queue} (partition, id, fair_key, place) VALUES (p, i, fair, nextval('${names.places}'));
    END IF;
    RETURN revised;
  ELSIF kind = 'replace' THEN
    revised := nextval('${names.revisions}');
    UPDATE ${names.documents} d SET revision = revised, expires_at = expires, body = new_body
      WHERE d.partition = p AND d.id = i AND d.revision = expected
        AND (d.expires_at IS NULL OR d.expires_at > clock_timestamp());
    IF FOUND THEN
      INSERT INTO ${names.changes} (revision, kind, partition, id, expires_at, body)
        VALUES (revised, 'replace', p, i, expires, new_body);
      IF fair IS NULL THEN
        DELETE FROM ${names.queue} q WHERE q.partition = p AND q.id = i;
      ELSE
        INSERT INTO ${names.queue} AS q (partition, id, fair_key, place) VALUES (p, i, fair, nextval('${names.places}'))
          ON CONFLICT (partition, id) DO UPDATE SET fair_key = excluded.fair_key WHERE q.fair_key <> excluded.fair_key;
      END IF;
      RETURN revised;
    END IF;
  ELSIF kind = 'delete' THEN
    WITH d AS (DELETE FROM ${names.documents} d WHERE d.partition = p AND d.id = i AND d.revision = expected
        AND (d.expires_at IS NULL OR d.expires_at > clock_timestamp()) RETURNING d.body, d.expires_at)
      INSERT INTO ${names.changes} (revision, kind, partition, id, expires_at, body)
        SELECT nextval('${names.revisions}'), 'delete', p, i, d.expires_at, d.body FROM d
        RETURNING revision INTO revised;
    IF FOUND THEN
      DELETE FROM ${names.queue} q WHERE q.partition = p AND q.id = i;
      RETURN revised;
    END IF;
  ELSE
    PERFORM 1 FROM ${names.documents} d WHERE d.partition = p AND d.id = i AND d.revision = expected
      AND (d.expires_at IS NULL OR d.expires_at > clock_timestamp());
    IF FOUND THEN RETURN expected; END IF;
  END IF;
  PERFORM 1 FROM ${names.documents} d WHERE d.partition = p AND d.id = i
    AND (d.expires_at IS NULL OR d.expires_at > clock_timestamp());
  IF FOUND THEN ${refuse('Changed', 'op')} END IF;
  ${refuse('NotFound', 'op')}
END`,
  );

  const writeOne = sqlFunction(
    names,
    'write',
    `(p text, kind text, i text, expected bigint, new_body jsonb, ttl float8, fair text, fence_id text, fence_token bigint)
  RETURNS bigint SET enable_seqscan = off`,
    `
DECLARE revised bigint;
BEGIN
  ${lockPartition}
  ${checkFence}
  revised := ${apply.name}(0, kind, p, i, expected, new_body, ttl, fair);
  IF fair IS NOT NULL THEN PERFORM ${ensureTurns.name}(ARRAY[fair]); END IF;
  RETURN revised;
END`,
  );

  // A violated uniqueness may be owed to a document that has expired, and does not tell which operation it was: then the batch
  // is tried again carefully, expired documents first removed and each operation in a block of its own.
  const writeMany = sqlFunction(
    names,
    'batch',
    `(p text, kinds text[], ids text[], expected bigint[], bodies jsonb[], ttls float8[], fairs text[],
  fence_id text, fence_token bigint, careful boolean) RETURNS bigint[] SET enable_seqscan = off`,
    `
DECLARE revised bigint[] := '{}'; violated text;
BEGIN
  ${lockPartition}
  IF careful THEN PERFORM ${sweep.name}(p, 10000); END IF;
  ${checkFence}
  FOR n IN 1 .. cardinality(kinds) LOOP
    IF careful THEN
      BEGIN
        revised[n] := ${apply.name}(n - 1, kinds[n], p, ids[n], expected[n], bodies[n], ttls[n], fairs[n]);
      EXCEPTION WHEN unique_violation THEN
        GET STACKED DIAGNOSTICS violated = CONSTRAINT_NAME;
        RAISE EXCEPTION USING ERRCODE = '${refusalState}', DETAIL = (n - 1)::text, CONSTRAINT = violated,
          MESSAGE = CASE WHEN violated = '${names.container}_documents_pkey' THEN 'Exists' ELSE 'UniqueKey' END;
      END;
    ELSE
      revised[n] := ${apply.name}(n - 1, kinds[n], p, ids[n], expected[n], bodies[n], ttls[n], fairs[n]);
    END IF;
  END LOOP;
  PERFORM ${ensureTurns.name}(fairs);
  RETURN revised;
END`,
  );

  return { writeOne, writeMany, sweep, all: [ensureTurns, sweep, apply, writeOne, writeMany] };
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
