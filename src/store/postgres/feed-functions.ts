// The database's side of the feed. Its order is (transaction id, revision). Transactions commit in another order than they got
// their ids, so only what lies before the oldest transaction still open is shown: nothing can turn up there any more.
import type { Names } from './names.ts';
import { rowColumns } from './queries.ts';
import { type SqlFunction, sqlFunction } from './write-functions.ts';

export interface FeedFunctions {
  /**
   * (xid, revision, most, partition or null, snapshot or null) → changes behind that place, without those the snapshot saw;
   * then one row without a kind: the epoch, whether something is held back, and the last place trimmed.
   */
  readonly feed: SqlFunction;
  /** (seconds to keep, most) → how many changes it deleted, from the oldest on */
  readonly trim: SqlFunction;
  readonly all: readonly SqlFunction[];
}

/** As stored, so compressed; the texts may be a few times larger. */
const pageBytes = 4 * 1024 * 1024;

export function feedFunctions(names: Names): FeedFunctions {
  const page = (condition: string) => `
    RETURN QUERY SELECT f.kind, f.xid::text, f.c1, f.c2, f.c3, f.c4, f.c5 FROM (
      SELECT c.kind, c.xid, ${rowColumns('c')}, pg_column_size(c.body) AS size,
        sum(pg_column_size(c.body)) OVER (ORDER BY c.xid, c.revision) AS total
      FROM (SELECT * FROM ${names.changes} c WHERE ${condition} (c.xid, c.revision) > (x, r) AND c.xid < edge
        AND (seen IS NULL OR NOT pg_visible_in_snapshot(c.xid, seen))
        ORDER BY c.xid, c.revision LIMIT most) c) f (kind, xid, c1, c2, c3, c4, c5, size, total)
    WHERE f.total - f.size < ${pageBytes} ORDER BY f.xid, f.c3;`;

  // What was trimmed is looked at after the changes: the other way round, a trim in between would go unnoticed.
  const feed = sqlFunction(
    names,
    'feed',
    `(x xid8, r bigint, most int, one_partition text, seen pg_snapshot)
  RETURNS TABLE (k text, t text, o1 text, o2 text, o3 bigint, o4 text, o5 bigint)`,
    `
DECLARE edge xid8 := pg_snapshot_xmin(pg_current_snapshot());
BEGIN
  IF one_partition IS NULL THEN
    ${page('')}
  ELSE
    ${page('c.partition = one_partition AND')}
  END IF;
  RETURN QUERY SELECT NULL::text, s.trimmed_xid::text, s.epoch, NULL::text, s.trimmed_revision,
    CASE WHEN EXISTS (SELECT 1 FROM ${names.changes} c WHERE c.xid >= edge) THEN 'held back' END, NULL::bigint
    FROM ${names.containers} s WHERE s.name = '${names.container}';
END`,
  );

  const trim = sqlFunction(
    names,
    'trim',
    '(keep float8, most int) RETURNS int',
    `
DECLARE
  edge xid8 := pg_snapshot_xmin(pg_current_snapshot());
  cut timestamptz := clock_timestamp() - keep * interval '1 second';
  last_xid xid8;
  last_revision bigint;
  trimmed int;
BEGIN
  SELECT o.xid, o.revision INTO last_xid, last_revision FROM (
    SELECT c.xid, c.revision, bool_and(c.at < cut) OVER (ORDER BY c.xid, c.revision) AS old
    FROM (SELECT * FROM ${names.changes} c WHERE c.xid < edge ORDER BY c.xid, c.revision LIMIT most) c) o
  WHERE o.old ORDER BY o.xid DESC, o.revision DESC LIMIT 1;
  IF NOT FOUND THEN RETURN 0; END IF;
  DELETE FROM ${names.changes} c WHERE (c.xid, c.revision) <= (last_xid, last_revision);
  GET DIAGNOSTICS trimmed = ROW_COUNT;
  UPDATE ${names.containers} s SET trimmed_xid = last_xid, trimmed_revision = last_revision WHERE s.name = '${names.container}';
  RETURN trimmed;
END`,
  );

  return { feed, trim, all: [feed, trim] };
}
