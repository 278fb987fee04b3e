// Layers and configurations: uploads in one piece or in many, mounts from other repositories, downloads.
import { createHash, randomUUID } from 'node:crypto';
import { isStoreError } from '../../../store/errors.ts';
import { type Piece, type Taken, TooLong } from '../storage/contents.ts';
import { isDigest, type RegistryAnswer, type RegistryCall } from './call.ts';
import { ids, readOne, type UploadBody } from './documents.ts';
import { registryError } from './errors.ts';

const layerMaxBytes = 200 * 1024 * 1024 * 1024;
const maxPieces = 2000;

export async function getBlob(call: RegistryCall, repository: string, digest: string): Promise<RegistryAnswer> {
  const found = await linked(call, repository, digest);
  if (found === undefined) throw registryError('BLOB_UNKNOWN');
  const { length, pieces } = found.body;
  const headers = {
    'content-type': 'application/octet-stream',
    'docker-content-digest': digest,
    'accept-ranges': 'bytes',
    etag: `"${digest}"`,
  };
  if (call.method === 'HEAD') return { status: 200, headers: { ...headers, 'content-length': String(length) } };
  const [, from, to] = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(String(call.headers.range ?? '')) ?? [];
  if (from === undefined)
    return { status: 200, headers: { ...headers, 'content-length': String(length) }, body: call.contents.read(pieces) };
  const start = Number(from);
  const end = to === undefined ? length : Math.min(Number(to) + 1, length);
  if (start >= end) throw registryError('RANGE_INVALID');
  return {
    status: 206,
    headers: {
      ...headers,
      'content-length': String(end - start),
      'content-range': `bytes ${start}-${end - 1}/${length}`,
    },
    body: call.contents.read(pieces, start, end),
  };
}

/** The blob if the repository has it. */
export async function linked(
  { documents, registry }: Pick<RegistryCall, 'documents' | 'registry'>,
  repository: string,
  digest: string,
) {
  if (!isDigest(digest)) throw registryError('DIGEST_INVALID');
  const link = await readOne(documents, registry.name, 'link', ids.link(repository, digest));
  return link === undefined ? undefined : readOne(documents, registry.name, 'blob', ids.blob(digest));
}

export async function startUpload(call: RegistryCall, repository: string): Promise<RegistryAnswer> {
  const { query, documents, registry, world } = call;
  const [mount, from, digest] = [query.get('mount'), query.get('from'), query.get('digest')];
  if (mount !== null && from !== null && (await canMount(call, from, mount))) {
    await link(call, repository, mount);
    return created(repository, mount);
  }
  if (digest !== null) {
    const taken = await take(call, layerMaxBytes);
    await keep(call, repository, digest, taken);
    return created(repository, digest);
  }
  const id = randomUUID();
  const body: UploadBody = {
    kind: 'upload',
    list: 'uploads',
    repository,
    pieces: [],
    length: 0,
    at: world.clock.now(),
  };
  await documents.create({ partition: registry.name, id: ids.upload(id) }, body, { ttlSeconds: 7 * 86_400 });
  return progress(repository, id, 0);
}

async function canMount(call: RegistryCall, from: string, digest: string): Promise<boolean> {
  if (!isDigest(digest)) return false;
  try {
    await call.demand('repository', from, 'pull');
  } catch {
    // Without the right to pull there, it is an ordinary upload.
    return false;
  }
  return (await linked(call, from, digest)) !== undefined;
}

function created(repository: string, digest: string): RegistryAnswer {
  return {
    status: 201,
    headers: { location: `/v2/${repository}/blobs/${digest}`, 'docker-content-digest': digest, 'content-length': '0' },
  };
}

function progress(repository: string, id: string, length: number, status = 202): RegistryAnswer {
  return {
    status,
    headers: {
      location: `/v2/${repository}/blobs/uploads/${id}`,
      'docker-upload-uuid': id,
      range: `0-${Math.max(0, length - 1)}`,
      'content-length': '0',
    },
  };
}

async function take(call: RegistryCall, limit: number): Promise<Taken> {
  try {
    return await call.contents.take(call.body, limit);
  } catch (error) {
    if (error instanceof TooLong) throw registryError('SIZE_INVALID');
    throw error;
  }
}

async function demandUpload(call: RegistryCall, repository: string, id: string) {
  const found = await readOne(call.documents, call.registry.name, 'upload', ids.upload(id));
  if (found?.body.repository !== repository) throw registryError('BLOB_UPLOAD_UNKNOWN');
  return found;
}

export async function uploadChunk(call: RegistryCall, repository: string, id: string): Promise<RegistryAnswer> {
  const found = await demandUpload(call, repository, id);
  const [, from] = /^(\d{1,15})-(\d{1,15})$/.exec(String(call.headers['content-range'] ?? '')) ?? [];
  if (from !== undefined && Number(from) !== found.body.length) throw registryError('RANGE_INVALID');
  if (found.body.pieces.length >= maxPieces) throw registryError('BLOB_UPLOAD_INVALID');
  const taken = await take(call, layerMaxBytes);
  const length = found.body.length + taken.length;
  try {
    await call.documents.replace(
      found,
      { ...found.body, pieces: [...found.body.pieces, taken.piece], length },
      { ttlSeconds: 7 * 86_400 },
    );
  } catch (error) {
    await call.contents.remove([taken.piece]);
    if (isStoreError(error, 'Changed', 'NotFound', 'TooLarge')) throw registryError('BLOB_UPLOAD_INVALID');
    throw error;
  }
  return progress(repository, id, length);
}

export async function uploadStatus(call: RegistryCall, repository: string, id: string): Promise<RegistryAnswer> {
  const { body } = await demandUpload(call, repository, id);
  return progress(repository, id, body.length, 204);
}

export async function cancelUpload(call: RegistryCall, repository: string, id: string): Promise<RegistryAnswer> {
  const found = await demandUpload(call, repository, id);
  await call.documents.delete(found);
  await call.contents.remove(found.body.pieces);
  return { status: 204 };
}

/** The last chunk may come with it. All chunks are checked as one against the digest. */
export async function finishUpload(call: RegistryCall, repository: string, id: string): Promise<RegistryAnswer> {
  const digest = call.query.get('digest') ?? '';
  if (!isDigest(digest)) throw registryError('DIGEST_INVALID');
  const found = await demandUpload(call, repository, id);
  const last = await take(call, layerMaxBytes);
  const pieces = last.length === 0 ? found.body.pieces : [...found.body.pieces, last.piece];
  const whole =
    pieces.length === 1 && found.body.pieces.length === 0
      ? last
      : await call.contents.take(call.contents.read(pieces), Number.MAX_SAFE_INTEGER);
  await keep(call, repository, digest, whole);
  await call.documents.delete(found).catch((error: unknown) => {
    if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
  });
  const kept = 'file' in whole.piece ? whole.piece.file : undefined;
  await call.contents.remove(pieces.filter((piece: Piece) => 'file' in piece && piece.file !== kept));
  return created(repository, digest);
}

type Place = Pick<RegistryCall, 'documents' | 'registry' | 'contents' | 'world'>;

/** Makes taken bytes a blob of the repository. They are gone when the digest is another, or the registry has them already. */
async function keep(place: Place, repository: string, digest: string, taken: Taken): Promise<void> {
  const { documents, registry, contents } = place;
  if (digest !== `sha256:${taken.sha256}`) {
    await contents.remove([taken.piece]);
    throw registryError('DIGEST_INVALID');
  }
  try {
    await documents.create(
      { partition: registry.name, id: ids.blob(digest) },
      { kind: 'blob', list: 'blobs', digest, length: taken.length, pieces: [taken.piece] },
    );
  } catch (error) {
    await contents.remove([taken.piece]);
    if (!isStoreError(error, 'Exists')) throw error;
  }
  await link(place, repository, digest);
}

export async function link({ documents, registry, world }: Place, repository: string, digest: string): Promise<void> {
  await ensure(() =>
    documents.create(
      { partition: registry.name, id: ids.repository(repository) },
      { kind: 'repository', list: 'repositories', name: repository, created: world.clock.now() },
    ),
  );
  await ensure(() =>
    documents.create(
      { partition: registry.name, id: ids.link(repository, digest) },
      { kind: 'link', list: `links/${repository}`, digest },
    ),
  );
}

async function ensure(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!isStoreError(error, 'Exists')) throw error;
  }
}

export async function deleteBlob(call: RegistryCall, repository: string, digest: string): Promise<RegistryAnswer> {
  const found = await readOne(call.documents, call.registry.name, 'link', ids.link(repository, digest));
  if (found === undefined) throw registryError('BLOB_UNKNOWN');
  await call.documents.delete(found);
  return { status: 202 };
}

/** Takes a blob of another registry over: how many bytes that were. Throws when it is longer than there is room for. */
export async function copyBlob(
  from: Place,
  fromRepository: string,
  to: Place,
  repository: string,
  digest: string,
  room: number,
): Promise<number> {
  if ((await linked(to, repository, digest)) !== undefined) return 0;
  const found = await linked(from, fromRepository, digest);
  if (found === undefined) throw registryError('MANIFEST_BLOB_UNKNOWN');
  const { length, pieces } = found.body;
  if (length > room) throw registryError('SIZE_INVALID');
  await keep(to, repository, digest, await to.contents.take(from.contents.read(pieces), room));
  return length;
}

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
