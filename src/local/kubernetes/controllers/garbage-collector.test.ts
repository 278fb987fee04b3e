import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, OwnerReference } from '../object.ts';
import { configMaps, deployments, events, type Kind, namespaces, pods, replicaSets, storageClasses } from './kinds.ts';
import { type Controlled, controlled, deploymentOf } from './testing/controlled.ts';

const reference = ({ apiVersion, kind, metadata }: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  ...more,
});

const map = (one: Controlled, name: string, owners: OwnerReference[] = [], namespace = 'default') =>
  one.create(configMaps, namespace, {
    metadata: { name, ...(owners.length > 0 ? { ownerReferences: owners } : {}) },
  });

const there = ({ hands }: Controlled, name: string, kind: Kind<KubeObject> = configMaps): boolean =>
  hands.get(kind, 'default', name) !== undefined;

test('what was owned goes with its owner, down the line', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 2));
  await one.remove(deployments, 'default', 'web', { propagationPolicy: 'Background' });
  assert.equal(one.cluster.objects.count(replicaSets.type.storage), 0);
  assert.equal(one.cluster.objects.count(pods.type.storage), 0);
});

test('an owner deleted in the foreground waits for dependents that block it', async (t) => {
  const one = await controlled(t);
  const owner = await map(one, 'owner');
  await one.hands.create(configMaps, 'default', {
    metadata: {
      name: 'blocks',
      finalizers: ['example.com/hold'],
      ownerReferences: [reference(owner, { blockOwnerDeletion: true })],
    },
  });
  await map(one, 'does-not', [reference(owner)]);
  await one.remove(configMaps, 'default', 'owner', { propagationPolicy: 'Foreground' });
  assert.deepEqual(one.read(configMaps, 'default', 'owner').metadata.finalizers, ['foregroundDeletion']);
  assert.ok(one.read(configMaps, 'default', 'blocks').metadata.deletionTimestamp);
  await one.change(configMaps, 'default', 'blocks', (object) => {
    delete object.metadata.finalizers;
  });
  assert.deepEqual(
    ['owner', 'blocks', 'does-not'].map((name) => there(one, name)),
    [false, false, false],
  );
});

test('orphans stay, and forget their owner', async (t) => {
  const one = await controlled(t);
  const owner = await map(one, 'owner');
  await map(one, 'child', [reference(owner)]);
  await one.remove(configMaps, 'default', 'owner', { propagationPolicy: 'Orphan' });
  assert.ok(!there(one, 'owner'));
  assert.equal(one.read(configMaps, 'default', 'child').metadata.ownerReferences, undefined);
});

test('what names an owner that is not there is collected', async (t) => {
  const one = await controlled(t);
  await map(one, 'child', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'never-was' }]);
  assert.ok(!there(one, 'child'));
});

test('one owner that is left keeps an object, which forgets the others', async (t) => {
  const one = await controlled(t);
  const [first, second] = [await map(one, 'first'), await map(one, 'second')];
  await map(one, 'child', [reference(first), reference(second)]);
  await one.remove(configMaps, 'default', 'first');
  assert.deepEqual(
    one.read(configMaps, 'default', 'child').metadata.ownerReferences?.map(({ name }) => name),
    ['second'],
  );
});

test('an owner in another namespace is none, and that is told', async (t) => {
  const one = await controlled(t);
  await one.create(namespaces, '', { metadata: { name: 'shop' } });
  const owner = await map(one, 'owner', [], 'shop');
  await map(one, 'child', [reference(owner)]);
  assert.ok(!there(one, 'child'));
  const told = one.hands.list(events, 'default').find(({ reason }) => reason === 'OwnerRefInvalidNamespace');
  assert.equal(
    told?.message,
    `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
  );
});

test('an object of the cluster cannot be owned from a namespace, and stays', async (t) => {
  const one = await controlled(t);
  const owner = await map(one, 'owner');
  await one.create(storageClasses, '', {
    metadata: { name: 'owned', ownerReferences: [reference(owner)] },
    provisioner: 'example.com/disk',
  });
  assert.ok(one.hands.get(storageClasses, '', 'owned'));
  assert.ok(one.hands.list(events, 'default').some(({ reason }) => reason === 'OwnerRefInvalidNamespace'));
});

test('owners in a circle go together, even in the foreground', async (t) => {
  const one = await controlled(t);
  const first = await map(one, 'first');
  const second = await map(one, 'second', [reference(first, { blockOwnerDeletion: true })]);
  await one.change(configMaps, 'default', 'first', (object) => {
    object.metadata.ownerReferences = [reference(second, { blockOwnerDeletion: true })];
  });
  assert.ok(there(one, 'first') && there(one, 'second'));
  await one.remove(configMaps, 'default', 'first', { propagationPolicy: 'Foreground' });
  assert.deepEqual(
    ['first', 'second'].map((name) => there(one, name)),
    [false, false],
  );
});
