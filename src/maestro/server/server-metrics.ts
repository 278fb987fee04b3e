// The server's metrics. None has a label that grows with the number of bundles, consumers or sources.
import { atMost, type Metrics, oneOf } from '../../kit/metrics.ts';
import type { AgentOutcome } from './agent-events.ts';

export interface ServerMetrics {
  /** A source's publish was answered. */
  readonly published: (call: { readonly type: string; readonly code: number; readonly seconds: number }) => void;
  readonly sent: (to: 'agent' | 'source', type: string) => void;
  readonly reported: (outcome: AgentOutcome) => void;
  readonly refused: (code: string) => void;
  readonly looked: (counts: { readonly undelivered: number; readonly staleDeletes: number }) => void;
  readonly subscribers: (of: 'source' | 'agent', count: number) => void;
}

const actions = ['create_request', 'update_request', 'delete_request', 'resync_request', 'resync_response'];

export function createServerMetrics(metrics: Metrics): ServerMetrics {
  const called = metrics.counter({
    name: 'grpc_server_called_total',
    help: 'Publishes of sources.',
    labels: { type: oneOf([...actions, 'unreadable']) },
  });
  const processed = metrics.counter({
    name: 'grpc_server_processed_total',
    help: 'Publishes of sources, by the gRPC status they were answered with.',
    labels: { code: atMost(20) },
  });
  const duration = metrics.histogram({
    name: 'grpc_server_processed_duration_seconds',
    help: 'Time from a publish to its answer.',
    labels: {},
  });
  const sent = metrics.counter({
    name: 'cloudevents_sent_total',
    help: 'Events sent to agents and to sources.',
    labels: { to: oneOf(['agent', 'source']), action: oneOf(actions) },
  });
  const received = metrics.counter({
    name: 'cloudevents_received_total',
    help: 'Events of agents, by what became of them.',
    labels: { outcome: atMost(20) },
  });
  const waiting = metrics.gauge({
    name: 'maestro_unconfirmed_bundles',
    help: 'Bundles that agents have not confirmed in time, at the last look.',
    labels: { kind: oneOf(['undelivered', 'stale_delete']) },
  });
  const subscribers = metrics.gauge({
    name: 'grpc_server_registered_clients',
    help: 'Subscriptions that stand.',
    labels: { of: oneOf(['source', 'agent']) },
  });
  return {
    published({ type, code, seconds }) {
      called({ type });
      processed({ code: String(code) });
      duration({}, seconds);
    },
    sent: (to, type) => sent({ to, action: type.split('.').at(-1) ?? '' }),
    reported: (outcome) => received({ outcome }),
    refused: (code) => received({ outcome: code }),
    looked({ undelivered, staleDeletes }) {
      waiting({ kind: 'undelivered' }, undelivered);
      waiting({ kind: 'stale_delete' }, staleDeletes);
    },
    subscribers: (of, count) => subscribers({ of }, count),
  };
}
