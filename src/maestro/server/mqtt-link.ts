// The way to agents over MQTT 5: one connection with a session of its own at the broker. What agents publish is acknowledged when it
// is stored, in the order in which it came; until then the broker keeps it.
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';
import type { Logger } from '../../kit/log.ts';
import type { Secret } from '../../kit/secret.ts';
import type { Message } from '../protocol/messages.ts';
import { decodeMqtt, encodeMqtt, type MqttMessage } from '../protocol/mqtt-codec.ts';
import { readMessage } from '../protocol/read-message.ts';
import type { RefusalCode } from '../protocol/refusal.ts';
import { parseTopic, serverSubscriptions, sourceEventsTopic, type Topics } from '../protocol/topics.ts';
import { type BrokerTls, loadBrokerTls } from './broker-tls.ts';
import type { AgentLink } from './dispatcher.ts';

export interface MqttLinkOptions {
  /** `host:port` */
  readonly brokerHost: string;
  readonly username?: string;
  readonly password?: Secret;
  /** PEM files. With any of them the connection is TLS. */
  readonly tls?: BrokerTls;
  /** Of this server; another server with the same one takes its connection away. */
  readonly clientId: string;
  readonly topics: Topics;
  readonly keepAliveSeconds: number;
  /** How long the broker keeps what comes while this server is away. */
  readonly sessionSeconds: number;
  /** Whether this server is the one to send to a consumer. */
  readonly serves: (consumer: string) => boolean;
  /** An agent's message; `consumer` is whose topic it came by. Acknowledged when this settles; tried again when it rejects. */
  readonly onMessage: (consumer: string, message: Message) => Promise<void>;
  readonly onRefused?: (code: RefusalCode) => void;
  /** Connected and subscribed, for the first time or again. */
  readonly onConnected: () => void;
  readonly logger: Logger;
}

export interface MqttLink extends AgentLink {
  connected(): boolean;
  stop(): Promise<void>;
}

/** What the broker may send before the first of it is acknowledged. */
const receiveMaximum = 256;
const reconnectMs = 1000;
const [firstRetryMs, lastRetryMs] = [100, 5000];

/** Connects in the background, and again whenever the connection is lost. */
export async function startMqttLink(options: MqttLinkOptions): Promise<MqttLink> {
  const { logger, topics } = options;
  const stopping = new AbortController();
  const material = options.tls === undefined ? undefined : await loadBrokerTls(options.tls, logger);
  const settings: IClientOptions = {
    protocolVersion: 5,
    clientId: options.clientId,
    clean: false,
    keepalive: options.keepAliveSeconds,
    reconnectPeriod: reconnectMs,
    resubscribe: false,
    properties: { sessionExpiryInterval: options.sessionSeconds, receiveMaximum },
    ...(options.username === undefined ? {} : { username: options.username }),
    ...(options.password === undefined ? {} : { password: options.password.reveal() }),
    ...material?.current(),
  };
  const client = connect(`${material === undefined ? 'mqtt' : 'mqtts'}://${options.brokerHost}`, settings);
  // Counts connections: an acknowledgement is only good on the one by which its message came.
  let connection = 0;
  let subscribed = false;
  let acknowledged: Promise<unknown> = Promise.resolve();
  /** The client forgets its callbacks when it is ended. */
  const unconfirmed = new Set<(error: Error) => void>();
  const stopped = (): Error => new Error('the link to the broker has been stopped');

  client.on('connect', () => {
    connection++;
    void subscribe(connection);
  });
  client.on('close', () => {
    if (subscribed) logger.warn({ broker: options.brokerHost }, 'the connection to the MQTT broker is lost');
    subscribed = false;
  });
  client.on('error', (err) => logger.warn({ err, broker: options.brokerHost }, 'the MQTT broker cannot be used'));
  material?.onChange((fresh) => {
    Object.assign(client.options, fresh);
    client.stream?.destroy();
  });
  deferAcknowledgements(client, (packet) => {
    const [at, work] = [connection, take(packet)];
    acknowledged = acknowledged.then(async () => {
      await work;
      if (packet.qos === 1 && at === connection && !stopping.signal.aborted) acknowledge(client, packet);
    });
  });

  async function subscribe(at: number): Promise<void> {
    try {
      const granted = await client.subscribeAsync([...serverSubscriptions(topics)], { qos: 1 });
      const refused = granted.find(({ qos }) => qos >= 128);
      if (refused !== undefined) throw new Error(`the broker refuses the subscription (${refused.qos})`);
      if (at !== connection || stopping.signal.aborted) return;
      subscribed = true;
      logger.info({ broker: options.brokerHost }, 'connected to the MQTT broker');
      options.onConnected();
    } catch (err) {
      if (stopping.signal.aborted || at !== connection) return;
      logger.error({ err }, 'subscribing at the MQTT broker failed; connecting again');
      client.stream?.destroy();
    }
  }

  /** Settles when the message is dealt with, or was none, or the link stops. Never rejects. */
  async function take(packet: IPublishPacket): Promise<void> {
    const topic = parseTopic(packet.topic);
    const event = decodeMqtt(mqttMessage(packet));
    const message = event.ok ? readMessage(event.value) : event;
    if (!topic.ok || !('cluster' in topic.value) || !message.ok) {
      const refusal = message.ok ? 'unknown-type' : message.refusal.code;
      options.onRefused?.(refusal);
      logger.warn({ topic: packet.topic.slice(0, 256), refusal }, 'a message from the MQTT broker was refused');
      return;
    }
    const { cluster } = topic.value;
    for (let waitMs = firstRetryMs; !stopping.signal.aborted; waitMs = Math.min(lastRetryMs, waitMs * 2)) {
      try {
        return await options.onMessage(cluster, message.value);
      } catch (err) {
        logger.warn({ err, consumer: cluster }, 'what an agent said could not be stored; trying again');
        await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  return {
    connected: () => subscribed,
    serves: (consumer) => subscribed && options.serves(consumer),
    reaches: () => subscribed,
    async send(consumer, event) {
      if (stopping.signal.aborted) throw stopped();
      const { payload, properties } = encodeMqtt(event);
      await new Promise<void>((resolve, reject) => {
        unconfirmed.add(reject);
        client.publish(sourceEventsTopic(topics, consumer), payload, { qos: 1, properties }, (error) => {
          unconfirmed.delete(reject);
          if (error) reject(error);
          else resolve();
        });
      });
    },
    async stop() {
      stopping.abort();
      material?.stop();
      // What the broker has not confirmed is sent again by whoever serves the consumer next. The session stays, for this id.
      await client.endAsync(true);
      for (const reject of unconfirmed) reject(stopped());
    },
  };
}

/**
 * The client acknowledges a message when this has called back, and takes no other packet meanwhile. Called back at once with an error, it
 * goes on and leaves acknowledging to us.
 */
function deferAcknowledgements(client: MqttClient, take: (packet: IPublishPacket) => void): void {
  const deferred = new Error('acknowledged later');
  client.handleMessage = (packet, done) => {
    take(packet);
    done(packet.qos === 0 ? undefined : deferred);
  };
}

/** The client has no public way to send an acknowledgement of its own. */
interface PacketSender {
  _sendPacket(packet: { readonly cmd: 'puback'; readonly messageId: number; readonly reasonCode: number }): void;
}

function acknowledge(client: MqttClient, { messageId }: IPublishPacket): void {
  const sender = client as unknown as PacketSender;
  if (messageId !== undefined) sender._sendPacket({ cmd: 'puback', messageId, reasonCode: 0 });
}

function mqttMessage({ payload, properties }: IPublishPacket): MqttMessage {
  const { contentType, userProperties } = properties ?? {};
  return {
    payload: typeof payload === 'string' ? Buffer.from(payload) : payload,
    properties: {
      ...(contentType === undefined ? {} : { contentType }),
      ...(userProperties === undefined ? {} : { userProperties }),
    },
  };
}
