import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../http/testing/server.ts';
import { deployments, disruptionBudgets, pods } from './kinds.ts';
import { conditionOf } from './pods.ts';
import { controlled, deploymentOf } from './testing/controlled.ts';

test('a budget knows how many pods may go, and evictions keep to it', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(deployments, 'default', deploymentOf('web', 3));
  await one.create(disruptionBudgets, 'default', {
    metadata: { name: 'web' },
    spec: { minAvailable: 3, selector: { matchLabels: { app: 'web' } } },
  });
  const { status } = one.read(disruptionBudgets, 'default', 'web');
  assert.deepEqual(
    [status?.currentHealthy, status?.desiredHealthy, status?.expectedPods, status?.disruptionsAllowed],
    [3, 3, 3, 0],
  );
  assert.equal(conditionOf(status?.conditions, 'DisruptionAllowed')?.reason, 'InsufficientPods');
  const [pod] = one.hands.list(pods, 'default');
  const client = await clientOf(t, one.running, one.cluster);
  const evict = () =>
    client.request('POST', `/api/v1/namespaces/default/pods/${pod?.metadata.name}/eviction`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod?.metadata.name } },
    });
  const refused = await evict();
  assert.equal(refused.status, 429);
  assert.match(refused.text, /Cannot evict pod as it would violate the pod's disruption budget\./);
  await one.change(disruptionBudgets, 'default', 'web', ({ spec }) => {
    spec.minAvailable = 2;
  });
  assert.equal((await evict()).status, 201);
  await one.settle();
  assert.equal(one.hands.get(pods, 'default', pod?.metadata.name ?? ''), undefined);
  assert.equal(one.read(disruptionBudgets, 'default', 'web').status?.disruptionsAllowed, 1);
});
