// Holds the scheduler of embedded clusters to what a real kube-scheduler was recorded to do; record-scheduling.ts renews it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { claims, nodes, pods } from '../../../src/local/kubernetes/controllers/kinds.ts';
import { controlled } from '../../../src/local/kubernetes/controllers/testing/controlled.ts';
import {
  bodyOf,
  capacityOf,
  claimBodyOf,
  labelsOf,
  recordedOutcomes,
  type Scheduled,
  type SchedulingCase,
  schedulingCases,
} from './scheduling-cases.ts';

type Body = Parameters<Awaited<ReturnType<typeof controlled>>['create']>[2];

async function outcome(t: TestContext, one: SchedulingCase): Promise<Scheduled> {
  const cluster = await controlled(t, {
    nodes: one.nodes.map(({ taints, ...node }) => ({
      name: node.name,
      labels: labelsOf(node),
      capacity: capacityOf(node),
      ...(taints ? { taints } : {}),
    })),
  });
  for (const { name, unschedulable } of one.nodes) {
    if (!unschedulable) continue;
    await cluster.change(nodes, '', name, ({ spec }) => {
      spec.unschedulable = true;
    });
  }
  for (const name of one.claims ?? []) await cluster.create(claims, 'default', claimBodyOf(name) as Body);
  for (const { node, ...pod } of one.placed ?? []) await cluster.create(pods, 'default', bodyOf(pod, node) as Body);
  await cluster.create(pods, 'default', bodyOf(one.pod) as Body);
  await cluster.pass(5);
  const { spec, status } = cluster.read(pods, 'default', one.pod.name);
  const preempted = (one.placed ?? [])
    .map(({ name }) => name)
    .filter((name) => cluster.hands.get(pods, 'default', name) === undefined);
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return {
    name: one.name,
    ...(spec.nodeName
      ? { node: spec.nodeName }
      : { reason: condition?.reason ?? '', message: condition?.message ?? '' }),
    ...(preempted.length > 0 ? { preempted } : {}),
  };
}

const recorded = new Map(recordedOutcomes().map((each) => [each.name, each]));

for (const one of schedulingCases) {
  test(`a pod is placed, or not, as by a real scheduler: ${one.name}`, async (t) => {
    assert.deepEqual(await outcome(t, one), recorded.get(one.name));
  });
}
