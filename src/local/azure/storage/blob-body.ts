// What comes with a blob that is written: its name, its content, its tags and its tier.
import { header, type StorageCall } from './call.ts';
import { type Taken, TooLong } from './contents.ts';
import type { Metadata } from './documents.ts';
import { storageError } from './errors.ts';

const nameMax = 1024;

/** Throws InvalidResourceName. */
export function checkName({ blob }: StorageCall): void {
  if (blob.length > nameMax || blob.split('/').length > 254) throw storageError(400, 'InvalidResourceName');
}

/** The content, checked against the digest and the length that came with it. Nothing is left of one that is refused. */
export async function takeBody(call: StorageCall, limit: number): Promise<Taken> {
  let taken: Taken;
  try {
    taken = await call.contents.take(call.body, limit);
  } catch (error) {
    if (error instanceof TooLong) throw storageError(413, 'RequestBodyTooLarge');
    throw error;
  }
  const given = header(call, 'content-md5');
  if (given !== undefined && given !== taken.md5) {
    await call.contents.remove([taken.piece]);
    throw Buffer.from(given, 'base64').length === 16
      ? storageError(400, 'Md5Mismatch')
      : storageError(400, 'InvalidMd5');
  }
  const length = header(call, 'content-length');
  if (length !== undefined && Number(length) !== taken.length) {
    await call.contents.remove([taken.piece]);
    throw storageError(400, 'InvalidInput');
  }
  return taken;
}

/** Tags in a header, as a query string. */
export function tagsOf(call: StorageCall): Metadata | undefined {
  const text = header(call, 'x-ms-tags');
  if (text === undefined || text === '') return undefined;
  return checkTags(Object.fromEntries(new URLSearchParams(text)));
}

/** The tags, when they are as tags may be. Throws InvalidTags. */
export function checkTags(tags: Metadata): Metadata {
  const entries = Object.entries(tags);
  const form = /^[A-Za-z0-9 +\-./:=_]*$/;
  if (
    entries.length > 10 ||
    entries.some(
      ([key, value]) => key === '' || key.length > 128 || value.length > 256 || !form.test(key) || !form.test(value),
    )
  )
    throw storageError(400, 'InvalidTags', 'The tags specified are invalid.');
  return tags;
}

/** What answers to writes of content say. */
export const encrypted = { 'x-ms-request-server-encrypted': 'true' };

export function tierOf(call: StorageCall): { readonly tier?: string } {
  const tier = header(call, 'x-ms-access-tier');
  return tier === undefined ? {} : { tier };
}
