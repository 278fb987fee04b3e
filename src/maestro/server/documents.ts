// What the server keeps. Everything that happens to a bundle is a write of its document: the container's change feed is the outbox
// that events to agents and to sources are made from, and `pendingFor` says what an agent has not yet confirmed.
import { createHash } from 'node:crypto';
import type { Secret } from '../../kit/secret.ts';
import type { Container, Key, Store } from '../../store/store.ts';
import type { Condition, ManifestBundle } from '../protocol/manifest-bundle.ts';
import type { ObjectMeta } from '../protocol/object-meta.ts';

/** Partition `consumers`; its key is its name, so that no two have the same. */
export interface ConsumerDocument {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Set while somebody looks whether it can be deleted; takes no bundles for `consumerDeleteMs` from then. */
  readonly deletingAt?: string;
}

/** Its key is `bundleKey`: ids are unique across consumers. */
export interface BundleDocument {
  readonly id: string;
  readonly source: string;
  readonly consumerName: string;
  /** Grows with every change of the spec. */
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When the spec last changed, or the deletion was asked for. */
  readonly specAt: string;
  readonly deletedAt?: string;
  /** Of the event that brought the spec, which is sent on with both. */
  readonly eventId: string;
  readonly eventTime: string;
  readonly logTracing?: string;
  readonly metadata: ObjectMeta;
  /** What lists are looked up by; not there any more once it is being deleted, since lists do not show it then. */
  readonly listed?: {
    readonly source: string;
    readonly consumerName: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  /** The JSON of the bundle's manifests, among which are secrets. As text, since it is only ever passed on. */
  readonly manifests: Secret;
  readonly options: Omit<ManifestBundle, 'manifests'>;
  readonly status?: BundleStatus;
  /** The consumer, as long as its agent has not said that it has this version, or that the objects are gone. */
  readonly pendingFor?: string;
  /** What the last write changed. */
  readonly changed: 'spec' | 'status';
}

export interface BundleStatus {
  /** The version of the spec that the agent speaks of. */
  readonly version: number;
  readonly sequenceId: string;
  readonly hash: string;
  /** The agent's id. */
  readonly agent: string;
  readonly action: 'update_request' | 'resync_response';
  readonly at: string;
  readonly conditions: readonly Condition[];
  /** JSON, passed on as it is. */
  readonly resourceStatus: string;
}

export interface Documents {
  readonly consumers: Container<ConsumerDocument>;
  readonly bundles: Container<BundleDocument>;
}

export const consumerPartition = 'consumers';

/** Bundles are spread over partitions by their ids, so that writers of different bundles seldom wait for each other. */
export function bundleKey(id: string): Key {
  return { partition: createHash('sha256').update(id).digest('hex').slice(0, 2), id };
}

/** What can be the id of a bundle, and stand in a URL. */
export function isBundleId(id: string): boolean {
  return /^[A-Za-z0-9][-A-Za-z0-9_.:]{0,252}$/.test(id);
}

export async function openDocuments(store: Store): Promise<Documents> {
  return {
    consumers: await store.container<ConsumerDocument>({
      name: 'consumers',
      labels: ['labels'],
      indexes: [{ field: ['id'], type: 'string' }],
    }),
    bundles: await store.container<BundleDocument>({
      name: 'bundles',
      labels: ['listed', 'labels'],
      sealed: [['manifests']],
      indexes: [
        { field: ['source'], type: 'string' },
        { field: ['consumerName'], type: 'string' },
        { field: ['listed', 'source'], type: 'string' },
        { field: ['listed', 'consumerName'], type: 'string' },
        { field: ['pendingFor'], type: 'string' },
      ],
    }),
  };
}
