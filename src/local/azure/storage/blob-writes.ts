// Writing blobs whole, and deleting them.
import { isStoreError } from '../../../store/errors.ts';
import { checkName, encrypted, tagsOf, takeBody, tierOf } from './blob-body.ts';
import { copyBlob } from './blob-copy.ts';
import { contentHeaders } from './blob-headers.ts';
import { demandBlob } from './blob-reads.ts';
import { header, metadataOf, type StorageAnswer, type StorageCall } from './call.ts';
import { checkConditions } from './conditions.ts';
import { demandContainer, readBlob } from './documents.ts';
import { storageError } from './errors.ts';
import { checkLease, stateHeaders } from './leases.ts';
import { place } from './place-blob.ts';

const blobMaxBytes = 5000 * 1024 * 1024;

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

/** What would be refused after a long body is refused before it. */
async function refuseEarly(call: StorageCall): Promise<void> {
  const { documents, account, container, blob } = call;
  await demandContainer(documents, account.name, container);
  const current = await readBlob(documents, account.name, container, blob);
  checkConditions(call, current?.body, false);
  checkLease(call, current?.body.lease, 'Blob', true);
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
