// A gRPC server with the CloudEvents service on an address: TLS from files that may change, callers known by certificate or token.
import { X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import { type Metadata, Server, ServerCredentials, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { certificateCaller } from '../../kit/caller.ts';
import { ListenError } from '../../kit/http-server.ts';
import type { Logger } from '../../kit/log.ts';
import { loadTls, watchTls } from '../../kit/tls.ts';
import { type CloudEventHandlers, cloudEventService } from '../protocol/grpc-service.ts';
import { maxDeliveredBytes } from '../protocol/limits.ts';
import { certificateNames, type Identity } from './access.ts';
import type { VerifyBearer } from './bearer.ts';
import { errorKinds, type MaestroError } from './maestro-error.ts';

export interface GrpcListenerOptions {
  readonly host: string;
  readonly port: number;
  /** PEM files; left out, the listener has no TLS and no authentication, and binds loopback only. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly clientAuthorities?: string };
  readonly handlers: CloudEventHandlers;
  readonly logger: Logger;
}

export interface GrpcListener {
  readonly port: number;
  readonly url: string;
  /** Lets calls in flight end until the signal, then cuts them. */
  stop(graceOver?: AbortSignal): Promise<void>;
}

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

export async function listenGrpc(options: GrpcListenerOptions): Promise<GrpcListener> {
  const { host, logger } = options;
  if (options.tls === undefined && !loopback.has(host)) {
    throw new ListenError(`a gRPC listener without TLS binds only loopback addresses, not ${JSON.stringify(host)}`);
  }
  const server = new Server({
    // More than an event may have, so that what is too large is refused with a reason.
    'grpc.max_receive_message_length': 2 * maxDeliveredBytes,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.max_concurrent_streams': 2000,
  });
  server.addService(cloudEventService, options.handlers);
  const { credentials, stopWatching } = await credentialsOf(options);
  const port = await new Promise<number>((resolve, reject) => {
    const address = host.includes(':') ? `[${host}]:${options.port}` : `${host}:${options.port}`;
    server.bindAsync(address, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(new ListenError(`cannot listen on ${address}: ${error.message}`, { cause: error }));
    });
  });
  const scheme = options.tls === undefined ? 'grpc' : 'grpcs';
  logger.info({ host, port, tls: options.tls !== undefined }, 'a gRPC listener has started');
  return {
    port,
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async stop(graceOver) {
      stopWatching();
      const cut = (): void => server.forceShutdown();
      graceOver?.addEventListener('abort', cut, { once: true });
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      graceOver?.removeEventListener('abort', cut);
    },
  };
}

/** A certificate is asked for and, if shown, verified by TLS; who shows none may still have a token. */
class FileCredentials extends ServerCredentials {
  constructor(context: SecureContextOptions, asksForCertificate: boolean) {
    super({ requestCert: asksForCertificate, rejectUnauthorized: false }, context);
  }

  renew(context: SecureContextOptions): void {
    this.updateSecureContextOptions(context);
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

async function credentialsOf({
  tls,
  logger,
}: GrpcListenerOptions): Promise<{ readonly credentials: ServerCredentials; stopWatching(): void }> {
  if (tls === undefined) return { credentials: ServerCredentials.createInsecure(), stopWatching: () => {} };
  const material = await loadTls(tls);
  const credentials = new FileCredentials(material.options, tls.clientAuthorities !== undefined);
  const watching = watchTls({
    files: tls,
    current: material,
    onChange: (fresh) => credentials.renew(fresh.options),
    onBroken: (err) => logger.error({ err }, 'the changed certificate cannot be used, the one before it stays'),
  });
  return { credentials, stopWatching: watching.stop };
}

/** Tells who a call is from; undefined where it shows nothing. Throws MaestroError 15 for a token that is not good. */
export type Identify = (call: GrpcCall) => Promise<Identity | undefined>;

export type GrpcCall = Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'> & { readonly metadata: Metadata };

export function createIdentify(isPlain: boolean, bearer: VerifyBearer | undefined): Identify {
  return async (call) => {
    if (isPlain) return { kind: 'plain' };
    const certificate = call.getAuthContext().sslPeerCertificate;
    if (certificate !== undefined) {
      return { kind: 'names', names: certificateNames(certificateCaller(new X509Certificate(certificate.raw))) };
    }
    const [authorization] = call.metadata.get('authorization');
    if (bearer === undefined || typeof authorization !== 'string') return undefined;
    return { kind: 'names', names: await bearer(authorization) };
  };
}

/** A gRPC status with the number that Maestro's clients look for in its text. */
export function grpcError(error: MaestroError, prefix = ''): { readonly code: number; readonly details: string } {
  return { code: errorKinds[error.code].grpc, details: `${prefix}maestro-${error.code}: ${error.message}` };
}

export function invalidArgument(details: string): { readonly code: number; readonly details: string } {
  return { code: status.INVALID_ARGUMENT, details };
}
