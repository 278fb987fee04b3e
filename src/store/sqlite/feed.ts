import type { DatabaseSync } from 'node:sqlite';
import type { EngineChange } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { prepare } from './database.ts';
import { pageCharacters } from './rows.ts';
import { identifier } from './sql.ts';
import { tablesOf } from './tables.ts';

/** The change feed of one container. A position is the revision of the last change seen. */
export interface Feed {
  end(): string;
  after(position: string, limit: number, partition: string | undefined): EngineChange[];
  /** Inside a write transaction: deletes some of the oldest changes made before `cutoff`. True when there may be more. */
  trim(cutoff: number, now: number): boolean;
  /** Whether trim would find anything. */
  canTrim(cutoff: number, now: number): boolean;
}

type ChangeCells = readonly [
  revision: number,
  partition: string,
  id: string,
  kind: EngineChange['kind'],
  expiresAt: number | null,
  body: string,
];

/** How much of the history one transaction deletes. */
const trimmedRows = 200;
const trimmedBytes = 1 << 20;

export function createFeed(db: DatabaseSync, container: string): Feed {
  const changes = identifier(tablesOf(container).changes);
  const columns = 'revision, partition, id, kind, expires_at, body';
  const all = prepare<ChangeCells>(
    db,
    `SELECT ${columns} FROM ${changes} WHERE revision > ? ORDER BY revision LIMIT ?`,
  );
  const ofPartition = prepare<ChangeCells>(
    db,
    `SELECT ${columns} FROM ${changes} WHERE partition = ? AND revision > ? ORDER BY revision LIMIT ?`,
  );
  const kept = prepare<[oldest: number | null, newest: number | null]>(
    db,
    `SELECT (SELECT min(revision) FROM ${changes}), (SELECT max(revision) FROM ${changes})`,
  );
  const oldest = prepare<[revision: number, at: number, bytes: number]>(
    db,
    `SELECT revision, at, octet_length(body) FROM ${changes} ORDER BY revision LIMIT ?`,
  );
  const drop = prepare(
    db,
    `DELETE FROM ${changes} WHERE revision <= ? AND revision < (SELECT max(revision) FROM ${changes})`,
  );

  /** A change from the far future was made while the clock was wrong, and must not hold up the trimming for ever. */
  const isOld = (at: number, cutoff: number, now: number) => at < cutoff || at - now > now - cutoff;

  return {
    end: () => String(kept.get()?.[1] ?? 0),
    after(position, limit, partition) {
      const after = revisionOf(position);
      const cells = partition === undefined ? all.iterate(after, limit) : ofPartition.iterate(partition, after, limit);
      const found: EngineChange[] = [];
      let characters = 0;
      for (const row of cells) {
        found.push(changeOf(row));
        characters += row[5].length;
        if (characters >= pageCharacters) break;
      }
      // Looked up last: whatever was trimmed before the changes were read is noticed.
      const [first, last] = kept.get() ?? [null, null];
      if (after < (first ?? 1) - 1) {
        throw new StoreError(
          'ContinuationExpired',
          'the changes since this continuation are no longer kept; read from the beginning',
        );
      }
      if (after > (last ?? 0)) {
        throw new StoreError(
          'ContinuationExpired',
          'the continuation is ahead of the database, which was restored or made anew; read from the beginning',
        );
      }
      return found;
    },
    canTrim(cutoff, now) {
      const [first, second] = oldest.all(2);
      return first !== undefined && second !== undefined && isOld(first[1], cutoff, now);
    },
    trim(cutoff, now) {
      let last: number | undefined;
      let bytes = 0;
      let rows = 0;
      for (const [revision, at, size] of oldest.all(trimmedRows)) {
        if (!isOld(at, cutoff, now) || bytes > trimmedBytes) break;
        last = revision;
        bytes += size;
        rows++;
      }
      if (last === undefined) return false;
      drop.run(last);
      return rows === trimmedRows || bytes > trimmedBytes;
    },
  };
}

function revisionOf(position: string): number {
  const revision = /^\d{1,16}$/.test(position) ? Number(position) : Number.NaN;
  if (!Number.isSafeInteger(revision)) throw new StoreError('InvalidContinuation', 'not a position of this feed');
  return revision;
}

function changeOf([revision, partition, id, kind, expiresAt, json]: ChangeCells): EngineChange {
  const change = { kind, partition, id, revision, json, position: String(revision) };
  return expiresAt === null ? change : { ...change, expiresAt };
}
