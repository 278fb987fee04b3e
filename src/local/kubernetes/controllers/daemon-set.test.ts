import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addNode } from '../kubelet/add-node.ts';
import { daemonSets, nodes, pods } from './kinds.ts';
import { type Controlled, controlled, template } from './testing/controlled.ts';

const daemon = (more: Record<string, unknown> = {}) => ({
  metadata: { name: 'agent' },
  spec: { selector: { matchLabels: { app: 'agent' } }, template: template({ app: 'agent' }, more) },
});

const places = ({ hands }: Controlled): string[] =>
  hands
    .list(pods, 'default')
    .map(({ spec }) => spec.nodeName ?? '')
    .sort();

test('one pod runs on every node that fits, as nodes come and go', async (t) => {
  const one = await controlled(t, {
    nodes: ['a', 'b', { name: 'tainted', taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] }],
  });
  await one.create(daemonSets, 'default', daemon());
  assert.deepEqual(places(one), ['a', 'b']);
  await addNode(one.cluster, { name: 'c' });
  await one.settle();
  assert.deepEqual(places(one), ['a', 'b', 'c']);
  await one.change(nodes, '', 'a', ({ spec }) => {
    spec.unschedulable = true;
  });
  assert.deepEqual(places(one), ['a', 'b', 'c'], 'daemons bear a cordon');
  await one.remove(nodes, '', 'c');
  await one.pass(41);
  assert.deepEqual(places(one), ['a', 'b']);
  assert.deepEqual(one.read(daemonSets, 'default', 'agent').status, {
    currentNumberScheduled: 2,
    numberMisscheduled: 0,
    desiredNumberScheduled: 2,
    numberReady: 2,
    observedGeneration: 1,
    updatedNumberScheduled: 2,
    numberAvailable: 2,
  });
});

test('a node selector chooses the nodes, and a label that goes takes the pod away', async (t) => {
  const one = await controlled(t, { nodes: [{ name: 'a', labels: { disk: 'ssd' } }, 'b'] });
  await one.create(daemonSets, 'default', daemon({ nodeSelector: { disk: 'ssd' } }));
  assert.deepEqual(places(one), ['a']);
  await one.change(nodes, '', 'a', ({ metadata }) => {
    delete metadata.labels?.disk;
  });
  assert.deepEqual(places(one), []);
});

test('a changed template replaces one pod at a time', async (t) => {
  const one = await controlled(t, { nodes: ['a', 'b', 'c'] });
  await one.create(daemonSets, 'default', daemon());
  let least = 3;
  const unsubscribe = one.cluster.objects.watchAll(({ entry }) => {
    if (entry.type !== '/pods') return;
    least = Math.min(least, one.hands.list(pods, 'default').filter(({ status }) => status?.phase === 'Running').length);
  });
  await one.change(daemonSets, 'default', 'agent', ({ spec }) => {
    const [container] = spec.template.spec.containers ?? [];
    if (container) container.image = 'registry.local/agent:2';
  });
  unsubscribe();
  assert.equal(least, 2);
  assert.equal(one.read(daemonSets, 'default', 'agent').status?.updatedNumberScheduled, 3);
});
