import type { DatabaseSync } from 'node:sqlite';
import type { Logger } from '../../../kit/log.ts';
import { checkLength, connect, prepare, prepareFile, type Synchronous } from '../../../store/sqlite/database.ts';
import { isBusy, storeError } from '../../../store/sqlite/errors.ts';
import { createCheckpoints } from './checkpoints.ts';
import { keyOf, type StoredEntry } from './entry.ts';
import type { Keep } from './keep.ts';
import type { Entry, StorageType } from './objects.ts';
import { prepareSchema } from './schema.ts';
import { createSeals, type Sealing, type Seals } from './sealing.ts';
import { own } from './single-owner.ts';
import type { Written } from './transaction.ts';

export interface SqliteKeepOptions {
  readonly file: string;
  readonly synchronous: Synchronous;
  readonly logger: Logger | undefined;
  /** The file does not grow beyond this. */
  readonly largestFileBytes: number | undefined;
  readonly sealing: Sealing | undefined;
}

/** How many objects are read in one go, and how many are deleted: a few milliseconds' worth. */
const rowsPerPage = 250;
const rowsPerSweep = 200;
/** How long the database may be locked before that is an error. */
const patienceMs = 10_000;
/** About what a commit adds to the log besides its objects. */
const commitBytes = 12 << 10;

type Row = readonly [
  id: number,
  namespace: string,
  name: string,
  uid: string,
  revision: number,
  about: string | null,
  bytes: Uint8Array<ArrayBuffer>,
];

type About = readonly [labels: Entry['labels'] | null, fields: Entry['fields'] | null, owners: Entry['owners'] | null];

/**
 * Opens the file, making it (0600) and its directory (0700) when they are not there. Throws StoreError: Busy when another
 * process has it; Seal when it is sealed with another key; Corrupt, ReadOnly, Full, Unavailable.
 */
export async function openSqliteKeep(options: SqliteKeepOptions): Promise<Keep> {
  const { file } = options;
  const release = await own(file);
  try {
    await prepareFile(file);
    checkLength(file);
    const db = connect({ ...options, waitMs: 0 });
    try {
      prepareSchema(db, file);
      return keepOf(db, createSeals(db, file, options.sealing), options, release);
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    release();
    throw storeError(error, file);
  }
}

function keepOf(db: DatabaseSync, seals: Seals, options: SqliteKeepOptions, release: () => void): Keep {
  const { file } = options;
  const checkpoints = createCheckpoints(options);
  const begin = prepare(db, 'BEGIN IMMEDIATE');
  const commit = prepare(db, 'COMMIT');
  const rollback = prepare(db, 'ROLLBACK');
  const insert = prepare(db, 'INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const update = prepare(db, 'UPDATE objects SET uid = ?, revision = ?, about = ?, bytes = ? WHERE id = ?');
  const remove = prepare(db, 'DELETE FROM objects WHERE id = ?');
  const saveCluster = prepare(
    db,
    'INSERT INTO clusters VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET revision = excluded.revision',
  );
  const nameless = prepare<[number]>(db, 'SELECT id FROM clusters WHERE name IS NULL');
  const unname = prepare(db, 'UPDATE clusters SET name = NULL WHERE id = ?');
  const removeCluster = prepare(db, 'DELETE FROM clusters WHERE id = ?');
  const removeSome = prepare(
    db,
    `DELETE FROM objects WHERE id IN (SELECT id FROM objects WHERE cluster = ? LIMIT ${rowsPerSweep})`,
  );
  const nextType = prepare<[string | null]>(db, 'SELECT min(type) FROM objects WHERE cluster = ? AND type > ?');
  const page = prepare<Row>(
    db,
    `SELECT id, namespace, name, uid, revision, about, bytes FROM objects
     WHERE cluster = ? AND type = ? AND (namespace, name) > (?, ?) ORDER BY namespace, name LIMIT ${rowsPerPage}`,
  );
  const clusters = prepare<[number, string, number]>(
    db,
    'SELECT id, name, revision FROM clusters WHERE name IS NOT NULL',
  ).all();
  const [lastRow] = prepare<[number | null]>(db, 'SELECT max(id) FROM objects').get() ?? [];
  let [lastCluster] = prepare<[number | null]>(db, 'SELECT max(id) FROM clusters').get() ?? [];
  let lockedSince: number | undefined;

  /** Errors come out as StoreErrors. */
  function guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw storeError(error, file);
    }
  }

  function tryBegin(): boolean {
    try {
      begin.run();
      lockedSince = undefined;
      return true;
    } catch (error) {
      lockedSince ??= performance.now();
      if (isBusy(error) && performance.now() - lockedSince < patienceMs) return false;
      lockedSince = undefined;
      throw storeError(error, file);
    }
  }

  /** Ends the transaction that was begun. */
  function finish(work: () => void): void {
    try {
      work();
      commit.run();
    } catch (error) {
      try {
        rollback.run();
      } catch {
        // SQLite has already rolled back, as it does when the disk is full.
      }
      throw storeError(error, file);
    }
  }

  function write({ cluster, change: { kind, entry } }: Written): number {
    const { row, type, namespace, name, uid, revision } = entry;
    if (kind === 'DELETED') {
      remove.run(row);
      return entry.bytes.length;
    }
    const bytes = seals.seal({ cluster: cluster.name, type, namespace, name }, entry.bytes);
    if (kind === 'ADDED') {
      insert.run(row, cluster.row, type, namespace, name, uid, revision, aboutOf(entry), bytes);
    } else update.run(uid, revision, aboutOf(entry), bytes, row);
    return bytes.length;
  }

  return {
    lastRow: lastRow ?? 0,
    clusters: clusters.map(([row, name, revision]) => ({ row, name, revision })),
    types: (cluster) =>
      guarded(() => {
        const found: StorageType[] = [];
        for (let type: string | null = ''; type !== null; ) {
          type = nextType.get(cluster, type)?.[0] ?? null;
          if (type !== null) found.push(type);
        }
        return found;
      }),
    load: (cluster, type, after) =>
      guarded(() => {
        let last: Row | undefined;
        return page.all(cluster.row, type, ...after).map((row) => {
          const [, namespace, name, , , , kept] = row;
          const bytes = seals.open({ cluster: cluster.name, type, namespace, name }, kept);
          const entry = entryOfRow(type, row, bytes, last?.[1]);
          last = row;
          return entry;
        });
      }),
    begin: tryBegin,
    end(written) {
      let bytes = 0;
      finish(() => {
        const touched = new Set<Written['cluster']>();
        for (const one of written) {
          if (one.cluster.row === 0) {
            lastCluster = (lastCluster ?? 0) + 1;
            one.cluster.row = lastCluster;
          }
          touched.add(one.cluster);
          bytes += write(one);
        }
        for (const { row, name, revision } of touched) saveCluster.run(row, name, revision);
      });
      if (written.length > 0) checkpoints.wrote(bytes + commitBytes);
    },
    removeCluster(cluster) {
      if (!tryBegin()) return false;
      finish(() => unname.run(cluster));
      return true;
    },
    sweep() {
      const [cluster] = guarded(() => nameless.get()) ?? [];
      if (cluster === undefined) return false;
      if (!tryBegin()) return 'locked';
      finish(() => {
        if (removeSome.run(cluster).changes === 0) removeCluster.run(cluster);
      });
      checkpoints.wrote(rowsPerSweep * 4096);
      return true;
    },
    async close() {
      db.close();
      await checkpoints.close();
      release();
    },
  };
}

function aboutOf({ labels, fields, owners }: Entry): string | null {
  if (labels === undefined && fields === undefined && owners === undefined) return null;
  return JSON.stringify([labels ?? null, fields ?? null, owners ?? null]);
}

function entryOfRow(type: StorageType, row: Row, bytes: Buffer, lastNamespace: string | undefined): StoredEntry {
  const [id, namespace, name, uid, revision, about] = row;
  const [labels, fields, owners]: Partial<About> = about === null ? [] : (JSON.parse(about) as About);
  return {
    type,
    // Neighbours share the text.
    namespace: namespace === lastNamespace ? lastNamespace : namespace,
    name,
    uid,
    revision,
    bytes,
    labels: labels ?? undefined,
    fields: fields ?? undefined,
    owners: owners ?? undefined,
    key: keyOf(namespace, name),
    row: id,
  };
}
