// The one key of a host: tokens of all clusters are signed, and their secrets sealed, with keys derived from it.
import { hkdfSync, randomBytes } from 'node:crypto';
import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type KeyRing, keyRing } from '../../kit/key-ring.ts';
import { Secret } from '../../kit/secret.ts';
import { makePrivateDirectory } from '../../pki/private-directory.ts';
import { createFile } from '../../pki/whole-file.ts';

const keyBytes = 32;

/** The file that holds what the clusters have, in a data directory. */
export const databaseFile = (directory: string): string => join(directory, 'kubernetes.sqlite');

/** The key of a data directory does not fit what is there; the message says what to do. */
export class HostKeyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HostKeyError';
  }
}

/**
 * The key of a data directory, made with the directory when there is none; without a directory, a new one each time. Directory and
 * key are made accessible to their owner only. Throws {@link HostKeyError} for a database without a key, or a key that is not whole.
 */
export async function loadHostKey(directory: string | undefined): Promise<Secret<Buffer>> {
  if (directory === undefined) return new Secret(randomBytes(keyBytes));
  await makePrivateDirectory(directory);
  await chmod(directory, 0o700);
  const path = join(directory, 'kubernetes.key');
  // Asked before the key: who makes both at this moment makes the key first.
  const inUse = await hasContents(databaseFile(directory));
  const restore = 'put its copy back, or start with another data directory';
  if (!(await hasContents(path)) && inUse) {
    throw new HostKeyError(`${path} is missing or empty, and ${databaseFile(directory)} needs it: ${restore}`);
  }
  await createFile({ path, data: randomBytes(keyBytes), mode: 0o600 });
  await chmod(path, 0o600);
  const bytes = await readFile(path);
  if (bytes.length !== keyBytes) {
    const advice = inUse ? restore : 'nothing depends on it yet, so remove it and start again';
    throw new HostKeyError(`${path} has ${bytes.length} bytes where a key has ${keyBytes}: ${advice}`);
  }
  return new Secret(bytes);
}

/** Seals what is stored with a key of its own, whose id differs from host to host. */
export function sealingRing(hostKey: Secret<Buffer>): KeyRing {
  const derived = (use: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', hostKey.reveal(), '', use, length));
  return keyRing([
    {
      id: derived('name of the key that seals stored objects', 9).toString('base64url'),
      bytes: new Secret(derived('sealing of stored objects', 32)),
    },
  ]);
}

async function hasContents(path: string): Promise<boolean> {
  try {
    return (await stat(path)).size > 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
