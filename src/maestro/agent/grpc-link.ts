// To the server's gRPC broker, where there is no MQTT.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientReadableStream, Metadata } from '@grpc/grpc-js';
import type { Logger } from '../../kit/log.ts';
import type { Secret } from '../../kit/secret.ts';
import { createBackoff } from '../../kube/backoff.ts';
import type { CloudEvent } from '../protocol/cloud-event.ts';
import { manifestBundles } from '../protocol/event-type.ts';
import { type GrpcConnection, type GrpcCredentials, openGrpcConnection } from '../protocol/grpc-connection.ts';
import { subscriptionIdHeader } from '../protocol/grpc-service.ts';
import { maxEventBytes } from '../protocol/limits.ts';
import { PublishError, type PublishFailure } from '../protocol/publish-error.ts';
import { readMessage } from '../protocol/read-message.ts';
import { type Decoded, ProtocolError } from '../protocol/refusal.ts';
import { writeMessage } from '../protocol/write-message.ts';
import type { CertificateSource } from './certificates.ts';
import { type AgentLink, type LinkEvents, RefusedError } from './link.ts';

export interface GrpcLinkOptions extends LinkEvents {
  /** `host:port` */
  readonly url: string;
  readonly consumer: string;
  /** Left out, there is no TLS. */
  readonly certificates?: CertificateSource;
  /** Asked for every call. Only with TLS. */
  readonly token?: () => Promise<Secret>;
  /** The server sends a heartbeat more often than this; 0 for one that sends none. */
  readonly silenceSeconds: number;
  readonly logger: Logger;
}

const backoffMs = { baseMs: 250, maxMs: 30_000 };
const envelopeBytes = 80 * 1024;
/** Sending the same again would be refused again. */
const final: ReadonlySet<PublishFailure> = new Set<PublishFailure>(['invalid', 'conflict', 'not-found']);

/** Connects in the background, and again whenever the connection is lost. */
export function startGrpcLink(options: GrpcLinkOptions): AgentLink {
  const { url, logger, consumer, certificates } = options;
  const backoff = createBackoff(backoffMs);
  const stopping = new AbortController();
  let connection: GrpcConnection | undefined;
  let renew = new AbortController();
  let subscribed = false;

  certificates?.onChange(() => {
    logger.info({ server: url }, 'the certificate has changed; connecting to the Maestro server again');
    renew.abort();
  });

  function credentials(): GrpcCredentials {
    if (certificates === undefined) return { plaintext: true };
    const { token } = options;
    return { ...certificates.current(), ...(token === undefined ? {} : { token }) };
  }

  /** Runs until the stream ends, and throws why. */
  async function follow(open: GrpcConnection, signal: AbortSignal): Promise<void> {
    const stream = await open.subscribe({ source: '', clusterName: consumer, dataType: manifestBundles });
    const silenceMs = options.silenceSeconds * 1000;
    let watch: NodeJS.Timeout | undefined;
    let reason: Error | undefined;
    const end = (why: Error): void => {
      reason ??= why;
      stream.cancel();
    };
    const expect = (): void => {
      clearTimeout(watch);
      if (silenceMs > 0) watch = setTimeout(() => end(new Error('the server has been silent for too long')), silenceMs);
    };
    const aborted = (): void => end(new Error('the link is ended'));
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
    stream.once('metadata', (headers: Metadata) => {
      if (headers.get(subscriptionIdHeader).length !== 1) return end(new Error('the server gave no subscription id'));
      if (signal.aborted) return;
      subscribed = true;
      backoff.forget(url);
      logger.info({ server: url }, 'subscribed to the Maestro server');
      options.onConnected();
    });
    try {
      expect();
      for await (const event of stream as ClientReadableStream<Decoded<CloudEvent>>) {
        expect();
        take(event as Decoded<CloudEvent>);
      }
      throw reason ?? new Error('the server ended the subscription');
    } catch (error) {
      throw reason ?? error;
    } finally {
      subscribed = false;
      clearTimeout(watch);
      signal.removeEventListener('abort', aborted);
      stream.on('error', () => {});
      stream.cancel();
    }
  }

  function take(event: Decoded<CloudEvent>): void {
    const message = event.ok ? readMessage(event.value) : event;
    if (!message.ok) {
      logger.warn({ refusal: message.refusal }, 'a message from the Maestro server was refused');
      options.onRefused(message.refusal.code);
    } else if (message.value.kind !== 'heartbeat') options.onMessage(message.value);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      renew = new AbortController();
      try {
        connection = openGrpcConnection({ address: url, credentials: credentials() });
        await follow(connection, AbortSignal.any([stopping.signal, renew.signal]));
      } catch (err) {
        if (!stopping.signal.aborted && !renew.signal.aborted)
          logger.warn({ err, server: url }, 'the connection to the Maestro server ended');
      }
      connection?.close();
      connection = undefined;
      // Between half of it and all of it, so that agents that lost one server do not all come back at once.
      const waitMs = renew.signal.aborted ? 0 : backoff.next(url) * (0.5 + Math.random() / 2);
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    connected: () => subscribed,
    maxMessageBytes: () => maxEventBytes - envelopeBytes,
    async send(message) {
      if (connection === undefined || !subscribed) throw new Error('there is no connection to the Maestro server');
      try {
        await connection.publish(writeMessage(message), stopping.signal);
      } catch (error) {
        const isFinal = error instanceof ProtocolError || (error instanceof PublishError && final.has(error.failure));
        throw isFinal ? new RefusedError(error.message, { cause: error }) : error;
      }
    },
    async stop() {
      stopping.abort();
      certificates?.stop();
      await running;
    },
  };
}
