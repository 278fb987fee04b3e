// Blobs written part by part: blocks that are joined by a list, and blocks that are appended.
import { isStoreError } from '../../../store/errors.ts';
import type { Document } from '../../../store/store.ts';
import { checkName, encrypted, tagsOf, takeBody, tierOf } from './blob-body.ts';
import { contentHeaders } from './blob-headers.ts';
import { demandBlob } from './blob-reads.ts';
import { header, metadataOf, type StorageAnswer, type StorageCall, smallBody } from './call.ts';
import { checkConditions } from './conditions.ts';
import { inlineMax, type Piece } from './contents.ts';
import { type BlobBody, type BlockBody, blockId, blockSort, demandContainer, newEtag, readBlob } from './documents.ts';
import { storageError } from './errors.ts';
import { checkLease, stateHeaders } from './leases.ts';
import { place } from './place-blob.ts';
import { readXml } from './xml.ts';

const blockMaxBytes = 4000 * 1024 * 1024;
const maxBlocks = 50_000;
/** A batch of the store holds 100. */
const batchMax = 90;

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
