// importImage: images of another registry of this cloud, with all they consist of.
import { setImmediate } from 'node:timers/promises';
import { ArmError } from '../../../arm/errors.ts';
import { parseJson } from '../../../arm/json-text.ts';
import { isRecord } from '../../../arm/record.ts';
import { parseResourceId } from '../../../arm/resource-id.ts';
import { dataPlaneOf } from '../cloud.ts';
import type { ActionRequest } from '../kernel/provider.ts';
import type { Json } from '../kernel/record.ts';
import { openContents } from '../storage/contents.ts';
import { copyBlob } from './blobs.ts';
import { isDigest, isTag } from './call.ts';
import { openDocuments } from './documents.ts';
import { findManifest, keepManifest, referencesOf } from './manifests.ts';
import { findRegistry, type Registry, registryOf } from './registry.ts';
import { byPassword, grantedScopes, type Party } from './rights.ts';

const nameForm = /^([a-z0-9._/-]{1,255}?)(?::([\w][\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

export async function importImage({ world, record, body, caller }: ActionRequest): Promise<Json | undefined> {
  const to = registryOf(world, record);
  const source = isRecord(body?.source) ? body.source : {};
  const [, fromRepository, tag, digest] = nameForm.exec(String(source.sourceImage ?? '')) ?? [];
  if (to === undefined || fromRepository === undefined) throw invalid('The source image is missing or not valid.');
  const from = await sourceOf(world, source);
  const party: Party = isRecord(source.credentials)
    ? ((await byPassword(
        world,
        from,
        String(source.credentials.username ?? ''),
        String(source.credentials.password ?? ''),
      )) ?? { kind: 'anonymous' })
    : { kind: 'entra', objectId: caller.objectId, groups: caller.groups };
  const [scope] = await grantedScopes(world, from, party, [
    { type: 'repository', name: fromRepository, actions: ['pull'] },
  ]);
  if (!scope?.actions.includes('pull')) throw noPull();
  const reference = digest ?? tag ?? 'latest';
  const targets = namesOf(body?.targetTags).map((name) => nameForm.exec(name));
  const untagged = namesOf(body?.untaggedTargetRepositories);
  const wanted =
    targets.length + untagged.length === 0
      ? [nameForm.exec(`${fromRepository}${tag === undefined ? '' : `:${tag}`}`)]
      : targets;
  const documents = await openDocuments(world);
  const contents = await openContents(world, 'container-registry');
  const [origin, target] = [from, to].map((registry) => ({ world, registry, documents, contents })) as [Place, Place];
  const root = await findManifest(origin, fromRepository, reference);
  if (root === undefined)
    throw invalid(`The image ${fromRepository}@${reference} was not found in the source registry.`);
  const progress: Progress = { copied: new Set(), manifests: 0, bytes: 0 };
  for (const match of wanted) {
    const [, repository, targetTag] = match ?? [];
    if (repository === undefined) throw invalid('A target tag is not valid.');
    await copy(
      origin,
      fromRepository,
      target,
      repository,
      root.body.digest,
      targetTag === undefined || !isTag(targetTag) ? [] : [targetTag],
      progress,
    );
  }
  for (const repository of untagged)
    await copy(origin, fromRepository, target, repository, root.body.digest, [], progress);
  return undefined;
}

interface Place {
  readonly world: ActionRequest['world'];
  readonly registry: Registry;
  readonly documents: Awaited<ReturnType<typeof openDocuments>>;
  readonly contents: Awaited<ReturnType<typeof openContents>>;
}

function namesOf(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string').slice(0, 100) : [];
}

async function sourceOf(world: ActionRequest['world'], source: Readonly<Record<string, unknown>>): Promise<Registry> {
  if (typeof source.resourceId === 'string') {
    const parsed = parseResourceId(source.resourceId);
    const found = parsed.ok ? await world.resources.read(parsed.id.key) : undefined;
    const registry = found === undefined ? undefined : registryOf(world, found.body);
    if (registry !== undefined) return registry;
    // The same as without a right, so that nobody learns which ids there are.
    throw noPull();
  } else if (typeof source.registryUri === 'string') {
    const plane = dataPlaneOf(world.cloud, source.registryUri.replace(/^https:\/\//, ''));
    const registry = plane?.plane === 'registry' ? await findRegistry(world, plane.name) : undefined;
    if (registry !== undefined) return registry;
  }
  throw invalid('The source is not a registry of this cloud.');
}

/** Of one import, over all its targets. */
const maxDepth = 4;
const maxManifests = 2000;
const maxBytes = 1024 ** 4;

/** What an import has done so far. */
interface Progress {
  /** Of manifests and blobs, by target repository. */
  readonly copied: Set<string>;
  manifests: number;
  bytes: number;
}

/**
 * What a manifest names comes before it, so that no registry ever has one with holes. Each digest is copied once, however often it is
 * named.
 */
async function copy(
  from: Place,
  fromRepository: string,
  to: Place,
  repository: string,
  digest: string,
  tags: readonly string[],
  progress: Progress,
  depth = 0,
): Promise<void> {
  await giveWay(to.world);
  const found = isDigest(digest) ? await findManifest(from, fromRepository, digest) : undefined;
  const parsed = found === undefined ? undefined : parseJson(Buffer.from(found.body.bytes, 'base64'), 30);
  if (found === undefined || !parsed?.ok || !isRecord(parsed.value)) throw invalid('The source image is not complete.');
  if (depth >= maxDepth || ++progress.manifests > maxManifests)
    throw invalid(`The source image is too large: ${maxManifests} manifests in ${maxDepth} levels are the most.`);
  const { blobs, manifests } = referencesOf(parsed.value);
  const isNew = (one: string): boolean => {
    const key = `${repository}@${one}`;
    return !progress.copied.has(key) && progress.copied.add(key) !== undefined;
  };
  for (const one of manifests)
    if (isNew(one)) await copy(from, fromRepository, to, repository, one, [], progress, depth + 1);
  for (const one of blobs) {
    if (!isNew(one)) continue;
    await giveWay(to.world);
    progress.bytes += await copyBlob(from, fromRepository, to, repository, one, maxBytes - progress.bytes);
  }
  await keepManifest(to, repository, found.body, tags);
}

/** The store answers without leaving the thread: others get their turn here. Throws when the cloud stops; the import is done again then. */
async function giveWay({ stopping }: ActionRequest['world']): Promise<void> {
  await setImmediate();
  if (stopping.aborted) throw new ArmError(503, 'ServiceUnavailable', 'The cloud is stopping.');
}

function noPull(): ArmError {
  return invalid('The source registry does not let its images be pulled with these credentials.');
}

function invalid(message: string): ArmError {
  return new ArmError(400, 'InvalidParameters', message);
}
