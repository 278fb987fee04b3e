// What agents say, whichever way it came.
import type { Logger } from '../../kit/log.ts';
import { saysDeleted } from '../protocol/manifest-bundle.ts';
import type { Message } from '../protocol/messages.ts';
import type { Bundles, StatusOutcome } from './bundles.ts';
import type { Dispatcher } from './dispatcher.ts';

/** What became of an agent's event; a bounded set, for a metric. */
export type AgentOutcome =
  | StatusOutcome
  | 'resync'
  /** Not something that agents say, or said about another consumer or another source. */
  | 'refused';

export interface AgentEvents {
  /**
   * Settles when what was said is stored. `consumer` is who is known to have sent it: by the topic, or by its credentials. Rejects
   * only when the store fails; then it can be given again.
   */
  take(consumer: string, message: Message): Promise<AgentOutcome>;
}

export interface AgentEventsOptions {
  readonly bundles: Bundles;
  readonly dispatcher: Dispatcher;
  readonly sourceId: string;
  readonly logger: Logger;
  readonly onOutcome?: (outcome: AgentOutcome) => void;
}

export function createAgentEvents(options: AgentEventsOptions): AgentEvents {
  const { bundles, dispatcher, sourceId, logger } = options;

  async function outcomeOf(consumer: string, message: Message): Promise<AgentOutcome> {
    if (message.kind === 'spec-resync') {
      if (message.clusterName !== consumer) return 'refused';
      dispatcher.resync(consumer, message.resourceVersions);
      return 'resync';
    }
    if (message.kind !== 'status') return 'refused';
    if (message.clusterName !== consumer || message.originalSource !== sourceId) return 'refused';
    const outcome = await bundles.report(consumer, message);
    // It has objects of a bundle that nobody asks for any more.
    if (outcome === 'unknown' && !saysDeleted(message.status)) {
      dispatcher.disown(consumer, message.resourceId, message.resourceVersion);
    }
    return outcome;
  }

  return {
    async take(consumer, message) {
      const outcome = await outcomeOf(consumer, message);
      options.onOutcome?.(outcome);
      if (outcome === 'refused') logger.warn({ consumer, kind: message.kind }, 'an event of an agent was refused');
      return outcome;
    },
  };
}
