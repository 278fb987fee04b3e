import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claims, events, pods, storageClasses, volumes } from './kinds.ts';
import { controlled } from './testing/controlled.ts';

const claim = (name: string, storage: string, storageClassName = '') => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } },
});
const volume = (name: string, storage: string, more: Record<string, unknown> = {}) => ({
  metadata: { name },
  spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' }, ...more },
});
const user = (name: string) => ({
  metadata: { name: 'user' },
  spec: {
    containers: [{ name: 'main', image: 'registry.local/db:1' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
  },
});

test('a claim takes the smallest volume that fits, and gives it back', async (t) => {
  const one = await controlled(t);
  await one.create(volumes, '', volume('large', '10Gi'));
  await one.create(volumes, '', volume('fits', '2Gi'));
  await one.create(volumes, '', volume('small', '1Gi'));
  assert.equal(one.read(volumes, '', 'fits').status?.phase, 'Available');
  await one.create(claims, 'default', claim('data', '2Gi'));
  assert.equal(one.read(claims, 'default', 'data').spec.volumeName, 'fits');
  assert.equal(one.read(claims, 'default', 'data').status?.phase, 'Bound');
  assert.equal(one.read(volumes, '', 'fits').status?.phase, 'Bound');
  await one.remove(claims, 'default', 'data');
  assert.equal(one.read(volumes, '', 'fits').status?.phase, 'Released');
});

test('a class makes volumes for claims, and removes them with the claim', async (t) => {
  const one = await controlled(t);
  await one.create(claims, 'default', claim('data', '3Gi', 'disk'));
  assert.equal(one.read(claims, 'default', 'data').status?.phase, 'Pending');
  assert.ok(
    one.hands.list(events, 'default').some(({ message }) => message === 'storageclass.storage.k8s.io "disk" not found'),
  );
  await one.create(storageClasses, '', { metadata: { name: 'disk' }, provisioner: 'disk.example.com' });
  const bound = one.read(claims, 'default', 'data');
  assert.equal(bound.status?.phase, 'Bound');
  assert.equal(bound.spec.volumeName, `pvc-${bound.metadata.uid}`);
  await one.remove(claims, 'default', 'data');
  assert.equal(one.cluster.objects.count(volumes.type.storage), 0);
});

test('a claim that waits for its first consumer is bound when a pod is placed, and stays while it is used', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(storageClasses, '', {
    metadata: { name: 'disk' },
    provisioner: 'disk.example.com',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await one.create(claims, 'default', claim('data', '1Gi', 'disk'));
  assert.equal(one.read(claims, 'default', 'data').status?.phase, 'Pending');
  await one.create(pods, 'default', user('data'));
  await one.pass(2);
  assert.equal(one.read(claims, 'default', 'data').status?.phase, 'Bound');
  assert.equal(one.read(pods, 'default', 'user').status?.phase, 'Running');
  await one.remove(claims, 'default', 'data');
  assert.ok(one.read(claims, 'default', 'data').metadata.deletionTimestamp);
  await one.remove(pods, 'default', 'user');
  assert.equal(one.hands.get(claims, 'default', 'data'), undefined);
});
