// The tables, and telling our file from others.
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../../store/errors.ts';
import { prepare, transactions } from '../../../store/sqlite/database.ts';
import { damaged } from '../../../store/sqlite/errors.ts';

/** In the header of every file of ours. */
const applicationId = 0x61726f6b;
const version = 2;

/** One sealed text that only the right key opens; empty before the first opening with a key. Came with version 2. */
const proofTable = 'CREATE TABLE proof (sealed TEXT NOT NULL) STRICT;';
const versionMark = `PRAGMA user_version = ${version};`;

/** A cluster without a name was removed and its objects are being deleted. `about` has labels, fields and owners as JSON. */
const tables = `
  CREATE TABLE clusters (id INTEGER PRIMARY KEY, name TEXT UNIQUE, revision INTEGER NOT NULL) STRICT;
  CREATE TABLE objects (
    id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL, type TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    uid TEXT NOT NULL, revision INTEGER NOT NULL, about TEXT, bytes BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX objects_by_name ON objects (cluster, type, namespace, name);
  PRAGMA application_id = ${applicationId};
  ${proofTable}
  ${versionMark}
`;

/** Makes the tables of an empty file. Throws StoreError Corrupt for a file that is not one of ours. */
export function prepareSchema(db: DatabaseSync, file: string): void {
  transactions(db)(() => {
    const number = (pragma: string): number => prepare<[number]>(db, `PRAGMA ${pragma}`).get()?.[0] ?? 0;
    const [application, found] = [number('application_id'), number('user_version')];
    const empty = prepare(db, 'SELECT 1 FROM sqlite_schema').get() === undefined;
    if (empty && application === 0) db.exec(tables);
    else if (application !== applicationId) throw foreign(file, 'it is a database of something else');
    else if (found === 1) db.exec(`${proofTable} ${versionMark}`);
    else if (found !== version) {
      throw foreign(file, `it has version ${found} of the tables and this program knows version ${version}`);
    }
  });
}

function foreign(file: string, what: string): StoreError {
  return new StoreError('Corrupt', `database ${file}: ${damaged(what)}`);
}
