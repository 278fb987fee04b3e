// Copies of blobs of this cloud.
import { randomUUID } from 'node:crypto';
import { dataPlaneOf } from '../cloud.ts';
import { admit, type Need } from './access.ts';
import { findAccount } from './account.ts';
import { checkName, encrypted, tagsOf, tierOf } from './blob-body.ts';
import { contentHeaders } from './blob-headers.ts';
import { splitPath } from './blob-path.ts';
import { noSnapshots } from './blob-reads.ts';
import { header, metadataOf, type StorageAnswer, type StorageCall } from './call.ts';
import { checkConditions } from './conditions.ts';
import { readBlob } from './documents.ts';
import { storageError } from './errors.ts';
import { stateHeaders } from './leases.ts';
import { place } from './place-blob.ts';

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
