// To the server through an MQTT 5 broker. The session ends with the connection: what was missed comes by the resync that follows
// every connection, so nothing has to wait at the broker.
import { connect, type IClientOptions, type IConnackPacket, type IPublishPacket } from 'mqtt';
import type { Logger } from '../../kit/log.ts';
import type { Secret } from '../../kit/secret.ts';
import { maxEventBytes } from '../protocol/limits.ts';
import type { Message } from '../protocol/messages.ts';
import { decodeMqtt, encodeMqtt } from '../protocol/mqtt-codec.ts';
import { readMessage } from '../protocol/read-message.ts';
import { ProtocolError } from '../protocol/refusal.ts';
import { agentEventsTopic, agentResyncTopic, agentSubscriptions, type Topics } from '../protocol/topics.ts';
import { writeMessage } from '../protocol/write-message.ts';
import type { CertificateSource } from './certificates.ts';
import { type AgentLink, type LinkEvents, RefusedError } from './link.ts';

export interface MqttLinkOptions extends LinkEvents {
  /** `host:port` */
  readonly brokerHost: string;
  readonly clientId: string;
  readonly consumer: string;
  readonly topics: Topics;
  readonly username?: string;
  readonly password?: Secret;
  /** With it the connection is TLS. */
  readonly certificates?: CertificateSource;
  readonly keepAliveSeconds: number;
  readonly logger: Logger;
}

/** What the broker may send before the first of it is acknowledged. */
const receiveMaximum = 256;
const reconnectMs = 1000;
const connectTimeoutMs = 15_000;
/** Beside the data: properties and the topic. */
const envelopeBytes = 80 * 1024;

/** Connects in the background, and again whenever the connection is lost. */
export function startMqttLink(options: MqttLinkOptions): AgentLink {
  const { logger, topics, consumer, certificates, brokerHost } = options;
  const settings: IClientOptions = {
    protocolVersion: 5,
    clientId: options.clientId,
    clean: true,
    keepalive: options.keepAliveSeconds,
    reconnectPeriod: reconnectMs,
    connectTimeout: connectTimeoutMs,
    resubscribe: false,
    properties: { sessionExpiryInterval: 0, receiveMaximum },
    ...(options.username === undefined ? {} : { username: options.username }),
    ...(options.password === undefined ? {} : { password: options.password.reveal() }),
    ...tlsOf(certificates),
  };
  const client = connect(`${certificates === undefined ? 'mqtt' : 'mqtts'}://${brokerHost}`, settings);
  // Counts connections: a subscription is of the one it was asked for on.
  let connection = 0;
  let subscribed = false;
  let stopping = false;
  let brokerMaximum = maxEventBytes;

  client.on('connect', (connack: IConnackPacket) => {
    brokerMaximum = connack.properties?.maximumPacketSize ?? maxEventBytes;
    connection++;
    void subscribe(connection);
  });
  client.on('close', () => {
    if (subscribed && !stopping) logger.warn({ broker: brokerHost }, 'the connection to the MQTT broker is lost');
    subscribed = false;
  });
  client.on('error', (err) => logger.warn({ err, broker: brokerHost }, 'the MQTT broker cannot be used'));
  // Acknowledged when the message has been taken.
  client.handleMessage = (packet, done) => {
    take(packet);
    done();
  };
  certificates?.onChange(() => {
    logger.info({ broker: brokerHost }, 'the certificate has changed; connecting to the MQTT broker again');
    Object.assign(client.options, tlsOf(certificates));
    client.stream?.destroy();
  });

  async function subscribe(at: number): Promise<void> {
    try {
      const granted = await client.subscribeAsync([...agentSubscriptions(topics, consumer)], { qos: 1 });
      const refused = granted.find(({ qos }) => qos >= 128);
      if (refused !== undefined) throw new Error(`the broker refuses the subscription (${refused.qos})`);
      if (at !== connection || stopping) return;
      subscribed = true;
      logger.info({ broker: brokerHost }, 'connected to the MQTT broker');
      options.onConnected();
    } catch (err) {
      if (stopping || at !== connection) return;
      logger.error({ err }, 'subscribing at the MQTT broker failed; connecting again');
      client.stream?.destroy();
    }
  }

  function take({ payload, properties = {} }: IPublishPacket): void {
    const { contentType, userProperties } = properties;
    const event = decodeMqtt({
      payload: typeof payload === 'string' ? Buffer.from(payload) : payload,
      properties: {
        ...(contentType === undefined ? {} : { contentType }),
        ...(userProperties === undefined ? {} : { userProperties }),
      },
    });
    const message = event.ok ? readMessage(event.value) : event;
    if (message.ok) options.onMessage(message.value);
    else {
      logger.warn({ refusal: message.refusal }, 'a message from the MQTT broker was refused');
      options.onRefused(message.refusal.code);
    }
  }

  return {
    connected: () => subscribed,
    maxMessageBytes: () => Math.min(brokerMaximum, maxEventBytes) - envelopeBytes,
    async send(message) {
      if (!subscribed) throw new Error('there is no connection to the MQTT broker');
      const { payload, properties } = encode(message);
      const topic =
        message.kind === 'spec-resync' ? agentResyncTopic(topics, consumer) : agentEventsTopic(topics, consumer);
      await client.publishAsync(topic, payload, { qos: 1, properties });
    },
    async stop() {
      stopping = true;
      subscribed = false;
      certificates?.stop();
      // An orderly end does not wait for a broker that is not there.
      await client.endAsync(!client.connected);
    },
  };
}

function encode(message: Message): ReturnType<typeof encodeMqtt> {
  try {
    return encodeMqtt(writeMessage(message));
  } catch (error) {
    if (error instanceof ProtocolError) throw new RefusedError(error.message, { cause: error });
    throw error;
  }
}

interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly minVersion?: 'TLSv1.2';
}

function tlsOf(certificates: CertificateSource | undefined): TlsOptions {
  if (certificates === undefined) return {};
  const { authorities, certificate, key } = certificates.current();
  return {
    minVersion: 'TLSv1.2',
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(key === undefined ? {} : { key: key.reveal() }),
  };
}
