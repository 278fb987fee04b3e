// The Maestro server: takes bundles of Kubernetes objects from sources, brings them to the agents of their consumers, and tells the
// sources how they are. Everything is in the store first; what is sent follows from it.

import { listenHealth } from '../../kit/health.ts';
import { composeService } from '../../kit/lifecycle.ts';
import { listen } from '../../kit/listener.ts';
import { createLogger, type Logger } from '../../kit/log.ts';
import { createMetrics } from '../../kit/metrics.ts';
import { listenPlain } from '../../kit/plain-listener.ts';
import type { Running } from '../../kit/service.ts';
import { startTracing } from '../../kit/trace-export.ts';
import { defaultTopics, type Topics, topicProblems } from '../protocol/topics.ts';
import { createAccess } from './access.ts';
import { createAgentEvents } from './agent-events.ts';
import { agentService, grpcLink } from './agent-service.ts';
import { createBearer } from './bearer.ts';
import { createBroadcaster } from './broadcaster.ts';
import { startBundleFeed } from './bundle-feed.ts';
import { createBundles } from './bundles.ts';
import type { MaestroServerConfig } from './config.ts';
import { createConsumers } from './consumers.ts';
import { type AgentLink, createDispatcher } from './dispatcher.ts';
import { openDocuments } from './documents.ts';
import { createIdentify, listenGrpc } from './grpc-listener.ts';
import { listenHealthCheck } from './health-check.ts';
import { type MqttDuty, startMqttDuty } from './mqtt-duty.ts';
import { openApi } from './open-api.ts';
import { openStore } from './open-store.ts';
import { createRest } from './rest.ts';
import { createServerMetrics } from './server-metrics.ts';
import { sourceService } from './source-service.ts';
import { createStreamTable } from './stream-table.ts';
import { startUpkeep } from './upkeep.ts';

export interface StartOptions {
  readonly logger?: Logger;
  readonly graceSeconds?: number;
}

export async function start(config: MaestroServerConfig, options: StartOptions = {}): Promise<Running> {
  const { sourceId, host, heartbeat: heartbeatSeconds } = config;
  const logger = options.logger ?? createLogger({ service: 'maestro-server' });
  const grace = options.graceSeconds === undefined ? {} : { graceSeconds: options.graceSeconds };
  const topics = topicsOf(config);

  return composeService({ name: 'maestro-server', logger, ...grace }, async (parts) => {
    const metrics = createMetrics();
    const counted = createServerMetrics(metrics);
    await parts.part('traces', () => startTracing({ service: 'maestro-server' }));
    const bearer = config.tokens === undefined ? undefined : await createBearer(config.tokens);
    const access = createAccess(config.rules);

    const store = await parts.part(
      'store',
      () => openStore(config.store),
      (opened) => opened.close(),
    );
    parts.addReadiness('store', () => store.ping());
    const documents = await openDocuments(store);
    const consumers = createConsumers(documents);
    const bundles = createBundles(documents, consumers);

    // Out to agents.
    const agentStreams = createStreamTable();
    let mqtt: MqttDuty | undefined;
    const throughBroker: AgentLink = {
      serves: (consumer) => mqtt?.serves(consumer) ?? false,
      reaches: (consumer) => mqtt?.reaches(consumer) ?? false,
      send: async (consumer, event) => mqtt?.send(consumer, event),
    };
    const dispatcher = await parts.part('dispatcher', () =>
      createDispatcher({
        documents,
        sourceId,
        links: [grpcLink(agentStreams), throughBroker],
        logger,
        onSent: (type) => counted.sent('agent', type),
      }),
    );
    const agentEvents = createAgentEvents({ bundles, dispatcher, sourceId, logger, onOutcome: counted.reported });

    // Out to sources.
    const sourceStreams = createStreamTable();
    const broadcaster = createBroadcaster({
      documents,
      bundles,
      sourceId,
      streams: sourceStreams,
      logger,
      onSent: () => counted.sent('source', 'update_request'),
    });

    await parts.part('feed', () =>
      startBundleFeed({
        documents,
        onSpec: dispatcher.changed,
        onStatus: broadcaster.changed,
        onRemoved: dispatcher.removed,
        onGap() {
          sourceStreams.end('changes were missed; subscribe again and ask for a resync');
          for (const consumer of agentStreams.names()) void dispatcher.catchUp(consumer);
          void mqtt?.catchUp();
        },
        logger,
      }),
    );
    await parts.part('upkeep', () =>
      startUpkeep({
        documents,
        send: dispatcher.changed,
        undeliveredSeconds: config.undelivered,
        staleDeleteSeconds: config.staleDelete,
        onLook: counted.looked,
        logger,
      }),
    );

    // In from agents.
    const identify = createIdentify(config.tls === undefined, bearer);
    const tls = config.tls === undefined ? {} : { tls: config.tls };
    const { mqtt: broker, grpcBroker } = config;
    if (broker !== undefined) {
      const duty = await parts.part('mqtt', () =>
        startMqttDuty({
          link: {
            brokerHost: broker.brokerHost,
            clientId: config.instance,
            topics,
            keepAliveSeconds: broker.keepAlive,
            sessionSeconds: broker.session,
            onRefused: counted.refused,
            ...brokerLogin(broker),
          },
          store,
          documents,
          consumers,
          dispatcher,
          agentEvents,
          sourceId,
          instance: config.instance,
          leaseSeconds: config.lease,
          logger,
        }),
      );
      mqtt = duty;
      parts.addReadiness('mqtt', duty.check);
    }
    if (grpcBroker !== undefined) {
      const handlers = agentService({
        agentEvents,
        streams: agentStreams,
        access,
        identify,
        heartbeatSeconds,
        onSubscribed(consumer) {
          counted.subscribers('agent', agentStreams.size());
          void dispatcher.catchUp(consumer);
        },
        logger,
      });
      const listener = await parts.part(
        'gRPC broker',
        () => listenGrpc({ host, port: grpcBroker.port, ...tls, handlers, logger }),
        (it, graceOver) => {
          agentStreams.end('the server is stopping');
          return it.stop(graceOver);
        },
      );
      parts.address('grpcBroker', listener.url);
    }

    // In from sources.
    const handlers = sourceService({
      bundles,
      broadcaster,
      streams: sourceStreams,
      access,
      identify,
      heartbeatSeconds,
      logger,
      onCall(call) {
        counted.published(call);
        counted.subscribers('source', sourceStreams.size());
      },
    });
    const grpc = await parts.part(
      'gRPC',
      () => listenGrpc({ host, port: config.grpc.port, ...tls, handlers, logger }),
      (it, graceOver) => {
        sourceStreams.end('the server is stopping');
        return it.stop(graceOver);
      },
    );
    parts.address('grpc', grpc.url);

    const app = createRest({
      documents,
      consumers,
      bundles,
      access,
      openApi,
      metrics,
      logger,
      ...(bearer === undefined ? {} : { bearer }),
    });
    await parts.part(
      'app',
      () => app,
      (it) => it.close(),
    );
    const { tls: files, plain } = config;
    if (files !== undefined) {
      const { certificate, key, clientAuthorities: authorities } = files;
      const clients =
        authorities === undefined ? {} : { clients: { authorities, unauthenticated: 'anonymous' } as const };
      const rest = await parts.part(
        'REST',
        () => listen(app, { host, port: config.rest.port, certificate, key, ...clients, logger }),
        (it, graceOver) => it.stop(graceOver),
      );
      parts.address('rest', rest.url);
    }
    if (plain !== undefined) {
      const { port, hostNames = [] } = plain;
      const listener = await parts.part(
        'plain REST',
        () => listenPlain(app, { port, hostNames, logger }),
        (it, graceOver) => it.stop(graceOver),
      );
      parts.address('plain', listener.url);
    }

    const metricsListener = await parts.part(
      'metrics',
      () => listenHealth({ host, port: config.metrics.port, readiness: parts.readiness, metrics, logger }),
      (it, graceOver) => it.stop(graceOver),
    );
    parts.address('metrics', metricsListener.url);
    const health = await parts.part(
      'health',
      () => listenHealthCheck({ host, port: config.health.port, readiness: parts.readiness, logger }),
      (it, graceOver) => it.stop(graceOver),
    );
    parts.address('health', health.url);
  });
}

function topicsOf({ mqtt, sourceId }: MaestroServerConfig): Topics {
  const topics = mqtt?.topics ?? defaultTopics(sourceId);
  const problems = topicProblems(topics, sourceId);
  if (problems.length > 0) throw new Error(`the topics cannot be used: ${problems.join('; ')}`);
  return topics;
}

function brokerLogin({
  username,
  password,
  caFile,
  clientCertFile,
  clientKeyFile,
}: NonNullable<MaestroServerConfig['mqtt']>) {
  const files = {
    ...(caFile === undefined ? {} : { authorities: caFile }),
    ...(clientCertFile === undefined ? {} : { certificate: clientCertFile }),
    ...(clientKeyFile === undefined ? {} : { key: clientKeyFile }),
  };
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(Object.keys(files).length === 0 ? {} : { tls: files }),
  };
}
