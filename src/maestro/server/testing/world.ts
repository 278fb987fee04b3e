// A Maestro server for tests, on either database, with a broker, agents that do as they are told, and sources.
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Aedes } from 'aedes';
import { connectAsync } from 'mqtt';
import { Client } from 'pg';
import { createLogger } from '../../../kit/log.ts';
import { Secret } from '../../../kit/secret.ts';
import type { Running } from '../../../kit/service.ts';
import { postgresForTests, testSchema } from '../../../store/testing/postgres-server.ts';
import type { ManifestBundle, ManifestBundleStatus } from '../../protocol/manifest-bundle.ts';
import type { Message, SpecMessage, StatusMessage } from '../../protocol/messages.ts';
import { decodeMqtt, encodeMqtt } from '../../protocol/mqtt-codec.ts';
import { readMessage } from '../../protocol/read-message.ts';
import { accepted } from '../../protocol/refusal.ts';
import { createSequence } from '../../protocol/sequence-id.ts';
import { type SourceClient, type SourceClientOptions, startSourceClient } from '../../protocol/source-client.ts';
import { statusHash } from '../../protocol/status-hash.ts';
import { agentEventsTopic, agentSubscriptions, defaultTopics } from '../../protocol/topics.ts';
import { writeMessage } from '../../protocol/write-message.ts';
import type { MaestroServerConfig } from '../config.ts';
import { start } from '../main.ts';
import { type Arrivals, arrivals } from './arrivals.ts';

export const silent = createLogger({ service: 'test', level: 'silent' });

export type StoreConfig = MaestroServerConfig['store'];

const sealingKey = new Secret(randomBytes(32).toString('base64'));

/** Where a test's server keeps things: a database that is gone after the test. */
export const databases: Readonly<Record<'SQLite' | 'PostgreSQL', (t: TestContext) => Promise<StoreConfig>>> = {
  async SQLite(t) {
    const directory = await mkdtemp(join(tmpdir(), 'aro-maestro-'));
    t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
    return { file: join(directory, 'maestro.db'), schema: 'unused', sealingKey };
  },
  async PostgreSQL(t) {
    const { url } = await postgresForTests();
    const schema = testSchema();
    t.after(async () => {
      const client = new Client(url);
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await client.end();
    });
    return { postgres: new Secret(url), schema, sealingKey };
  },
};

export interface TestBroker {
  readonly host: string;
  /** Cuts every connection and takes none until it is up again; sessions are kept. */
  down(): Promise<void>;
  up(): Promise<void>;
}

export async function testBroker(t: TestContext): Promise<TestBroker> {
  const broker = await Aedes.createBroker({ queueLimit: 100_000 });
  const sockets = new Set<Socket>();
  const handle = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    broker.handle(socket);
  };
  let server = createServer(handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const down = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  t.after(async () => {
    await down();
    await new Promise<void>((resolve) => broker.close(() => resolve()));
  });
  return {
    host: `127.0.0.1:${port}`,
    down,
    async up() {
      server = createServer(handle);
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}

export interface TestServer extends Running {
  /** Of REST, on the plain listener. */
  readonly url: string;
  /** `host:port` of the gRPC listener for sources. */
  readonly grpc: string;
  readonly grpcBroker: string;
  rest(path: string, init?: RequestInit): Promise<{ readonly status: number; readonly body: RestBody }>;
  register(consumer: string, labels?: Record<string, string>): Promise<string>;
}

export type RestBody = Readonly<Record<string, unknown>>;

export async function testServer(
  t: TestContext,
  store: StoreConfig,
  more: Partial<MaestroServerConfig> = {},
): Promise<TestServer> {
  const running = await start(
    {
      sourceId: 'maestro',
      instance: `maestro-${randomUUID()}`,
      store,
      host: '127.0.0.1',
      rest: { port: 0 },
      plain: { port: 0 },
      grpc: { port: 0 },
      grpcBroker: { port: 0 },
      rules: [],
      metrics: { port: 0 },
      health: { port: 0 },
      heartbeat: 10,
      lease: 30,
      undelivered: 0,
      staleDelete: 3600,
      ...more,
    },
    { logger: silent, graceSeconds: 5 },
  );
  t.after(() => running.stop());
  const url = `${running.addresses.plain}/api/maestro/v1`;
  const rest: TestServer['rest'] = async (path, init) => {
    const answer = await fetch(`${url}${path}`, init);
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
  };
  return {
    ...running,
    url,
    grpc: new URL(running.addresses.grpc ?? '').host,
    grpcBroker: new URL(running.addresses.grpcBroker ?? 'grpc://none').host,
    rest,
    async register(name, labels = {}) {
      const { body } = await rest('/consumers', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name, labels }),
      });
      return String(body.id);
    },
  };
}

export function mqttConfig(broker: TestBroker): Partial<MaestroServerConfig> {
  return { mqtt: { brokerHost: broker.host, keepAlive: 60, session: 3600 } };
}

export interface TestSource extends SourceClient {
  readonly statuses: Arrivals<StatusMessage>;
}

export function testSource(t: TestContext, address: string, more: Partial<SourceClientOptions> = {}): TestSource {
  const statuses = arrivals<StatusMessage>();
  const client = startSourceClient({
    address,
    sourceId: 'clusters-service',
    credentials: () => ({ plaintext: true }),
    logger: silent,
    onStatus: (message) => statuses.push(message),
    knownStatuses: () => [],
    backoffMs: { base: 50, max: 200 },
    ...more,
  });
  t.after(() => client.stop());
  return { ...client, statuses };
}

/** An agent on the broker that only does what a test tells it. */
export interface TestAgent {
  readonly specs: Arrivals<SpecMessage>;
  readonly others: Arrivals<Message>;
  /** Says how a bundle is, about the version that it got, unless told otherwise. */
  report(spec: SpecMessage, status?: Partial<ManifestBundleStatus>, more?: Partial<StatusMessage>): Promise<void>;
  /** Says that a bundle is gone. */
  reportDeleted(spec: SpecMessage): Promise<void>;
  say(message: Message, topicOf?: string): Promise<void>;
  stop(): Promise<void>;
}

export async function testAgent(t: TestContext, broker: TestBroker, consumer: string): Promise<TestAgent> {
  const topics = defaultTopics();
  const client = await connectAsync(`mqtt://${broker.host}`, {
    protocolVersion: 5,
    clientId: `${consumer}-agent-${randomUUID()}`,
    reconnectPeriod: 50,
  });
  const specs = arrivals<SpecMessage>();
  const others = arrivals<Message>();
  const sequence = createSequence();
  client.on('message', (_topic, payload, packet) => {
    const { userProperties, contentType } = packet.properties ?? {};
    const message = accepted(
      readMessage(
        accepted(
          decodeMqtt({
            payload,
            properties: {
              ...(contentType === undefined ? {} : { contentType }),
              ...(userProperties === undefined ? {} : { userProperties }),
            },
          }),
        ),
      ),
    );
    if (message.kind === 'spec') specs.push(message);
    else others.push(message);
  });
  await client.subscribeAsync([...agentSubscriptions(topics, consumer)], { qos: 1 });
  const stop = async (): Promise<void> => client.endAsync(true);
  t.after(stop);

  async function say(message: Message, topicOf = consumer): Promise<void> {
    const { payload, properties } = encodeMqtt(writeMessage(message));
    await client.publishAsync(agentEventsTopic(topics, topicOf), payload, { qos: 1, properties });
  }

  async function report(
    spec: SpecMessage,
    status: Partial<ManifestBundleStatus> = {},
    more: Partial<StatusMessage> = {},
  ): Promise<void> {
    const whole: ManifestBundleStatus = { conditions: [condition('Applied')], resourceStatus: [], ...status };
    await say({
      kind: 'status',
      action: 'update_request',
      id: randomUUID(),
      source: `${consumer}-work-agent`,
      time: new Date().toISOString(),
      clusterName: consumer,
      originalSource: 'maestro',
      resourceId: spec.resourceId,
      resourceVersion: spec.resourceVersion,
      sequenceId: sequence.next(),
      statusHash: statusHash(whole),
      status: whole,
      ...more,
    });
  }

  return {
    specs,
    others,
    say,
    report,
    reportDeleted: (spec) => report(spec, { conditions: [condition('Deleted', 'ManifestsDeleted')] }),
    stop,
  };
}

export function condition(
  type: string,
  reason = 'AppliedManifestWorkComplete',
): ManifestBundleStatus['conditions'][number] {
  return { type, status: 'True', lastTransitionTime: '2026-01-16T06:00:17Z', reason, message: '' };
}

export function configMaps(...names: readonly string[]): ManifestBundle {
  return {
    manifests: names.map((name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default' },
      data: { greeting: 'hello' },
    })),
  };
}

export function specResync(
  consumer: string,
  resourceVersions: readonly { readonly resourceID: string; readonly resourceVersion: number }[],
): Message {
  return {
    kind: 'spec-resync',
    id: randomUUID(),
    source: `${consumer}-work-agent`,
    time: new Date().toISOString(),
    clusterName: consumer,
    originalSource: '',
    resourceVersions,
  };
}
