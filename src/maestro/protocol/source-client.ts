// A source of the Maestro server over gRPC: what Clusters Service uses to send bundles and to learn how they are.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../kit/log.ts';
import { createBackoff } from '../../kube/backoff.ts';
import { checkBundleSize } from './bundle-data.ts';
import { type GrpcConnection, type GrpcCredentials, openGrpcConnection } from './grpc-connection.ts';
import type { ManifestBundle } from './manifest-bundle.ts';
import type { SpecMessage, StatusMessage } from './messages.ts';
import type { ObjectMeta } from './object-meta.ts';
import { accepted } from './refusal.ts';
import { type StatusHash, statusResyncBatches } from './resync.ts';
import { runSourceSubscription } from './source-subscription.ts';
import { writeMessage } from './write-message.ts';

/** Which bundle. */
export interface BundleTarget {
  readonly consumer: string;
  /** Chosen in advance: resource-id.ts makes one from a name. */
  readonly resourceId: string;
  /** The version that an update or a deletion is based on; 0, unless given, is whatever is latest. */
  readonly version?: number;
}

export interface BundleToSend extends BundleTarget {
  readonly bundle: ManifestBundle;
  /** The source's own name for it, labels, annotations; the server can be searched by labels. */
  readonly metadata?: ObjectMeta;
}

/**
 * Publishing settles when the server has stored what was sent. It rejects with PublishError (publish-error.ts), whose `failure`
 * says what a caller can do, or with ProtocolError for a bundle that no agent would take. Nothing is sent again by itself.
 */
export interface SourceClient {
  create(bundle: BundleToSend): Promise<void>;
  update(bundle: BundleToSend): Promise<void>;
  /** Also of a bundle that is being deleted, or is gone. Its end is told by a status that says `Deleted`. */
  delete(target: BundleTarget): Promise<void>;
  /** Settles when the client has subscribed for the first time and asked for what it missed. */
  readonly ready: Promise<void>;
  /** Whether the subscription stands now. */
  subscribed(): boolean;
  /** Takes new credentials and subscribes again. */
  reconnect(): void;
  stop(): Promise<void>;
}

export interface SourceClientOptions {
  /** `host:port` */
  readonly address: string;
  readonly sourceId: string;
  /** Asked at every connection, so that renewed certificates are used. */
  readonly credentials: () => GrpcCredentials | Promise<GrpcCredentials>;
  readonly logger: Logger;
  /**
   * Called for every status, one after the other; the same one may come again. When it rejects, the client subscribes again,
   * and the resync brings what was not taken.
   */
  readonly onStatus: (message: StatusMessage) => void | Promise<void>;
  /**
   * The hash of the last status taken of each bundle of this source; an empty one where there was none. After every subscription the
   * server sends those that differ. None at all asks for everything.
   */
  readonly knownStatuses: () => readonly StatusHash[] | Promise<readonly StatusHash[]>;
  /** How long the server may be silent before the client subscribes again; 20 s unless given, 0 for a server without heartbeats. */
  readonly silenceSeconds?: number;
  /** The shortest and the longest wait before subscribing again: 250 ms and 30 s unless given. */
  readonly backoffMs?: { readonly base: number; readonly max: number };
  readonly publishTimeoutMs?: number;
}

const defaultSilenceSeconds = 20;
const defaultBackoffMs = { base: 250, max: 30_000 };

export function startSourceClient(options: SourceClientOptions): SourceClient {
  const { address, sourceId, logger } = options;
  const { base, max } = options.backoffMs ?? defaultBackoffMs;
  const backoff = createBackoff({ baseMs: base, maxMs: max });
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  // Whoever does not wait for it need not care that it never came.
  ready.promise.catch(() => {});
  let again = new AbortController();
  let subscribed = false;
  let connection: Promise<GrpcConnection> = connect();
  connection.catch(() => {});

  async function connect(): Promise<GrpcConnection> {
    const { publishTimeoutMs } = options;
    const timeout = publishTimeoutMs === undefined ? {} : { publishTimeoutMs };
    return openGrpcConnection({ address, credentials: await options.credentials(), ...timeout });
  }

  async function publish(
    action: 'create_request' | 'update_request' | 'delete_request',
    target: BundleTarget,
    rest: Pick<SpecMessage, 'bundle' | 'metadata' | 'deletionTimestamp'>,
  ): Promise<void> {
    const event = writeMessage({
      kind: 'spec',
      action,
      ...eventFields(sourceId, target.consumer),
      resourceId: target.resourceId,
      resourceVersion: target.version ?? 0,
      ...rest,
    });
    await (await connection).publish(event);
  }

  async function send(action: 'create_request' | 'update_request', sent: BundleToSend): Promise<void> {
    const bundle = accepted(checkBundleSize(sent.bundle));
    await publish(action, sent, { bundle, ...(sent.metadata === undefined ? {} : { metadata: sent.metadata }) });
  }

  /** Asked for after subscribing, so that what happens meanwhile comes by one way or the other. */
  async function resync(to: GrpcConnection, signal: AbortSignal): Promise<void> {
    for (const statusHashes of statusResyncBatches(await options.knownStatuses())) {
      await to.publish(writeMessage({ kind: 'status-resync', ...eventFields(sourceId, ''), statusHashes }), signal);
    }
    subscribed = true;
    ready.resolve();
    logger.info({ address, sourceId }, 'subscribed to the Maestro server');
  }

  async function subscribeOnce(signal: AbortSignal): Promise<void> {
    const current = await connection;
    await runSourceSubscription({
      connection: current,
      sourceId,
      silenceMs: (options.silenceSeconds ?? defaultSilenceSeconds) * 1000,
      signal,
      onSubscribed: (ended) => resync(current, ended),
      onAlive: () => backoff.forget(sourceId),
      onStatus: options.onStatus,
      onRefused: (refusal) => logger.warn({ refusal }, 'the Maestro server sent an event that cannot be read'),
    });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      again = new AbortController();
      try {
        await subscribeOnce(AbortSignal.any([stopping.signal, again.signal]));
      } catch (error) {
        if (!stopping.signal.aborted)
          logger.warn({ err: error, address }, 'the subscription to the Maestro server ended');
      }
      subscribed = false;
      const used = connection;
      if (!stopping.signal.aborted) {
        // Between half of it and all of it, so that clients that lost one server do not all come back at once.
        const waitMs = again.signal.aborted ? 0 : backoff.next(sourceId) * (0.5 + Math.random() / 2);
        await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
        connection = connect();
        connection.catch(() => {});
      }
      await used.then((old) => old.close()).catch(() => {});
    }
    ready.reject(new Error('the source client was stopped before it could subscribe'));
    await connection.then((last) => last.close()).catch(() => {});
  }

  const running = run();
  return {
    create: (bundle) => send('create_request', bundle),
    update: (bundle) => send('update_request', bundle),
    delete: (target) => publish('delete_request', target, { deletionTimestamp: new Date() }),
    ready: ready.promise,
    subscribed: () => subscribed,
    reconnect: () => again.abort(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function eventFields(
  source: string,
  clusterName: string,
): Pick<SpecMessage, 'id' | 'source' | 'time' | 'clusterName' | 'originalSource'> {
  return { id: randomUUID(), source, time: new Date().toISOString(), clusterName, originalSource: '' };
}
