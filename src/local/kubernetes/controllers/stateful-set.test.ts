import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claims, controllerRevisions, pods, statefulSets, storageClasses, volumes } from './kinds.ts';
import type { StatefulSet } from './shapes.ts';
import { type Controlled, controlled, template } from './testing/controlled.ts';

const setOf = (replicas: number, more: Record<string, unknown> = {}) => ({
  metadata: { name: 'db' },
  spec: {
    replicas,
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: template({ app: 'db' }),
    ...more,
  },
});

const names = ({ hands }: Controlled): string[] =>
  hands.list(pods, 'default').map(({ metadata }) => metadata.name ?? '');
const images = ({ hands }: Controlled): (string | undefined)[] =>
  hands.list(pods, 'default').map(({ spec }) => spec.containers?.[0]?.image);
const setImage =
  (image: string) =>
  ({ spec }: StatefulSet): void => {
    const [container] = spec.template.spec.containers ?? [];
    if (container) container.image = image;
  };

test('pods come in order, each when the one before is ready, and go from the end', async (t) => {
  const one = await controlled(t, { nodes: ['a'], kubelet: { pace: 'demo', random: () => 0 } });
  await one.create(statefulSets, 'default', setOf(3));
  const seen: string[] = [];
  for (let passed = 0; passed < 8; passed += 1) {
    const text = names(one).join(' ');
    if (seen.at(-1) !== text) seen.push(text);
    await one.pass(1);
  }
  assert.deepEqual(seen, ['db-0', 'db-0 db-1', 'db-0 db-1 db-2']);
  const [first] = one.hands.list(pods, 'default');
  assert.equal(first?.spec.hostname, 'db-0');
  assert.equal(first?.spec.subdomain, 'db');
  assert.equal(first?.metadata.labels?.['statefulset.kubernetes.io/pod-name'], 'db-0');
  await one.change(statefulSets, 'default', 'db', ({ spec }) => {
    spec.replicas = 1;
  });
  await one.pass(1);
  assert.deepEqual(names(one), ['db-0', 'db-1']);
  await one.pass(3);
  assert.deepEqual(names(one), ['db-0']);
});

test('a changed template replaces pods from the end, down to the partition', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(
    statefulSets,
    'default',
    setOf(3, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }),
  );
  const before = one.read(statefulSets, 'default', 'db').status;
  assert.equal(before?.currentRevision, before?.updateRevision);
  await one.change(statefulSets, 'default', 'db', setImage('registry.local/db:2'));
  assert.deepEqual(images(one), ['registry.local/web:1', 'registry.local/web:1', 'registry.local/db:2']);
  const during = one.read(statefulSets, 'default', 'db').status;
  assert.equal(during?.currentRevision, before?.currentRevision);
  assert.deepEqual([during?.currentReplicas, during?.updatedReplicas], [2, 1]);
  await one.change(statefulSets, 'default', 'db', ({ spec }) => {
    spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 0 } };
  });
  assert.deepEqual(
    images(one),
    Array.from({ length: 3 }, () => 'registry.local/db:2'),
  );
  const { status } = one.read(statefulSets, 'default', 'db');
  assert.equal(status?.currentRevision, status?.updateRevision);
  assert.deepEqual([status?.readyReplicas, status?.updatedReplicas, status?.currentReplicas], [3, 3, 3]);
  assert.equal(one.cluster.objects.count(controllerRevisions.type.storage), 2);
});

test('each pod has claims of its own, which stay with its name', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(storageClasses, '', { metadata: { name: 'disk' }, provisioner: 'disk.example.com' });
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'disk', resources: { requests: { storage: '1Gi' } } },
  };
  await one.create(statefulSets, 'default', setOf(2, { volumeClaimTemplates: [claim] }));
  await one.pass(5);
  const found = one.hands.list(claims, 'default');
  assert.deepEqual(
    found.map(({ metadata, status }) => [metadata.name, status?.phase]),
    [
      ['data-db-0', 'Bound'],
      ['data-db-1', 'Bound'],
    ],
  );
  assert.equal(one.cluster.objects.count(volumes.type.storage), 2);
  assert.equal(one.read(statefulSets, 'default', 'db').status?.readyReplicas, 2);
  const { uid } = found[0]?.metadata ?? {};
  await one.remove(pods, 'default', 'db-0');
  await one.pass(2);
  assert.equal(one.read(claims, 'default', 'data-db-0').metadata.uid, uid);
  assert.equal(
    one
      .read(pods, 'default', 'db-0')
      .spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === 'data-db-0'),
    true,
  );
});
