import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createBundles } from './bundles.ts';
import { createConsumers } from './consumers.ts';
import { openDocuments } from './documents.ts';
import { openStore } from './open-store.ts';
import { configMaps, databases, silent } from './testing/world.ts';
import { startUpkeep } from './upkeep.ts';

for (const [name, database] of Object.entries(databases)) {
  test(`what an agent has not confirmed in time is sent again: creates, updates and deletions (${name})`, async (t) => {
    const store = await openStore(await database(t));
    t.after(() => store.close());
    const documents = await openDocuments(store);
    const consumers = createConsumers(documents);
    const bundles = createBundles(documents, consumers);
    await consumers.create({ name: 'cluster1' });
    const spec = (resourceId: string, action: 'create_request' | 'update_request' | 'delete_request') =>
      ({
        kind: 'spec',
        action,
        id: randomUUID(),
        source: 's',
        clusterName: 'cluster1',
        originalSource: '',
        resourceId,
        resourceVersion: 0,
        bundle: configMaps('a'),
      }) as const;
    const report = (resourceId: string, resourceVersion: number) =>
      bundles.report('cluster1', {
        kind: 'status',
        action: 'update_request',
        id: randomUUID(),
        source: 'agent',
        clusterName: 'cluster1',
        originalSource: 'maestro',
        resourceId,
        resourceVersion,
        sequenceId: '',
        statusHash: '',
        status: { conditions: [], resourceStatus: [] },
      });
    for (const id of ['confirmed', 'created', 'updated', 'deleted']) await bundles.create(spec(id, 'create_request'));
    assert.equal(await report('confirmed', 1), 'stored');
    await report('updated', 1);
    await bundles.update(spec('updated', 'update_request'));
    assert.equal(await report('updated', 1), 'stale');
    await bundles.delete(spec('deleted', 'delete_request'));

    const look = async (undeliveredSeconds: number, staleDeleteSeconds: number) => {
      const sent: string[] = [];
      let staleDeletes = 0;
      const upkeep = startUpkeep({
        documents,
        send: (_consumer, id) => sent.push(id),
        undeliveredSeconds,
        staleDeleteSeconds,
        onLook: (counts) => {
          staleDeletes = counts.staleDeletes;
        },
        logger: silent,
        now: () => Date.now() + 60_000,
      });
      await upkeep.look();
      await upkeep.stop();
      return { sent: sent.sort(), staleDeletes };
    };
    assert.deepEqual(await look(30, 0), { sent: ['created', 'deleted', 'updated'], staleDeletes: 0 });
    assert.deepEqual(await look(30, 30), { sent: ['created', 'updated'], staleDeletes: 1 });
    assert.deepEqual(await look(3600, 0), { sent: [], staleDeletes: 0 });
  });
}
