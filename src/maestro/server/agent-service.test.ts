import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { CloudEvent } from '../protocol/cloud-event.ts';
import { manifestBundles } from '../protocol/event-type.ts';
import { type GrpcConnection, openGrpcConnection } from '../protocol/grpc-connection.ts';
import { saysDeleted } from '../protocol/manifest-bundle.ts';
import type { Message, SpecMessage } from '../protocol/messages.ts';
import { readMessage } from '../protocol/read-message.ts';
import { accepted, type Decoded } from '../protocol/refusal.ts';
import { createSequence } from '../protocol/sequence-id.ts';
import { writeMessage } from '../protocol/write-message.ts';
import { type Arrivals, arrivals } from './testing/arrivals.ts';
import { condition, configMaps, databases, specResync, testServer, testSource } from './testing/world.ts';

interface GrpcAgent {
  readonly connection: GrpcConnection;
  readonly got: Arrivals<Message>;
  cancel(): void;
}

async function grpcAgent(t: TestContext, address: string, clusterName: string): Promise<GrpcAgent> {
  const connection = openGrpcConnection({ address, credentials: { plaintext: true } });
  t.after(() => connection.close());
  const got = arrivals<Message>();
  const stream = await connection.subscribe({ source: '', clusterName, dataType: manifestBundles });
  stream.on('error', () => {});
  stream.on('data', (event: Decoded<CloudEvent>) => got.push(accepted(readMessage(accepted(event)))));
  await new Promise((resolve) => stream.once('metadata', resolve));
  return { connection, got, cancel: () => stream.cancel() };
}

const isSpec = (message: Message): message is SpecMessage => message.kind === 'spec';

test('an agent without a broker gets its bundles, reports them and asks for what it lacks', async (t) => {
  const server = await testServer(t, await databases.SQLite(t), { heartbeat: 0.05 });
  await server.register('cluster1');
  const source = testSource(t, server.grpc);
  await source.ready;
  const [before, after] = [randomUUID(), randomUUID()];
  await source.create({ consumer: 'cluster1', resourceId: before, bundle: configMaps('a') });
  const agent = await grpcAgent(t, server.grpcBroker, 'cluster1');
  const other = await grpcAgent(t, server.grpcBroker, 'cluster2');
  await source.create({ consumer: 'cluster1', resourceId: after, bundle: configMaps('a') });
  const specs = [(await agent.got.next(isSpec)) as SpecMessage, (await agent.got.next(isSpec)) as SpecMessage];
  assert.deepEqual(new Set(specs.map(({ resourceId }) => resourceId)), new Set([before, after]));
  assert.equal((await agent.got.next(({ kind }) => kind === 'heartbeat')).kind, 'heartbeat');

  const sequence = createSequence();
  const report = (resourceId: string, type: string) =>
    agent.connection.publish(
      writeMessage({
        kind: 'status',
        action: 'update_request',
        id: randomUUID(),
        source: 'cluster1-work-agent',
        clusterName: 'cluster1',
        originalSource: 'maestro',
        resourceId,
        resourceVersion: 1,
        sequenceId: sequence.next(),
        statusHash: '',
        status: { conditions: [condition(type)], resourceStatus: [] },
      }),
    );
  await report(before, 'Applied');
  assert.equal((await source.statuses.next()).resourceId, before);

  await agent.connection.publish(writeMessage(specResync('cluster1', [{ resourceID: before, resourceVersion: 1 }])));
  const answer = (await agent.got.next(isSpec)) as SpecMessage;
  assert.deepEqual([answer.action, answer.resourceId], ['resync_response', after]);

  await source.delete({ consumer: 'cluster1', resourceId: before });
  const deletion = (await agent.got.next(isSpec)) as SpecMessage;
  assert.ok(deletion.deletionTimestamp);
  await report(before, 'Deleted');
  assert.ok(saysDeleted((await source.statuses.next(({ resourceId }) => resourceId === before)).status));
  assert.deepEqual(other.got.items.filter(isSpec), []);
});
