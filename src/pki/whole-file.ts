// Files that are there whole or not at all, whenever the process or the machine stops.
import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface WholeFile {
  readonly path: string;
  readonly data: string | Uint8Array;
  readonly mode: number;
}

/**
 * Writes files in place of those that have their names. All are on disk before the first takes its name; a failure before that
 * changes nothing.
 */
export async function replaceFiles(files: readonly WholeFile[]): Promise<void> {
  const suffix = temporarySuffix();
  try {
    for (const file of files) await write(file.path + suffix, file);
    for (const file of files) await rename(file.path + suffix, file.path);
  } catch (error) {
    await Promise.all(files.map((file) => rm(file.path + suffix, { force: true })));
    throw error;
  }
  for (const directory of new Set(files.map((file) => dirname(file.path)))) await syncDirectory(directory);
}

/** Writes a file unless its name is taken, also by somebody who does the same at this moment: then false, and that one stays. */
export async function createFile(file: WholeFile): Promise<boolean> {
  const temporary = file.path + temporarySuffix();
  try {
    await write(temporary, file);
    await link(temporary, file.path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDirectory(dirname(file.path));
  return true;
}

const temporarySuffix = (): string => `.${randomBytes(6).toString('hex')}.tmp`;

async function write(path: string, file: WholeFile): Promise<void> {
  const handle = await open(path, 'wx', file.mode);
  try {
    await handle.writeFile(file.data);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the names themselves survive a power cut. Windows has no such call and needs none. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
