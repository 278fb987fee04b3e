import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf, startServer } from './http/testing/server.ts';
import type { KubeObject } from './object.ts';

const paths = [
  '/api/v1/namespaces',
  '/api/v1/services',
  '/api/v1/endpoints',
  '/apis/discovery.k8s.io/v1/endpointslices',
];

type ObjectList = { readonly items: readonly KubeObject[] };

/** Without what must differ between clusters. */
function comparable({ items }: ObjectList): unknown {
  const own = new Set(['uid', 'creationTimestamp', 'resourceVersion', 'time']);
  return JSON.parse(JSON.stringify(items, (member, value: unknown) => (own.has(member) ? undefined : value)));
}

test('every cluster begins with the same objects, each its own', async (t) => {
  let now = Date.parse('2030-01-01T00:00:00Z');
  const running = await startServer(t, { clusters: ['one', 'two', 'three'], now: () => now });
  const lists: ObjectList[][] = [];
  for (const name of ['one', 'two', 'three']) {
    const client = await clientOf(t, running, running.clusters.find(name));
    lists.push(await Promise.all(paths.map(async (path) => (await client.request('GET', path)).json<ObjectList>())));
    now += 60_000;
  }
  const [first = [], ...others] = lists;
  assert.equal(first.flatMap(({ items }) => items).length, 7);
  for (const other of others) assert.deepEqual(other.map(comparable), first.map(comparable));
  const all = lists.flat().flatMap(({ items }) => items);
  assert.equal(new Set(all.map(({ metadata }) => metadata.uid)).size, 21);
  const times = lists.map((list) => new Set(list.flatMap(({ items }) => items).map(timesOf)));
  assert.deepEqual(times, [
    new Set(['2030-01-01T00:00:00Z 2030-01-01T00:00:00Z']),
    new Set(['2030-01-01T00:01:00Z 2030-01-01T00:01:00Z']),
    new Set(['2030-01-01T00:02:00Z 2030-01-01T00:02:00Z']),
  ]);
});

const timesOf = ({ metadata }: KubeObject): string =>
  `${metadata.creationTimestamp} ${metadata.managedFields?.[0]?.time}`;

test('what is done to the first cluster while it begins is not in those after it', async (t) => {
  const running = await startServer(t, { clusters: ['one', 'two'] });
  const one = running.clusters.find('one') ?? assert.fail();
  const begun = one.firstUse();
  const meddling = one.objects.commit((transaction) => {
    const entry = transaction.get('/namespaces', '', 'default') ?? assert.fail();
    const object = JSON.parse(entry.bytes.toString()) as KubeObject;
    object.metadata.labels = { ...object.metadata.labels, meddled: 'yes' };
    transaction.put('/namespaces', object);
  });
  await Promise.all([begun, meddling]);
  const labelled = async (name: string): Promise<boolean> => {
    const client = await clientOf(t, running, running.clusters.find(name));
    const found = (await client.request('GET', '/api/v1/namespaces/default')).json();
    return 'meddled' in (found.metadata.labels ?? {});
  };
  assert.deepEqual([await labelled('one'), await labelled('two')], [true, false]);
});

test('a cluster that has something already gets what is missing', async (t) => {
  const running = await startServer(t, { clusters: ['one', 'two'] });
  await running.clusters.find('one')?.firstUse();
  const two = running.clusters.find('two') ?? assert.fail();
  await two.objects.commit((transaction) =>
    transaction.put('/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kube-system', uid: 'its-own' },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    }),
  );
  const client = await clientOf(t, running, two);
  const { items } = (await client.request('GET', '/api/v1/namespaces')).json<ObjectList>();
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['default', 'kube-node-lease', 'kube-public', 'kube-system'],
  );
  assert.equal(items[3]?.metadata.uid, 'its-own');
});
