import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, KubeObject } from '../object.ts';
import { forbidden, StatusError } from '../status.ts';
import type { AdmissionPlugin } from './admission.ts';
import { openTestCluster, type TestCluster } from './testing/cluster.ts';

const at = { namespace: 'default', name: 'a' };
const merge = (body: JsonObject) => ({ type: 'merge' as const, body });
const read = ({ objects }: TestCluster): KubeObject =>
  JSON.parse(objects.get('/configmaps', 'default', 'a')?.bytes.toString() ?? 'null') as KubeObject;

test('patches of the same object at the same time all count', async (t) => {
  const cluster = await openTestCluster();
  t.after(cluster.close);
  const { registry, context, configMaps } = cluster;
  await cluster.create({ metadata: { name: 'a' } });
  const members = Array.from({ length: 50 }, (_, index) => `m${index}`);
  await Promise.all(
    members.map((member) => registry.patch(context, configMaps, at, merge({ data: { [member]: 'x' } }))),
  );
  assert.deepEqual(Object.keys(read(cluster).data as object).sort(), members.sort());
});

const waiting = (name: string, more: Partial<AdmissionPlugin>): AdmissionPlugin => ({
  name,
  waits: true,
  concerns: ({ type }) => type.plural === 'configmaps',
  ...more,
});

test('patches that wait for admission are tried again when others were quicker', async (t) => {
  const plugin = waiting('slow', { mutate: () => new Promise((resolve) => setImmediate(resolve)) });
  const cluster = await openTestCluster({ plugins: [plugin] });
  t.after(cluster.close);
  const { registry, context, configMaps } = cluster;
  await cluster.create({ metadata: { name: 'a' } });
  const members = ['p', 'q', 'r', 's'];
  await Promise.all(
    members.map((member) => registry.patch(context, configMaps, at, merge({ data: { [member]: 'x' } }))),
  );
  assert.deepEqual(Object.keys(read(cluster).data as object).sort(), members);
});

test('mutating plugins come before validating ones, and any of them can refuse', async (t) => {
  const order: string[] = [];
  const cluster = await openTestCluster({
    plugins: [
      waiting('checks', {
        validate({ object }) {
          order.push('validate');
          if ((object?.data as JsonObject | undefined)?.forbidden) {
            throw forbidden({ group: '', resource: 'configmaps' }, 'a', 'not here');
          }
        },
      }),
      waiting('labels', {
        async mutate({ object }) {
          order.push('mutate');
          if (object) object.metadata.labels = { seen: 'yes' };
        },
      }),
    ],
  });
  t.after(cluster.close);
  const created = await cluster.create({ metadata: { name: 'a' } });
  assert.deepEqual(created.metadata.labels, { seen: 'yes' });
  assert.deepEqual(order, ['mutate', 'validate']);
  await assert.rejects(cluster.create({ metadata: { name: 'b' }, data: { forbidden: 'x' } }), /not here/);
  assert.equal(cluster.objects.get('/configmaps', 'default', 'b'), undefined);
});

test('what changes nothing is not written', async (t) => {
  const cluster = await openTestCluster();
  t.after(cluster.close);
  const { registry, context, configMaps, objects } = cluster;
  const created = await cluster.create({ metadata: { name: 'a' }, data: { x: '1' } });
  const before = objects.revision;
  await registry.update(context, configMaps, at, structuredClone(created));
  await registry.patch(context, configMaps, at, merge({ data: { x: '1' } }));
  assert.equal(objects.revision, before);
});

test('a generated name is taken again until one is free', async (t) => {
  const cluster = await openTestCluster();
  t.after(cluster.close);
  const { registry, context, configMaps } = cluster;
  const made = await Promise.all(
    Array.from({ length: 40 }, () =>
      registry.create(context, configMaps, 'default', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'gen-' },
      }),
    ),
  );
  assert.equal(new Set(made.map(({ entry }) => entry.name)).size, 40);
  for (const { entry } of made) assert.match(entry.name, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('what a namespace that ends still takes', async (t) => {
  const cluster = await openTestCluster();
  t.after(cluster.close);
  const { registry, context, objects } = cluster;
  const namespaces = cluster.type('', 'namespaces');
  await cluster.create({ metadata: { name: 'ends', finalizers: ['example.com/hold'] } }, namespaces);
  await registry.delete(context, namespaces, { namespace: '', name: 'ends' }, {});
  const ending = JSON.parse(objects.get('/namespaces', '', 'ends')?.bytes.toString() ?? '{}') as KubeObject;
  assert.equal((ending.status as { phase: string }).phase, 'Terminating');
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } };
  await assert.rejects(registry.create(context, cluster.configMaps, 'ends', object), (error) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.status.code, 403);
    assert.equal(error.status.details?.causes?.[0]?.reason, 'NamespaceTerminating');
    return true;
  });
});
