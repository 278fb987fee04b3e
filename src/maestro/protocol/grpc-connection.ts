// A client's connection to the CloudEvents service: credentials, publishing, opening a subscription.
import {
  type ChannelOptions,
  Client,
  type ClientReadableStream,
  credentials as grpcCredentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import type { Secret } from '../../kit/secret.ts';
import type { CloudEvent } from './cloud-event.ts';
import { cloudEventService, type SubscriptionRequest } from './grpc-service.ts';
import { maxDeliveredBytes } from './limits.ts';
import { publishError } from './publish-error.ts';
import type { Decoded } from './refusal.ts';

/** How a client shows who it is. */
export type GrpcCredentials =
  /** No TLS: for a mesh that encrypts by itself, or the same machine. Carries no token. */
  | { readonly plaintext: true }
  | {
      /** PEM of those who may vouch for the server; the system's where absent. */
      readonly authorities?: string;
      /** PEM, for mutual TLS. */
      readonly certificate?: string;
      /** PEM, not encrypted. */
      readonly key?: Secret;
      /** Asked for every call, so that it can be renewed. */
      readonly token?: () => Secret | Promise<Secret>;
      /** The name in the server's certificate, where it is not the address's. */
      readonly serverName?: string;
    };

export interface GrpcConnection {
  /** Rejects with PublishError, or ProtocolError for an event that is too large to send. Ends early when `signal` is aborted. */
  publish(event: CloudEvent, signal?: AbortSignal): Promise<void>;
  subscribe(request: SubscriptionRequest): Promise<ClientReadableStream<Decoded<CloudEvent>>>;
  close(): void;
}

export interface GrpcConnectionOptions {
  /** `host:port` */
  readonly address: string;
  readonly credentials: GrpcCredentials;
  /** 30 s unless given. */
  readonly publishTimeoutMs?: number;
}

const defaultPublishTimeoutMs = 30_000;

const channelOptions: ChannelOptions = {
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_receive_message_length': maxDeliveredBytes,
  // The channel connects again by itself at once; how long to wait between attempts is the subscription's to say.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 5000,
  // A connection's own, so that closing it closes its socket and new credentials are used.
  'grpc.use_local_subchannel_pool': 1,
};

export function openGrpcConnection(options: GrpcConnectionOptions): GrpcConnection {
  const { address, credentials, publishTimeoutMs = defaultPublishTimeoutMs } = options;
  const serverName = 'plaintext' in credentials ? undefined : credentials.serverName;
  const client = new Client(address, channelCredentials(credentials), {
    ...channelOptions,
    ...(serverName === undefined
      ? {}
      : { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName }),
  });

  async function metadata(): Promise<Metadata> {
    const headers = new Metadata();
    if (!('plaintext' in credentials) && credentials.token !== undefined) {
      headers.set('authorization', `Bearer ${(await credentials.token()).reveal()}`);
    }
    return headers;
  }

  return {
    async publish(event, signal) {
      const { path, requestSerialize, responseDeserialize } = cloudEventService.publish;
      // Once here, so that an event that is too large is said to be so, and not to be a failure of the connection.
      const bytes = requestSerialize(event);
      const headers = await metadata();
      const deadline = Date.now() + publishTimeoutMs;
      const asIs = (message: Buffer): Buffer => message;
      await new Promise<void>((resolve, reject) => {
        const answer = (error: ServiceError | null): void => {
          signal?.removeEventListener('abort', cancel);
          if (error === null) resolve();
          else reject(publishError(error));
        };
        const cancel = (): void => call.cancel();
        const call = client.makeUnaryRequest(path, asIs, responseDeserialize, bytes, headers, { deadline }, answer);
        signal?.addEventListener('abort', cancel);
        if (signal?.aborted) cancel();
      });
    },
    async subscribe(request) {
      const { path, requestSerialize, responseDeserialize } = cloudEventService.subscribe;
      return client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, await metadata());
    },
    close: () => client.close(),
  };
}

function channelCredentials(from: GrpcCredentials): ReturnType<typeof grpcCredentials.createInsecure> {
  if ('plaintext' in from) return grpcCredentials.createInsecure();
  const bytes = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  return grpcCredentials.createSsl(bytes(from.authorities), bytes(from.key?.reveal()), bytes(from.certificate));
}
