// Manifests by tag and by digest, tags, what refers to a manifest.
import { parseJson } from '../../../arm/json-text.ts';
import { isRecord } from '../../../arm/record.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Operation } from '../../../store/store.ts';
import { digestOf, linked } from './blobs.ts';
import { bytesOf, isDigest, isTag, pageOf, type RegistryAnswer, type RegistryCall } from './call.ts';
import { ids, type ManifestBody, type RegistryBody, readList, readOne } from './documents.ts';
import { registryError } from './errors.ts';

const manifestMaxBytes = 4 * 1024 * 1024;
/** As much of it as a document of the store takes. */
const keptMaxBytes = 1024 * 1024;
const ociIndex = 'application/vnd.oci.image.index.v1+json';

const known = new Set([
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  ociIndex,
  'application/vnd.oci.artifact.manifest.v1+json',
]);

type Place = Pick<RegistryCall, 'documents' | 'registry' | 'world'>;

/** By tag or digest. */
export async function findManifest(
  { documents, registry }: Place,
  repository: string,
  reference: string,
): Promise<Document<ManifestBody> | undefined> {
  if (isDigest(reference)) return readOne(documents, registry.name, 'manifest', ids.manifest(repository, reference));
  const tag = isTag(reference)
    ? await readOne(documents, registry.name, 'tag', ids.tag(repository, reference))
    : undefined;
  return tag === undefined
    ? undefined
    : readOne(documents, registry.name, 'manifest', ids.manifest(repository, tag.body.digest));
}

export async function getManifest(call: RegistryCall, repository: string, reference: string): Promise<RegistryAnswer> {
  const found = await findManifest(call, repository, reference);
  if (found === undefined)
    throw registryError('MANIFEST_UNKNOWN', `manifest tagged by "${reference.slice(0, 150)}" is not found`);
  const { digest, mediaType, length, bytes } = found.body;
  const headers = {
    'content-type': mediaType,
    'docker-content-digest': digest,
    'content-length': String(length),
    etag: `"${digest}"`,
  };
  return call.method === 'HEAD'
    ? { status: 200, headers }
    : { status: 200, headers, body: Buffer.from(bytes, 'base64') };
}

export async function putManifest(call: RegistryCall, repository: string, reference: string): Promise<RegistryAnswer> {
  if (!isDigest(reference) && !isTag(reference))
    throw registryError(reference.includes(':') ? 'DIGEST_INVALID' : 'TAG_INVALID');
  const bytes = await bytesOf(call, manifestMaxBytes);
  const manifest = await checkedManifest(call, repository, bytes, String(call.headers['content-type'] ?? ''));
  if (isDigest(reference) && reference !== manifest.digest) throw registryError('DIGEST_INVALID');
  await keepManifest(call, repository, manifest, isDigest(reference) ? [] : [reference]);
  return {
    status: 201,
    headers: {
      location: `/v2/${repository}/manifests/${manifest.digest}`,
      'docker-content-digest': manifest.digest,
      'content-length': '0',
      ...(manifest.subject === undefined ? {} : { 'oci-subject': manifest.subject }),
    },
  };
}

async function checkedManifest(
  call: RegistryCall,
  repository: string,
  bytes: Buffer,
  contentType: string,
): Promise<ManifestBody> {
  const parsed = parseJson(bytes, 30);
  if (!parsed.ok || !isRecord(parsed.value)) throw registryError('MANIFEST_INVALID');
  if (bytes.length > keptMaxBytes) throw registryError('SIZE_INVALID');
  const { value } = parsed;
  const [header = ''] = contentType.split(';', 1);
  const mediaType = typeof value.mediaType === 'string' ? value.mediaType : header.trim();
  if (!known.has(mediaType) || value.schemaVersion !== 2)
    throw registryError('MANIFEST_INVALID', `manifests of type ${mediaType.slice(0, 100)} are not supported`);
  const { blobs, manifests } = referencesOf(value);
  for (const digest of blobs)
    if (!isDigest(digest) || (await linked(call, repository, digest)) === undefined)
      throw registryError('MANIFEST_BLOB_UNKNOWN');
  for (const digest of manifests)
    if (!isDigest(digest) || (await findManifest(call, repository, digest)) === undefined)
      throw registryError('MANIFEST_BLOB_UNKNOWN');
  return bodyOf(call, repository, bytes, mediaType, value);
}

/** In one manifest; more are refused. */
const maxBlobs = 2000;
const maxManifests = 1000;

/** Digests that a manifest names, each once. Layers that are somewhere else (`urls`) need not be here. Throws when there are too many. */
export function referencesOf(value: Readonly<Record<string, unknown>>): {
  readonly blobs: readonly string[];
  readonly manifests: readonly string[];
} {
  const digests = (list: unknown): readonly string[] =>
    (Array.isArray(list) ? list : []).flatMap((one: unknown) =>
      isRecord(one) && typeof one.digest === 'string' && !(Array.isArray(one.urls) && one.urls.length > 0)
        ? [one.digest]
        : [],
    );
  const blobs = new Set([...digests([value.config]), ...digests(value.layers), ...digests(value.blobs)]);
  const manifests = new Set(digests(value.manifests));
  if (blobs.size > maxBlobs || manifests.size > maxManifests)
    throw registryError(
      'MANIFEST_INVALID',
      `a manifest can name ${maxBlobs} blobs and ${maxManifests} manifests at the most`,
    );
  return { blobs: [...blobs], manifests: [...manifests] };
}

function bodyOf(
  { world }: Place,
  repository: string,
  bytes: Buffer,
  mediaType: string,
  value: Readonly<Record<string, unknown>>,
): ManifestBody {
  const subject =
    isRecord(value.subject) && typeof value.subject.digest === 'string' ? value.subject.digest : undefined;
  const config =
    isRecord(value.config) && typeof value.config.mediaType === 'string' ? value.config.mediaType : undefined;
  const artifactType = typeof value.artifactType === 'string' ? value.artifactType : config;
  const annotations = isRecord(value.annotations)
    ? (value.annotations as { readonly [name: string]: string })
    : undefined;
  return {
    kind: 'manifest',
    list: `manifests/${repository}`,
    repository,
    digest: digestOf(bytes),
    mediaType,
    ...(artifactType === undefined ? {} : { artifactType }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(subject === undefined ? {} : { subject }),
    created: world.clock.now(),
    bytes: bytes.toString('base64'),
    length: bytes.length,
  };
}

/** The manifest, its tags and its repository in one batch. */
export async function keepManifest(
  place: Place,
  repository: string,
  manifest: ManifestBody,
  tags: readonly string[],
): Promise<void> {
  const { documents, registry, world } = place;
  const now = world.clock.now();
  for (let attempt = 0; ; attempt++) {
    const operations: Operation<RegistryBody>[] = [];
    const repositoryId = ids.repository(repository);
    if ((await documents.read({ partition: registry.name, id: repositoryId })) === undefined)
      operations.push({
        kind: 'create',
        id: repositoryId,
        body: { kind: 'repository', list: 'repositories', name: repository, created: now },
      });
    const id = ids.manifest(repository, manifest.digest);
    const own: ManifestBody = { ...manifest, repository, list: `manifests/${repository}` };
    if ((await documents.read({ partition: registry.name, id })) === undefined)
      operations.push({ kind: 'create', id, body: own });
    for (const name of new Set(tags)) {
      const there = await readOne(documents, registry.name, 'tag', ids.tag(repository, name));
      const body: RegistryBody = {
        kind: 'tag',
        list: `tags/${repository}`,
        name,
        digest: manifest.digest,
        created: there?.body.created ?? now,
        updated: now,
      };
      operations.push(
        there === undefined
          ? { kind: 'create', id: ids.tag(repository, name), body }
          : { kind: 'replace', version: there, body },
      );
    }
    try {
      await documents.batch(registry.name, operations);
      return;
    } catch (error) {
      if (attempt >= 20 || !isStoreError(error, 'Changed', 'Exists', 'NotFound')) throw error;
    }
  }
}

/** A digest takes its tags along; a tag goes alone. */
export async function deleteManifest(
  call: RegistryCall,
  repository: string,
  reference: string,
): Promise<RegistryAnswer> {
  const { documents, registry } = call;
  if (!isDigest(reference)) {
    const tag = isTag(reference)
      ? await readOne(documents, registry.name, 'tag', ids.tag(repository, reference))
      : undefined;
    if (tag === undefined) throw registryError('MANIFEST_UNKNOWN');
    await documents.delete(tag);
    return { status: 202 };
  }
  const found = await findManifest(call, repository, reference);
  if (found === undefined) throw registryError('MANIFEST_UNKNOWN');
  for (let after: string | undefined; ; ) {
    const tags = await readList(documents, registry.name, `tags/${repository}`, 500, after);
    for (const tag of tags) if (tag.body.kind === 'tag' && tag.body.digest === reference) await documents.delete(tag);
    if (tags.length < 500) break;
    after = tags.at(-1)?.id;
  }
  await documents.delete(found);
  return { status: 202 };
}

export async function listTags(call: RegistryCall, repository: string): Promise<RegistryAnswer> {
  const { documents, registry } = call;
  if ((await documents.read({ partition: registry.name, id: ids.repository(repository) })) === undefined)
    throw registryError('NAME_UNKNOWN');
  const { limit, last } = pageOf(call);
  const after = last === undefined ? undefined : ids.tag(repository, last);
  const found = await readList(documents, registry.name, `tags/${repository}`, limit + 1, after);
  const tags = found.slice(0, limit).flatMap(({ body }) => (body.kind === 'tag' ? [body.name] : []));
  return {
    status: 200,
    headers: nextLink(found.length > limit ? tags.at(-1) : undefined, `/v2/${repository}/tags/list`, limit),
    body: { name: repository, tags },
  };
}

export function nextLink(last: string | undefined, path: string, limit: number): { readonly [name: string]: string } {
  return last === undefined ? {} : { link: `<${path}?last=${encodeURIComponent(last)}&n=${limit}>; rel="next"` };
}

export async function listRepositories(call: RegistryCall): Promise<RegistryAnswer> {
  const { limit, last } = pageOf(call);
  const after = last === undefined ? undefined : ids.repository(last);
  const found = await readList(call.documents, call.registry.name, 'repositories', limit + 1, after);
  const repositories = found.slice(0, limit).flatMap(({ body }) => (body.kind === 'repository' ? [body.name] : []));
  return {
    status: 200,
    headers: nextLink(found.length > limit ? repositories.at(-1) : undefined, call.path, limit),
    body: { repositories },
  };
}

export async function listReferrers(call: RegistryCall, repository: string, digest: string): Promise<RegistryAnswer> {
  if (!isDigest(digest)) throw registryError('DIGEST_INVALID');
  const wanted = call.query.get('artifactType');
  const { documents } = await call.documents.query({
    partition: call.registry.name,
    filter: {
      op: 'and',
      filters: [
        { op: 'eq', field: ['subject'], value: digest },
        { op: 'eq', field: ['list'], value: `manifests/${repository}` },
      ],
    },
    limit: 1000,
  });
  const manifests = documents.flatMap(({ body }) =>
    body.kind === 'manifest' && (wanted === null || body.artifactType === wanted)
      ? [
          {
            mediaType: body.mediaType,
            digest: body.digest,
            size: body.length,
            ...(body.artifactType === undefined ? {} : { artifactType: body.artifactType }),
            ...(body.annotations === undefined ? {} : { annotations: body.annotations }),
          },
        ]
      : [],
  );
  return {
    status: 200,
    headers: { 'content-type': ociIndex, ...(wanted === null ? {} : { 'oci-filters-applied': 'artifactType' }) },
    body: { schemaVersion: 2, mediaType: ociIndex, manifests },
  };
}

/** Lists of Azure's own form, with what is known about each. */
export async function listDetails(
  call: RegistryCall,
  repository: string,
  kind: 'tags' | 'manifests',
): Promise<RegistryAnswer> {
  const { documents, registry } = call;
  const { limit, last } = pageOf(call);
  const idOf = kind === 'tags' ? ids.tag : ids.manifest;
  const after = last === undefined ? undefined : idOf(repository, last);
  const found = await readList(documents, registry.name, `${kind}/${repository}`, limit, after);
  const time = (ms: number): string => new Date(ms).toISOString();
  const attributes = { deleteEnabled: true, writeEnabled: true, readEnabled: true, listEnabled: true };
  const items = found.flatMap(({ body }): object[] => {
    if (body.kind === 'tag')
      return [
        {
          name: body.name,
          digest: body.digest,
          createdTime: time(body.created),
          lastUpdateTime: time(body.updated),
          signed: false,
          changeableAttributes: attributes,
        },
      ];
    if (body.kind !== 'manifest') return [];
    return [
      {
        digest: body.digest,
        imageSize: body.length,
        createdTime: time(body.created),
        lastUpdateTime: time(body.created),
        mediaType: body.mediaType,
        changeableAttributes: attributes,
      },
    ];
  });
  if (
    items.length === 0 &&
    (await documents.read({ partition: registry.name, id: ids.repository(repository) })) === undefined
  )
    throw registryError('NAME_UNKNOWN');
  return { status: 200, body: { registry: registry.loginServer, imageName: repository, [kind]: items } };
}
