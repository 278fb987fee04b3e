// How works end: deletion, orphans, shared objects, eviction, and the time to live of what has run to its end.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { KubeClient } from '../../kube/client.ts';
import { findCondition } from '../../kube/conditions.ts';
import { appliedName } from '../ownership.ts';
import { appliedManifestWorks } from '../work.ts';
import {
  changed,
  configMap,
  configMaps,
  hash,
  isApplied,
  namespace,
  object,
  owners,
  workbench,
  workOf,
} from './workbench.ts';

export async function endingSuite(t: TestContext, client: KubeClient): Promise<void> {
  const get = (name: string) => client.find(configMaps, { namespace, name });
  const record = (work: string) => client.find(appliedManifestWorks, { name: appliedName(hash, work) });

  await t.test('objects go with their work, and the work when they are gone', async (t) => {
    const bench = workbench(t, client);
    const work = workOf('going', [configMap('going', {}), configMap('held', {}, { finalizers: ['example.com/hold'] })]);
    bench.source.put(work);
    await bench.work('going', isApplied);
    const deleting = { ...work, metadata: { ...work.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    bench.source.put(deleting);
    await object(
      client,
      configMaps,
      { namespace, name: 'held' },
      (found) => found?.metadata.deletionTimestamp !== undefined,
    );
    await object(client, configMaps, { namespace, name: 'going' }, (found) => found === undefined);
    assert.deepEqual(bench.finalized, []);
    await client.patch(configMaps, { namespace, name: 'held' }, 'merge', { metadata: { finalizers: null } });
    await bench.told(() => bench.finalized.includes('going'));
    assert.equal(await record('going'), undefined);
    assert.equal(await get('held'), undefined);

    // One that is not known is finalized too, so that a repeated delete comes to an end.
    bench.source.put({ ...workOf('unknown', []), metadata: { ...deleting.metadata, name: 'unknown' } });
    await bench.told(() => bench.finalized.includes('unknown'));
    await bench.stop();
  });

  await t.test('orphaned objects stay, wholly or by rule', async (t) => {
    const bench = workbench(t, client);
    const rules = [{ group: '', resource: 'configmaps', namespace, name: 'o2' }];
    const works = [
      workOf('orphan-all', [configMap('o1', {})], { deleteOption: { propagationPolicy: 'Orphan' } }),
      workOf('orphan-some', [configMap('o2', {}), configMap('o3', {})], {
        deleteOption: { propagationPolicy: 'SelectivelyOrphan', selectivelyOrphans: { orphaningRules: rules } },
      }),
    ];
    for (const work of works) {
      bench.source.put(work);
      await bench.work(work.metadata.name ?? '', isApplied);
    }
    assert.deepEqual([owners(await get('o1')), owners(await get('o2'))], [[], []]);
    for (const work of works) {
      bench.source.put({ ...work, metadata: { ...work.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
    }
    await bench.told(() => bench.finalized.length === 2);
    assert.ok(await get('o1'));
    assert.ok(await get('o2'));
    assert.equal(await get('o3'), undefined);
    await bench.stop();
  });

  await t.test('an object of two works goes with the second', async (t) => {
    const bench = workbench(t, client);
    const works = ['one', 'two'].map((name) => workOf(`share-${name}`, [configMap('shared', { a: '1' })]));
    for (const work of works) {
      bench.source.put(work);
      await bench.work(work.metadata.name ?? '', isApplied);
    }
    assert.equal(owners(await get('shared')).length, 2);
    for (const [at, work] of works.entries()) {
      bench.source.put({ ...work, metadata: { ...work.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
      await bench.told(() => bench.finalized.length === at + 1);
      if (at === 0) assert.deepEqual(owners(await get('shared')), [appliedName(hash, 'share-two')]);
    }
    assert.equal(await get('shared'), undefined);
    await bench.stop();
  });

  await t.test(
    'what was applied for a work that is gone is evicted after the grace period, and not before all works are known',
    async (t) => {
      let now = Date.parse('2026-01-01T00:00:00Z');
      const first = workbench(t, client);
      first.source.put(workOf('evicted', [configMap('evicted', {})]));
      await first.work('evicted', isApplied);
      await first.stop();
      const bench = workbench(t, client, { now: () => now, evictionGraceSeconds: 3600, hubHash: hash });
      bench.source.setComplete(true);
      const key = { name: appliedName(hash, 'evicted') };
      // It comes and goes: the record is looked at each time.
      bench.source.put(workOf('evicted', [configMap('evicted', {})]));
      await bench.work('evicted', isApplied);
      bench.source.remove('evicted');
      await object(
        client,
        appliedManifestWorks,
        key,
        (found) => found?.status?.evictionStartTime === '2026-01-01T00:00:00Z',
      );
      bench.source.put(workOf('evicted', [configMap('evicted', {})]));
      await object(
        client,
        appliedManifestWorks,
        key,
        (found) => found !== undefined && !found.status?.evictionStartTime,
      );
      bench.source.remove('evicted');
      await object(client, appliedManifestWorks, key, (found) => found?.status?.evictionStartTime !== undefined);
      assert.ok(await get('evicted'));
      now += 3_600_000;
      bench.source.put(workOf('evicted', []));
      bench.source.remove('evicted');
      await object(client, appliedManifestWorks, key, (found) => found === undefined);
      assert.equal(await get('evicted'), undefined);
      await bench.stop();
    },
  );

  await t.test('a work that has run to its end is not applied again and goes when its time is over', async (t) => {
    let now = Date.now();
    const bench = workbench(t, client, { now: () => now });
    const spec = {
      deleteOption: { propagationPolicy: 'Foreground', ttlSecondsAfterFinished: 600 },
      manifestConfigs: [
        {
          resourceIdentifier: { resource: 'configmaps', namespace, name: 'ended' },
          conditionRules: [{ condition: 'Complete', type: 'CEL', celExpressions: ["object.data.done == 'yes'"] }],
        },
      ],
    };
    const work = workOf('ended', [configMap('ended', { done: 'no' })], spec);
    bench.source.put(work);
    const running = await bench.work('ended', isApplied);
    assert.equal(findCondition(running.status?.conditions, 'Complete')?.status, 'False');
    bench.source.put(changed(work, [configMap('ended', { done: 'yes' })], spec));
    const done = await bench.work(
      'ended',
      (found) => findCondition(found.status?.conditions, 'Complete')?.status === 'True',
    );
    assert.equal(findCondition(done.status?.conditions, 'Complete')?.reason, 'ConditionRulesAggregated');
    now += 601_000;
    bench.source.put(done);
    await bench.told(() => bench.finalized.includes('ended'));
    assert.deepEqual(bench.expired, ['ended']);
    assert.equal(await get('ended'), undefined);
    await bench.stop();
  });
}
