// Asks agents for the statuses that the server has not seen: after it has connected, and for consumers that have come to it.
import { type StatusHash, statusResyncBatches } from '../protocol/resync.ts';
import { emptyStatusHash } from '../protocol/status-hash.ts';
import type { AgentLink } from './dispatcher.ts';
import type { Documents } from './documents.ts';
import { eachBundle } from './each-bundle.ts';
import { statusResyncEvent } from './outgoing.ts';

/** A consumer without bundles is not asked: it would take an empty list for a question about everything. */
export async function requestStatuses(
  documents: Documents,
  link: AgentLink,
  consumer: string,
  sourceId: string,
): Promise<void> {
  const hashes: StatusHash[] = [];
  for await (const { id, status } of eachBundle(documents, ['consumerName'], consumer)) {
    hashes.push({ resourceID: id, statusHash: status?.hash ?? emptyStatusHash });
  }
  if (hashes.length === 0) return;
  for (const batch of statusResyncBatches(hashes))
    await link.send(consumer, statusResyncEvent(consumer, batch, sourceId));
}
