import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../status.ts';
import type { ListQuery } from './registry.ts';
import { openTestCluster, type TestCluster } from './testing/cluster.ts';

const list = ({ registry, context, configMaps }: TestCluster, query: ListQuery) =>
  registry.list(context, configMaps, { namespace: 'default', ...query });
const names = (found: { entries: readonly { name: string }[] }): string[] => found.entries.map(({ name }) => name);

test('pages follow each other without gaps whatever the selector', async (t) => {
  const cluster = await openTestCluster();
  t.after(cluster.close);
  for (let index = 0; index < 25; index += 1) {
    const name = `m${String(index).padStart(2, '0')}`;
    await cluster.create({ metadata: { name, labels: { odd: String(index % 2) } } });
  }
  for (const selector of [{}, { labelSelector: 'odd=1' }]) {
    const whole = names(list(cluster, selector));
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const page = list(cluster, { ...selector, limit: 4, ...(token ? { continue: token } : {}) });
      seen.push(...names(page));
      assert.equal(
        page.remaining,
        'labelSelector' in selector || !page.continue ? undefined : whole.length - seen.length,
      );
      token = page.continue;
    } while (token);
    assert.deepEqual(seen, whole);
  }
});

test('pages of all namespaces go on across namespaces', async (t) => {
  const cluster = await openTestCluster();
  t.after(cluster.close);
  const { registry, context, configMaps } = cluster;
  await cluster.create({ metadata: { name: 'other' } }, cluster.type('', 'namespaces'));
  for (const namespace of ['default', 'other']) {
    for (const name of ['a', 'b']) {
      await registry.create(context, configMaps, namespace, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
      });
    }
  }
  const first = registry.list(context, configMaps, { limit: 3 });
  const rest = registry.list(context, configMaps, { limit: 3, continue: first.continue ?? '' });
  assert.deepEqual(
    [...first.entries, ...rest.entries].map(({ namespace, name }) => `${namespace}/${name}`),
    ['default/a', 'default/b', 'other/a', 'other/b'],
  );
});

test('a page that began too long ago is refused with a token to go on regardless', async (t) => {
  const cluster = await openTestCluster({ historyEvents: 8 });
  t.after(cluster.close);
  for (const name of ['a', 'b', 'c', 'd']) await cluster.create({ metadata: { name } });
  const { continue: token = '' } = list(cluster, { limit: 2 });
  for (let count = 0; count < 20; count += 1) await cluster.create({ metadata: { name: `new${count}` } });
  assert.throws(
    () => list(cluster, { limit: 2, continue: token }),
    (error) => {
      assert.ok(error instanceof StatusError);
      assert.deepEqual([error.status.code, error.status.reason], [410, 'Expired']);
      const going = list(cluster, { limit: 2, continue: error.status.metadata.continue ?? '' });
      assert.deepEqual(names(going), ['c', 'd']);
      return true;
    },
  );
});

test('an exact revision shows what was there, also what has gone and come since', async (t) => {
  const cluster = await openTestCluster();
  t.after(cluster.close);
  const { registry, context, configMaps, objects } = cluster;
  for (const name of ['a', 'b', 'c']) await cluster.create({ metadata: { name, labels: { v: '1' } } });
  const then = String(objects.revision);
  await registry.delete(context, configMaps, { namespace: 'default', name: 'a' }, {});
  await cluster.create({ metadata: { name: 'bb' } });
  await registry.delete(context, configMaps, { namespace: 'default', name: 'c' }, {});
  await cluster.create({ metadata: { name: 'c', labels: { v: '2' } } });
  const past = list(cluster, { resourceVersion: then, resourceVersionMatch: 'Exact' });
  assert.deepEqual(
    past.entries.map(({ name, labels }) => `${name}${labels?.v}`),
    ['a1', 'b1', 'c1'],
  );
  assert.equal(past.revision, Number(then));
  const page = list(cluster, { resourceVersion: then, limit: 2 });
  assert.deepEqual(names(page), ['a', 'b']);
  assert.deepEqual(names(list(cluster, { limit: 2, continue: page.continue ?? '' })), ['c']);
  assert.deepEqual(names(list(cluster, {})), ['b', 'bb', 'c']);
});
