import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments, events, nodes, pods } from '../kinds.ts';
import { conditionOf } from '../pods.ts';
import { type Controlled, controlled, deploymentOf, template } from '../testing/controlled.ts';

const pod = async (
  one: Controlled,
  name: string,
  spec: Record<string, unknown> = {},
  labels: Record<string, string> = {},
) => {
  await one.create(pods, 'default', { metadata: { name, labels }, spec: { ...template({}).spec, ...spec } });
  return one.read(pods, 'default', name);
};

const asking = (requests: Record<string, string>) => ({
  containers: [{ name: 'main', image: 'registry.local/web:1', resources: { requests } }],
});

const reasonOf = ({ status }: Awaited<ReturnType<typeof pod>>): string | undefined =>
  conditionOf(status?.conditions, 'PodScheduled')?.message;

test('pods of a set spread over nodes', async (t) => {
  const one = await controlled(t, { nodes: ['a', 'b', 'c'] });
  await one.create(deployments, 'default', deploymentOf('web', 6));
  const counts = new Map<string, number>();
  for (const { spec } of one.hands.list(pods, 'default'))
    counts.set(spec.nodeName ?? '', (counts.get(spec.nodeName ?? '') ?? 0) + 1);
  assert.deepEqual([...counts].sort(), [
    ['a', 2],
    ['b', 2],
    ['c', 2],
  ]);
});

test('a bound pod says so, without a field manager for it', async (t) => {
  const one = await controlled(t, { nodes: ['a'], kubelet: false });
  const bound = await pod(one, 'web');
  assert.equal(bound.spec.nodeName, undefined);
  await one.change(
    nodes,
    '',
    'a',
    (node) => {
      node.status = {
        ...node.status,
        allocatable: { cpu: '1', memory: '1Gi', pods: '10' },
        conditions: [{ type: 'Ready', status: 'True' }],
      };
    },
    'status',
  );
  const now = one.read(pods, 'default', 'web');
  assert.equal(now.spec.nodeName, 'a');
  assert.equal(conditionOf(now.status?.conditions, 'PodScheduled')?.status, 'True');
  assert.equal(now.metadata.generation, 1);
});

test('without nodes a pod waits, and is placed when one comes', async (t) => {
  const one = await controlled(t);
  const waiting = await pod(one, 'web');
  assert.equal(reasonOf(waiting), 'no nodes available to schedule pods');
  const [told] = one.hands.list(events, 'default').filter(({ reason }) => reason === 'FailedScheduling');
  assert.equal(told?.message, 'no nodes available to schedule pods');
  await one.create(nodes, '', { metadata: { name: 'late' } });
  assert.equal(one.read(pods, 'default', 'web').spec.nodeName, 'late');
});

test('selectors, taints, cordons and requests keep pods off nodes, in the words of the scheduler', async (t) => {
  const one = await controlled(t, {
    nodes: [
      { name: 'small', capacity: { cpu: '1', memory: '1Gi', pods: '10' } },
      { name: 'tainted', taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] },
      { name: 'cordoned' },
    ],
  });
  await one.change(nodes, '', 'cordoned', (node) => {
    node.spec.unschedulable = true;
  });
  const refused = await pod(one, 'large', asking({ cpu: '2' }));
  assert.equal(
    reasonOf(refused),
    '0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
  );
  const tolerant = await pod(one, 'tolerant', {
    ...asking({ cpu: '2' }),
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' }],
  });
  assert.equal(tolerant.spec.nodeName, 'tainted');
  const picky = await pod(one, 'picky', { nodeSelector: { zone: 'west' } });
  assert.match(reasonOf(picky) ?? '', /1 node\(s\) didn't match Pod's node affinity\/selector/);
  await one.change(nodes, '', 'small', (node) => {
    node.metadata.labels = { ...node.metadata.labels, zone: 'west' };
  });
  assert.equal(one.read(pods, 'default', 'picky').spec.nodeName, 'small');
});

test('what a pod asked for is free again when it has gone', async (t) => {
  const one = await controlled(t, { nodes: [{ name: 'a', capacity: { cpu: '2', memory: '4Gi', pods: '10' } }] });
  await pod(one, 'first', asking({ cpu: '1500m' }));
  const second = await pod(one, 'second', asking({ cpu: '1' }));
  assert.match(reasonOf(second) ?? '', /1 Insufficient cpu.*1 No preemption victims found for incoming pod/);
  await one.remove(pods, 'default', 'first');
  assert.equal(one.read(pods, 'default', 'second').spec.nodeName, 'a');
});

test('required affinity and anti-affinity are kept', async (t) => {
  const one = await controlled(t, { nodes: ['a', 'b'] });
  const apart = {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'kubernetes.io/hostname' },
        ],
      },
    },
  };
  const placed = [];
  for (const name of ['one', 'two', 'three']) placed.push(await pod(one, name, apart, { app: 'db' }));
  assert.deepEqual(
    placed
      .slice(0, 2)
      .map(({ spec }) => spec.nodeName)
      .sort(),
    ['a', 'b'],
  );
  assert.match(placed[2] ? (reasonOf(placed[2]) ?? '') : '', /2 node\(s\) didn't match pod anti-affinity rules/);
  const chosen = await pod(one, 'chosen', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] }] }],
        },
      },
    },
  });
  assert.equal(chosen.spec.nodeName, 'b');
});

test('the more important of two pods is placed first', async (t) => {
  const one = await controlled(t);
  await pod(one, 'usual', asking({ cpu: '1' }));
  await pod(one, 'critical', { ...asking({ cpu: '1' }), priorityClassName: 'system-cluster-critical' });
  await one.create(nodes, '', {
    metadata: { name: 'a' },
    status: { capacity: { cpu: '1', memory: '1Gi', pods: '10' } },
  });
  assert.equal(one.read(pods, 'default', 'critical').spec.nodeName, 'a');
  assert.equal(one.read(pods, 'default', 'usual').spec.nodeName, undefined);
});

test('a gated pod waits for its gates', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  const gated = await pod(one, 'gated', { schedulingGates: [{ name: 'example.com/wait' }] });
  assert.equal(conditionOf(gated.status?.conditions, 'PodScheduled')?.reason, 'SchedulingGated');
  await one.change(pods, 'default', 'gated', ({ spec }) => {
    delete spec.schedulingGates;
  });
  assert.equal(one.read(pods, 'default', 'gated').spec.nodeName, 'a');
});

test('a pod that waits for others to end does not push further ones away', async (t) => {
  const one = await controlled(t, { nodes: [{ name: 'a', capacity: { cpu: '2', memory: '4Gi', pods: '10' } }] });
  const held = { metadata: { name: 'held', finalizers: ['example.com/held'] } };
  await one.create(pods, 'default', { ...held, spec: { ...template({}).spec, ...asking({ cpu: '2' }) } });
  const critical = { ...asking({ cpu: '2' }), priorityClassName: 'system-cluster-critical' };
  const waiting = await pod(one, 'critical', critical);
  assert.equal(waiting.status?.nominatedNodeName, 'a');
  assert.ok(one.read(pods, 'default', 'held').metadata.deletionTimestamp);
  const preempted = (): number =>
    one.hands.list(events, 'default').filter(({ reason }) => reason === 'Preempted').length;
  assert.equal(preempted(), 1);
  await one.change(nodes, '', 'a', ({ metadata }) => {
    metadata.labels = { ...metadata.labels, touched: 'yes' };
  });
  assert.equal(preempted(), 1);
  await one.change(pods, 'default', 'held', ({ metadata }) => {
    metadata.finalizers = [];
  });
  assert.equal(one.read(pods, 'default', 'critical').spec.nodeName, 'a');
});
