// What the broker keeps of its clients: subscriptions and messages of sessions that outlive a connection, retained messages, wills.
// In memory, in the form that aedes asks for, and with limits that aedes has not: a session whose queue is full ends, so that
// its client learns of it, and nothing is left out of the middle.
import { Readable } from 'node:stream';
import { covers } from './topic-filter.ts';

export interface StoredSubscription {
  readonly topic: string;
  readonly qos: number;
  readonly rh?: number;
  readonly rap?: boolean;
  readonly nl?: boolean;
  readonly subscriptionIdentifier?: number;
}

/** What aedes makes of a PUBLISH, or of the PUBREL that takes its place. */
export interface StoredPacket {
  readonly cmd: string;
  readonly brokerId?: string;
  readonly brokerCounter?: number;
  readonly topic?: string;
  readonly payload?: Buffer | string;
  readonly qos?: number;
  readonly retain?: boolean;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly messageExpiry?: number;
  messageId?: number | undefined;
}

interface Named {
  readonly id: string;
}

export interface Session {
  readonly subscriptions: Map<string, StoredSubscription>;
  /** By broker and counter, in order. */
  readonly queue: Map<string, StoredPacket>;
  readonly byMessageId: Map<number, string>;
}

export interface SessionLimits {
  readonly maxQueuedMessages: number;
  readonly maxRetainedMessages: number;
}

export interface SessionsOptions {
  readonly limits: SessionLimits;
  /** aedes stores every subscription of a packet when one of them is granted; those that are not are left out here. */
  readonly maySubscribe: (clientId: string, filter: string) => boolean;
  /** A session is full and has been ended: its client, where it is connected, is to be cut off. */
  readonly onFull: (clientId: string) => void;
}

export interface Sessions {
  readonly sessions: Map<string, Session>;
  readonly retained: Map<string, StoredPacket>;
  /** What aedes takes as its persistence. */
  readonly persistence: object;
}

type Will = StoredPacket & { clientId?: string; brokerId?: string };

export function createSessions(options: SessionsOptions): Sessions {
  const { limits } = options;
  const sessions = new Map<string, Session>();
  const retained = new Map<string, StoredPacket>();
  const wills = new Map<string, Will>();
  let brokerId = '';

  function sessionOf(id: string): Session {
    let session = sessions.get(id);
    if (session === undefined) {
      session = newSession();
      sessions.set(id, session);
    }
    return session;
  }

  function forgetEmpty(id: string): void {
    const session = sessions.get(id);
    if (session?.subscriptions.size === 0 && session.queue.size === 0) sessions.delete(id);
  }

  function enqueue(id: string, packet: StoredPacket): void {
    const { queue } = sessionOf(id);
    if (queue.size < limits.maxQueuedMessages) {
      queue.set(keyOf(packet), copyOf(packet));
      return;
    }
    sessions.delete(id);
    options.onFull(id);
  }

  function take({ queue, byMessageId }: Session, messageId: number): StoredPacket | undefined {
    const key = byMessageId.get(messageId);
    const packet = key === undefined ? undefined : queue.get(key);
    byMessageId.delete(messageId);
    if (key !== undefined) queue.delete(key);
    return packet;
  }

  function* matchingRetained(filters: readonly string[]): Iterable<StoredPacket> {
    for (const [topic, packet] of retained) if (filters.some((filter) => covers(filter, topic))) yield packet;
  }

  const persistence = {
    async setup(broker: Named) {
      brokerId = broker.id;
    },
    async storeRetained(packet: StoredPacket) {
      const { topic = '', payload = '' } = packet;
      if (payload.length === 0) retained.delete(topic);
      else if (retained.has(topic) || retained.size < limits.maxRetainedMessages) retained.set(topic, { ...packet });
    },
    createRetainedStream: (filter: string) => Readable.from(matchingRetained([filter])),
    createRetainedStreamCombi: (filters: readonly string[]) => Readable.from(matchingRetained(filters)),
    async addSubscriptions({ id }: Named, added: readonly StoredSubscription[]) {
      const { subscriptions } = sessionOf(id);
      for (const { topic, qos, rh, rap, nl, subscriptionIdentifier } of added) {
        if (!options.maySubscribe(id, topic)) continue;
        subscriptions.set(topic, {
          topic,
          qos,
          ...(rh === undefined ? {} : { rh }),
          ...(rap === undefined ? {} : { rap }),
          ...(nl === undefined ? {} : { nl }),
          ...(subscriptionIdentifier === undefined ? {} : { subscriptionIdentifier }),
        });
      }
    },
    async removeSubscriptions({ id }: Named, topics: readonly string[]) {
      for (const topic of topics) sessions.get(id)?.subscriptions.delete(topic);
      forgetEmpty(id);
    },
    subscriptionsByClient: async ({ id }: Named) => [...(sessions.get(id)?.subscriptions.values() ?? [])],
    async countOffline() {
      const all = [...sessions.values()].filter(({ subscriptions }) => subscriptions.size > 0);
      const subsCount = all.reduce((sum, { subscriptions }) => sum + subscriptions.size, 0);
      return { subsCount, clientsCount: all.length };
    },
    /** Once for each session, however many of its subscriptions match: one message is one. */
    async subscriptionsByTopic(topic: string) {
      const found: (StoredSubscription & { readonly clientId: string })[] = [];
      for (const [clientId, { subscriptions }] of sessions) {
        for (const subscription of subscriptions.values()) {
          if (subscription.qos === 0 || !covers(subscription.topic, topic)) continue;
          found.push({ ...subscription, clientId });
          break;
        }
      }
      return found;
    },
    async cleanSubscriptions({ id }: Named) {
      sessions.get(id)?.subscriptions.clear();
      forgetEmpty(id);
    },
    async outgoingEnqueue({ clientId }: { readonly clientId: string }, packet: StoredPacket) {
      enqueue(clientId, packet);
    },
    async outgoingEnqueueCombi(subscriptions: readonly { readonly clientId: string }[], packet: StoredPacket) {
      for (const { clientId } of subscriptions) enqueue(clientId, packet);
    },
    async outgoingUpdate({ id }: Named, packet: StoredPacket) {
      const session = sessions.get(id);
      const { messageId } = packet;
      if (session === undefined || messageId === undefined) throw new Error('no such packet');
      const key = keyOf(packet);
      const queued = session.queue.get(key);
      if (queued !== undefined) {
        queued.messageId = messageId;
        session.byMessageId.set(messageId, key);
        return;
      }
      const replaced = session.byMessageId.get(messageId);
      if (replaced === undefined) throw new Error('no such packet');
      session.queue.set(replaced, packet);
    },
    async outgoingClearMessageId({ id }: Named, { messageId }: StoredPacket) {
      const session = sessions.get(id);
      const cleared = session === undefined || messageId === undefined ? undefined : take(session, messageId);
      forgetEmpty(id);
      return cleared;
    },
    outgoingStream: ({ id }: Named) => Readable.from([...(sessions.get(id)?.queue.values() ?? [])]),
    // Messages of QoS 2 that have come in: the broker takes none.
    async incomingStorePacket() {
      throw new Error('QoS 2 is not kept');
    },
    async incomingGetPacket() {
      throw new Error('no such packet');
    },
    async incomingDelPacket() {
      throw new Error('no such packet');
    },
    async putWill({ id }: Named, will: Will) {
      will.brokerId = brokerId;
      will.clientId = id;
      wills.set(id, will);
    },
    getWill: async ({ id }: Named) => wills.get(id),
    async delWill({ id }: Named) {
      const will = wills.get(id);
      wills.delete(id);
      return will;
    },
    streamWill: (brokers: Readonly<Record<string, unknown>> = {}) =>
      Readable.from([...wills.values()].filter((will) => brokers[will.brokerId ?? ''] === undefined)),
    getClientList: (topic: string) =>
      Readable.from([...sessions].flatMap(([id, { subscriptions }]) => (subscriptions.has(topic) ? [id] : []))),
    async destroy() {},
  };
  return { sessions, retained, persistence };
}

export function newSession(): Session {
  return { subscriptions: new Map(), queue: new Map(), byMessageId: new Map() };
}

export function keyOf({ brokerId = '', brokerCounter = 0 }: StoredPacket): string {
  return `${brokerId} ${brokerCounter}`;
}

/** The queue has its own: aedes writes message ids into what it sends. */
function copyOf(packet: StoredPacket): StoredPacket {
  return { ...packet, messageId: undefined };
}
