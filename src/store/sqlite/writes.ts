import type { DatabaseSync } from 'node:sqlite';
import type { Fence, Layout, Write } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { prepare, type Transaction } from './database.ts';
import { isSqlite, resultCode } from './errors.ts';
import { uniqueValue } from './json-value.ts';
import type { Queue } from './queue.ts';
import { identifier, raw } from './sql.ts';
import { tablesOf } from './tables.ts';

/** The writes of one container. Everything here runs inside a write transaction, which the caller rolls back on a throw. */
export interface Writer {
  /**
   * Throws ExpiredInTheWay when an expired document may stand in the way of the batch; `clearFirst` then removes such
   * documents before each write. Two steps, because expired documents are rare and looking for them costs.
   */
  apply(partition: string, writes: readonly Write[], fence: Fence | undefined, clearFirst: boolean): number[];
  /** Deletes expired documents, oldest first, with their delete changes; a limited number at once. Answers how many. */
  sweep(): number;
  /** Deletes this document if it has expired. */
  removeExpired(partition: string, id: string): boolean;
}

type Batch = readonly [partition: string, writes: readonly Write[], fence: Fence | undefined];

/** An expired document may have the id or the unique values of a write: apply again with `clearFirst`. */
class ExpiredInTheWay extends Error {}

/** A document to be deleted is too large to be copied to the history on the main thread: do it in the background. */
export class TooLargeHere extends Error {}

/** Writing takes up to 10 ms per MiB of text, so more than this at once is not for the main thread. */
export const shortWriteBytes = 256 << 10;

const sweptAtOnce = 100;

export function charactersOf(writes: readonly Write[]): number {
  let characters = 0;
  for (const write of writes) if ('json' in write) characters += write.json.length;
  return characters;
}

export interface WriterOptions {
  readonly db: DatabaseSync;
  readonly layout: Layout;
  readonly queue: Queue;
  readonly clock: () => number;
  /** The largest document it deletes or sweeps; at a larger one it throws {@link TooLargeHere}. */
  readonly mostBytes: number;
}

export function createWriter({ db, layout, queue, clock, mostBytes }: WriterOptions): Writer {
  const tables = tablesOf(layout.name);
  const documents = identifier(tables.documents);
  const changes = identifier(tables.changes);
  const live = '(expires_at IS NULL OR expires_at > ?)';

  const addChange = prepare(
    db,
    `INSERT INTO ${changes} (partition, id, kind, at, expires_at, body) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const addDocument = prepare(
    db,
    `INSERT INTO ${documents} (partition, id, revision, expires_at, body) VALUES (?, ?, ?, ?, ?)`,
  );
  const changeDocument = prepare(
    db,
    `UPDATE ${documents} SET revision = ?, expires_at = ?, body = ?
     WHERE partition = ? AND id = ? AND revision = ? AND ${live}`,
  );
  const addDelete = prepare(
    db,
    `INSERT INTO ${changes} (partition, id, kind, at, expires_at, body)
     SELECT partition, id, 'delete', ?, expires_at, body FROM ${documents}
     WHERE partition = ? AND id = ? AND revision = ? AND ${live} AND octet_length(body) <= ${mostBytes}`,
  );
  const addExpiry = prepare(
    db,
    `INSERT INTO ${changes} (partition, id, kind, at, expires_at, body)
     SELECT partition, id, 'delete', ?, expires_at, body FROM ${documents}
     WHERE partition = ? AND id = ? AND expires_at <= ? AND octet_length(body) <= ${mostBytes}`,
  );
  const isExpired = prepare<[1]>(db, `SELECT 1 FROM ${documents} WHERE partition = ? AND id = ? AND expires_at <= ?`);
  const dropDocument = prepare(db, `DELETE FROM ${documents} WHERE partition = ? AND id = ?`);
  const revisionOf = prepare<[number]>(
    db,
    `SELECT revision FROM ${documents} WHERE partition = ? AND id = ? AND ${live}`,
  );
  const expired = prepare<[partition: string, id: string, bytes: number]>(
    db,
    `SELECT partition, id, octet_length(body) FROM ${documents} WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
  );
  const expiredTwins = layout.uniqueKeys.map((key) => {
    const same = key.paths.map((path) => {
      const [theirs, ours] = [uniqueValue(raw(`${documents}.body`), path), uniqueValue(raw('given.body'), path)];
      return `${theirs.text} = ${ours.text}`;
    });
    return prepare<[id: string]>(
      db,
      `SELECT id FROM ${documents}, (SELECT ? AS body) AS given
       WHERE partition = ? AND expires_at <= ? AND ${same.join(' AND ')}`,
    );
  });
  const labels = layout.labels === undefined ? undefined : createLabels(db, tables.labels);

  function removeExpired(partition: string, id: string): boolean {
    const now = clock();
    if (addExpiry.run(now, partition, id, now).changes === 0) {
      if (isExpired.get(partition, id, now) !== undefined) throw new TooLargeHere();
      return false;
    }
    dropDocument.run(partition, id);
    labels?.set(partition, id, []);
    queue.remove(partition, id);
    return true;
  }

  /** Removes what has expired and has this write's id, or values of a unique key that it brings. */
  function clearWay(partition: string, write: Write): void {
    if (write.kind !== 'create' && write.kind !== 'replace') return;
    if (write.kind === 'create') removeExpired(partition, write.id);
    const now = clock();
    for (const twins of expiredTwins) {
      for (const [twin] of twins.all(write.json, partition, now)) {
        if (twin !== write.id) removeExpired(partition, twin);
      }
    }
  }

  function refuse(partition: string, write: Exclude<Write, { kind: 'create' }>, now: number, operation: number): never {
    const there = revisionOf.get(partition, write.id, now);
    if (there?.[0] === write.revision) throw new TooLargeHere();
    if (there === undefined) throw new StoreError('NotFound', 'the document is not there', { operation });
    throw new StoreError('Changed', 'the document changed since it was read; read it again', { operation });
  }

  /** A collision on the key or a unique key, told in the store's words. */
  function collision(error: unknown, operation: number): unknown {
    if (!isSqlite(error, resultCode.constraint) || !(error instanceof Error)) return error;
    for (const { name } of layout.uniqueKeys) {
      if (error.message.includes(`index '${tables.uniquePrefix}${name}'`)) {
        const message = `another document of the partition has the same values of ${name}`;
        return new StoreError('UniqueKey', message, { operation, uniqueKey: name });
      }
    }
    return new StoreError('Exists', 'a document with this id is there already', { operation });
  }

  const apply = {
    create(partition: string, write: Extract<Write, { kind: 'create' }>, now: number): number {
      const expiresAt = expiry(now, write.ttlSeconds);
      const revision = addChange.run(partition, write.id, 'create', now, expiresAt, write.json).lastInsertRowid;
      addDocument.run(partition, write.id, revision, expiresAt, write.json);
      if (write.labels.length > 0) labels?.set(partition, write.id, write.labels);
      if (write.queue !== undefined) queue.put(partition, write.id, write.queue);
      return revision;
    },
    replace(partition: string, write: Extract<Write, { kind: 'replace' }>, now: number, operation: number): number {
      const expiresAt = expiry(now, write.ttlSeconds);
      const revision = addChange.run(partition, write.id, 'replace', now, expiresAt, write.json).lastInsertRowid;
      const done = changeDocument.run(revision, expiresAt, write.json, partition, write.id, write.revision, now);
      if (done.changes === 0) refuse(partition, write, now, operation);
      labels?.set(partition, write.id, write.labels);
      if (write.queue === undefined) queue.remove(partition, write.id);
      else queue.put(partition, write.id, write.queue);
      return revision;
    },
    delete(partition: string, write: Extract<Write, { kind: 'delete' }>, now: number, operation: number): number {
      const done = addDelete.run(now, partition, write.id, write.revision, now);
      if (done.changes === 0) refuse(partition, write, now, operation);
      dropDocument.run(partition, write.id);
      labels?.set(partition, write.id, []);
      queue.remove(partition, write.id);
      return done.lastInsertRowid;
    },
    check(partition: string, write: Extract<Write, { kind: 'check' }>, now: number, operation: number): number {
      if (revisionOf.get(partition, write.id, now)?.[0] !== write.revision) refuse(partition, write, now, operation);
      return write.revision;
    },
  };

  function applyOne(partition: string, write: Write, now: number, operation: number): number {
    switch (write.kind) {
      case 'create':
        return apply.create(partition, write, now);
      case 'replace':
        return apply.replace(partition, write, now, operation);
      case 'delete':
        return apply.delete(partition, write, now, operation);
      case 'check':
        return apply.check(partition, write, now, operation);
    }
  }

  return {
    removeExpired,
    apply(partition, writes, fence, clearFirst) {
      const now = clock();
      if (fence !== undefined && !queue.isHeld(partition, fence.id, fence.token, now)) {
        throw new StoreError('LeaseLost', 'the lease lapsed or another owner has it; stop the work done under it');
      }
      return writes.map((write, operation) => {
        if (clearFirst) clearWay(partition, write);
        try {
          return applyOne(partition, write, now, operation);
        } catch (error) {
          if (!clearFirst && isSqlite(error, resultCode.constraint)) throw new ExpiredInTheWay();
          throw collision(error, operation);
        }
      });
    },
    sweep() {
      let count = 0;
      let bytes = 0;
      for (const [partition, id, size] of expired.all(clock(), sweptAtOnce)) {
        bytes += size;
        if (count > 0 && bytes > mostBytes) break;
        if (removeExpired(partition, id)) count++;
      }
      return count;
    },
  };
}

/** Applies a batch in a transaction, once more when expired documents have to make way for it. */
export function applyBatch(transaction: Transaction, writer: Writer, ...batch: Batch): number[] {
  try {
    return transaction(() => writer.apply(...batch, false));
  } catch (error) {
    if (!(error instanceof ExpiredInTheWay)) throw error;
    return transaction(() => writer.apply(...batch, true));
  }
}

function expiry(now: number, ttlSeconds: number | undefined): number | null {
  return ttlSeconds === undefined ? null : Math.ceil(now + ttlSeconds * 1000);
}

interface Labels {
  /** Makes these the document's labels; touches only those that differ. */
  set(partition: string, id: string, labels: readonly (readonly [key: string, value: string])[]): void;
}

function createLabels(db: DatabaseSync, table: string): Labels {
  const labels = identifier(table);
  const list = prepare<[key: string, value: string]>(
    db,
    `SELECT key, value FROM ${labels} WHERE partition = ? AND id = ?`,
  );
  const add = prepare(db, `INSERT INTO ${labels} VALUES (?, ?, ?, ?)`);
  const drop = prepare(db, `DELETE FROM ${labels} WHERE key = ? AND value = ? AND partition = ? AND id = ?`);
  return {
    set(partition, id, wanted) {
      const missing = new Map(wanted);
      for (const [key, value] of list.all(partition, id)) {
        if (missing.get(key) === value) missing.delete(key);
        else drop.run(key, value, partition, id);
      }
      for (const [key, value] of missing) add.run(key, value, partition, id);
    },
  };
}
