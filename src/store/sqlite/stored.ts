import type { DatabaseSync } from 'node:sqlite';
import type { Stored } from '../engine.ts';
import { prepare } from './database.ts';
import { pageCharacters } from './rows.ts';
import { identifier } from './sql.ts';
import { tablesOf } from './tables.ts';

/** Every text a container keeps, expired documents included, for re-sealing. */
export interface StoredTexts {
  page(after: Omit<Stored, 'json'> | undefined, limit: number): Stored[];
  /** Inside a write transaction or on its own. */
  restate(place: Omit<Stored, 'json'>, json: string): boolean;
}

type Cells = readonly [partition: string, id: string, revision: number, body: string];

export function createStoredTexts(db: DatabaseSync, container: string): StoredTexts {
  const documents = identifier(tablesOf(container).documents);
  const changes = identifier(tablesOf(container).changes);
  const columns = 'partition, id, revision, body';
  const documentsAfter = prepare<Cells>(
    db,
    `SELECT ${columns} FROM ${documents} WHERE (partition, id) > (?, ?) ORDER BY partition, id LIMIT ?`,
  );
  const changesAfter = prepare<Cells>(
    db,
    `SELECT ${columns} FROM ${changes} WHERE revision > ? ORDER BY revision LIMIT ?`,
  );
  const restate = {
    documents: prepare(db, `UPDATE ${documents} SET body = ? WHERE partition = ? AND id = ? AND revision = ?`),
    changes: prepare(db, `UPDATE ${changes} SET body = ? WHERE partition = ? AND id = ? AND revision = ?`),
  };

  function read(table: Stored['table'], cells: Iterable<Cells>): Stored[] {
    const found: Stored[] = [];
    let characters = 0;
    for (const [partition, id, revision, json] of cells) {
      found.push({ table, partition, id, revision, json });
      characters += json.length;
      if (characters >= pageCharacters) break;
    }
    return found;
  }

  return {
    page(after, limit) {
      if (after?.table !== 'changes') {
        const found = read('documents', documentsAfter.iterate(after?.partition ?? '', after?.id ?? '', limit));
        if (found.length > 0) return found;
      }
      return read('changes', changesAfter.iterate(after?.table === 'changes' ? after.revision : 0, limit));
    },
    restate: ({ table, partition, id, revision }, json) =>
      restate[table].run(json, partition, id, revision).changes > 0,
  };
}
