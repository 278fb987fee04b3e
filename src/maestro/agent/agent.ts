// The agent between its link and its engine: bundles come in and become works, what becomes of them goes out.
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../kit/log.ts';
import type { Message, SpecResyncMessage } from '../protocol/messages.ts';
import type { ResourceVersion } from '../protocol/resync.ts';
import type { AgentLink, LinkEvents } from './link.ts';
import { createReports, type Reports } from './reports.ts';
import type { AgentState } from './state.ts';
import { createWorks, type SpecOutcome, type Works } from './works.ts';

export interface Agent {
  readonly works: Works;
  readonly reports: Pick<Reports, 'pending'>;
  /** What the link is to tell. */
  readonly events: LinkEvents;
  /** The link that reports and requests go by. */
  use(link: AgentLink): void;
  stop(): void;
}

export interface AgentOptions {
  readonly consumer: string;
  /** The agent's own id, as events have it. */
  readonly agentId: string;
  /** Whose bundles are taken. */
  readonly sourceId: string;
  readonly state: AgentState;
  readonly logger: Logger;
  /** What became of what was received; a bounded set, for a metric. */
  readonly onTaken?: (outcome: SpecOutcome | 'status-resync' | 'foreign' | 'unreadable') => void;
  readonly onSent?: (action: string) => void;
  /** After a connection, the server has said everything when it has said nothing new for so long. */
  readonly quietSeconds?: number;
}

const defaultQuietSeconds = 30;
const retryMs = 1000;
/** An entry of a resync, as JSON: the id, the version and what is around them. */
const entryBytes = (id: string): number => Buffer.byteLength(id) + 64;

export function createAgent(options: AgentOptions): Agent {
  const { consumer, agentId, sourceId, logger, state } = options;
  let link: AgentLink | undefined;
  let quiet: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  const reports = createReports({
    agentId,
    consumer,
    sequence: state.sequence,
    logger,
    link: () => link,
    works: () => works,
    ...(options.onSent === undefined ? {} : { onSent: options.onSent }),
  });
  const works: Works = createWorks({
    logger,
    state,
    onStatus: reports.changed,
    onDeleted: reports.deleted,
    onAdded: reports.added,
  });

  /** Until then a work that is not there may still come, and what was applied for it stays. */
  function awaitQuiet(): void {
    clearTimeout(quiet);
    const complete = (): void => {
      if (link?.connected()) works.setComplete(true);
    };
    quiet = setTimeout(complete, (options.quietSeconds ?? defaultQuietSeconds) * 1000).unref();
  }

  /** Says what is here, so that the server sends what is not. */
  async function resync(): Promise<void> {
    clearTimeout(retry);
    const current = link;
    if (stopped || !current?.connected()) return;
    const message: SpecResyncMessage = {
      kind: 'spec-resync',
      id: randomUUID(),
      source: agentId,
      time: new Date().toISOString(),
      clusterName: consumer,
      originalSource: '',
      logTracing: '{}',
      resourceVersions: asManyAsFit(works.versions(), current.maxMessageBytes()),
    };
    try {
      await current.send(message);
      awaitQuiet();
    } catch (err) {
      // Where the link is down, its next connection begins anew.
      if (stopped || !current.connected()) return;
      logger.warn({ err }, 'the server could not be asked for what is missing; trying again');
      retry = setTimeout(() => void resync(), retryMs).unref();
    }
  }

  function take(message: Message): SpecOutcome | 'status-resync' | 'foreign' {
    if (message.kind !== 'spec' && message.kind !== 'status-resync') return 'foreign';
    if (message.source !== sourceId) return 'foreign';
    if (message.kind === 'spec') {
      if (message.clusterName !== consumer) return 'foreign';
      if (message.action === 'resync_response' && quiet !== undefined) awaitQuiet();
      return works.take(message);
    }
    if (message.clusterName !== consumer && message.clusterName !== '') return 'foreign';
    reports.resync(message.statusHashes, message.source);
    return 'status-resync';
  }

  return {
    works,
    reports,
    events: {
      onConnected() {
        reports.connected();
        void resync();
      },
      onMessage(message) {
        const outcome = take(message);
        options.onTaken?.(outcome);
        if (outcome === 'foreign')
          logger.warn({ kind: message.kind }, 'an event that is not for this agent was refused');
      },
      onRefused: () => options.onTaken?.('unreadable'),
    },
    use(given) {
      link = given;
    },
    stop() {
      stopped = true;
      clearTimeout(quiet);
      clearTimeout(retry);
      reports.stop();
    },
  };
}

/**
 * A broker may take no message with all of them. What is left out the server sends again, which changes nothing; and should it not
 * exist any more, the server says so when its status is reported.
 */
function asManyAsFit(versions: readonly ResourceVersion[], maxBytes: number): readonly ResourceVersion[] {
  let bytes = 0;
  return versions.filter(({ resourceID }) => {
    bytes += entryBytes(resourceID);
    return bytes <= maxBytes;
  });
}
