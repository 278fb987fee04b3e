// Tells sources how their bundles are: as they change, and again when a source asks what it missed.
import type { Logger } from '../../kit/log.ts';
import type { CloudEvent } from '../protocol/cloud-event.ts';
import type { StatusHash } from '../protocol/resync.ts';
import { emptyStatusHash } from '../protocol/status-hash.ts';
import type { Bundles } from './bundles.ts';
import type { BundleDocument, Documents } from './documents.ts';
import { eachBundle } from './each-bundle.ts';
import type { EventStream } from './event-stream.ts';
import { goneStatusEvent, statusEvent } from './outgoing.ts';
import type { StreamTable } from './stream-table.ts';

export interface Broadcaster {
  /** A bundle's status changed. */
  changed(body: BundleDocument): void;
  /**
   * Sends a source what differs from what it has seen; everything, where it names nothing. Goes on after it has returned, at the
   * speed at which the source reads. False where the source has no subscription at this server.
   */
  resync(source: string, hashes: readonly StatusHash[]): boolean;
}

export interface BroadcasterOptions {
  readonly documents: Documents;
  readonly bundles: Bundles;
  readonly sourceId: string;
  readonly streams: StreamTable;
  readonly logger: Logger;
  readonly onSent?: () => void;
}

const readsAtOnce = 32;

export function createBroadcaster(options: BroadcasterOptions): Broadcaster {
  const { documents, bundles, sourceId, streams, logger } = options;
  /** The requests of one stream are answered one after the other. */
  const answering = new WeakMap<EventStream, Promise<void>>();

  async function answer(stream: EventStream, source: string, hashes: readonly StatusHash[]): Promise<void> {
    const news = hashes.length === 0 ? everything(source) : differing(source, hashes);
    for await (const event of news) {
      if (!(await stream.offer(event))) return;
      options.onSent?.();
    }
  }

  async function* everything(source: string): AsyncGenerator<CloudEvent> {
    for await (const body of eachBundle(documents, ['source'], source)) {
      const event = statusEvent(body, sourceId);
      if (event !== undefined) yield event;
    }
  }

  async function* differing(source: string, hashes: readonly StatusHash[]): AsyncGenerator<CloudEvent> {
    for (let at = 0; at < hashes.length; at += readsAtOnce) {
      const asked = hashes.slice(at, at + readsAtOnce);
      const found = await Promise.all(asked.map(({ resourceID }) => bundles.find(resourceID)));
      for (const [nth, { resourceID, statusHash }] of asked.entries()) {
        const body = found[nth]?.body;
        const isOwn = body?.source === source;
        const event = isOwn && body.status?.hash !== statusHash ? statusEvent(body, sourceId) : undefined;
        if (event !== undefined) yield event;
        // Of a bundle without a status the source may only be about to send it.
        if (!isOwn && statusHash !== '' && statusHash !== emptyStatusHash) yield goneStatusEvent(resourceID, sourceId);
      }
    }
  }

  return {
    changed(body) {
      const listening = streams.of(body.source);
      if (listening.length === 0) return;
      const event = statusEvent(body, sourceId);
      if (event === undefined) return;
      for (const stream of listening) if (stream.push(event)) options.onSent?.();
    },
    resync(source, hashes) {
      const listening = streams.of(source);
      for (const stream of listening) {
        const before = answering.get(stream) ?? Promise.resolve();
        const next = before
          .then(() => answer(stream, source, hashes))
          .catch((error: unknown) => {
            logger.warn({ err: error, source }, 'a resync for a source failed');
            stream.end('the resync failed; subscribe again');
          });
        answering.set(stream, next);
      }
      return listening.length > 0;
    },
  };
}
