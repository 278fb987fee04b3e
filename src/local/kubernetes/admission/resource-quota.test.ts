import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { JsonObject } from '../object.ts';
import { type AdmittedCluster, admittedCluster, pods, refusal, simplePod } from './testing/admitted-cluster.ts';

const quotas = '/v1/resourcequotas';
const configMaps = '/v1/configmaps';

async function withQuota(hard: JsonObject, more: JsonObject = {}): Promise<AdmittedCluster> {
  const made = await admittedCluster();
  await made.create('/v1/serviceaccounts', 'default', { metadata: { name: 'default' } });
  await made.create(quotas, 'default', { metadata: { name: 'q1' }, spec: { hard, ...more } });
  await turn();
  await turn();
  return made;
}

const used = ({ get }: AdmittedCluster): unknown =>
  (get(quotas, 'default', 'q1')?.status as { used?: unknown } | undefined)?.used;

const pod = (name: string, cpu: string, memory: string): JsonObject =>
  simplePod(name, {
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu }, limits: { memory } } }],
  });

test('what is created is counted, and refused beyond the limit', async () => {
  const cluster = await withQuota({ 'count/configmaps': '1', services: '1' });
  // The namespace has a service from its start.
  assert.deepEqual(used(cluster), { 'count/configmaps': '0', services: '1' });
  await cluster.create(configMaps, 'default', { metadata: { name: 'c1' } });
  assert.deepEqual(used(cluster), { 'count/configmaps': '1', services: '1' });
  assert.equal(
    await refusal(cluster.create(configMaps, 'default', { metadata: { name: 'c2' } })),
    '403 configmaps "c2" is forbidden: exceeded quota: q1, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
  );
  const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
  assert.equal(
    await refusal(cluster.create('/v1/services', 'default', service)),
    '403 services "s" is forbidden: exceeded quota: q1, requested: services=1, used: services=1, limited: services=1',
  );
});

test('requests at the same time do not share the last of a quota', async () => {
  const cluster = await withQuota({ 'count/configmaps': '3' });
  const made = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) =>
      cluster.create(configMaps, 'default', { metadata: { name: `c${index}` } }),
    ),
  );
  assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 3);
  assert.deepEqual(used(cluster), { 'count/configmaps': '3' });
});

test('a refused or tried write costs nothing, a deletion gives back', async () => {
  const cluster = await withQuota({ 'count/configmaps': '1' });
  await cluster.create(configMaps, 'default', { metadata: { name: 'c1' } }, { dryRun: true });
  assert.deepEqual(used(cluster), { 'count/configmaps': '0' });
  await cluster.create(configMaps, 'default', { metadata: { name: 'c1' } });
  assert.match(await refusal(cluster.create(configMaps, 'default', { metadata: { name: 'c1' } })), /^409 /);
  assert.deepEqual(used(cluster), { 'count/configmaps': '1' });
  await cluster.remove(configMaps, 'default', 'c1');
  await turn();
  await turn();
  assert.deepEqual(used(cluster), { 'count/configmaps': '0' });
});

test('pods are counted with what they ask for, and must ask', async () => {
  const cluster = await withQuota({ pods: '1', 'requests.cpu': '1', 'limits.memory': '1Gi' });
  const create = (object: JsonObject): Promise<string> => refusal(cluster.create(pods, 'default', object));
  assert.equal(
    await create(simplePod('p2')),
    '403 pods "p2" is forbidden: failed quota: q1: must specify limits.memory for: c; requests.cpu for: c',
  );
  assert.equal(
    await create(pod('p2', '1500m', '2Gi')),
    '403 pods "p2" is forbidden: exceeded quota: q1, requested: limits.memory=2Gi,requests.cpu=1500m, used: limits.memory=0,requests.cpu=0, limited: limits.memory=1Gi,requests.cpu=1',
  );
  assert.match(await create(pod('p2', '500m', '512Mi')), /^not refused/);
  assert.equal(
    await create(pod('p3', '600m', '1Mi')),
    '403 pods "p3" is forbidden: exceeded quota: q1, requested: pods=1,requests.cpu=600m, used: pods=1,requests.cpu=500m, limited: pods=1,requests.cpu=1',
  );
  assert.deepEqual(used(cluster), { 'limits.memory': '512Mi', pods: '1', 'requests.cpu': '500m' });
  await cluster.patch(pods, 'default', 'p2', { status: { phase: 'Succeeded' } }, { subresource: 'status' });
  assert.deepEqual(used(cluster), { 'limits.memory': '0', pods: '0', 'requests.cpu': '0' });
});

test('a quota with scopes counts the pods in them', async () => {
  const cluster = await withQuota({ pods: '0' }, { scopes: ['BestEffort'] });
  assert.match(await refusal(cluster.create(pods, 'default', pod('p', '1', '1Mi'))), /^not refused/);
  assert.match(
    await refusal(cluster.create(pods, 'default', simplePod('q'))),
    /^403 pods "q" is forbidden: exceeded quota/,
  );
});
