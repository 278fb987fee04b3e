import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { keyRing } from '../../../kit/key-ring.ts';
import { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import { openSqliteStore } from '../../../store/sqlite/open.ts';
import type { Group, User } from './directory-objects.ts';
import { openObjectTable } from './object-table.ts';
import { servicePrincipal } from './seed.ts';

const tenantId = 't';
const createdDateTime = '2026-01-01T00:00:00Z';
const user = (id: string): User => ({
  kind: 'User',
  id,
  tenantId,
  displayName: id,
  createdDateTime,
  userPrincipalName: `${id.toUpperCase()}@x`,
  upnKey: `${id}@x`,
  accountEnabled: true,
  directoryRoles: [],
  passwordHash: new Secret('the hash'),
});
const group = (id: string, members: readonly string[]): Group => ({
  kind: 'Group',
  id,
  tenantId,
  displayName: id,
  createdDateTime,
  mailNickname: id,
  securityEnabled: true,
  members,
  owners: [],
});

async function table(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'aro-objects-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const ring = keyRing([{ id: 'k', bytes: new Secret(Buffer.alloc(32, 1)) }]);
  const open = async () => {
    const store = await openSqliteStore({ file: join(folder, 'x.db'), keyRing: ring });
    t.after(() => store.close());
    return openObjectTable(store);
  };
  return { open, objects: await open() };
}

test('objects are found by every name they have, also after a restart, and by none when gone', async (t) => {
  const { objects, open } = await table(t);
  const named = { id: 'p', tenantId, appId: 'a', displayName: 'p', createdDateTime, names: ['a', 'api://A/'] };
  await objects.create(tenantId, [user('u'), servicePrincipal({ ...named, resourceId: '/Subscriptions/S' })]);
  for (const one of [objects, await open()]) {
    assert.equal(one.user(tenantId, 'u@X')?.id, 'u');
    assert.equal(one.user(tenantId, 'u@x')?.passwordHash?.reveal(), 'the hash');
    assert.equal(one.servicePrincipal(tenantId, 'A')?.id, 'p');
    assert.equal(one.managedIdentity(tenantId, '/subscriptions/s')?.id, 'p');
    assert.equal(one.principalNamed(tenantId, 'API://a')?.id, 'p');
    assert.equal(one.principalNamed('another tenant', 'api://a'), undefined);
  }
  await objects.remove(tenantId, ['p', 'never there']);
  assert.equal(objects.principalNamed(tenantId, 'api://a'), undefined);
  assert.equal(objects.list('ServicePrincipal', tenantId).length, 0);
  assert.equal((await open()).get('p'), undefined);
});

test('names that must be unique are, and a batch that breaks it writes nothing', async (t) => {
  const { objects } = await table(t);
  await objects.create(tenantId, [user('u')]);
  const twin = { ...user('v'), upnKey: 'u@x' };
  await assert.rejects(objects.create(tenantId, [user('w'), twin]), (error) => isStoreError(error, 'UniqueKey'));
  assert.equal(objects.get('w'), undefined);
});

test('groups of an object follow every change of membership, through groups that contain each other', async (t) => {
  const { objects } = await table(t);
  await objects.create(tenantId, [user('u'), group('inner', ['u']), group('outer', ['inner']), group('ring', [])]);
  assert.deepEqual(objects.groupsOf('u'), ['inner', 'outer']);
  const ring = objects.find('Group', 'ring');
  const inner = objects.find('Group', 'inner');
  assert.ok(ring && inner);
  await objects.change<'Group'>(ring, (now) => ({ ...now, members: ['outer'] }));
  await objects.change<'Group'>(inner, (now) => ({ ...now, members: ['u', 'ring'] }));
  assert.deepEqual(objects.groupsOf('u'), ['inner', 'outer', 'ring']);
  await objects.remove(tenantId, ['outer']);
  assert.deepEqual(objects.groupsOf('u'), ['inner']);
});

test('writes at the same time are all kept', async (t) => {
  const { objects } = await table(t);
  await objects.create(tenantId, [group('g', [])]);
  const now = objects.find('Group', 'g');
  assert.ok(now);
  const ids = Array.from({ length: 5 }, (_, index) => `m${index}`);
  await Promise.all(
    ids.map((id) => objects.change<'Group'>(now, (one) => ({ ...one, members: [...one.members, id] }))),
  );
  assert.deepEqual([...(objects.find('Group', 'g')?.members ?? [])].sort(), ids);
});
