// Roles on the wire: who may do what follows from assignments, and from nothing else.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { AzureAnswer } from '../testing/start-azure.ts';
import { alice, bob, codeOf, roles, startPeople } from './testing/people.ts';

const version = 'api-version=2022-04-01';
const valuesOf = (answer: AzureAnswer) =>
  answer.json?.value as { readonly name: string; readonly properties: Record<string, unknown> }[];

test('a principal may do nothing until a role is assigned, then what the role says at the scope and below', async (t) => {
  const azure = await startPeople(t);
  const refused = await azure.as(alice, azure.group);
  assert.equal(refused.status, 403);
  assert.equal(codeOf(refused), 'AuthorizationFailed');
  assert.match(
    refused.text,
    new RegExp(
      `The client '${alice.appId}' with object id '${alice.objectId}' does not have authorization .*'Microsoft.Resources/subscriptions/resourceGroups/read'`,
    ),
  );

  const assigned = await azure.assign(alice, roles.reader, azure.group);
  assert.equal(assigned.status, 201);
  assert.equal((await azure.as(alice, azure.group)).status, 200);
  assert.equal((await azure.as(alice, azure.subscription)).status, 403);
  assert.equal(
    codeOf(await azure.as(alice, azure.group, { method: 'PUT', body: { location: 'eastus' } })),
    'AuthorizationFailed',
  );
  const removed = await azure.call(`${String(assigned.json?.id)}?${version}`, { method: 'DELETE' });
  assert.equal(removed.status, 200);
  assert.equal((await azure.as(alice, azure.group)).status, 403);
});

test('a subscription is listed for those who have any role in it', async (t) => {
  const azure = await startPeople(t);
  const listed = async () => valuesOf(await azure.as(alice, '/subscriptions')).length;
  assert.equal(await listed(), 0);
  await azure.assign(alice, roles.reader, azure.group);
  assert.equal(await listed(), 1);
  assert.deepEqual((await azure.as(bob, '/subscriptions')).json?.value, []);
});

test('a contributor manages everything but access', async (t) => {
  const azure = await startPeople(t);
  await azure.assign(alice, roles.contributor, azure.subscription);
  const other = `${azure.subscription}/resourceGroups/g2`;
  assert.equal((await azure.as(alice, other, { method: 'PUT', body: { location: 'eastus' } })).status, 201);
  const assignment = `${other}/providers/Microsoft.Authorization/roleAssignments/${randomUUID()}?${version}`;
  assert.equal(
    codeOf(await azure.as(alice, assignment, { method: 'PUT', body: { properties: {} } })),
    'AuthorizationFailed',
  );
});

test('what is wrong with an assignment is said with the codes of Azure', async (t) => {
  const azure = await startPeople(t);
  const at = (name: string) => `${azure.group}/providers/Microsoft.Authorization/roleAssignments/${name}?${version}`;
  const role = (name: string) => `${azure.subscription}/providers/Microsoft.Authorization/roleDefinitions/${name}`;
  const properties = { roleDefinitionId: role(roles.reader), principalId: alice.objectId };
  const put = (name: string, change: object, body: object = { properties: { ...properties, ...change } }) =>
    azure.call(at(name), { method: 'PUT', body });
  const cases: readonly [answer: AzureAnswer, status: number, code: string][] = [
    [await put('no-guid', {}), 400, 'InvalidRoleAssignmentId'],
    [await put(randomUUID(), {}, { properties: {} }), 400, 'BadRequestFormat'],
    [await put(randomUUID(), { principalId: 'me' }), 400, 'InvalidPrincipalId'],
    [await put(randomUUID(), { roleDefinitionId: 'Reader' }), 400, 'InvalidRoleDefinitionId'],
    [await put(randomUUID(), { roleDefinitionId: role(randomUUID()) }), 400, 'RoleDefinitionDoesNotExist'],
    [await put(randomUUID(), { principalId: randomUUID() }), 400, 'PrincipalNotFound'],
    [await put(randomUUID(), { principalType: 'User' }), 400, 'UnmatchedPrincipalType'],
  ];
  for (const [answer, status, code] of cases) {
    assert.equal(codeOf(answer), code);
    assert.equal(answer.status, status);
  }
  const name = randomUUID();
  assert.equal((await put(name, { description: 'first' })).status, 201);
  assert.equal((await put(name, { description: 'second' })).status, 200);
  assert.equal(codeOf(await put(randomUUID(), {})), 'RoleAssignmentExists');
  const changed = await put(name, { roleDefinitionId: role(roles.owner) });
  assert.equal(codeOf(changed), 'RoleAssignmentUpdateNotPermitted');
  assert.equal((await put(randomUUID(), { principalId: randomUUID(), principalType: 'ServicePrincipal' })).status, 201);
  assert.equal((await azure.call(at(name), { method: 'DELETE' })).status, 200);
  assert.equal((await azure.call(at(name), { method: 'DELETE' })).status, 204);
  assert.equal((await put(randomUUID(), {})).status, 201);
});

test('of two who assign the same at once, one is told that it exists', async (t) => {
  const azure = await startPeople(t);
  const answers = await Promise.all(Array.from({ length: 8 }, () => azure.assign(alice, roles.reader, azure.group)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)]);
});

test('assignments are listed at, above and below a scope, and by principal', async (t) => {
  const azure = await startPeople(t);
  await azure.assign(alice, roles.reader, azure.subscription);
  await azure.assign(bob, roles.owner, azure.group);
  const list = async (scope: string, filter = '') =>
    valuesOf(await azure.call(`${scope}/providers/Microsoft.Authorization/roleAssignments?${version}${filter}`)).map(
      ({ properties }) => properties.principalId,
    );
  assert.deepEqual((await list(azure.subscription)).sort(), [alice.objectId, bob.objectId].sort());
  assert.deepEqual(await list(azure.subscription, '&$filter=atScope()'), [alice.objectId]);
  assert.deepEqual((await list(azure.group, '&$filter=atScope()')).sort(), [alice.objectId, bob.objectId].sort());
  assert.deepEqual(await list(azure.subscription, `&$filter=principalId eq '${bob.objectId}'`), [bob.objectId]);
  assert.deepEqual(await list(azure.group, `&$filter=atScope() and assignedTo('${bob.objectId}')`), [bob.objectId]);
  const wrong = await azure.call(
    `${azure.group}/providers/Microsoft.Authorization/roleAssignments?${version}&$filter=1 eq 1`,
  );
  assert.equal(codeOf(wrong), 'UnsupportedQuery');
});

test('a role assignment that takes its time counts only after it', async (t) => {
  const azure = await startPeople(t, {
    faults: [{ match: {}, effect: { kind: 'slowRoleAssignments', seconds: 300 } }],
  });
  await azure.assign(alice, roles.reader, azure.group);
  assert.equal((await azure.as(alice, azure.group)).status, 403);
  await azure.azure.world.clock.advance(299_000);
  assert.equal((await azure.as(alice, azure.group)).status, 403);
  await azure.azure.world.clock.advance(1000);
  assert.equal((await azure.as(alice, azure.group)).status, 200);
});

test('built-in roles are seen at every scope; a custom role counts where it may be assigned and goes only unused', async (t) => {
  const azure = await startPeople(t);
  const definitions = `${azure.subscription}/providers/Microsoft.Authorization/roleDefinitions`;
  const named = await azure.call(`${definitions}?${version}&$filter=roleName eq 'Reader'`);
  assert.deepEqual(
    valuesOf(named).map(({ name }) => name),
    [roles.reader],
  );
  const id = randomUUID();
  const body = (roleName: string) => ({
    properties: {
      roleName,
      type: 'CustomRole',
      permissions: [{ actions: ['Microsoft.Resources/subscriptions/resourceGroups/read'], notActions: [] }],
      assignableScopes: [azure.group],
    },
  });
  assert.equal(
    (await azure.call(`${definitions}/${id}?${version}`, { method: 'PUT', body: body('Watcher') })).status,
    201,
  );
  assert.equal(
    codeOf(await azure.call(`${definitions}/${randomUUID()}?${version}`, { method: 'PUT', body: body('watcher') })),
    'RoleDefinitionWithSameNameExists',
  );
  assert.equal(codeOf(await azure.assign(alice, id, azure.subscription)), 'RoleDefinitionDoesNotExist');
  const assigned = await azure.assign(alice, id, azure.group);
  assert.equal((await azure.as(alice, azure.group)).status, 200);
  assert.equal(
    codeOf(await azure.call(`${definitions}/${id}?${version}`, { method: 'DELETE' })),
    'RoleDefinitionHasAssignments',
  );
  const withNothing = { properties: { ...body('Watcher').properties, permissions: [{ actions: [] }] } };
  await azure.call(`${definitions}/${id}?${version}`, { method: 'PUT', body: withNothing });
  assert.equal((await azure.as(alice, azure.group)).status, 403);
  await azure.call(`${String(assigned.json?.id)}?${version}`, { method: 'DELETE' });
  assert.equal((await azure.call(`${definitions}/${id}?${version}`, { method: 'DELETE' })).status, 200);
  assert.equal(
    codeOf(await azure.call(`${definitions}/${roles.owner}?${version}`, { method: 'PUT', body: body('Mine') })),
    'RoleDefinitionUpdateNotPermitted',
  );
});

test('a deny assignment stops owners too, save those it leaves out; the platform alone writes it', async (t) => {
  const azure = await startPeople(t);
  await azure.assign(alice, roles.owner, azure.group);
  await azure.assign(bob, roles.owner, azure.group);
  const path = `${azure.group}/providers/Microsoft.Authorization/denyAssignments/${randomUUID()}?api-version=2018-07-01-preview`;
  const body = {
    properties: {
      denyAssignmentName: 'managed',
      permissions: [{ actions: ['*/action', '*/delete', '*/write'], notActions: ['Microsoft.Compute/disks/write'] }],
      principals: [{ id: '00000000-0000-0000-0000-000000000000', type: 'SystemDefined' }],
      excludePrincipals: [{ id: bob.objectId, type: 'ServicePrincipal' }],
      isSystemProtected: true,
    },
  };
  assert.equal(codeOf(await azure.as(alice, path, { method: 'PUT', body })), 'AuthorizationFailed');
  assert.equal((await azure.call(path, { method: 'PUT', body })).status, 201);
  const refused = await azure.as(alice, azure.group, { method: 'DELETE' });
  assert.equal(codeOf(refused), 'DenyAssignmentAuthorizationFailed');
  assert.match(refused.text, /deny assignment with name 'managed'/);
  assert.equal((await azure.as(alice, azure.group)).status, 200);
  assert.equal((await azure.as(bob, azure.group, { method: 'PUT', body: { location: 'eastus' } })).status, 200);
  const listed = await azure.as(alice, `${azure.group}/providers/Microsoft.Authorization/denyAssignments?${version}`);
  assert.equal(valuesOf(listed).length, 1);
  assert.equal((await azure.as(bob, azure.group, { method: 'DELETE' })).status, 202);
});

test('permissions are those of the caller at the scope', async (t) => {
  const azure = await startPeople(t);
  await azure.assign(alice, roles.contributor, azure.group);
  const answer = await azure.as(
    alice,
    `${azure.group}/providers/Microsoft.Authorization/permissions?api-version=2022-05-01-preview`,
  );
  const [permission] = (answer.json?.value ?? []) as { readonly actions: string[]; readonly notActions: string[] }[];
  assert.deepEqual(permission?.actions, ['*']);
  assert.ok(permission?.notActions.includes('Microsoft.Authorization/*/Write'));
});

test('assignments, custom roles and their effect survive a restart', async (t) => {
  const azure = await startPeople(t, { keep: true });
  await azure.assign(alice, roles.reader, azure.group);
  const again = await azure.restart();
  const { token } = await azure.credentialOf(alice).getToken(`${azure.origin}/.default`);
  assert.equal((await again.call(azure.group, { token })).status, 200);
});

test('an assignment goes with the resource it stands on', async (t) => {
  const azure = await startPeople(t);
  await azure.assign(alice, roles.owner, azure.group);
  const removal = await azure.call(azure.group, { method: 'DELETE' });
  assert.equal(removal.status, 202);
  const operation = new URL(String(removal.headers.location));
  assert.equal((await azure.call(`${operation.pathname}${operation.search}`)).status, 200);
  await azure.call(azure.group, { method: 'PUT', body: { location: 'eastus' } });
  assert.equal((await azure.as(alice, azure.group)).status, 403);
});

test('a deny assignment that does not apply below stops only what is at its scope', async (t) => {
  const azure = await startPeople(t);
  await azure.assign(alice, roles.owner, azure.subscription);
  const path = `${azure.group}/providers/Microsoft.Authorization/denyAssignments/${randomUUID()}?api-version=2022-04-01`;
  const properties = {
    denyAssignmentName: 'only here',
    permissions: [{ actions: ['*/write'] }],
    principals: [{ id: alice.objectId, type: 'ServicePrincipal' }],
    doNotApplyToChildScopes: true,
  };
  assert.equal((await azure.call(path, { method: 'PUT', body: { properties } })).status, 201);
  const { access } = azure.azure.world;
  const may = async (scope: string) =>
    (await access.check({ objectId: alice.objectId, groups: [] }, 'Microsoft.Compute/disks/write', scope)).allowed;
  assert.equal(await may(azure.group), false);
  assert.equal(await may(`${azure.group}/providers/Microsoft.Compute/disks/d`), true);
});

test('rights come through groups, and from the root of the tenant and its management group', async (t) => {
  const azure = await startPeople(t);
  const { access } = azure.azure.world;
  const [group, other, root] = [randomUUID(), randomUUID(), randomUUID()];
  const assign = (principalId: string, scope: string) =>
    azure.call(`${scope}/providers/Microsoft.Authorization/roleAssignments/${randomUUID()}?${version}`, {
      method: 'PUT',
      body: {
        properties: {
          roleDefinitionId: `/providers/Microsoft.Authorization/roleDefinitions/${roles.reader}`,
          principalId,
          principalType: 'Group',
        },
      },
    });
  assert.equal((await assign(group, azure.group)).status, 201);
  assert.equal(
    (await assign(other, `/providers/Microsoft.Management/managementGroups/${azure.azure.owner.tenantId}`)).status,
    201,
  );
  assert.equal((await assign(root, '')).status, 201);
  for (const member of [group, other, root]) {
    const caller = { objectId: randomUUID(), groups: [member] };
    const action = 'Microsoft.Resources/subscriptions/resourceGroups/read';
    assert.equal((await access.check(caller, action, azure.group)).allowed, true);
    assert.equal((await access.check({ ...caller, groups: [] }, action, azure.group)).allowed, false);
  }
});

test('access cannot be elevated', async (t) => {
  const azure = await startPeople(t);
  const answer = await azure.call('/providers/Microsoft.Authorization/elevateAccess?api-version=2017-05-01', {
    method: 'POST',
  });
  assert.equal(answer.status, 403);
});
