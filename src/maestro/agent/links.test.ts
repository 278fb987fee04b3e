import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { connectAsync } from 'mqtt';
import { testCertificates } from '../../kit/testing/certificates.ts';
import { embeddedServer } from '../../kube/testing/embedded-server.ts';
import { start as startBroker } from '../../local/broker/main.ts';
import { issueClientCertificate } from '../../pki/authority.ts';
import { writeCertificate } from '../../pki/files.ts';
import type { Message } from '../protocol/messages.ts';
import { decodeMqtt, encodeMqtt } from '../protocol/mqtt-codec.ts';
import { readMessage } from '../protocol/read-message.ts';
import { defaultTopics } from '../protocol/topics.ts';
import { writeMessage } from '../protocol/write-message.ts';
import { certificatesFromFiles } from './certificates.ts';
import { startMqttLink } from './mqtt-link.ts';
import { openAgentState } from './state.ts';
import { silent, spec } from './testing/bench.ts';

const topicOf = (direction: 'sourceevents' | 'agentevents') => `sources/maestro/consumers/cluster1/${direction}`;

/** A broker with TLS on which the agent of cluster1 and a server are known, and the server's own connection. */
async function secureBroker(t: TestContext) {
  const certificates = await testCertificates(t);
  const broker = await startBroker({
    logger: silent,
    graceSeconds: 5,
    tls: { ...certificates.server, clientAuthorities: certificates.caFile },
    access: {
      clients: [
        { authenticationName: 'agent', authentication: { certificate: 'commonName' }, groups: ['agents'] },
        { authenticationName: 'server', authentication: { certificate: 'commonName' }, groups: ['servers'] },
      ],
      topicSpaces: [
        { name: 'in', topicTemplates: [topicOf('agentevents')] },
        { name: 'out', topicTemplates: [topicOf('sourceevents')] },
      ],
      permissionBindings: [
        { clientGroup: 'agents', topicSpace: 'in', permission: 'Publisher' },
        { clientGroup: 'agents', topicSpace: 'out', permission: 'Subscriber' },
        { clientGroup: 'servers', topicSpace: 'in', permission: 'Subscriber' },
        { clientGroup: 'servers', topicSpace: 'out', permission: 'Publisher' },
      ],
    },
  });
  t.after(() => broker.stop());
  const server = await connectAsync(broker.addresses.mqtt ?? '', {
    ...(await certificates.client({ commonName: 'server' })),
    ca: certificates.ca,
    protocolVersion: 5,
  });
  t.after(() => server.endAsync(true));
  return { certificates, broker, server };
}

test('over TLS: messages both ways, and a new connection when the certificate has changed', async (t) => {
  const { certificates, broker, server } = await secureBroker(t);
  const files = await certificates.clientFiles({ commonName: 'agent' });
  const received: Message[] = [];
  const refused: string[] = [];
  let connections = 0;
  let wake = (): void => {};
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const link = startMqttLink({
    brokerHost: broker.brokerHost,
    clientId: 'agent-client',
    consumer: 'cluster1',
    topics: defaultTopics(),
    keepAliveSeconds: 60,
    logger: silent,
    certificates: await certificatesFromFiles({ authorities: certificates.caFile, ...files }, silent),
    onConnected() {
      connections++;
      wake();
    },
    onMessage(message) {
      received.push(message);
      wake();
    },
    onRefused(code) {
      refused.push(code);
      wake();
    },
  });
  t.after(() => link.stop());
  await until(() => connections === 1);

  const publish = async (message: Message): Promise<void> => {
    const { payload, properties } = encodeMqtt(writeMessage(message));
    await server.publishAsync(topicOf('sourceevents'), payload, { qos: 1, properties });
  };
  await publish(spec('one', 1));
  await until(() => received.length === 1);

  for (const payload of ['', '{', 'x'.repeat(1000)]) {
    await server.publishAsync(topicOf('sourceevents'), payload, { qos: 1 });
  }
  await until(() => refused.length === 3);
  assert.deepEqual(refused, ['unknown-encoding', 'unknown-encoding', 'unknown-encoding']);

  const arrived = new Promise<Message>((resolve) => {
    server.on('message', (_topic, payload, { properties = {} }) => {
      const event = decodeMqtt({ payload, properties: properties as object });
      const message = event.ok ? readMessage(event.value) : event;
      if (message.ok) resolve(message.value);
    });
  });
  await server.subscribeAsync(topicOf('agentevents'), { qos: 1 });
  const envelope = { id: randomUUID(), source: 'agent', clusterName: 'cluster1', originalSource: '' };
  await link.send({ kind: 'spec-resync', ...envelope, resourceVersions: [] });
  assert.equal((await arrived).kind, 'spec-resync');

  await writeCertificate(files, await issueClientCertificate(certificates.authority, { commonName: 'agent' }));
  await until(() => connections === 2);
  await publish(spec('one', 2));
  await until(() => received.length === 2);
  assert.ok(link.connected());
});

test('without a connection nothing is sent, and nothing waits', async (t) => {
  const link = startMqttLink({
    brokerHost: '127.0.0.1:1',
    clientId: 'agent-client',
    consumer: 'cluster1',
    topics: defaultTopics(),
    keepAliveSeconds: 60,
    logger: silent,
    onConnected: () => {},
    onMessage: () => {},
    onRefused: () => {},
  });
  t.after(() => link.stop());
  const envelope = { id: '1', source: 'agent', clusterName: 'cluster1', originalSource: '' };
  await assert.rejects(link.send({ kind: 'spec-resync', ...envelope, resourceVersions: [] }), /no connection/);
});

test('a certificate without its key is refused', async () => {
  await assert.rejects(certificatesFromFiles({ certificate: import.meta.filename }, silent), /needs its key/);
});

test('an agent whose clock was set back goes on with greater sequence ids, and knows what is over', async (t) => {
  const kube = await embeddedServer(t);
  const options = { client: kube.client(), namespace: 'default', consumer: 'cluster1', logger: silent };
  const first = await openAgentState(options);
  const before = first.sequence.next();
  await first.addExpired('job', 3, new AbortController().signal);
  await first.stop();
  const second = await openAgentState({ ...options, now: () => Date.now() - 3_600_000 });
  t.after(() => second.stop());
  assert.ok(BigInt(second.sequence.next()) > BigInt(before));
  assert.ok(second.isExpired('job', 3));
  assert.ok(!second.isExpired('job', 4));
  second.forgetExpired('job');
  assert.ok(!second.isExpired('job', 3));
});
