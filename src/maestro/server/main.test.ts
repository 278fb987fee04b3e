import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { saysDeleted } from '../protocol/manifest-bundle.ts';
import { PublishError } from '../protocol/publish-error.ts';
import { createSequence } from '../protocol/sequence-id.ts';
import {
  condition,
  configMaps,
  databases,
  mqttConfig,
  specResync,
  testAgent,
  testBroker,
  testServer,
  testSource,
} from './testing/world.ts';

const rejectsWith = (failure: string) => (error: unknown) => error instanceof PublishError && error.failure === failure;

for (const [name, database] of Object.entries(databases)) {
  describe(`a Maestro server on ${name}`, () => {
    test('brings a bundle to its agent and the status back to its source, until it is deleted', async (t) => {
      const broker = await testBroker(t);
      const server = await testServer(t, await database(t), mqttConfig(broker));
      await server.ready;
      await server.register('cluster1');
      const agent = await testAgent(t, broker, 'cluster1');
      const source = testSource(t, server.grpc);
      await source.ready;
      const target = { consumer: 'cluster1', resourceId: randomUUID() };

      await source.create({ ...target, bundle: configMaps('a'), metadata: { name: 'work', labels: { app: 'x' } } });
      const created = await agent.specs.next();
      assert.equal(created.action, 'create_request');
      assert.equal(created.source, 'maestro');
      assert.equal(created.resourceVersion, 1);
      assert.deepEqual(created.metadata, { name: target.resourceId, labels: { app: 'x' } });
      assert.deepEqual(created.bundle, configMaps('a'));

      await agent.report(created);
      const reported = await source.statuses.next();
      assert.equal(reported.resourceId, target.resourceId);
      assert.equal(reported.resourceVersion, 1);
      assert.equal(reported.originalSource, 'maestro');
      assert.deepEqual(reported.metadata, { name: 'work', labels: { app: 'x' } });
      assert.deepEqual(reported.status.manifestBundle, configMaps('a'));

      await source.update({ ...target, version: 1, bundle: configMaps('a', 'b') });
      const updated = await agent.specs.next();
      assert.equal(updated.action, 'update_request');
      assert.equal(updated.resourceVersion, 2);

      await source.delete(target);
      const deleted = await agent.specs.next();
      assert.equal(deleted.action, 'delete_request');
      assert.ok(deleted.deletionTimestamp instanceof Date);
      const during = await server.rest(`/resource-bundles/${target.resourceId}`);
      assert.equal(typeof during.body.deleted_at, 'string');
      assert.equal((await server.rest('/resource-bundles')).body.total, 0);

      await agent.reportDeleted(deleted);
      const last = await source.statuses.next();
      assert.ok(saysDeleted(last.status));
      // The removal follows the write that the source was told of.
      while ((await server.rest(`/resource-bundles/${target.resourceId}`)).status !== 404);
    });

    test('refuses what a source may not send, and says why', async (t) => {
      const server = await testServer(t, await database(t));
      await server.register('cluster1');
      const source = testSource(t, server.grpc);
      const other = testSource(t, server.grpc, { sourceId: 'other' });
      const target = { consumer: 'cluster1', resourceId: randomUUID() };
      const bundle = configMaps('a');

      await assert.rejects(source.create({ ...target, consumer: 'nobody', bundle }), rejectsWith('not-found'));
      await assert.rejects(source.update({ ...target, bundle }), rejectsWith('not-found'));
      await source.create({ ...target, bundle });
      await assert.rejects(source.create({ ...target, bundle }), rejectsWith('conflict'));
      await server.register('cluster2');
      await assert.rejects(source.create({ ...target, consumer: 'cluster2', bundle }), rejectsWith('conflict'));
      await assert.rejects(source.update({ ...target, version: 7, bundle }), rejectsWith('conflict'));
      await assert.rejects(other.update({ ...target, bundle }), rejectsWith('forbidden'));
      await assert.rejects(other.delete(target), rejectsWith('forbidden'));
      const twice = { manifests: [...bundle.manifests, ...bundle.manifests] };
      await assert.rejects(source.update({ ...target, bundle: twice }), rejectsWith('invalid'));
      await source.delete(target);
      await source.delete(target);
      await assert.rejects(source.update({ ...target, bundle }), rejectsWith('conflict'));
      await source.delete({ consumer: 'cluster1', resourceId: randomUUID() });
    });

    test('takes a status only if it is newer, of this version, and of the agent that has the bundle', async (t) => {
      const broker = await testBroker(t);
      const server = await testServer(t, await database(t), mqttConfig(broker));
      await server.ready;
      await server.register('cluster1');
      await server.register('cluster2');
      const agent = await testAgent(t, broker, 'cluster1');
      const hostile = await testAgent(t, broker, 'cluster2');
      const source = testSource(t, server.grpc);
      await source.ready;
      const target = { consumer: 'cluster1', resourceId: randomUUID() };
      await source.create({ ...target, bundle: configMaps('a') });
      const spec = await agent.specs.next();
      const says = (text: string) => ({ conditions: [condition('Applied', text)] });
      const [older, first, last] = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) =>
        createSequence(() => Date.parse(day)).next(),
      );

      await agent.report(spec, says('First'), { sequenceId: String(first) });
      await source.statuses.next();
      // Each of these would show before the last one does, were it taken.
      await agent.report(spec, says('Older'), { sequenceId: String(older) });
      await agent.report(spec, says('Duplicate'), { sequenceId: String(first) });
      await agent.report(spec, says('OtherVersion'), { resourceVersion: 2 });
      await agent.report(spec, says('OtherSource'), { originalSource: 'elsewhere' });
      await hostile.report(spec, says('OtherConsumer'));
      await hostile.report(spec, says('Disguised'), { clusterName: 'cluster1' });
      await hostile.reportDeleted({ ...spec, clusterName: 'cluster1' });
      await agent.report(spec, says('Last'), { sequenceId: String(last) });
      assert.equal((await source.statuses.next()).status.conditions[0]?.reason, 'Last');
      const { body } = await server.rest(`/resource-bundles/${target.resourceId}`);
      assert.partialDeepStrictEqual(body, { status: { SequenceID: last, ObservedVersion: 1 } });
      // Who has a bundle that is not its own is told to delete it.
      assert.equal((await hostile.specs.next()).action, 'delete_request');
    });

    test('sends a live bundle again when its agent says that it is gone', async (t) => {
      const broker = await testBroker(t);
      const server = await testServer(t, await database(t), mqttConfig(broker));
      await server.ready;
      await server.register('cluster1');
      const agent = await testAgent(t, broker, 'cluster1');
      const source = testSource(t, server.grpc);
      await source.ready;
      await source.create({ consumer: 'cluster1', resourceId: randomUUID(), bundle: configMaps('a') });
      const spec = await agent.specs.next();
      await agent.report(spec);
      await source.statuses.next();
      await agent.reportDeleted(spec);
      assert.deepEqual((await agent.specs.next()).bundle, configMaps('a'));
    });

    test('answers an agent that says what it has with what it lacks', async (t) => {
      const broker = await testBroker(t);
      const server = await testServer(t, await database(t), mqttConfig(broker));
      await server.ready;
      await server.register('cluster1');
      const source = testSource(t, server.grpc);
      const [same, older, missing, deleting, gone] = Array.from({ length: 5 }, () => randomUUID());
      for (const resourceId of [same, older, missing, deleting]) {
        await source.create({ consumer: 'cluster1', resourceId: String(resourceId), bundle: configMaps('a') });
      }
      await source.update({ consumer: 'cluster1', resourceId: String(older), bundle: configMaps('b') });
      await source.delete({ consumer: 'cluster1', resourceId: String(deleting) });
      const agent = await testAgent(t, broker, 'cluster1');
      await agent.say(
        specResync('cluster1', [
          { resourceID: String(same), resourceVersion: 1 },
          { resourceID: String(older), resourceVersion: 1 },
          { resourceID: String(gone), resourceVersion: 4 },
        ]),
      );
      const isAnswer = ({ action }: { action: string }) => action === 'resync_response';
      const answers = [];
      for (let nth = 0; nth < 4; nth++) answers.push(await agent.specs.next(isAnswer));
      const byId = new Map(answers.map((answer) => [answer.resourceId, answer]));
      assert.deepEqual(new Set(byId.keys()), new Set([older, missing, deleting, gone]));
      assert.equal(byId.get(String(older))?.resourceVersion, 2);
      assert.ok(byId.get(String(deleting))?.deletionTimestamp);
      assert.ok(byId.get(String(gone))?.deletionTimestamp);
      assert.equal(byId.get(String(gone))?.resourceVersion, 4);
      assert.equal(byId.get(String(gone))?.source, 'maestro');
    });

    test('asks agents for statuses when it starts, and sends what they have not confirmed', async (t) => {
      const broker = await testBroker(t);
      const store = await database(t);
      const first = await testServer(t, store);
      await first.register('cluster1');
      const resourceId = randomUUID();
      const source = testSource(t, first.grpc);
      await source.create({ consumer: 'cluster1', resourceId, bundle: configMaps('a') });
      await source.stop();
      await first.stop();

      const agent = await testAgent(t, broker, 'cluster1');
      const second = await testServer(t, store, mqttConfig(broker));
      assert.equal((await agent.specs.next()).resourceId, resourceId);
      const asked = await agent.others.next();
      assert.ok(asked.kind === 'status-resync');
      assert.deepEqual(
        asked.statusHashes.map(({ resourceID }) => resourceID),
        [resourceId],
      );
      await second.ready;
    });

    test('tells a source what it missed, also that a bundle is gone', async (t) => {
      const broker = await testBroker(t);
      const server = await testServer(t, await database(t), mqttConfig(broker));
      await server.ready;
      await server.register('cluster1');
      const agent = await testAgent(t, broker, 'cluster1');
      const [seen, news] = [randomUUID(), randomUUID()];
      const first = testSource(t, server.grpc);
      await first.ready;
      const hashes = new Map<string, string>();
      for (const resourceId of [seen, news]) {
        await first.create({ consumer: 'cluster1', resourceId, bundle: configMaps('a') });
        await agent.report(await agent.specs.next());
        hashes.set(resourceId, (await first.statuses.next()).statusHash);
      }
      await first.stop();
      const known = [
        { resourceID: seen, statusHash: hashes.get(seen) ?? '' },
        { resourceID: news, statusHash: 'another' },
        { resourceID: randomUUID(), statusHash: 'gone' },
        { resourceID: randomUUID(), statusHash: '' },
      ];
      const second = testSource(t, server.grpc, { knownStatuses: () => known });
      const [one, two] = [await second.statuses.next(), await second.statuses.next()];
      assert.equal(one.resourceId, news);
      assert.equal(two.resourceId, known[2]?.resourceID);
      assert.ok(saysDeleted(two.status));
      assert.equal(second.statuses.items.length, 0);
    });

    test('goes on where it was when the broker has been away', async (t) => {
      const broker = await testBroker(t);
      const server = await testServer(t, await database(t), mqttConfig(broker));
      await server.ready;
      await server.register('cluster1');
      const agent = await testAgent(t, broker, 'cluster1');
      const source = testSource(t, server.grpc);
      await source.ready;
      await broker.down();
      const ids = Array.from({ length: 20 }, () => randomUUID());
      for (const resourceId of ids) await source.create({ consumer: 'cluster1', resourceId, bundle: configMaps('a') });
      await broker.up();
      // The agent is back sooner than the server, or asks for what it missed.
      await agent.say(specResync('cluster1', []));
      const got = new Set<string>();
      while (got.size < ids.length) got.add((await agent.specs.next()).resourceId);
      assert.deepEqual(got, new Set(ids));
    });
  });
}
