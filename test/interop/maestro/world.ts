// A server, an agent and what they stand on, for one row of the matrix; and what a scenario sees of them.
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { connectAsync, type IPublishPacket, type MqttClient } from 'mqtt';
import type { KubeClient } from '../../../src/kube/client.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { resource } from '../../../src/kube/resource.ts';
import type { ManifestBundle } from '../../../src/maestro/protocol/manifest-bundle.ts';
import type { StatusMessage } from '../../../src/maestro/protocol/messages.ts';
import { type SourceClient, startSourceClient } from '../../../src/maestro/protocol/source-client.ts';
import { silent } from './brokers.ts';

export const consumer = 'cluster1';
export const sourceId = 'interop';
export const configMaps = resource<KubeObject & { data?: Record<string, string> }>('v1', 'ConfigMap', 'configmaps');

/** What a row of the matrix provides. */
export interface Peers {
  /** Of the server. */
  readonly rest: string;
  /** `host:port` of the server for sources. */
  readonly grpc: string;
  readonly cluster: KubeClient;
  /** The broker, where there is one, by which messages can be seen and sent again. */
  readonly broker?: string;
  /** Between the agent and the server, or its broker. */
  readonly network: { cut(): void; heal(): void };
  /** Ends the agent and starts it again. */
  restartAgent(): Promise<void>;
}

export interface World extends Peers {
  readonly source: SourceClient;
  /** Settles with the first status of a bundle, from now or the last one, for which this holds. */
  status(id: string, holds: (message: StatusMessage) => boolean): Promise<StatusMessage>;
  get(path: string): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
  /** What is published; undefined without a broker. */
  spy(): Promise<Spy | undefined>;
}

export interface Spy {
  readonly seen: readonly IPublishPacket[];
  /** Settles with the first message, seen already or not, for which this holds. */
  find(holds: (packet: IPublishPacket) => boolean): Promise<IPublishPacket>;
  publishAgain(packet: IPublishPacket): Promise<void>;
}

export async function openWorld(t: TestContext, peers: Peers): Promise<World> {
  const made = await fetch(`${peers.rest}/api/maestro/v1/consumers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: consumer }),
  });
  if (made.status !== 201) throw new Error(`the consumer could not be made: ${made.status} ${await made.text()}`);
  const statuses = watched<string, StatusMessage>();
  const source = startSourceClient({
    address: peers.grpc,
    sourceId,
    credentials: () => ({ plaintext: true }),
    logger: silent,
    onStatus: (message) => statuses.set(message.resourceId, message),
    knownStatuses: () => [],
  });
  t.after(() => source.stop());
  await source.ready;
  return {
    ...peers,
    source,
    status: statuses.get,
    async get(path) {
      const answer = await fetch(`${peers.rest}/api/maestro/v1/${path}`);
      return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
    },
    spy: async () => (peers.broker === undefined ? undefined : openSpy(t, peers.broker)),
  };
}

/** The last value of each key, which can be waited on. */
function watched<K, V>() {
  const values = new Map<K, V>();
  const waiting = new Set<() => void>();
  return {
    set(key: K, value: V) {
      values.set(key, value);
      for (const look of [...waiting]) look();
    },
    get: (key: K, holds: (value: V) => boolean) =>
      new Promise<V>((resolve) => {
        const look = (): void => {
          const value = values.get(key);
          if (value === undefined || !holds(value)) return;
          waiting.delete(look);
          resolve(value);
        };
        waiting.add(look);
        look();
      }),
  };
}

async function openSpy(t: TestContext, broker: string): Promise<Spy> {
  const client: MqttClient = await connectAsync(`mqtt://${broker}`, {
    protocolVersion: 5,
    clientId: `spy-${randomUUID()}`,
    username: 'spy',
    password: 'spy-word',
  });
  t.after(() => client.endAsync(true));
  const seen: IPublishPacket[] = [];
  const waiting = new Set<() => void>();
  client.on('message', (_topic, _payload, packet) => {
    seen.push(packet);
    for (const look of [...waiting]) look();
  });
  await client.subscribeAsync('sources/#', { qos: 1 });
  return {
    seen,
    find: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = seen.find(holds);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    async publishAgain({ topic, payload, properties = {} }) {
      const { contentType, userProperties } = properties;
      await client.publishAsync(topic, payload, {
        qos: 1,
        properties: {
          ...(contentType === undefined ? {} : { contentType }),
          ...(userProperties === undefined ? {} : { userProperties }),
        },
      });
    },
  };
}

export function bundleOf(name: string, data: Record<string, string>): ManifestBundle {
  return {
    manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }],
    manifestConfigs: [
      {
        resourceIdentifier: { group: '', resource: 'configmaps', namespace: 'default', name },
        // What others have set in the object stays.
        updateStrategy: { type: 'ServerSideApply' },
        feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'data', path: '.data' }] }],
      },
    ],
  };
}

export const isApplied =
  (version: number) =>
  ({ resourceVersion, status }: StatusMessage): boolean =>
    resourceVersion === version &&
    status.conditions.some(
      ({ type, status: is, observedGeneration }) =>
        type === 'Applied' && is === 'True' && observedGeneration === version,
    );

export const saysGone = ({ status }: StatusMessage): boolean =>
  status.conditions.some(({ type, status: is }) => type === 'Deleted' && is === 'True');
