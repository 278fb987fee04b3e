import assert from 'node:assert/strict';
import { test } from 'node:test';
import { events, leases, nodes, pods } from '../controllers/kinds.ts';
import { conditionOf } from '../controllers/pods.ts';
import type { Pod } from '../controllers/shapes.ts';
import { type Controlled, controlled, template } from '../controllers/testing/controlled.ts';
import { annotations } from './stage.ts';

const pod = async (
  one: Controlled,
  name: string,
  spec: Record<string, unknown> = {},
  outcome?: string,
): Promise<Pod> => {
  await one.create(pods, 'default', {
    metadata: { name, ...(outcome ? { annotations: { [annotations.outcome]: outcome } } : {}) },
    spec: { ...template({}).spec, ...spec },
  });
  return one.read(pods, 'default', name);
};

const stateOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state ?? {};

test('a node gets a lease, addresses, capacity and Ready', async (t) => {
  const one = await controlled(t);
  await one.create(nodes, '', { metadata: { name: 'a' } });
  const { status, spec } = one.read(nodes, '', 'a');
  assert.equal(conditionOf(status.conditions, 'Ready')?.reason, 'KubeletReady');
  assert.ok(status.allocatable?.cpu && status.addresses?.length);
  assert.equal(spec.taints, undefined);
  const lease = one.read(leases, 'kube-node-lease', 'a');
  assert.equal(lease.spec.holderIdentity, 'a');
  const before = lease.spec.renewTime ?? '';
  await one.pass(301);
  assert.ok((one.read(leases, 'kube-node-lease', 'a').spec.renewTime ?? '') > before);
});

test('a pod runs, is ready, and has what a kubelet reports', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  const { status } = await pod(one, 'web');
  assert.equal(status?.phase, 'Running');
  assert.match(status?.podIP ?? '', /^10\.\d+\.\d+\.\d+$/);
  assert.equal(status?.hostIP, one.read(nodes, '', 'a').status.addresses?.[0]?.address);
  assert.deepEqual(status?.conditions?.map(({ type, status: value }) => [type, value]).sort(), [
    ['ContainersReady', 'True'],
    ['Initialized', 'True'],
    ['PodReadyToStartContainers', 'True'],
    ['PodScheduled', 'True'],
    ['Ready', 'True'],
  ]);
  const [container] = status?.containerStatuses ?? [];
  assert.ok(container?.ready && container.started && container.imageID && container.state?.running?.startedAt);
  const told = one.hands.list(events, 'default').map(({ reason }) => reason);
  assert.deepEqual(told.sort(), ['Created', 'Pulled', 'Scheduled', 'Started']);
});

test('addresses of pods are their own', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  const found = new Set<string>();
  for (let count = 0; count < 20; count += 1) found.add((await pod(one, `web-${count}`)).status?.podIP ?? '');
  assert.equal(found.size, 20);
});

test('at the pace of a demo, stages take their time', async (t) => {
  const one = await controlled(t, { nodes: ['a'], kubelet: { pace: 'demo', random: () => 0.5 } });
  await pod(one, 'web');
  await one.pass(1);
  const creating = one.read(pods, 'default', 'web');
  assert.equal(creating.status?.phase, 'Pending');
  assert.equal(stateOf(creating).waiting?.reason, 'ContainerCreating');
  await one.pass(3);
  assert.equal(one.read(pods, 'default', 'web').status?.phase, 'Running');
  await one.remove(pods, 'default', 'web');
  assert.ok(one.read(pods, 'default', 'web').metadata.deletionTimestamp);
  await one.pass(3);
  assert.equal(one.hands.get(pods, 'default', 'web'), undefined);
});

test('init containers run one after the other, before the others', async (t) => {
  const one = await controlled(t, { nodes: ['a'], kubelet: { pace: 'demo', random: () => 0 } });
  const image = 'registry.local/init:1';
  await pod(one, 'web', {
    initContainers: [
      { name: 'first', image },
      { name: 'second', image },
    ],
  });
  const seen: string[] = [];
  const look = (): void => {
    const { status } = one.read(pods, 'default', 'web');
    const states = (status?.initContainerStatuses ?? []).map(({ state }) => Object.keys(state ?? {})[0]);
    const text = [...states, Object.keys(stateOf(one.read(pods, 'default', 'web')))[0]].join(' ');
    if (seen.at(-1) !== text) seen.push(text);
  };
  for (let passed = 0; passed < 10; passed += 1) {
    look();
    await one.pass(1);
  }
  assert.deepEqual(seen, [
    'waiting waiting waiting',
    'running waiting waiting',
    'terminated waiting waiting',
    'terminated running waiting',
    'terminated terminated waiting',
    'terminated terminated running',
  ]);
});

test('a pod that is told to crash restarts with growing pauses', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await pod(one, 'web', {}, 'crash');
  await one.pass(3);
  const crashed = one.read(pods, 'default', 'web');
  assert.equal(stateOf(crashed).waiting?.reason, 'CrashLoopBackOff');
  assert.equal(crashed.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 1);
  assert.equal(conditionOf(crashed.status?.conditions, 'Ready')?.status, 'False');
  await one.pass(14);
  assert.equal(one.read(pods, 'default', 'web').status?.containerStatuses?.[0]?.restartCount, 1);
  await one.pass(15);
  assert.equal(one.read(pods, 'default', 'web').status?.containerStatuses?.[0]?.restartCount, 1);
});

test('pods fail, complete, are evicted or find no image, as told', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  const failed = await pod(one, 'fails', { restartPolicy: 'Never' }, 'fail');
  assert.equal(failed.status?.phase, 'Failed');
  assert.equal(stateOf(failed).terminated?.reason, 'Error');
  const completed = await pod(one, 'completes', { restartPolicy: 'Never' }, 'complete');
  assert.equal(completed.status?.phase, 'Succeeded');
  const evicted = await pod(one, 'evicted', {}, 'evict');
  assert.deepEqual([evicted.status?.phase, evicted.status?.reason], ['Failed', 'Evicted']);
  const pulling = await pod(one, 'no-image', {}, 'image-pull-error');
  assert.equal(stateOf(pulling).waiting?.reason, 'ImagePullBackOff');
  assert.equal(pulling.status?.phase, 'Pending');
  const unready = await pod(one, 'never-ready', {}, 'never-ready');
  assert.equal(unready.status?.phase, 'Running');
  assert.equal(conditionOf(unready.status?.conditions, 'Ready')?.reason, 'ContainersNotReady');
});

test('readiness gates hold Ready back, and only that', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  const gated = await pod(one, 'web', { readinessGates: [{ conditionType: 'example.com/in-service' }] });
  assert.equal(conditionOf(gated.status?.conditions, 'ContainersReady')?.status, 'True');
  assert.equal(conditionOf(gated.status?.conditions, 'Ready')?.reason, 'ReadinessGatesNotReady');
  await one.change(
    pods,
    'default',
    'web',
    ({ status }) => {
      status?.conditions?.push({ type: 'example.com/in-service', status: 'True' });
    },
    'status',
  );
  assert.equal(conditionOf(one.read(pods, 'default', 'web').status?.conditions, 'Ready')?.status, 'True');
});

test('stages given in configuration come before the usual ones', async (t) => {
  const one = await controlled(t, {
    nodes: ['a'],
    kubelet: {
      pace: 'instant',
      stages: [
        {
          name: 'flaky',
          match: { at: ['running'], labels: { flaky: 'yes' } },
          delay: { ms: 0 },
          next: { outcome: 'failed', events: [{ type: 'Warning', reason: 'Flaked', message: 'It did again' }] },
        },
      ],
    },
  });
  await one.create(pods, 'default', { metadata: { name: 'web', labels: { flaky: 'yes' } }, spec: template({}).spec });
  assert.equal(one.read(pods, 'default', 'web').status?.phase, 'Failed');
  assert.ok(one.hands.list(events, 'default').some(({ reason }) => reason === 'Flaked'));
});
