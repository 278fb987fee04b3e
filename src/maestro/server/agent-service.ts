// The gRPC service for agents, where they come without a broker: the same events as over MQTT, each agent with its own consumer's.
import { status } from '@grpc/grpc-js';
import type { Logger } from '../../kit/log.ts';
import { isDataType, manifestBundles } from '../protocol/event-type.ts';
import type { CloudEventHandlers } from '../protocol/grpc-service.ts';
import { readMessage } from '../protocol/read-message.ts';
import type { Access, Identity } from './access.ts';
import type { AgentEvents } from './agent-events.ts';
import type { AgentLink } from './dispatcher.ts';
import { openEventStream } from './event-stream.ts';
import { type GrpcCall, grpcError, type Identify, invalidArgument } from './grpc-listener.ts';
import { MaestroError } from './maestro-error.ts';
import { maestroError } from './store-error.ts';
import type { StreamTable } from './stream-table.ts';

export interface AgentServiceOptions {
  readonly agentEvents: AgentEvents;
  /** Of agents, by consumer. */
  readonly streams: StreamTable;
  readonly access: Access;
  readonly identify: Identify;
  readonly heartbeatSeconds: number;
  /** An agent of this consumer has subscribed. */
  readonly onSubscribed: (consumer: string) => void;
  readonly logger: Logger;
}

const maxStreams = 10_000;

/** Where agents have subscribed, this server serves them, whoever else does. */
export function grpcLink(streams: StreamTable): AgentLink {
  return {
    serves: (consumer) => streams.has(consumer),
    reaches: (consumer) => streams.has(consumer),
    async send(consumer, event) {
      const taken = await Promise.all(streams.of(consumer).map((stream) => stream.offer(event)));
      if (!taken.includes(true)) throw new Error('no agent of the consumer is subscribed any more');
    },
  };
}

export function agentService(options: AgentServiceOptions): CloudEventHandlers {
  const { agentEvents, streams, access, logger } = options;

  async function identified(call: GrpcCall): Promise<Identity> {
    const identity = await options.identify(call);
    if (identity === undefined) throw new MaestroError(15, 'Account authentication could not be verified');
    return identity;
  }

  return {
    publish(call, answer) {
      const event = call.request;
      const run = async (): Promise<{ readonly code: number; readonly details: string } | null> => {
        const identity = await identified(call);
        if (!event.ok) return invalidArgument(event.refusal.message);
        const message = readMessage(event.value);
        if (!message.ok) return invalidArgument(message.refusal.message);
        if (message.value.kind === 'heartbeat') return invalidArgument('agents send no heartbeats');
        const { clusterName } = message.value;
        if (!access.mayBeAgentOf(identity, clusterName)) throw new MaestroError(4, 'not the agent of this consumer');
        if (message.value.kind === 'spec-resync' && !streams.has(clusterName)) {
          return {
            code: status.UNAVAILABLE,
            details: 'the agent has no subscription at this server; subscribe, then ask',
          };
        }
        const outcome = await agentEvents.take(clusterName, message.value);
        return outcome === 'refused'
          ? { code: status.FAILED_PRECONDITION, details: 'the event is not one that the server takes of this agent' }
          : null;
      };
      run().then(
        (refusal) => answer(refusal, {}),
        (error: unknown) => {
          const known = maestroError(error);
          if (known.code === 9 || known.code === 26)
            logger.error({ err: known }, 'an event of an agent could not be taken');
          answer(grpcError(known), {});
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
          const { clusterName, dataType } = request.value;
          if (clusterName === '') return refuse(invalidArgument('the subscription names no cluster'));
          if (!isDataType(dataType)) return refuse(invalidArgument('the subscription names no data type'));
          if (!access.mayBeAgentOf(identity, clusterName)) {
            return refuse(grpcError(new MaestroError(4, 'not the agent of this consumer')));
          }
          if (streams.size() >= maxStreams)
            return refuse({ code: status.UNAVAILABLE, details: 'too many subscriptions' });
          const stream = openEventStream(call, options);
          // Of any other data type there is nothing to send.
          if (dataType !== manifestBundles) return;
          streams.add(clusterName, stream);
          options.onSubscribed(clusterName);
        },
        (error: unknown) => refuse(grpcError(maestroError(error))),
      );
    },
  };
}
