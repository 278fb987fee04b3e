import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations } from '../kubelet/stage.ts';
import { deployments, nodes, pods } from './kinds.ts';
import { conditionOf, isReady } from './pods.ts';
import { controlled, deploymentOf } from './testing/controlled.ts';

const kubelet = { pace: 'instant', renewSeconds: 10 } as const;

test('a node that falls silent is marked, and its pods move when their patience ends', async (t) => {
  const one = await controlled(t, { nodes: ['a', 'b'], kubelet });
  await one.create(deployments, 'default', deploymentOf('web', 2));
  await one.change(nodes, '', 'a', ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, [annotations.kubelet]: 'stopped' };
  });
  await one.pass(40);
  assert.equal(conditionOf(one.read(nodes, '', 'a').status.conditions, 'Ready')?.status, 'True');
  await one.pass(20);
  const lost = one.read(nodes, '', 'a');
  assert.equal(conditionOf(lost.status.conditions, 'Ready')?.message, 'Kubelet stopped posting node status.');
  assert.deepEqual(
    lost.spec.taints?.map(({ key, effect }) => `${key}:${effect}`),
    ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute'],
  );
  const stranded = one.hands.list(pods, 'default').find(({ spec }) => spec.nodeName === 'a');
  assert.ok(stranded && !isReady(stranded));
  assert.equal(stranded.metadata.deletionTimestamp, undefined);
  await one.pass(301);
  const running = one.hands.list(pods, 'default').filter(({ metadata }) => !metadata.deletionTimestamp);
  assert.deepEqual(
    running.map(({ spec }) => spec.nodeName),
    ['b', 'b'],
  );

  await one.change(nodes, '', 'a', ({ metadata }) => {
    delete metadata.annotations?.[annotations.kubelet];
  });
  await one.pass(2);
  const back = one.read(nodes, '', 'a');
  assert.equal(conditionOf(back.status.conditions, 'Ready')?.status, 'True');
  assert.equal(back.spec.taints, undefined);
});

test('a cordoned node has a taint for as long as it is', async (t) => {
  const one = await controlled(t, { nodes: ['a'], kubelet });
  const cordon = (unschedulable: boolean) =>
    one.change(nodes, '', 'a', ({ spec }) => {
      spec.unschedulable = unschedulable;
    });
  await cordon(true);
  assert.deepEqual(
    one.read(nodes, '', 'a').spec.taints?.map(({ key }) => key),
    ['node.kubernetes.io/unschedulable'],
  );
  await cordon(false);
  assert.equal(one.read(nodes, '', 'a').spec.taints, undefined);
});

test('pods of a node that is gone are collected', async (t) => {
  const one = await controlled(t, { nodes: ['a', 'b'], kubelet });
  await one.create(deployments, 'default', deploymentOf('web', 2));
  await one.remove(nodes, '', 'a');
  await one.pass(41);
  const running = one.hands.list(pods, 'default');
  assert.deepEqual(
    running.map(({ spec }) => spec.nodeName),
    ['b', 'b'],
  );
});
