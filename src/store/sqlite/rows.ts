import type { Row } from '../engine.ts';

/** The columns of a document, in this order, and the row as SQLite gives it. */
export const documentColumns = 'partition, id, revision, expires_at, body';
export type DocumentCells = readonly [
  partition: string,
  id: string,
  revision: number,
  expiresAt: number | null,
  body: string,
];

export function rowOf([partition, id, revision, expiresAt, json]: DocumentCells): Row {
  return expiresAt === null ? { partition, id, revision, json } : { partition, id, revision, json, expiresAt };
}

/** Text read in one go; a page that reaches this ends early. */
export const pageCharacters = 1 << 20;
