import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Makes a directory that only its owner can enter, and those above it that are missing; one that exists stays as it is. Does by
 * hand what `mkdir`'s `recursive` does, since that never ends where the file system refuses new directories with ENOENT, as
 * /proc does.
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && (await isDirectory(directory))) return;
    const parent = dirname(directory);
    if (code !== 'ENOENT' || parent === directory || (await isDirectory(parent))) throw error;
    await makePrivateDirectory(parent);
    await mkdir(directory, { mode: 0o700 }).catch(async (again: unknown) => {
      if (!(await isDirectory(directory))) throw again;
    });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
