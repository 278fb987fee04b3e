import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { openObjects } from '../objects/open.ts';
import { defaultRbacEntries, rbacStorage } from './default-rbac.ts';
import { sharedDefaults, withSharedDefaults } from './defaults-overlay.ts';
import { clusterRole, put } from './testing/cluster-access.ts';

const { clusterRoles } = rbacStorage;
const defaults = sharedDefaults(defaultRbacEntries('2026-01-01T00:00:00Z'));

async function cluster(): Promise<ReturnType<typeof withSharedDefaults>> {
  return withSharedDefaults((await openObjects()).open('c'), defaults);
}

test('the defaults are there, in order, among stored objects', async () => {
  const objects = await cluster();
  await put(objects, clusterRoles, clusterRole('bzz', { rules: [] }));
  const names = objects.list(clusterRoles).map((entry) => entry.name);
  assert.deepEqual(names, names.toSorted());
  assert.equal(names.length, 69);
  assert.equal(objects.count(clusterRoles), 69);
  assert.deepEqual(names.slice(0, 4), ['admin', 'bzz', 'cluster-admin', 'edit']);
  const second = objects.list(clusterRoles, { limit: 2, after: ['', 'bzz'] });
  assert.deepEqual(
    second.map((entry) => entry.name),
    ['cluster-admin', 'edit'],
  );
  assert.equal(objects.list(rbacStorage.roles, { namespace: 'kube-public' }).length, 1);
  assert.equal(objects.count(rbacStorage.roles, 'kube-system'), 6);
  assert.equal(objects.get(clusterRoles, '', 'cluster-admin')?.revision, 1);
});

test('changing a default stores it and is seen as a change', async () => {
  const objects = await cluster();
  const other = await cluster();
  const seen: string[] = [];
  objects.watch(clusterRoles, objects.revision, ({ kind, entry, before }) =>
    seen.push(`${kind} ${entry.name} ${before?.revision}`),
  );
  await objects.commit((transaction) => {
    const before = transaction.get(clusterRoles, '', 'view');
    const object = JSON.parse(before?.bytes.toString() ?? '') as KubeObject;
    object.metadata.labels = { mine: 'yes' };
    transaction.put(clusterRoles, object);
  });
  assert.deepEqual(seen, ['MODIFIED view 1']);
  assert.deepEqual(objects.get(clusterRoles, '', 'view')?.labels, { mine: 'yes' });
  assert.equal(objects.count(clusterRoles), 68);
  assert.notDeepEqual(other.get(clusterRoles, '', 'view')?.labels, { mine: 'yes' });
});

test('a deleted default is gone, is seen to go, and can be made again', async () => {
  const objects = await cluster();
  const seen: string[] = [];
  objects.watch(clusterRoles, objects.revision, ({ kind, entry }) => seen.push(`${kind} ${entry.name}`));
  const view = objects.get(clusterRoles, '', 'view');
  assert.ok(view);
  await assert.rejects(
    objects.commit((transaction) => {
      transaction.delete(view);
      assert.equal(transaction.get(clusterRoles, '', 'view'), undefined);
      throw new Error('not this time');
    }),
    /not this time/,
  );
  assert.equal(objects.get(clusterRoles, '', 'view'), view);
  await objects.commit((transaction) => transaction.delete(view));
  assert.equal(objects.get(clusterRoles, '', 'view'), undefined);
  assert.equal(objects.count(clusterRoles), 67);
  assert.equal(seen.at(-1), 'DELETED view');
  await put(objects, clusterRoles, clusterRole('view', { rules: [] }));
  assert.equal(seen.at(-1), 'ADDED view');
  assert.equal(objects.count(clusterRoles), 68);
});

test('defaults come back when the cluster is opened again, changes to them stay', async () => {
  const stored = (await openObjects()).open('c');
  const first = withSharedDefaults(stored, defaults);
  const view = first.get(clusterRoles, '', 'view');
  assert.ok(view);
  await first.commit((transaction) => transaction.delete(view));
  await put(first, clusterRoles, clusterRole('edit', { rules: [] }));
  const again = withSharedDefaults(stored, defaults);
  assert.equal(again.get(clusterRoles, '', 'view'), view);
  assert.deepEqual(again.get(clusterRoles, '', 'edit')?.labels, undefined);
});
