import assert from 'node:assert/strict';
import { type EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import { createLogger } from '../../kit/log.ts';
import { Secret } from '../../kit/secret.ts';
import { testCertificates } from '../../kit/testing/certificates.ts';
import { type BrokerConfig, type RunningBroker, start } from './main.ts';
import { type BrokerAccess, clientsOwn } from './permissions.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

const access: BrokerAccess = {
  clients: ['one', 'two'].map((authenticationName) => ({
    authenticationName,
    authentication: { password: new Secret(`${authenticationName}-word`) },
  })),
  topicSpaces: [
    { name: 'own', topicTemplates: [`own/${clientsOwn('authenticationName')}/#`] },
    { name: 'shared', topicTemplates: ['shared/#'] },
  ],
  permissionBindings: [
    { clientGroup: '$all', topicSpace: 'own', permission: 'Publisher' },
    { clientGroup: '$all', topicSpace: 'own', permission: 'Subscriber' },
    { clientGroup: '$all', topicSpace: 'shared', permission: 'Publisher' },
    { clientGroup: '$all', topicSpace: 'shared', permission: 'Subscriber' },
  ],
};

async function broker(t: TestContext, config: Partial<BrokerConfig> = {}): Promise<RunningBroker> {
  const running = await start({ logger, access, graceSeconds: 5, ...config });
  t.after(() => running.stop());
  return running;
}

/** Connected as `one` or `two`; without connecting again by itself. */
async function connected(
  t: TestContext,
  to: RunningBroker,
  name: string,
  options: IClientOptions = {},
): Promise<MqttClient> {
  const client = await connectAsync(
    to.addresses.mqtt ?? '',
    {
      protocolVersion: 5,
      username: name,
      password: `${name}-word`,
      reconnectPeriod: 0,
      clientId: `${name}-client`,
      ...options,
    },
    false,
  );
  client.on('error', () => {});
  t.after(() => client.endAsync(true));
  return client;
}

/** The client's own types of events do not fit Node's `once`. */
const next = (client: MqttClient, event: string) => once(client as unknown as EventEmitter, event);

const lasting: IClientOptions = { clean: false, properties: { sessionExpiryInterval: 600 } };

test('messages reach subscribers with their properties', async (t) => {
  const running = await broker(t);
  const [one, two] = [await connected(t, running, 'one'), await connected(t, running, 'two')];
  await two.subscribeAsync('shared/+', { qos: 1 });
  const came = next(two, 'message');
  const properties = { contentType: 'application/json', userProperties: { 'ce-id': '1' } };
  await one.publishAsync('shared/a', '{}', { qos: 1, properties });
  const [topic, payload, packet] = await came;
  assert.deepEqual([topic, String(payload)], ['shared/a', '{}']);
  assert.equal(packet.properties.contentType, 'application/json');
  assert.deepEqual({ ...packet.properties.userProperties }, { 'ce-id': '1' });
});

test('who is not known is not let in', async (t) => {
  const running = await broker(t);
  await assert.rejects(connected(t, running, 'one', { password: 'wrong' }), /Not authorized/i);
  await assert.rejects(connected(t, running, 'three'), /Not authorized/i);
  await assert.rejects(connected(t, running, 'one', { protocolVersion: 4 }));
  assert.equal(running.connections(), 0);
});

test('what is not granted is refused, and the connection stays', async (t) => {
  const running = await broker(t);
  const one = await connected(t, running, 'one');
  await assert.rejects(one.publishAsync('own/two/a', 'x', { qos: 1 }), /Not authorized/i);
  await assert.rejects(one.publishAsync('shared/a', 'x', { qos: 2 }));
  for (const filter of ['own/two/#', 'own/+/a', '#', '$SYS/#', '$share/g/own/one/a']) {
    await assert.rejects(one.subscribeAsync(filter, { qos: 1 }), filter);
  }
  await one.publishAsync('own/one/a', 'x', { qos: 1 });
  assert.ok(one.connected);
});

test('a subscription that is refused beside one that is granted keeps nothing in the session', async (t) => {
  const running = await broker(t);
  const one = await connected(t, running, 'one', lasting);
  await one.subscribeAsync({ 'own/two/#': { qos: 1 }, 'own/one/#': { qos: 1 } }).catch(() => undefined);
  await one.endAsync();
  const two = await connected(t, running, 'two');
  await two.publishAsync('own/two/secret', 'x', { qos: 1 });
  const seen: string[] = [];
  const again = await connected(t, running, 'one', lasting);
  again.on('message', (topic) => seen.push(topic));
  const came = next(again, 'message');
  await again.publishAsync('own/one/last', 'x', { qos: 1 });
  await came;
  assert.deepEqual(seen, ['own/one/last']);
});

test('a session is kept while its client is away, and is nobody else’s', async (t) => {
  const running = await broker(t);
  const one = await connected(t, running, 'one', lasting);
  await one.subscribeAsync('shared/#', { qos: 1 });
  await one.endAsync();
  const two = await connected(t, running, 'two');
  await two.publishAsync('shared/a', 'kept', { qos: 1 });

  const thief = await connected(t, running, 'two', { ...lasting, clientId: 'one-client' });
  const stolen: string[] = [];
  thief.on('message', (topic) => stolen.push(topic));
  await thief.subscribeAsync('own/two/end', { qos: 1 });
  const end = next(thief, 'message');
  await thief.publishAsync('own/two/end', 'x', { qos: 1 });
  await end;
  assert.deepEqual(stolen, ['own/two/end']);

  assert.equal(await nextMessage(t, running), 'kept');
});

/** What the session of `one` has waiting. The listener is there before the connection is. */
async function nextMessage(t: TestContext, running: RunningBroker): Promise<string> {
  const client = connect(running.addresses.mqtt ?? '', {
    ...lasting,
    protocolVersion: 5,
    username: 'one',
    password: 'one-word',
    reconnectPeriod: 0,
    clientId: 'one-client',
  });
  t.after(() => client.endAsync(true));
  const [, payload] = await next(client, 'message');
  return String(payload);
}

test('new permissions hold at once, also for what waits in sessions', async (t) => {
  const running = await broker(t);
  const one = await connected(t, running, 'one', lasting);
  await one.subscribeAsync({ 'shared/#': { qos: 1 }, 'own/one/#': { qos: 1 } });
  await one.endAsync();
  const two = await connected(t, running, 'two');
  await two.publishAsync('shared/a', 'not any more', { qos: 1 });
  const closed = next(two, 'close');
  running.setAccess({
    ...access,
    permissionBindings: access.permissionBindings.filter(({ topicSpace }) => topicSpace === 'own'),
  });
  await closed;
  const again = await connected(t, running, 'two');
  await assert.rejects(again.publishAsync('shared/a', 'x', { qos: 1 }), /Not authorized/i);
  const payload = nextMessage(t, running);
  const other = await connected(t, running, 'one', { clientId: 'another' });
  await other.publishAsync('own/one/a', 'still', { qos: 1 });
  assert.equal(await payload, 'still');
});

test('sessions outlive an orderly restart', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'aro-broker-'));
  t.after(() => rm(dataDirectory, { recursive: true }));
  const first = await start({ logger, access, graceSeconds: 5, dataDirectory });
  const one = await connected(t, first, 'one', lasting);
  await one.subscribeAsync('shared/#', { qos: 1 });
  await one.endAsync();
  const two = await connected(t, first, 'two');
  await two.publishAsync('shared/a', Buffer.from('kept'), { qos: 1, properties: { contentType: 'text/plain' } });
  await first.stop();

  const second = await broker(t, { dataDirectory });
  assert.equal(await nextMessage(t, second), 'kept');
});

test('a session with too many messages is ended whole', async (t) => {
  const running = await broker(t, { limits: { maxQueuedMessages: 3 } });
  const one = await connected(t, running, 'one', lasting);
  await one.subscribeAsync('shared/#', { qos: 1 });
  await one.endAsync();
  const two = await connected(t, running, 'two');
  for (const name of ['a', 'b', 'c', 'd']) await two.publishAsync(`shared/${name}`, name, { qos: 1 });
  const again = connect(running.addresses.mqtt ?? '', {
    ...lasting,
    protocolVersion: 5,
    username: 'one',
    password: 'one-word',
    clientId: 'one-client',
  });
  t.after(() => again.endAsync(true));
  const [connack] = await next(again, 'connect');
  assert.equal(connack.sessionPresent, false);
});

test('packets that are too large end the connection, not the broker', async (t) => {
  const running = await broker(t, { limits: { maxPacketBytes: 10_000 } });
  const one = await connected(t, running, 'one');
  const closed = next(one, 'close');
  // The client itself keeps to what the broker says; the bytes are sent past it.
  one.stream.write(Buffer.concat([Buffer.from([0x32, 0xff, 0xff, 0x7f]), Buffer.alloc(20_000)]));
  await closed;
  const other = await connected(t, running, 'two');
  await other.publishAsync('shared/a', 'x', { qos: 1 });
});

test('garbage ends a connection, not the broker', async (t) => {
  const running = await broker(t);
  for (const bytes of [
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.alloc(100, 0xff),
    Buffer.from([0x10, 0x02, 0, 4]),
  ]) {
    const socket = connectSocket(Number(running.brokerHost.split(':')[1]), '127.0.0.1');
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    socket.end(bytes);
    await closed;
  }
  await connected(t, running, 'one');
});

test('clients are known by certificates', async (t) => {
  const certificates = await testCertificates(t);
  const running = await broker(t, {
    tls: { ...certificates.server, clientAuthorities: certificates.caFile },
    access: {
      ...access,
      clients: ['one', 'two'].map((authenticationName) => ({
        authenticationName,
        authentication: { certificate: 'commonName' as const },
      })),
    },
  });
  const as = async (commonName: string): Promise<IClientOptions> => ({
    ...(await certificates.client({ commonName })),
    ca: certificates.ca,
    protocolVersion: 5,
    reconnectPeriod: 0,
  });
  const bare = async (options: IClientOptions): Promise<MqttClient> => {
    const client = await connectAsync(running.addresses.mqtt ?? '', options, false);
    client.on('error', () => {});
    t.after(() => client.endAsync(true));
    return client;
  };
  const one = await bare(await as('one'));
  await one.publishAsync('own/one/a', 'x', { qos: 1 });
  await assert.rejects(one.publishAsync('own/two/a', 'x', { qos: 1 }), /Not authorized/i);
  await assert.rejects(bare(await as('three')), /Not authorized/i);
  const { cert: _, key: __, ...without } = await as('one');
  await assert.rejects(bare({ ...without, username: 'one' }), /Not authorized/i);
});

test('without TLS only loopback is bound', async () => {
  await assert.rejects(start({ logger, access, host: '0.0.0.0' }), /loopback/);
});
