// This server's part in looking after the agents behind an MQTT broker. Where the broker shares the agents' messages out among
// servers ($share), whoever gets one deals with it; else every server gets all of them, and the one that owns the consumer does.
import type { Logger } from '../../kit/log.ts';
import type { Store } from '../../store/store.ts';
import { parseTopic } from '../protocol/topics.ts';
import type { AgentEvents } from './agent-events.ts';
import type { Consumers } from './consumers.ts';
import type { AgentLink, Dispatcher } from './dispatcher.ts';
import type { Documents } from './documents.ts';
import { createHeldMessages } from './held-messages.ts';
import { type MqttLink, type MqttLinkOptions, startMqttLink } from './mqtt-link.ts';
import { type Ownership, startOwnership } from './ownership.ts';
import { requestStatuses } from './status-resync.ts';

export interface MqttDutyOptions {
  readonly link: Omit<MqttLinkOptions, 'serves' | 'onMessage' | 'onConnected' | 'logger'>;
  readonly store: Store;
  readonly documents: Documents;
  readonly consumers: Consumers;
  readonly dispatcher: Dispatcher;
  readonly agentEvents: AgentEvents;
  readonly sourceId: string;
  readonly instance: string;
  readonly leaseSeconds: number;
  readonly logger: Logger;
}

export interface MqttDuty extends AgentLink {
  /** Throws what a readiness check should show. */
  check(): void;
  /** Sends everything again that consumers of this server have not confirmed, and asks them for their statuses. */
  catchUp(): Promise<void>;
  stop(): Promise<void>;
}

/** A handover takes at most a lease, and a round of looking at the leases. */
const heldLeases = 2;

export async function startMqttDuty(options: MqttDutyOptions): Promise<MqttDuty> {
  const { documents, consumers, dispatcher, agentEvents, sourceId, leaseSeconds, logger } = options;
  const held = createHeldMessages(heldLeases * leaseSeconds * 1000);
  const topic = parseTopic(options.link.topics.agentEvents);
  const isShared = topic.ok && topic.value.group !== undefined;
  let ownership: Ownership | undefined;
  let link: MqttLink | undefined;
  let stopping = false;
  let working: Promise<void> = Promise.resolve();

  const owns = (consumer: string): boolean => ownership?.owns(consumer) ?? false;
  const duty: AgentLink = {
    serves: (consumer) => link?.serves(consumer) ?? false,
    reaches: (consumer) => link?.reaches(consumer) ?? false,
    send: async (consumer, event) => {
      if (link === undefined) throw new Error('the broker has not been connected to yet');
      await link.send(consumer, event);
    },
  };

  /** For the consumers that are, or have come to be, this server's. One after the other, and never two walks at once. */
  function attend(isMeant: (consumer: string) => boolean): Promise<void> {
    working = working
      .then(async () => {
        for await (const consumer of consumers.names()) {
          if (stopping || link?.connected() !== true) return;
          if (!isMeant(consumer) || !owns(consumer)) continue;
          for (const message of held.take(consumer)) await agentEvents.take(consumer, message);
          await dispatcher.catchUp(consumer);
          await requestStatuses(documents, duty, consumer, sourceId);
        }
      })
      .catch((err: unknown) => {
        if (!stopping) logger.warn({ err }, 'consumers of this server could not all be attended to');
      });
    return working;
  }

  async function take(consumer: string, message: Parameters<AgentEvents['take']>[1]): Promise<void> {
    if (isShared || owns(consumer)) await agentEvents.take(consumer, message);
    else held.hold(consumer, message);
  }

  link = await startMqttLink({
    ...options.link,
    serves: owns,
    onMessage: take,
    onConnected: () => void attend(() => true),
    logger,
  });
  const started = link;
  try {
    ownership = await startOwnership({
      store: options.store,
      instance: options.instance,
      leaseSeconds,
      onGained: (isGained) => void attend(isGained),
      logger,
    });
  } catch (error) {
    await started.stop();
    throw error;
  }
  // The first buckets came before there was an answer to ask.
  void attend(() => true);
  return {
    ...duty,
    check() {
      if (!started.connected()) throw new Error('the MQTT broker is not connected');
    },
    catchUp: () => attend(() => true),
    async stop() {
      stopping = true;
      await started.stop();
      await working;
      await ownership?.stop();
    },
  };
}
