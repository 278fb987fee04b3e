// How objects are written: the strategies, and with whose rights.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { KubeClient } from '../../kube/client.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { UntypedObject } from '../../kube/object.ts';
import { resource } from '../../kube/resource.ts';
import { appliedName } from '../ownership.ts';
import {
  change,
  changed,
  configMap,
  configMaps,
  hash,
  isApplied,
  isNotApplied,
  namespace,
  owners,
  workbench,
  workOf,
} from './workbench.ts';

export async function strategySuite(t: TestContext, client: KubeClient): Promise<void> {
  const get = (name: string) => client.find(configMaps, { namespace, name });

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
    'kinds that keep what the server filled in, or refuse a change, are updated as far as they can be',
    async (t) => {
      const bench = workbench(t, client);
      const jobs = resource<UntypedObject>('batch/v1', 'Job', 'jobs');
      const secrets = resource<UntypedObject>('v1', 'Secret', 'secrets');
      const job = (labels: Record<string, string>, image = 'example.com/main') => ({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'fixed', namespace, labels },
        spec: {
          template: {
            metadata: { creationTimestamp: null },
            spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] },
          },
        },
      });
      const secret = (type: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'fixed', namespace },
        type,
        stringData: { 'ssh-privatekey': 'x' },
      });
      let work = workOf('fixed', [job({ a: '1' }), secret('Opaque')]);
      bench.source.put(work);
      await bench.work('fixed', isApplied);
      const first = await client.get(jobs, { namespace, name: 'fixed' });

      work = changed(work, [job({ a: '2' }), secret('kubernetes.io/ssh-auth')]);
      bench.source.put(work);
      await bench.work('fixed', isApplied);
      const second = await client.get(jobs, { namespace, name: 'fixed' });
      assert.deepEqual([second.metadata.uid, second.metadata.labels?.a], [first.metadata.uid, '2']);
      assert.equal((await client.get(secrets, { namespace, name: 'fixed' })).type, 'kubernetes.io/ssh-auth');

      work = changed(work, [job({ a: '2' }, 'example.com/other'), secret('kubernetes.io/ssh-auth')]);
      bench.source.put(work);
      const refused = await bench.work('fixed', isNotApplied);
      assert.match(
        findCondition(refused.status?.resourceStatus?.manifests?.[0]?.conditions, 'Applied')?.message ?? '',
        /immutable/,
      );
      await bench.stop();
    },
  );

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
