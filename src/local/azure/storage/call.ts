// One request to a storage account.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { World } from '../kernel/world.ts';
import type { Account } from './account.ts';
import type { Contents } from './contents.ts';
import type { Documents } from './documents.ts';
import { storageError } from './errors.ts';

export interface StorageCall {
  readonly world: World;
  readonly documents: Documents;
  readonly contents: Contents;
  readonly account: Account;
  readonly method: string;
  /** As sent, still encoded, without query. */
  readonly path: string;
  readonly container: string;
  readonly blob: string;
  /** By lower-case name, decoded. */
  readonly query: { readonly [name: string]: string };
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Buffer>;
  readonly requestId: string;
  /** `https://<host>/`. */
  readonly origin: string;
}

export interface StorageAnswer {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  /** A text is XML unless the headers say otherwise. */
  readonly body?: string | Readable;
}

export function header(call: Pick<StorageCall, 'headers'>, name: string): string | undefined {
  const value = call.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The whole body of a request that is short by its nature. */
export async function smallBody(call: StorageCall, limitBytes = 4 * 1024 * 1024): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of call.body) {
    length += chunk.length;
    if (length > limitBytes) throw storageError(413, 'RequestBodyTooLarge');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const metadataName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const metadataMax = 8192;

/** The `x-ms-meta-` headers; undefined when there are none. */
export function metadataOf(call: StorageCall): { readonly [name: string]: string } | undefined {
  const found: { [name: string]: string } = {};
  let size = 0;
  for (const [name, value] of Object.entries(call.headers)) {
    if (!name.startsWith('x-ms-meta-') || value === undefined) continue;
    const key = name.slice('x-ms-meta-'.length);
    const text = Array.isArray(value) ? value.join(',') : value;
    size += key.length + text.length;
    if (!metadataName.test(key)) throw storageError(400, 'InvalidMetadata');
    found[key] = text;
  }
  if (size > metadataMax)
    throw storageError(
      400,
      'MetadataTooLarge',
      'The size of the specified metadata exceeds the maximum size permitted.',
    );
  return Object.keys(found).length === 0 ? undefined : found;
}

export function metadataHeaders(metadata: { readonly [name: string]: string } | undefined): { [name: string]: string } {
  return Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [`x-ms-meta-${name}`, value]));
}

export function httpDate(time: number): string {
  return new Date(time).toUTCString();
}
