import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, namespaces, pods, serviceAccounts } from './kinds.ts';
import { conditionOf } from './pods.ts';
import { controlled, template } from './testing/controlled.ts';

test('every namespace has a default service account and the cluster authority, and gets them back', async (t) => {
  const one = await controlled(t);
  await one.create(namespaces, '', { metadata: { name: 'shop' } });
  for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'shop']) {
    assert.ok(one.hands.get(serviceAccounts, namespace, 'default'), namespace);
    assert.equal(one.read(configMaps, namespace, 'kube-root-ca.crt').data?.['ca.crt'], await one.cluster.ca());
  }
  await one.remove(serviceAccounts, 'shop', 'default');
  await one.change(configMaps, 'shop', 'kube-root-ca.crt', (map) => {
    map.data = { 'ca.crt': 'forged' };
  });
  assert.ok(one.hands.get(serviceAccounts, 'shop', 'default'));
  assert.equal(one.read(configMaps, 'shop', 'kube-root-ca.crt').data?.['ca.crt'], await one.cluster.ca());
});

test('a deleted namespace is emptied and goes', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(namespaces, '', { metadata: { name: 'shop' } });
  await one.create(configMaps, 'shop', { metadata: { name: 'settings' } });
  await one.create(pods, 'shop', { metadata: { name: 'web' }, spec: template({}).spec });
  await one.remove(namespaces, '', 'shop');
  assert.equal(one.hands.get(namespaces, '', 'shop'), undefined);
  for (const { type } of [configMaps, pods, serviceAccounts]) {
    assert.equal(one.cluster.objects.count(type.storage, 'shop'), 0, type.plural);
  }
});

test('a namespace tells what keeps it, and goes when that lets go', async (t) => {
  const one = await controlled(t);
  await one.create(namespaces, '', { metadata: { name: 'shop' } });
  await one.create(configMaps, 'shop', { metadata: { name: 'kept', finalizers: ['example.com/hold'] } });
  await one.remove(namespaces, '', 'shop');
  const { status } = one.read(namespaces, '', 'shop');
  assert.equal(status?.phase, 'Terminating');
  assert.equal(
    conditionOf(status?.conditions, 'NamespaceContentRemaining')?.message,
    'Some resources are remaining: configmaps. has 1 resource instances',
  );
  assert.equal(
    conditionOf(status?.conditions, 'NamespaceFinalizersRemaining')?.message,
    'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
  );
  await one.change(configMaps, 'shop', 'kept', (map) => {
    delete map.metadata.finalizers;
  });
  assert.equal(one.hands.get(namespaces, '', 'shop'), undefined);
});
