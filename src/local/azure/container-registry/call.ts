// One request to a registry.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { World } from '../kernel/world.ts';
import type { Contents } from '../storage/contents.ts';
import type { Documents } from './documents.ts';
import { registryError } from './errors.ts';
import type { Registry } from './registry.ts';

export interface RegistryCall {
  readonly world: World;
  readonly registry: Registry;
  readonly documents: Documents;
  readonly contents: Contents;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Buffer>;
  /** Whether the caller may do something; throws 401 with the challenge when a token could help, 403 otherwise. */
  demand(type: string, name: string, action: string): Promise<void>;
}

export interface RegistryAnswer {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  /** An object is sent as JSON. */
  readonly body?: object | Buffer | Readable;
}

export async function bytesOf(call: Pick<RegistryCall, 'body'>, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of call.body) {
    length += chunk.length;
    if (length > limitBytes) throw registryError('SIZE_INVALID');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const nameForm = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const digestForm = /^sha256:[0-9a-f]{64}$/;
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export function checkName(name: string): string {
  if (name.length <= 255 && nameForm.test(name)) return name;
  throw registryError('NAME_INVALID');
}

export function isDigest(text: string): boolean {
  return digestForm.test(text);
}

export function isTag(text: string): boolean {
  return tagForm.test(text);
}

const pageMax = 1000;

/** `n` and `last` of a list. */
export function pageOf(
  { query }: RegistryCall,
  usual = 100,
): { readonly limit: number; readonly last: string | undefined } {
  const asked = query.get('n');
  const limit = asked === null ? usual : Number(asked);
  if (!Number.isInteger(limit) || limit < 1) throw registryError('PAGINATION_NUMBER_INVALID');
  return { limit: Math.min(limit, pageMax - 1), last: query.get('last') ?? undefined };
}
