// Reading blobs: content, ranges, properties, tags, blocks.
import type { Document } from '../../../store/store.ts';
import { blobHeaders } from './blob-headers.ts';
import { header, type StorageAnswer, type StorageCall } from './call.ts';
import { checkConditions } from './conditions.ts';
import { type BlobBody, blockSort, demandContainer, readBlob } from './documents.ts';
import { storageError } from './errors.ts';
import { checkLease, stateHeaders } from './leases.ts';
import { declaration, element, field } from './xml.ts';

/** Throws 404 that says which of container and blob is missing. */
export async function demandBlob(call: StorageCall): Promise<Document<BlobBody>> {
  const { documents, account, container, blob } = call;
  if (call.query.snapshot !== undefined || call.query.versionid !== undefined) throw noSnapshots();
  const found = await readBlob(documents, account.name, container, blob);
  if (found !== undefined) return found;
  await demandContainer(documents, account.name, container);
  throw storageError(404, 'BlobNotFound');
}

export function noSnapshots() {
  return storageError(
    409,
    'FeatureNotSupported',
    'Snapshots and versions of blobs are not kept by the storage of this cloud.',
  );
}

export async function getBlob(
  call: StorageCall,
  overrides: { readonly [header: string]: string },
): Promise<StorageAnswer> {
  const { body } = await demandBlob(call);
  checkConditions(call, body, true);
  checkLease(call, body.lease, 'Blob', false);
  const now = call.world.clock.now();
  const headers = { ...blobHeaders(body, now), ...overrides };
  const md5 = body.headers.contentMd5;
  const range = rangeOf(header(call, 'x-ms-range') ?? header(call, 'range'), body.length);
  if (range === undefined) {
    const whole = {
      ...headers,
      'content-length': String(body.length),
      ...(md5 === undefined ? {} : { 'content-md5': md5 }),
    };
    if (call.method === 'HEAD') return { status: 200, headers: whole };
    return { status: 200, headers: whole, body: call.contents.read(body.pieces) };
  }
  const { start, end } = range;
  const part = {
    ...headers,
    'content-length': String(end - start),
    'content-range': `bytes ${start}-${end - 1}/${body.length}`,
    ...(md5 === undefined ? {} : { 'x-ms-blob-content-md5': md5 }),
  };
  if (call.method === 'HEAD') return { status: 206, headers: part };
  return { status: 206, headers: part, body: call.contents.read(body.pieces, start, end) };
}

/** Undefined for the whole; the end is not included. Ranges of a form that is not known are ignored, as HTTP has it. */
export function rangeOf(
  text: string | undefined,
  length: number,
): { readonly start: number; readonly end: number } | undefined {
  const match = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(text ?? '');
  if (match === null) return undefined;
  const start = Number(match[1]);
  const end = match[2] === undefined ? length : Math.min(Number(match[2]) + 1, length);
  if (start >= length || end <= start)
    throw storageError(416, 'InvalidRange', undefined, { 'content-range': `bytes */${length}` });
  return { start, end };
}

export async function getBlobProperties(call: StorageCall): Promise<StorageAnswer> {
  const { body } = await demandBlob(call);
  checkConditions(call, body, true);
  checkLease(call, body.lease, 'Blob', false);
  const md5 = body.headers.contentMd5;
  return {
    status: 200,
    headers: {
      ...blobHeaders(body, call.world.clock.now()),
      'content-length': String(body.length),
      ...(md5 === undefined ? {} : { 'content-md5': md5 }),
    },
  };
}

export async function getTags(call: StorageCall): Promise<StorageAnswer> {
  const { body } = await demandBlob(call);
  const tags = Object.entries(body.tags ?? {}).map(([key, value]) =>
    element('Tag', [field('Key', key), field('Value', value)]),
  );
  return { status: 200, body: `${declaration}${element('Tags', element('TagSet', tags))}` };
}

export async function getBlockList(call: StorageCall): Promise<StorageAnswer> {
  const { documents, account, container, blob } = call;
  const which = (call.query.blocklisttype ?? 'committed').toLowerCase();
  const found = await readBlob(documents, account.name, container, blob);
  const { documents: blocks } = await documents.query({
    partition: account.name,
    filter: { op: 'eq', field: ['sort'], value: blockSort(container, blob) },
    limit: 1000,
  });
  if (found === undefined && blocks.length === 0) {
    await demandContainer(documents, account.name, container);
    throw storageError(404, 'BlobNotFound');
  }
  const shape = (id: string, length: number): string => element('Block', [field('Name', id), field('Size', length)]);
  const committed = (found?.body.blocks ?? []).map(({ id, length }) => shape(id, length));
  const uncommitted = blocks.flatMap(({ body }) => (body.kind === 'block' ? [shape(body.id, body.piece.length)] : []));
  return {
    status: 200,
    headers: {
      ...(found === undefined
        ? {}
        : { ...stateHeaders(found.body), 'x-ms-blob-content-length': String(found.body.length) }),
    },
    body: `${declaration}${element('BlockList', [
      which === 'uncommitted' ? '' : element('CommittedBlocks', committed),
      which === 'committed' ? '' : element('UncommittedBlocks', uncommitted),
    ])}`,
  };
}
