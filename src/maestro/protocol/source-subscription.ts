// One subscription of a source, from opening the stream to its end.
import type { Metadata } from '@grpc/grpc-js';
import type { CloudEvent } from './cloud-event.ts';
import { manifestBundles } from './event-type.ts';
import type { GrpcConnection } from './grpc-connection.ts';
import { subscriptionIdHeader } from './grpc-service.ts';
import type { StatusMessage } from './messages.ts';
import { readMessage } from './read-message.ts';
import type { Decoded, Refusal } from './refusal.ts';

export interface SourceSubscriptionOptions {
  readonly connection: GrpcConnection;
  readonly sourceId: string;
  /** How long the server may be silent; 0 for a server that sends no heartbeats. Also the time it has to begin. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** The server has begun: from here on nothing is missed. Its signal is aborted when the stream has ended. */
  readonly onSubscribed: (signal: AbortSignal) => Promise<void>;
  /** Something was received: the server is there. */
  readonly onAlive: () => void;
  /** One after the other; the stream waits while it works. */
  readonly onStatus: (message: StatusMessage) => void | Promise<void>;
  readonly onRefused: (refusal: Refusal) => void;
}

/** The server has this long to begin where it may be silent for ever. */
const defaultBeginMs = 20_000;

/** Runs until the stream ends, then rejects with the reason. Never resolves unless `signal` is aborted. */
export async function runSourceSubscription(options: SourceSubscriptionOptions): Promise<void> {
  const { signal, silenceMs } = options;
  const request = { source: options.sourceId, clusterName: '', dataType: manifestBundles };
  const stream = await options.connection.subscribe(request);
  const over = new AbortController();
  let reason: unknown;
  const end = (why: unknown): void => {
    reason ??= why;
    stream.cancel();
  };
  const aborted = (): void => end(undefined);
  signal.addEventListener('abort', aborted);
  if (signal.aborted) aborted();
  let watch: NodeJS.Timeout | undefined;
  const expect = (withinMs: number): void => {
    clearTimeout(watch);
    if (withinMs > 0) watch = setTimeout(() => end(new Error('the server has been silent for too long')), withinMs);
  };

  let begun: Promise<void> | undefined;
  stream.once('metadata', (headers: Metadata) => {
    if (headers.get(subscriptionIdHeader).length !== 1) return end(new Error('the server gave no subscription id'));
    expect(silenceMs);
    begun = options.onSubscribed(over.signal).catch(end);
  });
  try {
    expect(silenceMs > 0 ? silenceMs : defaultBeginMs);
    for await (const event of stream) {
      clearTimeout(watch);
      options.onAlive();
      await take(event as Decoded<CloudEvent>, options);
      expect(silenceMs);
    }
    reason ??= new Error('the server ended the subscription');
  } catch (error) {
    reason ??= error;
  } finally {
    clearTimeout(watch);
    signal.removeEventListener('abort', aborted);
    stream.on('error', () => {});
    stream.cancel();
    over.abort();
    await begun;
  }
  if (!signal.aborted) throw reason;
}

async function take(event: Decoded<CloudEvent>, options: SourceSubscriptionOptions): Promise<void> {
  const message = event.ok ? readMessage(event.value) : event;
  if (!message.ok) options.onRefused(message.refusal);
  else if (message.value.kind === 'status') await options.onStatus(message.value);
}
