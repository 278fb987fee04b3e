import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Metadata, Server, ServerCredentials, type ServerWritableStream, status } from '@grpc/grpc-js';
import { createLogger } from '../../kit/log.ts';
import { Secret } from '../../kit/secret.ts';
import { testCertificates } from '../../kit/testing/certificates.ts';
import type { CloudEvent } from './cloud-event.ts';
import type { GrpcCredentials } from './grpc-connection.ts';
import {
  type CloudEventHandlers,
  cloudEventService,
  type SubscriptionRequest,
  subscriptionIdHeader,
} from './grpc-service.ts';
import { maxManifestBytes } from './limits.ts';
import type { Message, StatusMessage } from './messages.ts';
import { PublishError } from './publish-error.ts';
import { readMessage } from './read-message.ts';
import { accepted, type Decoded, ProtocolError } from './refusal.ts';
import { type SourceClient, type SourceClientOptions, startSourceClient } from './source-client.ts';
import { writeMessage } from './write-message.ts';

type Subscription = ServerWritableStream<Decoded<SubscriptionRequest>, CloudEvent>;
type Answer = { readonly code: number; readonly details: string } | undefined;

/** A list that can be waited on. */
function arrivals<T>(): { push(item: T): void; next(): Promise<T> } {
  const items: T[] = [];
  const waiting: ((item: T) => void)[] = [];
  return {
    push(item) {
      const first = waiting.shift();
      if (first) first(item);
      else items.push(item);
    },
    next() {
      const [item] = items.splice(0, 1);
      return item === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(item);
    },
  };
}

interface TestServer {
  readonly address: string;
  readonly published: ReturnType<typeof arrivals<Message>>;
  readonly subscriptions: ReturnType<typeof arrivals<Subscription>>;
  readonly tokens: string[];
  /** What publishes other than resyncs are answered. */
  answer: Answer;
  /** Headers of the next subscriptions. */
  withoutId: number;
  close(): void;
}

async function serve(t: TestContext, credentials = ServerCredentials.createInsecure(), port = 0): Promise<TestServer> {
  const server = new Server();
  const state: TestServer = {
    address: '',
    published: arrivals<Message>(),
    subscriptions: arrivals<Subscription>(),
    tokens: [],
    answer: undefined,
    withoutId: 0,
    close: () => server.forceShutdown(),
  };
  const handlers: CloudEventHandlers = {
    publish(call, callback) {
      state.tokens.push(String(call.metadata.get('authorization')[0] ?? ''));
      const message = accepted(readMessage(accepted(call.request)));
      state.published.push(message);
      if (message.kind === 'spec' && state.answer !== undefined) callback(state.answer);
      else callback(null, {});
    },
    subscribe(call) {
      call.on('error', () => {});
      const headers = new Metadata();
      if (state.withoutId > 0) state.withoutId--;
      else headers.set(subscriptionIdHeader, randomUUID());
      call.sendMetadata(headers);
      state.subscriptions.push(call);
    },
  };
  server.addService(cloudEventService, handlers);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`localhost:${port}`, credentials, (error, at) => (error ? reject(error) : resolve(at)));
  });
  t.after(() => server.forceShutdown());
  return Object.assign(state, { address: `localhost:${bound}` });
}

interface TestClient {
  readonly client: SourceClient;
  readonly statuses: ReturnType<typeof arrivals<StatusMessage>>;
}

function connect(t: TestContext, address: string, options: Partial<SourceClientOptions> = {}): TestClient {
  const statuses = arrivals<StatusMessage>();
  const client = startSourceClient({
    address,
    sourceId: 'clusters-service',
    credentials: () => ({ plaintext: true }),
    logger: createLogger({ service: 'test', level: 'silent' }),
    onStatus: (message) => statuses.push(message),
    knownStatuses: () => [],
    backoffMs: { base: 1, max: 20 },
    ...options,
  });
  t.after(() => client.stop());
  return { client, statuses };
}

const target = { consumer: 'cluster1', resourceId: '55c61e54-a3f6-563d-9fec-b1fe297bdfdb' };
const bundle = { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } }] };

function statusOf(version: number): CloudEvent {
  return writeMessage({
    kind: 'status',
    action: 'update_request',
    id: randomUUID(),
    source: 'cluster1-work-agent',
    clusterName: 'cluster1',
    originalSource: 'maestro',
    resourceId: target.resourceId,
    resourceVersion: version,
    sequenceId: '2000808179721572352',
    statusHash: 'abc',
    status: { conditions: [], resourceStatus: [], manifestBundle: bundle },
  });
}

describe('the source client', () => {
  test('sends a bundle, its update and its deletion', async (t) => {
    const server = await serve(t);
    const { client } = connect(t, server.address);
    await client.ready;
    assert.equal((await server.published.next()).kind, 'status-resync');

    await client.create({ ...target, bundle, metadata: { name: 'work', labels: { 'api.openshift.com/id': 'x' } } });
    const { id: _, time, ...created } = (await server.published.next()) as Message & { time?: string };
    assert.ok(time);
    assert.deepEqual(created, {
      kind: 'spec',
      action: 'create_request',
      source: 'clusters-service',
      clusterName: 'cluster1',
      originalSource: '',
      resourceId: target.resourceId,
      resourceVersion: 0,
      metadata: { name: 'work', labels: { 'api.openshift.com/id': 'x' } },
      bundle,
    });

    await client.update({ ...target, version: 3, bundle });
    const updated = await server.published.next();
    assert.ok(updated.kind === 'spec' && updated.action === 'update_request' && updated.resourceVersion === 3);

    await client.delete(target);
    const deleted = await server.published.next();
    assert.ok(deleted.kind === 'spec' && deleted.action === 'delete_request' && deleted.deletionTimestamp);
  });

  test('refuses a bundle that agents would drop, before it is sent', async (t) => {
    const server = await serve(t);
    const { client } = connect(t, server.address);
    const large = { manifests: [{ data: 'x'.repeat(maxManifestBytes) }] };
    await assert.rejects(
      client.create({ ...target, bundle: large }),
      (error) => error instanceof ProtocolError && error.code === 'too-large',
    );
    await assert.rejects(client.update({ ...target, bundle: { manifests: [] } }), ProtocolError);
  });

  for (const { answer, failure } of [
    { answer: { code: status.UNKNOWN, details: 'failed to create resource: maestro-6: exists' }, failure: 'conflict' },
    {
      answer: { code: status.UNKNOWN, details: 'failed to update resource: maestro-7: not found' },
      failure: 'not-found',
    },
    { answer: { code: status.UNKNOWN, details: 'something else' }, failure: 'failed' },
    { answer: { code: status.INVALID_ARGUMENT, details: 'no' }, failure: 'invalid' },
    { answer: { code: status.PERMISSION_DENIED, details: 'no' }, failure: 'forbidden' },
    { answer: { code: status.UNAVAILABLE, details: 'no' }, failure: 'unavailable' },
  ] as const) {
    test(`calls ${status[answer.code]} '${answer.details}' ${failure}`, async (t) => {
      const server = await serve(t);
      server.answer = answer;
      const { client } = connect(t, server.address);
      await assert.rejects(
        client.create({ ...target, bundle }),
        (error) => error instanceof PublishError && error.failure === failure,
      );
    });
  }

  test('asks for what it missed after subscribing, in requests of a thousand, then takes statuses', async (t) => {
    const server = await serve(t);
    const known = Array.from({ length: 2500 }, (_, index) => ({ resourceID: `id-${index}`, statusHash: '' }));
    const { statuses } = connect(t, server.address, { knownStatuses: () => known });
    const subscription = await server.subscriptions.next();
    assert.equal(accepted(subscription.request).source, 'clusters-service');
    const sizes: number[] = [];
    for (let count = 0; count < 3; count++) {
      const message = await server.published.next();
      sizes.push(message.kind === 'status-resync' ? message.statusHashes.length : -1);
    }
    assert.deepEqual(sizes, [1000, 1000, 500]);
    subscription.write(statusOf(2));
    const taken = await statuses.next();
    assert.equal(taken.resourceVersion, 2);
    assert.deepEqual(taken.status.manifestBundle, bundle);
  });

  test('passes over what it cannot read and goes on', async (t) => {
    const server = await serve(t);
    const { statuses } = connect(t, server.address);
    const subscription = await server.subscriptions.next();
    subscription.write({ id: 'x', source: 's', type: 'something.else', extensions: {} });
    subscription.write(statusOf(7));
    assert.equal((await statuses.next()).resourceVersion, 7);
  });

  test('subscribes and asks again when the server was restarted', async (t) => {
    const first = await serve(t);
    const { client, statuses } = connect(t, first.address);
    await client.ready;
    first.close();
    const second = await serve(t, undefined, Number(first.address.split(':')[1]));
    const subscription = await second.subscriptions.next();
    assert.equal((await second.published.next()).kind, 'status-resync');
    subscription.write(statusOf(1));
    assert.equal((await statuses.next()).resourceVersion, 1);
  });

  test('subscribes again when the stream ends, when the server is silent, and when it gives no subscription id', async (t) => {
    const server = await serve(t);
    server.withoutId = 1;
    connect(t, server.address, { silenceSeconds: 0.2 });
    const nameless = await server.subscriptions.next();
    await once(nameless, 'cancelled');
    const ended = await server.subscriptions.next();
    ended.end();
    const silent = await server.subscriptions.next();
    await once(silent, 'cancelled');
    await server.subscriptions.next();
  });

  test('does not take the time that a status needs for silence of the server', async (t) => {
    const server = await serve(t);
    const silenceMs = 150;
    const taken = arrivals<number>();
    connect(t, server.address, {
      silenceSeconds: silenceMs / 1000,
      async onStatus({ resourceVersion }) {
        taken.push(resourceVersion);
        await sleep(2 * silenceMs);
      },
    });
    for (let subscription = 1; subscription <= 2; subscription++) {
      const stream = await server.subscriptions.next();
      stream.write(statusOf(10 * subscription));
      stream.write(statusOf(10 * subscription + 1));
      // The second comes on the stream that the first came on, though silence would have ended it by then.
      const first = await taken.next();
      assert.equal(await taken.next(), first + 1);
    }
  });

  test('gets a status again that could not be taken', async (t) => {
    const server = await serve(t);
    let failures = 0;
    const taken = arrivals<StatusMessage>();
    connect(t, server.address, {
      onStatus(message) {
        if (failures++ === 0) throw new Error('the database is away');
        taken.push(message);
      },
    });
    (await server.subscriptions.next()).write(statusOf(4));
    (await server.subscriptions.next()).write(statusOf(4));
    assert.equal((await taken.next()).resourceVersion, 4);
  });

  test('shows its certificate and its token, and takes new credentials to connect again', async (t) => {
    const certificates = await testCertificates(t);
    const server = await serve(
      t,
      ServerCredentials.createSsl(
        Buffer.from(certificates.ca),
        [
          {
            cert_chain: readFileSync(certificates.server.certificate),
            private_key: readFileSync(certificates.server.key),
          },
        ],
        true,
      ),
    );
    const names: string[] = [];
    const { client } = connect(t, server.address, {
      async credentials(): Promise<GrpcCredentials> {
        const name = `clusters-service-${names.length}`;
        names.push(name);
        const { cert, key } = await certificates.client({ commonName: name });
        const token = (): Secret => new Secret(`token-${name}`);
        return { authorities: certificates.ca, certificate: cert, key: new Secret(key), token };
      },
    });
    await client.ready;
    const first = await server.subscriptions.next();
    assert.equal(first.getAuthContext().sslPeerCertificate?.subject.CN, 'clusters-service-0');
    client.reconnect();
    const second = await server.subscriptions.next();
    assert.equal(second.getAuthContext().sslPeerCertificate?.subject.CN, 'clusters-service-1');
    await server.published.next();
    await server.published.next();
    assert.deepEqual(server.tokens, ['Bearer token-clusters-service-0', 'Bearer token-clusters-service-1']);
  });

  test('says that it was stopped before there was a server', async (t) => {
    const { client } = connect(t, 'localhost:1');
    await assert.rejects(client.create({ ...target, bundle }), PublishError);
    const rejected = assert.rejects(client.ready, /stopped/);
    await client.stop();
    await rejected;
    assert.equal(client.subscribed(), false);
  });
});
