import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  configMaps,
  databases,
  mqttConfig,
  specResync,
  testAgent,
  testBroker,
  testServer,
  testSource,
} from './testing/world.ts';

const consumers = Array.from({ length: 6 }, (_, at) => `cluster${at}`);

for (const [name, database] of Object.entries(databases)) {
  describe(`several Maestro servers on one ${name} database`, () => {
    test('share the consumers, and each bundle is sent and each status told whichever server took it', async (t) => {
      const broker = await testBroker(t);
      const store = await database(t);
      const one = await testServer(t, store, { ...mqttConfig(broker), lease: 3 });
      const two = await testServer(t, store, { ...mqttConfig(broker), lease: 3 });
      await Promise.all([one.ready, two.ready]);
      const sources = [testSource(t, one.grpc), testSource(t, two.grpc)] as const;
      await Promise.all(sources.map(({ ready }) => ready));
      for (const [at, consumer] of consumers.entries()) {
        await one.register(consumer);
        const agent = await testAgent(t, broker, consumer);
        const resourceId = randomUUID();
        await sources[at % 2]?.create({ consumer, resourceId, bundle: configMaps('a') });
        const spec = await agent.specs.next();
        assert.equal(spec.resourceId, resourceId);
        await agent.report(spec);
        for (const { statuses } of sources) assert.equal((await statuses.next()).resourceId, resourceId);
      }
    });

    test('take over from one that has gone: what it had not sent is sent, and what an agent asked is answered', async (t) => {
      const broker = await testBroker(t);
      const store = await database(t);
      const one = await testServer(t, store, { ...mqttConfig(broker), lease: 3 });
      await one.ready;
      for (const consumer of consumers) await one.register(consumer);
      const agents = new Map(
        await Promise.all(consumers.map(async (consumer) => [consumer, await testAgent(t, broker, consumer)] as const)),
      );
      const two = await testServer(t, store, { ...mqttConfig(broker), lease: 3 });
      await two.ready;
      const source = testSource(t, two.grpc);
      await source.ready;
      const stopped = one.stop();
      const ids = new Map<string, string>();
      for (const consumer of consumers) {
        const resourceId = randomUUID();
        ids.set(consumer, resourceId);
        await source.create({ consumer, resourceId, bundle: configMaps('a') });
        await agents.get(consumer)?.say(specResync(consumer, [{ resourceID: 'unknown-bundle', resourceVersion: 3 }]));
      }
      await stopped;
      for (const consumer of consumers) {
        const agent = agents.get(consumer);
        const wanted = new Set([ids.get(consumer), 'unknown-bundle']);
        while (wanted.size > 0) wanted.delete((await agent?.specs.next())?.resourceId);
      }
    });
  });
}
