// What the parts of a kubeconfig share: entries that know their file, and the files and data that entries name.
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { AccessError } from './cluster-access.ts';

/** An entry and the file it stands in: relative paths are relative to that file. */
export interface Entry<T> {
  readonly value: T;
  readonly file: string;
}

/** The path of a file that an entry names. */
export function pathOf(path: string, entry: Entry<unknown>): string {
  return isAbsolute(path) ? path : resolve(dirname(entry.file), path);
}

/** Reads a file now, for the sake of a clear error; its later contents come from fresh-file.ts. */
export function checkReadable(path: string, what: string, origin?: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const where = origin === undefined ? '' : `${origin}: `;
    throw new AccessError(`${where}${what} ${path} cannot be read (${codeOf(cause)})`, { cause });
  }
}

/** Decodes a member whose name ends in `-data`. */
export function decoded(value: unknown, what: string, origin: string): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/=\s]+$/.test(value)) {
    throw new AccessError(`${origin}: ${what} is not base64`);
  }
  return Buffer.from(value, 'base64').toString('utf8');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
