// A blob put in the place of what is there, as one step.
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Operation } from '../../../store/store.ts';
import type { StorageCall } from './call.ts';
import { checkConditions } from './conditions.ts';
import { type BlobBody, blobId, demandContainer, newEtag, readBlob, type StorageBody } from './documents.ts';
import { checkLease } from './leases.ts';

type Made = Omit<BlobBody, 'kind' | 'sort' | 'container' | 'name' | 'created' | 'modified' | 'etag'>;

/** Puts a blob in the place of what is there. Nothing of the new content is left when that fails. */
export async function place(
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
