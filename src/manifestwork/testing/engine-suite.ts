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
import { endingSuite } from './ending-suite.ts';
import { strategySuite } from './strategy-suite.ts';
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
  owners,
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

  await t.test('a work whose name or labels cannot be recorded is told so, and can be deleted', async (t) => {
    const bench = workbench(t, client);
    for (const [name, labels] of [
      ['../Other', {}],
      ['x'.repeat(200), {}],
      ['labelled', { 'not a label': 'x' }],
    ] as const) {
      const work = workOf(name, [configMap('unnamed', {})], {}, { labels });
      bench.source.put(work);
      await bench.work(name, isNotApplied);
      bench.source.put({ ...work, metadata: { ...work.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
      await bench.told(() => bench.finalized.includes(name));
    }
    assert.equal(await get('unnamed'), undefined);
    await bench.stop();
  });

  await t.test('a definition and an object of its kind can be in one work', async (t) => {
    const bench = workbench(t, client);
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
          },
        ],
      },
    };
    const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g', namespace }, spec: {} };
    bench.source.put(workOf('defining', [gadget, definition]));
    await bench.work('defining', isApplied);
    const gadgets = resource<UntypedObject>('example.com/v1', 'Gadget', 'gadgets');
    assert.deepEqual(owners(await client.get(gadgets, { namespace, name: 'g' })), [appliedName(hash, 'defining')]);
    await bench.stop();
  });

  await t.test('a server that restarts is no reason to report anything, and is followed again', async (t) => {
    const bench = workbench(t, client);
    const spec = {
      manifestConfigs: [
        {
          resourceIdentifier: { resource: 'configmaps', namespace, name: 'restart' },
          updateStrategy: { type: 'CreateOnly' },
          feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'a', path: '.data.a' }] }],
        },
      ],
    };
    bench.source.put(workOf('restart', [configMap('restart', { a: '1' })], spec));
    await bench.work('restart', isApplied);
    const before = bench.statusWrites.length;
    await server.restart();
    await change(client, configMaps, { namespace, name: 'restart' }, (found) => ({ ...found, data: { a: '2' } }));
    await bench.work('restart', ({ status }) => JSON.stringify(status).includes('"string":"2"'));
    assert.equal(bench.statusWrites.length, before + 1);
    await bench.stop();
  });

  await t.test('how works end', (t) => endingSuite(t, client));
  await t.test('how objects are written', (t) => strategySuite(t, client));
}
