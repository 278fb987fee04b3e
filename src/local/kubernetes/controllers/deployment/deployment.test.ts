import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments, events, pods, replicaSets } from '../kinds.ts';
import { conditionOf, isActive } from '../pods.ts';
import type { Deployment } from '../shapes.ts';
import { type Controlled, controlled, deploymentOf } from '../testing/controlled.ts';

const setsOf = ({ hands }: Controlled) =>
  hands.list(replicaSets, 'default').sort((one, other) => revision(one) - revision(other));
const revision = ({ metadata }: { metadata: { annotations?: Record<string, string> } }): number =>
  Number(metadata.annotations?.['deployment.kubernetes.io/revision']);
const sizes = (one: Controlled): number[] => setsOf(one).map(({ spec }) => spec.replicas ?? 0);
const setImage =
  (image: string) =>
  (deployment: Deployment): void => {
    const [container] = deployment.spec.template.spec.containers ?? [];
    if (container) container.image = image;
  };

test('a deployment becomes a replica set, and that becomes running pods', async (t) => {
  const one = await controlled(t, { nodes: ['a', 'b'] });
  await one.create(deployments, 'default', deploymentOf('web', 3));
  const deployment = one.read(deployments, 'default', 'web');
  assert.equal(deployment.metadata.generation, 1);
  assert.equal(deployment.metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
  const { conditions, ...counts } = deployment.status ?? {};
  assert.deepEqual(counts, {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
  });
  assert.equal(conditionOf(conditions, 'Available')?.reason, 'MinimumReplicasAvailable');
  const progressing = conditionOf(conditions, 'Progressing');
  assert.equal(progressing?.reason, 'NewReplicaSetAvailable');
  const [set] = setsOf(one);
  assert.equal(progressing?.message, `ReplicaSet "${set?.metadata.name}" has successfully progressed.`);
  assert.deepEqual(
    { ...set?.metadata.annotations },
    {
      'deployment.kubernetes.io/desired-replicas': '3',
      'deployment.kubernetes.io/max-replicas': '4',
      'deployment.kubernetes.io/revision': '1',
    },
  );
  assert.deepEqual(set?.status, {
    replicas: 3,
    fullyLabeledReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    observedGeneration: 1,
  });
  assert.deepEqual(
    deployment.metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource]).sort(),
    [
      ['kube-controller-manager', 'status'],
      ['kubectl', undefined],
    ],
  );
});

test('a changed template rolls from the old replica set to a new one', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 4));
  await one.change(deployments, 'default', 'web', setImage('registry.local/web:2'));
  assert.deepEqual(sizes(one), [0, 4]);
  const running = one.hands.list(pods, 'default').filter(isActive);
  assert.deepEqual(
    running.map(({ spec }) => spec.containers?.[0]?.image),
    Array.from({ length: 4 }, () => 'registry.local/web:2'),
  );
  assert.equal(
    one.read(deployments, 'default', 'web').metadata.annotations?.['deployment.kubernetes.io/revision'],
    '2',
  );
});

test('a rolling update keeps to surge and availability when new pods never become ready', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 4));
  await one.change(deployments, 'default', 'web', (deployment) => {
    setImage('registry.local/web:broken')(deployment);
    deployment.spec.template.metadata.annotations = { 'simulation.kubernetes.local/outcome': 'never-ready' };
  });
  // A quarter may be missing, a quarter may be over.
  assert.deepEqual(sizes(one), [3, 2]);
  const { status } = one.read(deployments, 'default', 'web');
  assert.equal(status?.availableReplicas, 3);
  assert.equal(status?.unavailableReplicas, 2);
  await one.pass(602);
  const stuck = conditionOf(one.read(deployments, 'default', 'web').status?.conditions, 'Progressing');
  assert.equal(stuck?.status, 'False');
  assert.equal(stuck?.reason, 'ProgressDeadlineExceeded');
});

test('going back to an earlier template takes its replica set up again under a new revision', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 2));
  const [first] = setsOf(one);
  await one.change(deployments, 'default', 'web', setImage('registry.local/web:2'));
  await one.change(deployments, 'default', 'web', setImage('registry.local/web:1'));
  const newest = setsOf(one).at(-1);
  assert.equal(newest?.metadata.uid, first?.metadata.uid);
  assert.equal(newest?.metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
  assert.equal(newest?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1');
  assert.deepEqual(sizes(one), [0, 2]);
});

test('Recreate ends every old pod before the first new one', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 2, { strategy: { type: 'Recreate' } }));
  const seen: string[][] = [];
  const unsubscribe = one.cluster.objects.watchAll(({ entry }) => {
    if (entry.type !== '/pods') return;
    const images = one.hands.list(pods, 'default').map(({ spec }) => spec.containers?.[0]?.image ?? '');
    seen.push([...new Set(images)]);
  });
  await one.change(deployments, 'default', 'web', setImage('registry.local/web:2'));
  unsubscribe();
  assert.deepEqual(sizes(one), [0, 2]);
  assert.ok(seen.length > 0);
  assert.deepEqual(
    seen.filter((images) => images.length > 1),
    [],
  );
});

test('a paused deployment scales but does not roll', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 2));
  await one.change(deployments, 'default', 'web', (deployment) => {
    deployment.spec.paused = true;
    setImage('registry.local/web:2')(deployment);
  });
  assert.equal(
    conditionOf(one.read(deployments, 'default', 'web').status?.conditions, 'Progressing')?.reason,
    'DeploymentPaused',
  );
  assert.deepEqual(sizes(one), [2]);
  await one.change(deployments, 'default', 'web', (deployment) => {
    deployment.spec.replicas = 5;
  });
  assert.deepEqual(sizes(one), [5]);
  await one.change(deployments, 'default', 'web', (deployment) => {
    deployment.spec.paused = false;
  });
  assert.deepEqual(sizes(one), [0, 5]);
});

test('old replica sets beyond the history are forgotten', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 1, { revisionHistoryLimit: 1 }));
  for (const version of [2, 3, 4]) {
    await one.change(deployments, 'default', 'web', setImage(`registry.local/web:${version}`));
  }
  assert.deepEqual(setsOf(one).map(revision), [3, 4]);
});

test('scaling is told in events, and takes pods away again', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 3));
  await one.change(deployments, 'default', 'web', (deployment) => {
    deployment.spec.replicas = 1;
  });
  assert.equal(one.hands.list(pods, 'default').length, 1);
  const name = setsOf(one)[0]?.metadata.name;
  const told = one.hands.list(events, 'default').filter(({ reason }) => reason === 'ScalingReplicaSet');
  assert.deepEqual(told.map(({ message }) => message).sort(), [
    `Scaled down replica set ${name} from 3 to 1`,
    `Scaled up replica set ${name} from 0 to 3`,
  ]);
});
