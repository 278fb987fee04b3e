import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers, newObject, overlaid, replaced } from './update-object.ts';

const owner = { apiVersion: 'work.open-cluster-management.io/v1', kind: 'AppliedManifestWork', name: 'r', uid: 'u' };
const other = { ...owner, name: 'o', uid: 'o' };

test('metadata are merged, contents replaced, the status and what others fill in stay', () => {
  const existing = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      resourceVersion: '5',
      labels: { mine: '1', theirs: '2', gone: '3' },
      finalizers: ['f'],
      ownerReferences: [other],
    },
    data: { old: 'x' },
    status: { s: 1 },
  };
  const desired = {
    ...existing,
    metadata: { name: 'a', labels: { mine: '9', 'gone-': '' } },
    data: { a: '1' },
    status: { s: 2 },
  };
  assert.deepEqual(replaced(existing, desired, owner, true), {
    ...existing,
    metadata: { ...existing.metadata, labels: { mine: '9', theirs: '2' }, ownerReferences: [other, owner] },
    data: { a: '1' },
  });
  const made = replaced(existing, desired, owner, true);
  assert.equal(replaced(made, desired, owner, true), made, 'nothing differs any more');
  assert.deepEqual(replaced(made, desired, owner, false).metadata.ownerReferences, [other]);
});

test('a secret is compared as it is kept, and a service account keeps its tokens', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { a: 'Yg==' } };
  const desired = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { a: 'b' } };
  assert.equal(replaced(secret, desired, owner, false), secret);
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' }, secrets: [{ name: 't' }] };
  assert.equal(
    replaced(account, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }, owner, false),
    account,
  );
});

test('an overlay keeps what the manifest does not say', () => {
  const existing = { metadata: { name: 'a' }, spec: { volume: 'v', size: '1', list: [{ a: 1, filled: true }] } };
  const desired = { metadata: { name: 'a' }, spec: { size: '2', list: [{ a: 1 }] } };
  assert.deepEqual(overlaid(existing, desired, owner, false).spec, { ...existing.spec, size: '2' });
  assert.ok(!covers(existing, desired));
  assert.ok(covers(existing, { ...desired, spec: { size: '1' } }));
});

test('a new object has no status and, where it is owned, its owner', () => {
  const desired = { metadata: { name: 'a' }, status: {}, spec: {} };
  assert.deepEqual(newObject(desired, owner, true), { metadata: { name: 'a', ownerReferences: [owner] }, spec: {} });
  assert.deepEqual(newObject(desired, owner, false), { metadata: { name: 'a' }, spec: {} });
});
