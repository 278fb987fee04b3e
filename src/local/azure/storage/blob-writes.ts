// Writing blobs: whole, by blocks, by appending, by copying; their properties, tags and leases.
import { randomUUID } from 'node:crypto';
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Operation } from '../../../store/store.ts';
import { dataPlaneOf } from '../cloud.ts';
import { admit, type Need } from './access.ts';
import { findAccount } from './account.ts';
import { contentHeaders } from './blob-headers.ts';
import { demandBlob, noSnapshots } from './blob-reads.ts';
import { header, metadataOf, type StorageAnswer, type StorageCall, smallBody } from './call.ts';
import { checkConditions } from './conditions.ts';
import { inlineMax, type Piece, type Taken, TooLong } from './contents.ts';
import {
  type BlobBody,
  type BlockBody,
  blobId,
  blockId,
  blockSort,
  demandContainer,
  type Metadata,
  newEtag,
  readBlob,
  type StorageBody,
} from './documents.ts';
import { storageError } from './errors.ts';
import { changeLease, checkLease, stateHeaders } from './leases.ts';
import { child, readXml, textOf } from './xml.ts';

const blobMaxBytes = 5000 * 1024 * 1024;
const blockMaxBytes = 4000 * 1024 * 1024;
const nameMax = 1024;
const maxBlocks = 50_000;
/** A batch of the store holds 100. */
const batchMax = 90;

function checkName({ blob }: StorageCall): void {
  if (blob.length > nameMax || blob.split('/').length > 254) throw storageError(400, 'InvalidResourceName');
}

async function takeBody(call: StorageCall, limit: number): Promise<Taken> {
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
function tagsOf(call: StorageCall): Metadata | undefined {
  const text = header(call, 'x-ms-tags');
  if (text === undefined || text === '') return undefined;
  return checkTags(Object.fromEntries(new URLSearchParams(text)));
}

function checkTags(tags: Metadata): Metadata {
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

type Made = Omit<BlobBody, 'kind' | 'sort' | 'container' | 'name' | 'created' | 'modified' | 'etag'>;

/** Puts a blob in the place of what is there. Nothing of the new content is left when that fails. */
async function place(
  call: StorageCall,
  made: Made,
  more: (current: Document<BlobBody> | undefined) => Promise<readonly Operation<StorageBody>[]> = async () => [],
): Promise<BlobBody> {
  const { documents, contents, account, container, blob, world } = call;
  try {
    for (;;) {
      const parent = await demandContainer(documents, account.name, container);
      const current = await readBlob(documents, account.name, container, blob);
      checkConditions(call, current?.body, false);
      checkLease(call, current?.body.lease, 'Blob', true);
      const now = world.clock.now();
      const lease = current?.body.lease;
      const body: BlobBody = {
        kind: 'blob',
        sort: `${container}/${blob}`,
        container,
        name: blob,
        created: current?.body.created ?? now,
        modified: now,
        etag: newEtag(now),
        ...made,
        ...(lease === undefined ? {} : { lease }),
      };
      const id = blobId(container, blob);
      try {
        await documents.batch(account.name, [
          current === undefined ? { kind: 'create', id, body } : { kind: 'replace', version: current, body },
          { kind: 'check', version: parent },
          ...(await more(current)),
        ]);
      } catch (error) {
        if (!isStoreError(error, 'Changed', 'Exists', 'NotFound')) throw error;
        continue;
      }
      const kept = new Set(made.pieces.flatMap((piece) => ('file' in piece ? [piece.file] : [])));
      await contents.remove((current?.body.pieces ?? []).filter((piece) => 'file' in piece && !kept.has(piece.file)));
      return body;
    }
  } catch (error) {
    if (made.blocks === undefined && made.type === 'BlockBlob') await contents.remove(made.pieces);
    throw error;
  }
}

export async function putBlob(call: StorageCall): Promise<StorageAnswer> {
  checkName(call);
  const type = header(call, 'x-ms-blob-type');
  if (type === undefined) throw storageError(400, 'MissingRequiredHeader');
  if (type === 'PageBlob')
    throw storageError(409, 'FeatureNotSupported', 'Page blobs are not kept by the storage of this cloud.');
  if (type !== 'BlockBlob' && type !== 'AppendBlob') throw storageError(400, 'InvalidHeaderValue');
  if (header(call, 'x-ms-copy-source') !== undefined) return copyBlob(call, true);
  if (header(call, 'content-length') === undefined && header(call, 'transfer-encoding') === undefined)
    throw storageError(411, 'MissingContentLengthHeader');
  await refuseEarly(call);
  const [metadata, tags] = [metadataOf(call), tagsOf(call)];
  const taken = await takeBody(call, type === 'AppendBlob' ? 0 : blobMaxBytes);
  const given = contentHeaders((name) => header(call, name), true);
  const md5 = header(call, 'x-ms-blob-content-md5') ?? taken.md5;
  const body = await place(call, {
    type,
    pieces: type === 'AppendBlob' ? [] : [taken.piece],
    length: taken.length,
    headers: type === 'AppendBlob' ? given : { ...given, contentMd5: md5 },
    ...(metadata === undefined ? {} : { metadata }),
    ...(tags === undefined ? {} : { tags }),
    ...tierOf(call),
  });
  return { status: 201, headers: { ...stateHeaders(body), 'content-md5': taken.md5, ...encrypted } };
}

const encrypted = { 'x-ms-request-server-encrypted': 'true' };

function tierOf(call: StorageCall): { readonly tier?: string } {
  const tier = header(call, 'x-ms-access-tier');
  return tier === undefined ? {} : { tier };
}

/** What would be refused after a long body is refused before it. */
async function refuseEarly(call: StorageCall): Promise<void> {
  const { documents, account, container, blob } = call;
  await demandContainer(documents, account.name, container);
  const current = await readBlob(documents, account.name, container, blob);
  checkConditions(call, current?.body, false);
  checkLease(call, current?.body.lease, 'Blob', true);
}

export async function putBlock(call: StorageCall): Promise<StorageAnswer> {
  checkName(call);
  const { documents, contents, account, container, blob, world } = call;
  const id = call.query.blockid ?? '';
  if (id === '' || Buffer.from(id, 'base64').length > 64 || Buffer.from(id, 'base64').toString('base64') !== id)
    throw storageError(400, 'InvalidBlockId');
  const parent = await demandContainer(documents, account.name, container);
  const current = await readBlob(documents, account.name, container, blob);
  checkLease(call, current?.body.lease, 'Blob', true);
  if (current !== undefined && current.body.type !== 'BlockBlob') throw storageError(409, 'InvalidBlobType');
  const taken = await takeBody(call, blockMaxBytes);
  const body: BlockBody = {
    kind: 'block',
    sort: blockSort(container, blob),
    id,
    name: blob,
    piece: taken.piece,
    at: world.clock.now(),
  };
  const key = blockId(container, blob, id);
  for (;;) {
    const there = await documents.read({ partition: account.name, id: key });
    try {
      await documents.batch(account.name, [
        there === undefined ? { kind: 'create', id: key, body } : { kind: 'replace', version: there, body },
        { kind: 'check', version: parent },
      ]);
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'Exists', 'NotFound')) throw error;
      await demandContainer(documents, account.name, container);
      continue;
    }
    if (there?.body.kind === 'block') await contents.remove([there.body.piece]);
    return { status: 201, headers: { 'content-md5': taken.md5, ...encrypted } };
  }
}

/** Joins blocks, new ones and those of the blob that is there, to a blob. */
export async function putBlockList(call: StorageCall): Promise<StorageAnswer> {
  checkName(call);
  const { documents, contents, account, container, blob } = call;
  const text = (await smallBody(call, 8 * 1024 * 1024)).toString('utf8');
  const root = readXml(text);
  if (root?.name !== 'BlockList') throw storageError(400, 'InvalidXmlDocument');
  if (root.children.length > maxBlocks)
    throw storageError(400, 'BlockListTooLong', 'The block list may not contain more than 50,000 blocks.');
  const [metadata, tags] = [metadataOf(call), tagsOf(call)];
  const given = contentHeaders((name) => header(call, name), false);
  const md5 = header(call, 'x-ms-blob-content-md5');
  const current = await readBlob(documents, account.name, container, blob);
  const uncommitted = await blocksOf(call);
  const committed = new Map<string, Piece>();
  for (const [at, { id }] of (current?.body.blocks ?? []).entries()) {
    const piece = current?.body.pieces[at];
    if (piece !== undefined) committed.set(id, piece);
  }
  const chosen = root.children.map(({ name, text: id }) => {
    const wanted = id.trim();
    const fresh = uncommitted.get(wanted)?.body.piece;
    const piece =
      name === 'Latest'
        ? (fresh ?? committed.get(wanted))
        : name === 'Uncommitted'
          ? fresh
          : name === 'Committed'
            ? committed.get(wanted)
            : undefined;
    if (piece === undefined) throw storageError(400, 'InvalidBlockList');
    return { id: wanted, piece };
  });
  // A block that is named twice needs its bytes twice: each file belongs to one place.
  const seen = new Set<string>();
  const length = chosen.reduce((sum, { piece }) => sum + piece.length, 0);
  const pieces: Piece[] = [];
  for (const { piece } of chosen) {
    const isAgain = 'file' in piece && seen.has(piece.file);
    if ('file' in piece) seen.add(piece.file);
    pieces.push(isAgain ? await contents.copy(piece) : await kept(call, piece, length));
  }
  const used = new Set(pieces.flatMap((piece) => ('file' in piece ? [piece.file] : [])));
  const spare = [...uncommitted.values()];
  const body = await place(
    call,
    {
      type: 'BlockBlob',
      pieces,
      blocks: chosen.map(({ id, piece }) => ({ id, length: piece.length })),
      length,
      headers: { ...given, ...(md5 === undefined ? {} : { contentMd5: md5 }) },
      ...(metadata === undefined ? {} : { metadata }),
      ...(tags === undefined ? {} : { tags }),
      ...tierOf(call),
    },
    async (latest) => {
      if (latest?.etag !== current?.etag)
        throw storageError(412, 'ConditionNotMet', 'The blob was changed by another request at the same time.');
      return spare.slice(0, batchMax).map((version) => ({ kind: 'delete', version }));
    },
  );
  for (let at = batchMax; at < spare.length; at += batchMax) {
    await documents.batch(
      account.name,
      spare.slice(at, at + batchMax).map((version) => ({ kind: 'delete', version })),
    );
  }
  await contents.remove(
    spare.map(({ body: one }) => one.piece).filter((piece) => 'file' in piece && !used.has(piece.file)),
  );
  return { status: 201, headers: { ...stateHeaders(body), ...encrypted } };
}

/** Short blocks of a long blob would make its document too large: they become files. */
async function kept({ contents }: StorageCall, piece: Piece, total: number): Promise<Piece> {
  if ('file' in piece || total <= inlineMax || piece.length === 0) return piece;
  return (await contents.take(padded(piece), Number.MAX_SAFE_INTEGER)).piece;
}

async function* padded(piece: Piece & { readonly bytes: string }): AsyncGenerator<Buffer> {
  yield Buffer.from(piece.bytes, 'base64');
}

async function blocksOf({
  documents,
  account,
  container,
  blob,
}: StorageCall): Promise<Map<string, Document<BlockBody>>> {
  const found = new Map<string, Document<BlockBody>>();
  let continuation: string | undefined;
  do {
    const page = await documents.query({
      partition: account.name,
      filter: { op: 'eq', field: ['sort'], value: blockSort(container, blob) },
      limit: 1000,
      ...(continuation === undefined ? {} : { continuation }),
    });
    for (const document of page.documents)
      if (document.body.kind === 'block') found.set(document.body.id, { ...document, body: document.body });
    ({ continuation } = page);
  } while (continuation !== undefined);
  return found;
}

const appendMaxPieces = 1000;

export async function appendBlock(call: StorageCall): Promise<StorageAnswer> {
  const taken = await takeBody(call, 100 * 1024 * 1024);
  for (;;) {
    const found = await demandBlob(call);
    const { body } = found;
    checkConditions(call, body, false);
    checkLease(call, body.lease, 'Blob', true);
    if (body.type !== 'AppendBlob') throw storageError(409, 'InvalidBlobType');
    const position = header(call, 'x-ms-blob-condition-appendpos');
    if (position !== undefined && Number(position) !== body.length)
      throw storageError(412, 'AppendPositionConditionNotMet', 'The append position condition specified was not met.');
    const last = body.pieces.at(-1);
    const joined =
      last !== undefined && 'bytes' in last && 'bytes' in taken.piece && last.length + taken.length <= inlineMax / 4;
    const pieces: readonly Piece[] = joined
      ? [
          ...body.pieces.slice(0, -1),
          {
            length: last.length + taken.length,
            bytes: Buffer.concat([
              Buffer.from(last.bytes, 'base64'),
              Buffer.from(taken.piece.bytes, 'base64'),
            ]).toString('base64'),
          },
        ]
      : [
          ...body.pieces,
          'bytes' in taken.piece && taken.length > inlineMax / 4 ? await asFile(call, taken.piece) : taken.piece,
        ];
    if (pieces.length > appendMaxPieces)
      throw storageError(409, 'BlockCountExceedsLimit', 'The committed block count cannot exceed the maximum limit.');
    const now = call.world.clock.now();
    const next: BlobBody = { ...body, pieces, length: body.length + taken.length, modified: now, etag: newEtag(now) };
    try {
      await call.documents.replace(found, next);
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
      continue;
    }
    return {
      status: 201,
      headers: {
        ...stateHeaders(next),
        'content-md5': taken.md5,
        'x-ms-blob-append-offset': String(body.length),
        'x-ms-blob-committed-block-count': String(pieces.length),
        ...encrypted,
      },
    };
  }
}

function asFile(call: StorageCall, piece: Piece): Promise<Piece> {
  return kept(call, piece, Number.MAX_SAFE_INTEGER);
}

const readNeed: Need = { letters: 'r', level: 'o', action: 'containers/blobs/read', data: true, open: 'blob' };

/** From another blob of this cloud, which the request must be allowed to read. */
export async function copyBlob(call: StorageCall, isFromUrl = false): Promise<StorageAnswer> {
  checkName(call);
  const source = header(call, 'x-ms-copy-source') ?? '';
  const found = await readSource(call, source);
  const { body } = found;
  checkConditions(call, body, true, 'x-ms-source-');
  const pieces = await Promise.all(body.pieces.map((piece) => found.contents.copy(piece)));
  const id = randomUUID();
  const metadata = metadataOf(call) ?? body.metadata;
  const tags = tagsOf(call);
  const now = call.world.clock.now();
  const own = contentHeaders((name) => header(call, name), false);
  const made = await place(call, {
    type: body.type,
    pieces,
    length: body.length,
    headers: { ...body.headers, ...(isFromUrl ? own : {}) },
    ...(body.blocks === undefined ? {} : { blocks: body.blocks }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(tags === undefined ? {} : { tags }),
    ...tierOf(call),
    ...(isFromUrl ? {} : { copy: { id, source, at: now } }),
  });
  return {
    status: isFromUrl ? 201 : 202,
    headers: {
      ...stateHeaders(made),
      ...(isFromUrl ? encrypted : { 'x-ms-copy-id': id, 'x-ms-copy-status': 'success' }),
    },
  };
}

async function readSource(call: StorageCall, source: string) {
  const cannot = storageError(404, 'CannotVerifyCopySource');
  const url = URL.canParse(source) ? new URL(source) : undefined;
  const plane = url === undefined ? undefined : dataPlaneOf(call.world.cloud, url.hostname);
  if (url === undefined || url.protocol !== 'https:' || plane?.plane !== 'blob')
    throw storageError(400, 'InvalidHeaderValue', 'The source of a copy is an https address of a blob of this cloud.');
  const account = await findAccount(call.world, plane.name);
  if (account === undefined) throw cannot;
  const { container, blob } = splitPath(url.pathname);
  const own = header(call, 'authorization') ?? '';
  const isOwn = account.id === call.account.id;
  const authorization =
    header(call, 'x-ms-copy-source-authorization') ?? (isOwn && /^bearer /i.test(own) ? own : undefined);
  const sourceCall: StorageCall = {
    ...call,
    account,
    container,
    blob,
    method: 'GET',
    path: url.pathname,
    query: Object.fromEntries([...url.searchParams].map(([name, value]) => [name.toLowerCase(), value])),
    headers: authorization === undefined ? {} : { authorization },
  };
  if (sourceCall.query.snapshot !== undefined) throw noSnapshots();
  // Whoever has the account's key may read all of it.
  if (!isOwn || !/^sharedkey/i.test(own)) {
    try {
      await admit(sourceCall, readNeed);
    } catch {
      throw cannot;
    }
  }
  const found = await readBlob(call.documents, account.name, container, blob);
  if (found === undefined) throw cannot;
  return { ...found, contents: call.contents };
}

export function splitPath(path: string): { readonly container: string; readonly blob: string } {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path.replace(/^\//, ''));
  } catch {
    throw storageError(400, 'InvalidUri');
  }
  const at = decoded.indexOf('/');
  return at === -1
    ? { container: decoded, blob: '' }
    : { container: decoded.slice(0, at), blob: decoded.slice(at + 1) };
}

async function change(call: StorageCall, make: (body: BlobBody) => BlobBody, isSilent = false): Promise<BlobBody> {
  for (;;) {
    const found = await demandBlob(call);
    checkConditions(call, found.body, false);
    checkLease(call, found.body.lease, 'Blob', true);
    const now = call.world.clock.now();
    const made = make(found.body);
    const next = isSilent ? made : { ...made, modified: now, etag: newEtag(now) };
    try {
      await call.documents.replace(found, next);
      return next;
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
    }
  }
}

export async function setMetadata(call: StorageCall): Promise<StorageAnswer> {
  const metadata = metadataOf(call);
  const next = await change(call, ({ metadata: _before, ...rest }) => ({
    ...rest,
    ...(metadata === undefined ? {} : { metadata }),
  }));
  return { status: 200, headers: { ...stateHeaders(next), ...encrypted } };
}

export async function setProperties(call: StorageCall): Promise<StorageAnswer> {
  const headers = contentHeaders((name) => header(call, name), false);
  const md5 = header(call, 'x-ms-blob-content-md5');
  const next = await change(call, (body) => ({
    ...body,
    headers: { ...headers, ...(md5 === undefined ? {} : { contentMd5: md5 }) },
  }));
  return { status: 200, headers: stateHeaders(next) };
}

export async function setTags(call: StorageCall): Promise<StorageAnswer> {
  const root = readXml((await smallBody(call, 64 * 1024)).toString('utf8'));
  if (root?.name !== 'Tags') throw storageError(400, 'InvalidXmlDocument');
  const entries = (child(root, 'TagSet')?.children ?? []).map(
    (tag) => [textOf(tag, 'Key') ?? '', textOf(tag, 'Value') ?? ''] as const,
  );
  const tags = checkTags(Object.fromEntries(entries));
  await change(call, (body) => ({ ...body, tags }), true);
  return { status: 204 };
}

export async function setTier(call: StorageCall): Promise<StorageAnswer> {
  const tier = header(call, 'x-ms-access-tier') ?? '';
  if (!['Hot', 'Cool', 'Cold', 'Archive'].includes(tier)) throw storageError(400, 'InvalidHeaderValue');
  await change(call, (body) => ({ ...body, tier }), true);
  return { status: 200 };
}

export async function leaseBlob(call: StorageCall): Promise<StorageAnswer> {
  for (;;) {
    const found = await demandBlob(call);
    checkConditions(call, found.body, false);
    const { lease, answer } = changeLease(call, found.body.lease);
    const { lease: _before, ...rest } = found.body;
    try {
      await call.documents.replace(found, lease === undefined ? rest : { ...rest, lease });
      return { ...answer, headers: { ...stateHeaders(found.body), ...answer.headers } };
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
    }
  }
}

export async function deleteBlob(call: StorageCall): Promise<StorageAnswer> {
  for (;;) {
    const found = await demandBlob(call);
    checkConditions(call, found.body, false);
    checkLease(call, found.body.lease, 'Blob', true);
    try {
      await call.documents.delete(found);
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
      continue;
    }
    await call.contents.remove(found.body.pieces);
    return { status: 202, headers: { 'x-ms-delete-type-permanent': 'true' } };
  }
}
