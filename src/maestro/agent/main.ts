// The Maestro agent: applies the bundles of one consumer to the cluster it runs on, keeps them applied, and reports how they are. The
// bundles are in memory, what was applied for them in AppliedManifestWorks on the cluster; without the server it works on.
import { readFile } from 'node:fs/promises';
import { listenHealth } from '../../kit/health.ts';
import { composeService, type Parts } from '../../kit/lifecycle.ts';
import { createLogger, type Logger } from '../../kit/log.ts';
import { createMetrics, type Metrics, oneOf } from '../../kit/metrics.ts';
import { Secret } from '../../kit/secret.ts';
import type { Running } from '../../kit/service.ts';
import { startTracing } from '../../kit/trace-export.ts';
import { createClient, type KubeClient } from '../../kube/client.ts';
import type { ClusterAccess } from '../../kube/cluster-access.ts';
import { loadAccess } from '../../kube/kubeconfig.ts';
import { createEngine } from '../../manifestwork/engine.ts';
import { hubHash } from '../../manifestwork/ownership.ts';
import { defaultTopics, type Topics, topicProblems } from '../protocol/topics.ts';
import { type Agent, type AgentOptions, createAgent } from './agent.ts';
import { type CertificateSource, certificatesFromFiles } from './certificates.ts';
import type { MaestroAgentConfig } from './config.ts';
import { startGrpcLink } from './grpc-link.ts';
import type { AgentLink } from './link.ts';
import { startMqttLink } from './mqtt-link.ts';
import { openAgentState } from './state.ts';

export interface StartOptions {
  readonly logger?: Logger;
  readonly graceSeconds?: number;
  /** The cluster, instead of what the configuration leads to. */
  readonly access?: ClusterAccess;
  /** Certificates from elsewhere than files, such as a Key Vault. */
  readonly certificates?: CertificateSource;
}

type Connection = NonNullable<MaestroAgentConfig['mqtt'] | MaestroAgentConfig['grpc']>;

export async function start(config: MaestroAgentConfig, options: StartOptions = {}): Promise<Running> {
  const logger = options.logger ?? createLogger({ service: 'maestro-agent' });
  const { consumerName: consumer, sourceId, mqtt, grpc } = config;
  if ((mqtt === undefined) === (grpc === undefined)) throw new Error('give either mqtt or grpc, and not both');
  const topics = topicsOf(config);
  const grace = options.graceSeconds === undefined ? {} : { graceSeconds: options.graceSeconds };

  return composeService({ name: 'maestro-agent', logger, ...grace }, async (parts) => {
    const metrics = createMetrics();
    await parts.part('traces', () => startTracing({ service: 'maestro-agent' }));
    const access =
      options.access ?? loadAccess(config.kubeconfig === undefined ? {} : { kubeconfig: config.kubeconfig });
    const client = await parts.part(
      'client',
      () => createClient({ access, userAgent: 'aro (maestro-agent)', metrics, logger, connections: config.workers }),
      (it) => it.close(),
    );
    const namespace = config.stateNamespace ?? access.namespace;
    const state = await parts.part('state', () => openAgentState({ client, namespace, consumer, logger }));
    const agentId = config.agentId ?? `${consumer}-work-agent`;
    const agent = await parts.part('agent', () =>
      createAgent({ consumer, agentId, sourceId, state, logger, ...agentMetrics(metrics) }),
    );
    await startEngine(config, { parts, client, agent, metrics, logger });
    const link = await parts.part('link', async (): Promise<AgentLink> => {
      const certificates = options.certificates ?? (await filesOf(mqtt ?? grpc, logger));
      const common = { consumer, logger, ...agent.events, ...(certificates === undefined ? {} : { certificates }) };
      const made = grpc === undefined ? mqttLink(config, topics, agentId, common) : grpcLink(grpc, common);
      agent.use(made);
      return made;
    });
    parts.addReadiness('server', () => {
      if (!link.connected()) throw new Error('there is no connection to the server');
    });
    const health = await parts.part(
      'metrics',
      () => listenHealth({ host: config.host, port: config.metrics.port, readiness: parts.readiness, metrics, logger }),
      (it, graceOver) => it.stop(graceOver),
    );
    parts.address('metrics', health.url);
  });
}

interface EngineParts {
  readonly parts: Parts;
  readonly client: KubeClient;
  readonly agent: Agent;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

async function startEngine(config: MaestroAgentConfig, { parts, client, agent, metrics, logger }: EngineParts) {
  // The address exactly as it is configured: an agent that takes over from another finds what that one applied by it.
  const address = config.mqtt?.brokerHost ?? config.grpc?.url ?? '';
  const engine = await parts.part(
    'engine',
    () => {
      const made = createEngine({
        client,
        source: agent.works.source,
        hubHash: hubHash(address),
        logger,
        metrics,
        concurrency: config.workers,
        maxJsonRawLength: config.maxJsonRawLength,
        evictionGraceSeconds: config.evictionGrace,
        resyncSeconds: config.resync,
      });
      made.start();
      return made;
    },
    (it, graceOver) => it.stop(graceOver),
  );
  parts.addReadiness('engine', () => engine.check());
}

type LinkParts = Pick<Parameters<typeof startMqttLink>[0], 'consumer' | 'logger' | 'certificates'> & Agent['events'];

function mqttLink({ mqtt }: MaestroAgentConfig, topics: Topics, agentId: string, common: LinkParts): AgentLink {
  if (mqtt === undefined) throw new Error('mqtt is not configured');
  return startMqttLink({
    ...common,
    brokerHost: mqtt.brokerHost,
    clientId: `${agentId}-client`,
    topics,
    keepAliveSeconds: mqtt.keepAlive,
    ...(mqtt.username === undefined ? {} : { username: mqtt.username }),
    ...(mqtt.password === undefined ? {} : { password: mqtt.password }),
  });
}

function grpcLink(grpc: NonNullable<MaestroAgentConfig['grpc']>, common: LinkParts): AgentLink {
  const { tokenFile } = grpc;
  return startGrpcLink({
    ...common,
    url: grpc.url,
    silenceSeconds: grpc.serverHealthinessTimeout,
    ...(tokenFile === undefined ? {} : { token: async () => new Secret((await readFile(tokenFile, 'utf8')).trim()) }),
  });
}

async function filesOf(connection: Connection | undefined, logger: Logger): Promise<CertificateSource | undefined> {
  const { caFile, clientCertFile, clientKeyFile } = connection ?? {};
  if (caFile === undefined && clientCertFile === undefined && clientKeyFile === undefined) return undefined;
  return certificatesFromFiles(
    {
      ...(caFile === undefined ? {} : { authorities: caFile }),
      ...(clientCertFile === undefined ? {} : { certificate: clientCertFile }),
      ...(clientKeyFile === undefined ? {} : { key: clientKeyFile }),
    },
    logger,
  );
}

function topicsOf({ mqtt, sourceId }: MaestroAgentConfig): Topics {
  const topics = mqtt?.topics ?? defaultTopics(sourceId);
  const problems = topicProblems(topics, sourceId);
  if (problems.length > 0) throw new Error(`the topics cannot be used: ${problems.join('; ')}`);
  return topics;
}

const outcomes = [
  'added',
  'changed',
  'deleting',
  'known',
  'stale',
  'refused',
  'status-resync',
  'foreign',
  'unreadable',
];

function agentMetrics(metrics: Metrics): Pick<AgentOptions, 'onTaken' | 'onSent'> {
  const received = metrics.counter({
    name: 'cloudevents_received_total',
    help: 'Events of the server, by what became of them.',
    labels: { outcome: oneOf(outcomes) },
  });
  const sent = metrics.counter({
    name: 'cloudevents_sent_total',
    help: 'Reports sent.',
    labels: { action: oneOf(['update_request', 'resync_response']) },
  });
  return { onTaken: (outcome) => received({ outcome }), onSent: (action) => sent({ action }) };
}
