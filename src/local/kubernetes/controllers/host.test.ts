import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { handsOf } from './hands.ts';
import { configMaps, deployments, events, nodes, pods, replicaSets } from './kinds.ts';
import { controlled, deploymentOf } from './testing/controlled.ts';
import { createTimers } from './timers.ts';

test('work that was under way resumes with the next start, without anybody asking', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'aro-controllers-'));
  t.after(() => rm(directory, { recursive: true }));
  const clock = { now: Date.UTC(2026, 0, 1) };
  const config = { dataDirectory: directory };
  const first = await controlled(t, { nodes: ['a'], clock, config, kubelet: { pace: 'demo', random: () => 0 } });
  await first.create(deployments, 'default', deploymentOf('web', 3));
  const orphan = await first.hands.create(configMaps, 'default', { metadata: { name: 'owner' } });
  assert.ok(first.hands.list(pods, 'default').every(({ status }) => status?.phase === 'Pending'));
  await first.running.stop();

  const second = await controlled(t, {
    clock,
    config: { ...config, clusters: [] },
    kubelet: { pace: 'demo', random: () => 0 },
  });
  assert.equal(second.read(configMaps, 'default', 'owner').metadata.uid, orphan.metadata.uid);
  await second.pass(3);
  assert.equal(second.read(deployments, 'default', 'web').status?.availableReplicas, 3);
  assert.equal(second.cluster.objects.count(replicaSets.type.storage), 1);
  assert.equal(second.cluster.objects.count(pods.type.storage), 3);
});

test('one cluster full of work does not hold up another', async (t) => {
  const one = await controlled(t, { nodes: ['a'], config: { clusters: ['one', 'two'] } });
  const two = one.running.clusters.find('two');
  assert.ok(two);
  await two.firstUse();
  await one.settle();
  const other = handsOf(
    two,
    { name: 'test', user: 'admin', triggers: {}, reconcile: () => undefined },
    { record: async () => {} },
  );
  let left: number | undefined;
  const done = new Promise<void>((resolve) => {
    const stop = two.objects.watchAll(({ entry }) => {
      if (entry.type !== pods.type.storage) return;
      left = 300 - one.cluster.objects.count(pods.type.storage);
      stop();
      resolve();
    });
  });
  const created = Array.from({ length: 30 }, (_, count) =>
    one.hands.create(deployments, 'default', deploymentOf(`web-${count}`, 10)),
  );
  await other.create(deployments, 'default', deploymentOf('web', 1));
  await done;
  assert.ok((left ?? 0) > 0, 'the small cluster had its turn before the large one was done');
  await Promise.all(created);
  await one.settle();
  assert.equal(one.cluster.objects.count(pods.type.storage), 300);
});

test('an idle cluster has nothing planned', async (t) => {
  const one = await controlled(t);
  assert.equal(one.cluster.objects.count(events.type.storage), 0);
  const before = one.cluster.objects.revision;
  await one.pass(5);
  assert.equal(one.cluster.objects.revision, before);
  assert.equal(one.running.controllers?.planned, 0);
});

test('a cluster that is removed takes its work with it', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.hands.create(deployments, 'default', deploymentOf('web', 20));
  await one.running.clusters.remove('one');
  await one.settle();
  assert.equal(one.running.clusters.find('one'), undefined);
});

test('events are gone after an hour', async (t) => {
  const one = await controlled(t);
  await one.create(nodes, '', { metadata: { name: 'a' } });
  await one.create(deployments, 'default', deploymentOf('web', 1));
  assert.ok(one.cluster.objects.count(events.type.storage) > 0);
  one.clock.now += 2 * 3_600_000;
  await one.settle();
  const left = one.hands
    .list(events)
    .filter(({ lastTimestamp }) => Date.parse(lastTimestamp ?? '') < one.clock.now - 3_600_000);
  assert.deepEqual(left, []);
});

test('timers hand over what is due, once, the earliest time counting', () => {
  let now = 0;
  const seen: string[] = [];
  const timers = createTimers<string>(
    () => now,
    (item) => seen.push(item),
  );
  timers.add('b', 'b', 20);
  timers.add('a', 'a', 30);
  timers.add('a', 'a', 10);
  timers.add('a', 'a', 40);
  now = 10;
  timers.tick();
  assert.deepEqual(seen, ['a']);
  now = 50;
  timers.tick();
  assert.deepEqual(seen, ['a', 'b']);
  assert.equal(timers.size, 0);
  timers.stop();
});
