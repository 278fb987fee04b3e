// What the engine has to do on every cluster: the same on the embedded one and on a real one.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { findCondition } from '../../kube/conditions.ts';
import type { UntypedObject } from '../../kube/object.ts';
import { resource } from '../../kube/resource.ts';
import type { SuiteServer } from '../../kube/testing/runtime-suite.ts';
import { plannedAnnotation } from '../applied-record.ts';
import { appliedName } from '../ownership.ts';
import { appliedFinalizer, appliedManifestWorks, type Manifest } from '../work.ts';
import {
  change,
  changed,
  configMap,
  configMaps,
  deployments,
  hash,
  installDefinitions,
  isApplied,
  isNotApplied,
  namespace,
  object,
  workbench,
  workOf,
} from './workbench.ts';

const deployment = (name: string, replicas = 1): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example.com/main' }] },
    },
  },
});

const owners = (found: { metadata: UntypedObject['metadata'] } | undefined): readonly string[] =>
  (found?.metadata.ownerReferences ?? []).map(({ name }) => name);

export async function engineSuite(t: TestContext, server: SuiteServer): Promise<void> {
  const client = server.client();
  await installDefinitions(client);
  const get = (name: string) => client.find(configMaps, { namespace, name });
  const record = (work: string) => client.find(appliedManifestWorks, { name: appliedName(hash, work) });

  await t.test('a work is applied, recorded and reported', async (t) => {
    const bench = workbench(t, client);
    bench.source.put(
      workOf('first', [configMap('first', { a: '1' }), deployment('first')], {}, { labels: { l: 'x' } }),
    );
    const { status } = await bench.work('first', isApplied);
    assert.deepEqual(
      status?.resourceStatus?.manifests?.map(({ resourceMeta }) => resourceMeta),
      [
        { ordinal: 0, group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', name: 'first', namespace },
        {
          ordinal: 1,
          group: 'apps',
          version: 'v1',
          kind: 'Deployment',
          resource: 'deployments',
          name: 'first',
          namespace,
        },
      ],
    );
    for (const { conditions } of status?.resourceStatus?.manifests ?? []) {
      assert.deepEqual(
        conditions.map(({ type, status, reason }) => [type, status, reason]),
        [
          ['Applied', 'True', 'AppliedManifestComplete'],
          ['Available', 'True', 'ResourceAvailable'],
          ['StatusFeedbackSynced', 'True', 'NoStatusFeedbackSynced'],
        ],
      );
    }
    assert.deepEqual(
      status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]),
      [
        ['Applied', 'True', 'AppliedManifestWorkComplete', 'Apply manifest work complete'],
        ['Available', 'True', 'ResourcesAvailable', 'All resources are available'],
      ],
    );
    const made = await get('first');
    const kept = await record('first');
    assert.deepEqual(made?.data, { a: '1' });
    assert.deepEqual(owners(made), [appliedName(hash, 'first')]);
    assert.deepEqual(kept?.spec, { hubHash: hash, agentID: hash, manifestWorkName: 'first' });
    assert.deepEqual(kept?.metadata.finalizers, [appliedFinalizer]);
    assert.deepEqual(kept?.metadata.labels, { l: 'x' });
    assert.deepEqual(
      kept?.status?.appliedResources?.map(({ resource, uid }) => [resource, uid]),
      [
        ['configmaps', made?.metadata.uid],
        ['deployments', (await client.get(deployments, { namespace, name: 'first' })).metadata.uid],
      ],
    );

    await t.test('an engine that starts again changes nothing', async (t) => {
      const before = await Promise.all([
        get('first'),
        record('first'),
        client.get(deployments, { namespace, name: 'first' }),
      ]);
      await bench.stop();
      const again = workbench(t, client);
      again.source.put(
        workOf('first', [configMap('first', { a: '1' }), deployment('first')], {}, { labels: { l: 'x' } }),
      );
      await again.work('first', isApplied);
      const after = await Promise.all([
        get('first'),
        record('first'),
        client.get(deployments, { namespace, name: 'first' }),
      ]);
      assert.deepEqual(
        after.map((each) => each?.metadata.resourceVersion),
        before.map((each) => each?.metadata.resourceVersion),
      );
      assert.equal(again.statusWrites.length, 1);
      await again.stop();
    });
  });

  await t.test('one manifest that is wrong does not hinder the others', async (t) => {
    const bench = workbench(t, client);
    bench.source.put(
      workOf('bad', [
        { apiVersion: 'v1', kind: 'ConfigMap' },
        { apiVersion: 'example.com/v1', kind: 'Nothing', metadata: { name: 'x', namespace } },
        { apiVersion: '../../x', kind: 'ConfigMap', metadata: { name: 'x', namespace } },
        configMap('no/name', {}),
        configMap('Not_A_Name', {}),
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'nowhere' } },
        configMap('bad', { a: '1' }),
        configMap('bad', { a: '2' }),
      ]),
    );
    const { status } = await bench.work('bad', isNotApplied);
    const applied = (status?.resourceStatus?.manifests ?? []).map(({ conditions }) =>
      findCondition(conditions, 'Applied'),
    );
    assert.deepEqual(
      applied.map((condition) => condition?.status),
      ['False', 'False', 'False', 'False', 'False', 'False', 'True', 'False'],
    );
    assert.equal(applied[1]?.message, 'Failed to apply manifest: the server doesn\'t have a resource type "Nothing"');
    assert.deepEqual((await get('bad'))?.data, { a: '1' });
    assert.equal(findCondition(status?.conditions, 'Available')?.reason, 'ResourcesNotAvailable');
    await bench.stop();
  });

  await t.test(
    'what is taken out of a work is deleted, also when the engine was killed before it was recorded',
    async (t) => {
      const bench = workbench(t, client);
      const work = workOf('shrinking', [configMap('s1', {}), configMap('s2', {})]);
      bench.source.put(work);
      await bench.work('shrinking', isApplied);
      const next = changed(work, [configMap('s1', {})]);
      bench.source.put(next);
      await bench.work('shrinking', isApplied);
      assert.equal(await get('s2'), undefined);
      assert.equal(
        (await record('shrinking'))?.metadata.annotations?.[plannedAnnotation],
        '[["","v1","configmaps","default","s1"]]',
      );
      await bench.stop();

      // As a process leaves it that ends between making s3 and recording it.
      const kept = await record('shrinking');
      const { name = '', uid = '' } = kept?.metadata ?? {};
      const owner = { apiVersion: 'work.open-cluster-management.io/v1', kind: 'AppliedManifestWork', name, uid };
      await client.patch(appliedManifestWorks, { name }, 'merge', {
        metadata: {
          annotations: {
            [plannedAnnotation]: '[["","v1","configmaps","default","s1"],["","v1","configmaps","default","s3"]]',
          },
        },
      });
      await client.create(configMaps, { metadata: { name: 's3', namespace, ownerReferences: [owner] } });
      const again = workbench(t, client);
      again.source.put(changed(next, [configMap('s1', {})]));
      await again.work('shrinking', isApplied);
      assert.equal(await get('s3'), undefined);
      await again.stop();
    },
  );

  await t.test('a change of an applied object is put right, and a change of its status is reported', async (t) => {
    const bench = workbench(t, client);
    const feedback = {
      manifestConfigs: [
        {
          resourceIdentifier: { group: 'apps', resource: 'deployments', namespace: '*', name: 'w*' },
          feedbackRules: [
            { type: 'WellKnownStatus' },
            { type: 'JSONPaths', jsonPaths: [{ name: 'status', path: '.status' }] },
          ],
        },
      ],
    };
    bench.source.put(workOf('watched', [configMap('watched', { a: '1' }), deployment('watched')], feedback));
    await bench.work('watched', isApplied);
    await change(client, configMaps, { namespace, name: 'watched' }, (found) => ({
      ...found,
      data: { a: '2', b: '3' },
    }));
    await object(
      client,
      configMaps,
      { namespace, name: 'watched' },
      (found) => found?.data?.a === '1' && !found.data.b,
    );
    await client.delete(configMaps, { namespace, name: 'watched' });
    await object(client, configMaps, { namespace, name: 'watched' }, (found) => found?.data?.a === '1');
    const values = (work: { readonly status?: (typeof bench.statusWrites)[number]['status'] }) =>
      work.status?.resourceStatus?.manifests?.[1]?.statusFeedback.values ?? [];
    await change(
      client,
      deployments,
      { namespace, name: 'watched' },
      (found) => ({ ...found, status: { replicas: 1, readyReplicas: 1, observedGeneration: 1 } }),
      'status',
    );
    const work = await bench.work('watched', (found) => values(found).some(({ name }) => name === 'ReadyReplicas'));
    const found = values(work);
    assert.deepEqual(found.find(({ name }) => name === 'ReadyReplicas')?.fieldValue, { type: 'Integer', integer: 1 });
    const raw = found.find(({ name }) => name === 'status')?.fieldValue;
    assert.equal(raw?.type, 'JsonRaw');
    assert.equal(raw?.type === 'JsonRaw' && (JSON.parse(raw.jsonRaw) as { readyReplicas: number }).readyReplicas, 1);
    await bench.stop();
  });

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

  await t.test('strategies', async (t) => {
    const bench = workbench(t, client);
    const apply = async (strategy: object, name: string, ...versions: readonly Record<string, string>[]) => {
      const spec = {
        manifestConfigs: [
          { resourceIdentifier: { resource: 'configmaps', namespace, name }, updateStrategy: strategy },
        ],
      };
      let work = workOf(`by-${name}`, [configMap(name, versions[0] ?? {})], spec);
      bench.source.put(work);
      await bench.work(`by-${name}`, isApplied);
      for (const data of versions.slice(1)) {
        work = changed(work, [configMap(name, data)], spec);
        bench.source.put(work);
        await bench.work(`by-${name}`, (found) => isApplied(found) || isNotApplied(found));
      }
      return bench.work(`by-${name}`, () => true);
    };

    await client.create(configMaps, { metadata: { name: 'u', namespace, labels: { mine: 'x' } }, data: { old: '0' } });
    await apply({ type: 'Update' }, 'u', { a: '1', b: '2' }, { a: '2' });
    const updated = await get('u');
    assert.deepEqual([updated?.data, updated?.metadata.labels], [{ a: '2' }, { mine: 'x' }]);

    await apply({ type: 'CreateOnly' }, 'c', { a: '1' }, { a: '2' });
    assert.deepEqual((await get('c'))?.data, { a: '1' });

    await client.create(configMaps, { metadata: { name: 'r', namespace }, data: { a: '0' } });
    const read = await apply({ type: 'ReadOnly' }, 'r', { a: '1' });
    assert.deepEqual([(await get('r'))?.data, owners(await get('r'))], [{ a: '0' }, []]);
    assert.ok(isApplied(read));

    await apply({ type: 'ServerSideApply' }, 's', { a: '1', b: '2' }, { a: '2' });
    const applied = await get('s');
    assert.deepEqual(applied?.data, { a: '2' });
    assert.deepEqual(owners(applied), [appliedName(hash, 'by-s')]);

    await client.apply(configMaps, { metadata: { name: 'f', namespace }, data: { a: '0' } }, { fieldManager: 'other' });
    const refused = await (async () => {
      const spec = {
        manifestConfigs: [
          {
            resourceIdentifier: { resource: 'configmaps', namespace, name: 'f' },
            updateStrategy: { type: 'ServerSideApply' },
          },
        ],
      };
      bench.source.put(workOf('by-f', [configMap('f', { a: '1' })], spec));
      return bench.work('by-f', isNotApplied);
    })();
    assert.match(
      findCondition(refused.status?.resourceStatus?.manifests?.[0]?.conditions, 'Applied')?.message ?? '',
      /conflict/i,
    );
    assert.deepEqual((await get('f'))?.data, { a: '0' });

    const ignoring = (condition: string) => ({
      type: 'ServerSideApply',
      serverSideApply: { force: true, ignoreFields: [{ condition, jsonPaths: ['.data.a'] }] },
    });
    await apply(ignoring('OnSpokePresent'), 'i', { a: '1', b: '1' });
    assert.deepEqual((await get('i'))?.data, { a: '1', b: '1' });
    await change(client, configMaps, { namespace, name: 'i' }, (found) => ({ ...found, data: { a: '9', b: '1' } }));
    bench.source.put(
      changed(await bench.work('by-i', () => true), [configMap('i', { a: '2', b: '2' })], {
        manifestConfigs: [
          {
            resourceIdentifier: { resource: 'configmaps', namespace, name: 'i' },
            updateStrategy: ignoring('OnSpokePresent'),
          },
        ],
      }),
    );
    await bench.work('by-i', isApplied);
    assert.deepEqual((await get('i'))?.data, { a: '9', b: '2' });
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

  await t.test('a work with an executor is applied with the rights of that executor', async (t) => {
    const bench = workbench(t, client);
    const executor = { subject: { type: 'ServiceAccount', serviceAccount: { namespace, name: 'worker' } } };
    const roles = resource<UntypedObject>('rbac.authorization.k8s.io/v1', 'Role', 'roles');
    const bindings = resource<UntypedObject>('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');
    bench.source.put(workOf('denied', [configMap('denied', {})], { executor }));
    const denied = await bench.work('denied', isNotApplied);
    assert.match(
      findCondition(denied.status?.resourceStatus?.manifests?.[0]?.conditions, 'Applied')?.message ?? '',
      /not allowed to apply the resource {2}configmaps, default denied/,
    );
    assert.equal(await get('denied'), undefined);

    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] },
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['*'] },
    ];
    const without = [
      { ...rules[0], verbs: ['*'] },
      { ...rules[1], verbs: ['create', 'update', 'patch', 'get', 'delete'] },
    ];
    await client.create(roles, { metadata: { name: 'worker', namespace }, rules: without });
    await client.create(bindings, {
      metadata: { name: 'worker', namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'worker' },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'worker' }],
    });
    const grant = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'more', namespace },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    };
    bench.source.put(workOf('allowed', [configMap('allowed', {}), grant], { executor }));
    const allowed = await bench.work('allowed', isNotApplied);
    const messages = allowed.status?.resourceStatus?.manifests?.map(
      ({ conditions }) => findCondition(conditions, 'Applied')?.message,
    );
    assert.equal(messages?.[0], 'Apply manifest complete');
    assert.match(messages?.[1] ?? '', /permission escalation/);
    await bench.stop();
  });
}
