// What is kept of containers, blobs and blocks that are not part of a blob yet; one partition for each account.
import { createHash } from 'node:crypto';
import type { Container, Document } from '../../../store/store.ts';
import type { World } from '../kernel/world.ts';
import type { Piece } from './contents.ts';
import { storageError } from './errors.ts';

export interface Lease {
  readonly id: string;
  /** Epoch milliseconds; absent for leases without end. */
  readonly until?: number;
  readonly seconds: number;
  /** While a lease is being broken: when that is over. */
  readonly brokenAt?: number;
}

export interface AccessRule {
  readonly id: string;
  readonly start?: string;
  readonly expiry?: string;
  readonly permissions?: string;
}

export type Metadata = { readonly [name: string]: string };

export interface ContainerBody {
  readonly kind: 'container';
  /** What lists go by: `containers/<name>`. */
  readonly sort: string;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly modified: number;
  readonly etag: string;
  readonly metadata?: Metadata;
  readonly publicAccess?: 'blob' | 'container';
  readonly rules?: readonly AccessRule[];
  readonly lease?: Lease;
}

/** Headers that are given back with the content. */
export interface ContentHeaders {
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  readonly contentDisposition?: string;
  readonly cacheControl?: string;
  /** Base64. */
  readonly contentMd5?: string;
}

export interface BlobBody {
  readonly kind: 'blob';
  /** `<container>/<name>`. */
  readonly sort: string;
  readonly container: string;
  readonly name: string;
  readonly type: 'BlockBlob' | 'AppendBlob';
  readonly pieces: readonly Piece[];
  /** Of a blob made of blocks: their ids and sizes. */
  readonly blocks?: readonly { readonly id: string; readonly length: number }[];
  readonly length: number;
  readonly headers: ContentHeaders;
  readonly metadata?: Metadata;
  readonly tags?: Metadata;
  readonly tier?: string;
  readonly created: number;
  readonly modified: number;
  readonly etag: string;
  readonly lease?: Lease;
  readonly copy?: { readonly id: string; readonly source: string; readonly at: number };
}

export interface BlockBody {
  readonly kind: 'block';
  /** `uncommitted/<container>/<digest of the blob's name>`. */
  readonly sort: string;
  readonly id: string;
  readonly name: string;
  readonly piece: Piece;
  readonly at: number;
}

export interface ServiceBody {
  readonly kind: 'service';
  readonly sort: 'service';
  readonly website?: { readonly index?: string; readonly notFound?: string };
  readonly defaultVersion?: string;
}

export type StorageBody = ContainerBody | BlobBody | BlockBody | ServiceBody;
export type Documents = Container<StorageBody>;

const opened = new WeakMap<World, Promise<Documents>>();

export function openDocuments(world: World): Promise<Documents> {
  let documents = opened.get(world);
  if (documents === undefined) {
    documents = world.store.container<StorageBody>({
      name: 'storage_blobs',
      indexes: [{ field: ['sort'], type: 'string' }],
    });
    opened.set(world, documents);
  }
  return documents;
}

function digest(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

export function containerId(container: string): string {
  return `c/${container}`;
}

/** Names may be longer than an id of the store. */
export function blobId(container: string, name: string): string {
  return `b/${container}/${digest(name)}`;
}

export function blockId(container: string, name: string, block: string): string {
  return `u/${container}/${digest(name)}/${digest(block)}`;
}

export function blockSort(container: string, name: string): string {
  return `uncommitted/${container}/${digest(name)}`;
}

export async function readContainer(
  documents: Documents,
  account: string,
  name: string,
): Promise<Document<ContainerBody> | undefined> {
  const found = await documents.read({ partition: account, id: containerId(name) });
  return found?.body.kind === 'container' ? { ...found, body: found.body } : undefined;
}

export async function demandContainer(
  documents: Documents,
  account: string,
  name: string,
): Promise<Document<ContainerBody>> {
  const found = await readContainer(documents, account, name);
  if (found === undefined) throw storageError(404, 'ContainerNotFound');
  return found;
}

export async function readBlob(
  documents: Documents,
  account: string,
  container: string,
  name: string,
): Promise<Document<BlobBody> | undefined> {
  const found = await documents.read({ partition: account, id: blobId(container, name) });
  return found?.body.kind === 'blob' ? { ...found, body: found.body } : undefined;
}

export async function readService(documents: Documents, account: string): Promise<Document<ServiceBody> | undefined> {
  const found = await documents.read({ partition: account, id: 'service' });
  return found?.body.kind === 'service' ? { ...found, body: found.body } : undefined;
}

let count = 0;

/** A new one for every state that a blob or container ever has. */
export function newEtag(now: number): string {
  count = (count + 1) % 0x1000;
  return `"0x8${(now * 0x1000 + count).toString(16).toUpperCase().padStart(14, '0')}"`;
}

const containerForm = /^(?:\$root|\$web|\$logs|[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){2,62})$/;

export function isContainerName(name: string): boolean {
  return containerForm.test(name);
}
