// The database's side of the queue. A row is ready (it has a place), leased (an owner and a time to wake) or put off (only a
// time to wake). `turns` has a row for every fairness key with ready rows, and perhaps for keys that have none left.
import type { Names } from './names.ts';
import { rowColumns } from './queries.ts';
import { ensureTurnsFunction, type SqlFunction, sqlFunction } from './write-functions.ts';

export interface QueueFunctions {
  /** (owner, lease ms, max, owner limit) → rows, token, dequeues */
  readonly claim: SqlFunction;
  /** (partition, id, owner, lease ms) → rows, token, dequeues */
  readonly claimOne: SqlFunction;
  /** (partition, id, token, delay ms) */
  readonly release: SqlFunction;
  readonly all: readonly SqlFunction[];
}

/** Lapsed leases and delays that one claim makes ready again. */
const promotedAtOnce = 100;
/** Turns that others hold at this moment, looked at by a claim that found none free. */
const busyTurns = 32;

const claimed = 'TABLE (o1 text, o2 text, o3 bigint, o4 text, o5 bigint, o6 bigint, o7 int)';

export function queueFunctions(names: Names): QueueFunctions {
  const ensureTurns = ensureTurnsFunction(names);

  // Takes the lease of a row that the caller has locked, and answers with its document. A document that has expired or is gone
  // only leaves the queue.
  const take = sqlFunction(
    names,
    'take',
    `(p text, i text, new_owner text, length_ms float8) RETURNS ${claimed}`,
    `
DECLARE moment timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
    WITH q AS (
      UPDATE ${names.queue} q SET place = NULL, owner = new_owner, token = nextval('${names.tokens}'),
        dequeues = q.dequeues + 1, since = moment, wake_at = moment + length_ms * interval '1 millisecond'
      WHERE q.partition = p AND q.id = i AND EXISTS (SELECT 1 FROM ${names.documents} d WHERE d.partition = p AND d.id = i
        AND (d.expires_at IS NULL OR d.expires_at > moment))
      RETURNING q.partition, q.id, q.token, q.dequeues)
    SELECT ${rowColumns('d')}, q.token, q.dequeues FROM q JOIN ${names.documents} d USING (partition, id);
  IF NOT FOUND THEN
    DELETE FROM ${names.queue} q WHERE q.partition = p AND q.id = i;
  END IF;
END`,
  );

  // Makes ready what has waited long enough: its time has come, or lies further away than its own length explains, which is a
  // clock that was set back.
  const promote = sqlFunction(
    names,
    'promote',
    '() RETURNS void',
    `
DECLARE moment timestamptz := clock_timestamp(); fairs text[];
BEGIN
  WITH due AS (
    SELECT q.partition, q.id FROM ${names.queue} q
    WHERE q.place IS NULL AND (q.wake_at <= moment OR q.since > moment + interval '1 second')
    ORDER BY q.wake_at LIMIT ${promotedAtOnce} FOR UPDATE SKIP LOCKED),
  ready AS (
    UPDATE ${names.queue} q SET place = nextval('${names.places}'), owner = NULL, wake_at = NULL, since = NULL
    FROM due WHERE q.partition = due.partition AND q.id = due.id RETURNING q.fair_key)
  SELECT array_agg(DISTINCT fair_key) INTO fairs FROM ready;
  IF fairs IS NOT NULL THEN PERFORM ${ensureTurns.name}(fairs); END IF;
END`,
  );

  // Round-robin: the key whose turn is the oldest, its oldest document, and the key goes to the back. Nothing here waits for a
  // row that another claim holds. When others hold all turns, a claim takes from one of their keys without touching the turn: they
  // are moving it anyway, so with more claimants than keys every key is being served.
  const claim = sqlFunction(
    names,
    'claim',
    `(new_owner text, length_ms float8, most int, owner_limit bigint) RETURNS ${claimed}`,
    `
DECLARE
  left_over int := most;
  start bigint;
  fair text;
  turn_now bigint;
  found_p text;
  found_i text;
BEGIN
  IF owner_limit IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(new_owner, ${names.ownerLocks}));
    SELECT least(most, owner_limit - count(*)) INTO left_over FROM ${names.queue} q
      WHERE q.owner = new_owner AND q.wake_at > clock_timestamp();
    IF left_over <= 0 THEN RETURN; END IF;
  END IF;
  IF EXISTS (SELECT 1 FROM ${names.queue} q WHERE q.place IS NULL AND q.wake_at <= clock_timestamp())
    OR EXISTS (SELECT 1 FROM ${names.queue} q WHERE q.place IS NULL AND q.since > clock_timestamp() + interval '1 second')
  THEN PERFORM ${promote.name}(); END IF;
  start := nextval('${names.places}');
  WHILE left_over > 0 LOOP
    SELECT t.fair_key, t.turn INTO fair, turn_now FROM ${names.turns} t WHERE t.turn < start
      ORDER BY t.turn LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      SELECT t.fair_key, t.turn INTO fair, turn_now FROM ${names.turns} t ORDER BY t.turn LIMIT 1 FOR UPDATE SKIP LOCKED;
      EXIT WHEN NOT FOUND;
    END IF;
    SELECT q.partition, q.id INTO found_p, found_i FROM ${names.queue} q
      WHERE q.fair_key = fair AND q.place IS NOT NULL ORDER BY q.place LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
      UPDATE ${names.turns} t SET turn = nextval('${names.places}') WHERE t.fair_key = fair;
      RETURN QUERY SELECT * FROM ${take.name}(found_p, found_i, new_owner, length_ms);
      IF FOUND THEN left_over := left_over - 1; END IF;
      CONTINUE;
    END IF;
    -- Empty, as far as can be seen. With the lock in hand no writer is under way, and a new look sees all that committed.
    IF pg_try_advisory_xact_lock(hashtextextended(fair, ${names.fairKeyLocks})) THEN
      PERFORM 1 FROM ${names.queue} q WHERE q.fair_key = fair AND q.place IS NOT NULL LIMIT 1;
      IF NOT FOUND THEN
        DELETE FROM ${names.turns} t WHERE t.fair_key = fair;
        CONTINUE;
      END IF;
    END IF;
    UPDATE ${names.turns} t SET turn = nextval('${names.places}') WHERE t.fair_key = fair;
    EXIT WHEN turn_now >= start;
  END LOOP;
  IF left_over > 0 THEN
    FOR fair IN SELECT b.fair_key FROM (SELECT t.fair_key FROM ${names.turns} t ORDER BY t.turn LIMIT ${busyTurns}) b
      ORDER BY random() LOOP
      FOR found_p, found_i IN SELECT q.partition, q.id FROM ${names.queue} q
        WHERE q.fair_key = fair AND q.place IS NOT NULL ORDER BY q.place LIMIT left_over FOR UPDATE SKIP LOCKED LOOP
        RETURN QUERY SELECT * FROM ${take.name}(found_p, found_i, new_owner, length_ms);
        IF FOUND THEN left_over := left_over - 1; END IF;
      END LOOP;
      EXIT WHEN left_over <= 0;
    END LOOP;
  END IF;
END`,
  );

  const claimOne = sqlFunction(
    names,
    'claim_one',
    `(p text, i text, new_owner text, length_ms float8) RETURNS ${claimed}`,
    `
BEGIN
  PERFORM 1 FROM ${names.queue} q WHERE q.partition = p AND q.id = i
    AND (q.place IS NOT NULL OR q.wake_at <= clock_timestamp() OR q.since > clock_timestamp() + interval '1 second')
    FOR UPDATE;
  IF FOUND THEN RETURN QUERY SELECT * FROM ${take.name}(p, i, new_owner, length_ms); END IF;
END`,
  );

  const release = sqlFunction(
    names,
    'release',
    '(p text, i text, held bigint, delay_ms float8) RETURNS void',
    `
DECLARE moment timestamptz := clock_timestamp(); fair text;
BEGIN
  UPDATE ${names.queue} q SET owner = NULL,
    place = CASE WHEN delay_ms <= 0 THEN nextval('${names.places}') END,
    since = CASE WHEN delay_ms > 0 THEN moment END,
    wake_at = CASE WHEN delay_ms > 0 THEN moment + delay_ms * interval '1 millisecond' END
  WHERE q.partition = p AND q.id = i AND q.token = held AND q.owner IS NOT NULL AND q.wake_at > moment
  RETURNING q.fair_key INTO fair;
  IF FOUND AND delay_ms <= 0 THEN PERFORM ${ensureTurns.name}(ARRAY[fair]); END IF;
END`,
  );

  return { claim, claimOne, release, all: [take, promote, claim, claimOne, release] };
}
