// Follows the changes of bundles: what is new for agents goes to the dispatcher, what is new for sources to the broadcaster.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../kit/log.ts';
import type { Change } from '../../store/store.ts';
import type { BundleDocument, Documents } from './documents.ts';

export interface BundleFeedOptions {
  readonly documents: Documents;
  readonly onSpec: (consumer: string, id: string) => void;
  readonly onStatus: (body: BundleDocument) => void;
  readonly onRemoved: (consumer: string, id: string) => void;
  /** Changes were missed: whoever relies on them has to ask anew. */
  readonly onGap: () => void;
  readonly logger: Logger;
}

export interface BundleFeed {
  stop(): Promise<void>;
}

const retryMs = 1000;

/** Settles when it stands: every change from then on is seen. */
export async function startBundleFeed(options: BundleFeedOptions): Promise<BundleFeed> {
  const { documents, logger } = options;
  const stopping = new AbortController();
  const standing = Promise.withResolvers<void>();
  let stands = false;

  function take({ kind, document: { body } }: Change<BundleDocument>): void {
    if (kind === 'delete') options.onRemoved(body.consumerName, body.id);
    else if (body.changed === 'status') options.onStatus(body);
    else if (body.pendingFor !== undefined) options.onSpec(body.consumerName, body.id);
  }

  async function follow(): Promise<void> {
    let isFirst = true;
    for await (const { changes } of documents.bundles.changes({ from: 'now', signal: stopping.signal })) {
      // The first answer comes at once and says that the feed stands; what happened before a later one stood, nobody saw.
      if (isFirst && stands) options.onGap();
      isFirst = false;
      stands = true;
      standing.resolve();
      for (const change of changes) take(change);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (stopping.signal.aborted) return;
        logger.error({ err: error }, 'the feed of bundles ended; following it anew');
        await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  const running = run();
  await standing.promise;
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
