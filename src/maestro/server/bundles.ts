// What can happen to a bundle: a source sends, changes or deletes it, its agent says how it is. Each is one write of its document under
// the version that was read, so that servers need no lock between them.
import { isStoreError } from '../../store/errors.ts';
import type { Document } from '../../store/store.ts';
import { checkBundleSize } from '../protocol/bundle-data.ts';
import { type ManifestBundle, saysDeleted } from '../protocol/manifest-bundle.ts';
import type { SpecMessage, StatusMessage } from '../protocol/messages.ts';
import { compareSequenceIds } from '../protocol/sequence-id.ts';
import { statusHash } from '../protocol/status-hash.ts';
import { specPart } from './bundle-content.ts';
import type { Consumers } from './consumers.ts';
import { type BundleDocument, bundleKey, type Documents, isBundleId } from './documents.ts';
import { MaestroError } from './maestro-error.ts';
import { manifestProblems } from './manifest-check.ts';

/** What became of an agent's status; a bounded set, for a metric. */
export type StatusOutcome =
  | 'stored'
  | 'removed'
  /** Nothing in it is new. */
  | 'unchanged'
  /** It is about another version of the spec, or older than the one stored. */
  | 'stale'
  /** There is no such bundle of this consumer. */
  | 'unknown'
  /** It says that a bundle is gone that should be there: it is sent again. */
  | 'premature';

/** Throws MaestroError where a source is to be told, StoreError where the database fails. */
export interface Bundles {
  /** The same event again is no error. Throws 6, 7, 8. */
  create(message: SpecMessage): Promise<void>;
  /** Throws 4, 6, 7, 8. */
  update(message: SpecMessage): Promise<void>;
  /** Asks for deletion; of one that is gone, or is being deleted, is fine. Throws 4 for another source's. */
  delete(message: SpecMessage): Promise<void>;
  /** The same by id, whoever's it is. */
  deleteById(id: string): Promise<void>;
  /** By id, also one that is being deleted. */
  find(id: string): Promise<Document<BundleDocument> | undefined>;
  /** What an agent reports. `consumer` is who is known to have sent it. */
  report(consumer: string, message: StatusMessage): Promise<StatusOutcome>;
}

const attempts = 20;

export function createBundles(documents: Documents, consumers: Consumers): Bundles {
  const { bundles } = documents;

  /** Reads, decides and writes until nobody else wrote in between. */
  async function change<T>(attempt: () => Promise<T>): Promise<T> {
    for (let left = attempts; ; left--) {
      try {
        return await attempt();
      } catch (error) {
        if (left === 0 || !isStoreError(error, 'Changed', 'NotFound')) throw error;
      }
    }
  }

  async function markDeleted(found: Document<BundleDocument>): Promise<void> {
    if (found.body.deletedAt !== undefined) return;
    const { listed: _, ...rest } = found.body;
    const now = new Date().toISOString();
    await bundles.replace(found, {
      ...rest,
      deletedAt: now,
      specAt: now,
      updatedAt: now,
      pendingFor: rest.consumerName,
      changed: 'spec',
    });
  }

  async function find(id: string): Promise<Document<BundleDocument> | undefined> {
    return isBundleId(id) ? bundles.read(bundleKey(id)) : undefined;
  }

  return {
    find,
    async create(message) {
      const { resourceId: id, clusterName: consumerName, resourceVersion, source } = message;
      const bundle = checkedBundle(message);
      if (!isBundleId(id)) throw new MaestroError(8, 'resourceid: it must be at most 253 characters of a name');
      if (!(await consumers.takesBundles(consumerName))) throw noConsumer();
      const now = new Date().toISOString();
      const body: BundleDocument = {
        ...specPart(message, bundle, now),
        id,
        source,
        consumerName,
        version: resourceVersion === 0 ? 1 : resourceVersion,
        createdAt: now,
      };
      let made: Document<BundleDocument>;
      try {
        made = await bundles.create(bundleKey(id), body);
      } catch (error) {
        if (!isStoreError(error, 'Exists')) throw error;
        const found = await bundles.read(bundleKey(id));
        if (found?.body.eventId === message.id && found.body.source === source) return;
        throw new MaestroError(6, 'This Resource already exists', { cause: error });
      }
      // A consumer whose deletion began before this write did not see it; one whose deletion begins after it does.
      if (await consumers.takesBundles(consumerName)) return;
      await bundles.delete(made);
      throw noConsumer();
    },
    async update(message) {
      const bundle = checkedBundle(message);
      await change(async () => {
        const found = await findOwn(message);
        if (found === undefined) throw new MaestroError(7, `Resource with id='${message.resourceId}' not found`);
        const { body } = found;
        if (body.eventId === message.id) return;
        if (body.deletedAt !== undefined) throw new MaestroError(6, 'the resource is under deletion');
        if (message.resourceVersion !== 0 && message.resourceVersion !== body.version) {
          throw new MaestroError(6, `the resource version is not the latest, the latest version: ${body.version}`);
        }
        const now = new Date().toISOString();
        const { logTracing: _, ...rest } = body;
        await bundles.replace(found, { ...rest, ...specPart(message, bundle, now), version: body.version + 1 });
      });
    },
    async delete(message) {
      await change(async () => {
        const found = await findOwn(message);
        if (found !== undefined) await markDeleted(found);
      });
    },
    async deleteById(id) {
      await change(async () => {
        const found = await find(id);
        if (found !== undefined) await markDeleted(found);
      });
    },
    async report(consumer, message) {
      return change(async () => {
        const found = await find(message.resourceId);
        if (found?.body.consumerName !== consumer) return 'unknown';
        return saysDeleted(message.status) ? reportDeleted(found, message) : reportStatus(found, message);
      });
    },
  };

  async function findOwn({
    resourceId,
    clusterName,
    source,
  }: SpecMessage): Promise<Document<BundleDocument> | undefined> {
    const found = await find(resourceId);
    if (found?.body.consumerName !== clusterName) return undefined;
    if (found.body.source !== source) throw new MaestroError(4, 'the resource belongs to another source');
    return found;
  }

  async function reportDeleted(found: Document<BundleDocument>, message: StatusMessage): Promise<StatusOutcome> {
    const { body } = found;
    if (body.deletedAt === undefined) {
      // An agent's late answer to an earlier life of the bundle, or a mistake: it has to have the bundle again.
      if (body.pendingFor === undefined) {
        await bundles.replace(found, { ...body, pendingFor: body.consumerName, changed: 'spec' });
      }
      return 'premature';
    }
    // Sources learn of the end by this write; the removal that follows is not shown to them.
    await bundles.delete(await bundles.replace(found, withStatus(body, message)));
    return 'removed';
  }

  async function reportStatus(found: Document<BundleDocument>, message: StatusMessage): Promise<StatusOutcome> {
    const { body } = found;
    if (message.resourceVersion !== body.version) return 'stale';
    const last = body.status;
    const order = last === undefined ? 'newer' : compareSequenceIds(message.sequenceId, last.sequenceId);
    // Without order, as from an agent that took the place of another: what came last counts.
    if (order === 'older') return 'stale';
    const next = withStatus(body, message);
    const isSame = last?.hash === next.status?.hash && last?.version === body.version;
    if (order === 'same' || (isSame && next.pendingFor === body.pendingFor)) return 'unchanged';
    await bundles.replace(found, next);
    return 'stored';
  }
}

function withStatus(body: BundleDocument, message: StatusMessage): BundleDocument {
  const now = new Date().toISOString();
  const { conditions, resourceStatus } = message.status;
  const { pendingFor, ...rest } = body;
  return {
    ...rest,
    ...(body.deletedAt === undefined || pendingFor === undefined ? {} : { pendingFor }),
    updatedAt: now,
    changed: 'status',
    status: {
      version: message.resourceVersion,
      sequenceId: message.sequenceId,
      hash: message.statusHash === '' ? statusHash(message.status) : message.statusHash,
      agent: message.source,
      action: message.action,
      at: now,
      conditions,
      resourceStatus: JSON.stringify(resourceStatus),
    },
  };
}

function checkedBundle(message: SpecMessage): ManifestBundle {
  if (message.bundle === undefined) throw new MaestroError(8, 'the event has no bundle');
  const sized = checkBundleSize(message.bundle);
  if (!sized.ok) throw new MaestroError(8, sized.refusal.message);
  const problems = manifestProblems(message.bundle.manifests);
  if (problems.length > 0) throw new MaestroError(8, problems.join('; '));
  return message.bundle;
}

function noConsumer(): MaestroError {
  return new MaestroError(7, 'Consumer not found: it must be registered before bundles are sent to it');
}
