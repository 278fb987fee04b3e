// What the events of Maestro say, without their encoding. A receiver decodes bytes to a CloudEvent, then reads it here; a sender
// builds a message and writes it to a CloudEvent.
import type { ManifestBundle, ManifestBundleStatus } from './manifest-bundle.ts';
import type { ObjectMeta } from './object-meta.ts';
import type { ResourceVersion, StatusHash } from './resync.ts';

interface Envelope {
  /** Of the event. */
  readonly id: string;
  /** Who sent it: a source's id, the server's id (`maestro`), an agent's id. */
  readonly source: string;
  /** RFC 3339 */
  readonly time?: string;
  /** The consumer. Empty only in a resync of status that a source asks for. */
  readonly clusterName: string;
  /** In what an agent sends: the id of the source its works came from. Otherwise empty. */
  readonly originalSource: string;
  /** Tracing keys as JSON text, passed through. */
  readonly logTracing?: string;
}

interface BundleEnvelope extends Envelope {
  readonly resourceId: string;
  readonly resourceVersion: number;
  readonly metadata?: ObjectMeta;
}

/** Source → server, server → agent: how a bundle should be. */
export interface SpecMessage extends BundleEnvelope {
  readonly kind: 'spec';
  readonly action: 'create_request' | 'update_request' | 'delete_request' | 'resync_response';
  /** Set where the bundle is to be deleted, whatever the action. */
  readonly deletionTimestamp?: Date;
  /** Absent where the bundle is to be deleted. */
  readonly bundle?: ManifestBundle;
}

/** Agent → server, server → source: how a bundle is. */
export interface StatusMessage extends BundleEnvelope {
  readonly kind: 'status';
  readonly action: 'update_request' | 'resync_response';
  /** Empty from agents that send none; then the event counts as newer than anything. */
  readonly sequenceId: string;
  /** Empty where the sender gave none. */
  readonly statusHash: string;
  readonly status: ManifestBundleStatus;
}

/** Agent → server: what I have; send me what differs. */
export interface SpecResyncMessage extends Envelope {
  readonly kind: 'spec-resync';
  readonly resourceVersions: readonly ResourceVersion[];
}

/** Server → agent, source → server: the last status I have seen of these (of all, if none); send me what differs. */
export interface StatusResyncMessage extends Envelope {
  readonly kind: 'status-resync';
  readonly statusHashes: readonly StatusHash[];
}

/** Server → subscriber, on gRPC. */
export interface HeartbeatMessage {
  readonly kind: 'heartbeat';
  readonly id: string;
}

export type Message = SpecMessage | StatusMessage | SpecResyncMessage | StatusResyncMessage | HeartbeatMessage;
