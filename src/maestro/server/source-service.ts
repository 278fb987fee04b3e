// The gRPC service for sources: they publish bundles and requests for a resync, and subscribe to statuses.
import { status } from '@grpc/grpc-js';
import type { Logger } from '../../kit/log.ts';
import type { CloudEventHandlers } from '../protocol/grpc-service.ts';
import type { Message, SpecMessage } from '../protocol/messages.ts';
import { readMessage } from '../protocol/read-message.ts';
import type { Access, Identity } from './access.ts';
import type { Broadcaster } from './broadcaster.ts';
import type { Bundles } from './bundles.ts';
import { openEventStream } from './event-stream.ts';
import { type GrpcCall, grpcError, type Identify, invalidArgument } from './grpc-listener.ts';
import { errorKinds, MaestroError } from './maestro-error.ts';
import { maestroError } from './store-error.ts';
import type { StreamTable } from './stream-table.ts';

export interface SourceServiceOptions {
  readonly bundles: Bundles;
  readonly broadcaster: Broadcaster;
  readonly streams: StreamTable;
  readonly access: Access;
  readonly identify: Identify;
  readonly heartbeatSeconds: number;
  readonly logger: Logger;
  readonly onCall?: (call: { readonly type: string; readonly code: number; readonly seconds: number }) => void;
}

/** Publishes at once; those beyond it are told to come again. */
const maxPublishing = 5000;
const maxStreams = 5000;

const actions: ReadonlyMap<
  SpecMessage['action'],
  { readonly prefix: string; readonly run: 'create' | 'update' | 'delete' }
> = new Map([
  ['create_request', { prefix: 'failed to create resource: ', run: 'create' }],
  ['update_request', { prefix: 'failed to update resource: ', run: 'update' }],
  ['delete_request', { prefix: 'failed to delete resource: ', run: 'delete' }],
]);

export function sourceService(options: SourceServiceOptions): CloudEventHandlers {
  const { bundles, broadcaster, streams, access, logger } = options;
  let publishing = 0;

  async function identified(call: GrpcCall): Promise<Identity> {
    const identity = await options.identify(call);
    if (identity === undefined) throw new MaestroError(15, 'Account authentication could not be verified');
    return identity;
  }

  async function handle(identity: Identity, message: Message): Promise<void> {
    if (message.kind === 'status-resync') {
      if (!broadcaster.resync(message.source, message.statusHashes)) {
        throw new MaestroError(26, 'the source has no subscription at this server; subscribe, then ask');
      }
      return;
    }
    const action = message.kind === 'spec' ? actions.get(message.action) : undefined;
    if (message.kind !== 'spec' || action === undefined)
      throw new MaestroError(21, 'sources do not send events of this type');
    if (!access.maySendTo(identity, message.source, message.clusterName)) {
      throw new MaestroError(4, 'the source may not send to this consumer');
    }
    await bundles[action.run](message);
  }

  return {
    publish(call, answer) {
      const started = performance.now();
      const event = call.request;
      const type = event.ok ? (event.value.type.split('.').at(-1) ?? '') : 'unreadable';
      const done = (error: { readonly code: number; readonly details: string } | null): void => {
        publishing--;
        options.onCall?.({ type, code: error?.code ?? status.OK, seconds: (performance.now() - started) / 1000 });
        answer(error, {});
      };
      publishing++;
      if (publishing > maxPublishing)
        return done({ code: status.UNAVAILABLE, details: 'maestro-26: too many publishes at once' });
      let prefix = '';
      const run = async (): Promise<void> => {
        const identity = await identified(call);
        if (!event.ok) throw new MaestroError(8, event.refusal.message);
        if (!access.mayBeSource(identity, event.value.source))
          throw new MaestroError(4, 'not allowed to publish as this source');
        const message = readMessage(event.value);
        if (!message.ok) throw new MaestroError(8, message.refusal.message);
        if (message.value.kind === 'spec') prefix = actions.get(message.value.action)?.prefix ?? '';
        await handle(identity, message.value);
      };
      run().then(
        () => done(null),
        (error: unknown) => {
          const known = maestroError(error);
          if (errorKinds[known.code].http >= 500) logger.error({ err: known, type }, 'a publish failed');
          done(grpcError(known, prefix));
        },
      );
    },
    subscribe(call) {
      const request = call.request;
      const refuse = (error: { readonly code: number; readonly details: string }): void => {
        call.emit('error', error);
      };
      identified(call).then(
        (identity) => {
          if (!request.ok) return refuse(invalidArgument(request.refusal.message));
          const { source } = request.value;
          if (source === '') return refuse(invalidArgument('the subscription names no source'));
          if (!access.mayBeSource(identity, source)) {
            return refuse(grpcError(new MaestroError(4, 'not allowed to subscribe as this source')));
          }
          if (streams.size() >= maxStreams)
            return refuse({ code: status.UNAVAILABLE, details: 'too many subscriptions' });
          streams.add(source, openEventStream(call, options));
        },
        (error: unknown) => refuse(grpcError(maestroError(error))),
      );
    },
  };
}
