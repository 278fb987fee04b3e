// What is changed of a blob that is there: metadata, properties, tags, tier and lease.
import { isStoreError } from '../../../store/errors.ts';
import { checkTags, encrypted } from './blob-body.ts';
import { contentHeaders } from './blob-headers.ts';
import { demandBlob } from './blob-reads.ts';
import { header, metadataOf, type StorageAnswer, type StorageCall, smallBody } from './call.ts';
import { checkConditions } from './conditions.ts';
import { type BlobBody, newEtag } from './documents.ts';
import { storageError } from './errors.ts';
import { changeLease, checkLease, stateHeaders } from './leases.ts';
import { child, readXml, textOf } from './xml.ts';

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
