// Managed identities through Resource Manager: the principal behind an identity, what it trusts, and who may assign it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { startPeople } from '../authorization/testing/people.ts';
import type { AzureAnswer } from '../testing/start-azure.ts';
import { linkedIdentities, resolveIdentity } from './resource-identity.ts';

const version = 'api-version=2024-11-30';

function idOf(text: string): ResourceId {
  const parsed = parseResourceId(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.id;
}

function propertiesOf({ json }: AzureAnswer): Record<string, string> {
  return (json?.properties ?? {}) as Record<string, string>;
}

test('an identity has a service principal, the same one after an update, gone with it', async (t) => {
  const azure = await startPeople(t);
  const path = `${azure.group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/identity1?${version}`;
  const created = await azure.call(path, { method: 'PUT', body: { location: 'eastus' } });
  assert.equal(created.status, 201);
  const { principalId, clientId, tenantId } = propertiesOf(created);
  assert.equal(tenantId, azure.azure.owner.tenantId);
  assert.equal((await azure.azure.world.directory.principal(principalId ?? ''))?.kind, 'ServicePrincipal');
  const updated = await azure.call(path, { method: 'PATCH', body: { tags: { a: 'b' } } });
  assert.deepEqual(updated.json?.properties, { tenantId, principalId, clientId });
  assert.deepEqual(updated.json?.tags, { a: 'b' });
  assert.equal((await azure.call(path, { method: 'DELETE' })).status, 200);
  assert.equal(await azure.azure.world.directory.principal(principalId ?? ''), undefined);
});

test('federated credentials: one issuer and subject each, at most 20, one write at a time', async (t) => {
  const azure = await startPeople(t);
  const identity = `${azure.group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/identity1`;
  await azure.call(`${identity}?${version}`, { method: 'PUT', body: { location: 'eastus' } });
  const put = (name: string, subject: string, change: object = {}) =>
    azure.call(`${identity}/federatedIdentityCredentials/${name}?${version}`, {
      method: 'PUT',
      body: {
        properties: { issuer: 'https://issuer.example', subject, audiences: ['api://AzureADTokenExchange'], ...change },
      },
    });
  assert.equal((await put('first', 'system:serviceaccount:a:b')).status, 201);
  assert.equal((await put('first', 'system:serviceaccount:a:b')).status, 200);
  assert.equal((await put('second', 'system:serviceaccount:a:b')).status, 409);
  assert.equal((await put('third', 'x', { issuer: 'http://issuer.example' })).status, 400);
  assert.equal((await put('fourth', 'x', { audiences: [] })).status, 400);
  const caller = { tenantId: '', objectId: '', kind: 'User', groups: [] } as const;
  const both = await Promise.allSettled(
    ['one', 'two'].map((name) =>
      azure.azure.world.resources.put(
        idOf(`${identity}/federatedIdentityCredentials/${name}`),
        { properties: { issuer: 'https://issuer.example', subject: name, audiences: ['api://AzureADTokenExchange'] } },
        { apiVersion: '2024-11-30', caller },
      ),
    ),
  );
  assert.deepEqual(
    both.map((one) => (one.status === 'fulfilled' ? 'written' : one.reason.code)),
    ['written', 'ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity'],
  );
  for (let count = 2; count < 20; count++) assert.equal((await put(`more-${count}`, `more-${count}`)).status, 201);
  assert.equal((await put('too-many', 'too-many')).status, 400);
  const listed = await azure.call(`${identity}/federatedIdentityCredentials?${version}`);
  assert.equal(((listed.json?.value ?? []) as object[]).length, 20);
});

test("a resource's identity is filled in with the principals behind it", async (t) => {
  const azure = await startPeople(t);
  const { world } = azure.azure;
  const identity = `${azure.group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/identity1`;
  const made = await azure.call(`${identity}?${version}`, { method: 'PUT', body: { location: 'eastus' } });
  const { principalId, clientId } = propertiesOf(made);
  const id = idOf(`${azure.group}/providers/Microsoft.Compute/virtualMachines/vm1`);
  const given = { type: 'userassigned, SystemAssigned', userAssignedIdentities: { [identity]: {} } };
  const resolved = await resolveIdentity(world, id, given, undefined);
  assert.equal(resolved?.type, 'SystemAssigned, UserAssigned');
  assert.deepEqual(resolved?.userAssignedIdentities, { [identity]: { principalId, clientId } });
  assert.equal((await world.directory.principal(String(resolved?.principalId)))?.kind, 'ServicePrincipal');
  assert.equal(await resolveIdentity(world, id, undefined, resolved), resolved);
  assert.deepEqual(await resolveIdentity(world, id, { type: 'None' }, resolved), { type: 'None' });
  assert.deepEqual(linkedIdentities({ identity: given }), [
    { id: identity, action: 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action' },
  ]);
  const wrong: readonly [identity: object, code: string][] = [
    [{ type: 'Mine' }, 'InvalidIdentity'],
    [{ type: 'UserAssigned' }, 'InvalidIdentity'],
    [{ type: 'UserAssigned', userAssignedIdentities: { nonsense: {} } }, 'LinkedInvalidPropertyId'],
    [{ type: 'UserAssigned', userAssignedIdentities: { [`${identity}-gone`]: {} } }, 'FailedIdentityOperation'],
  ];
  for (const [bad, code] of wrong)
    await assert.rejects(resolveIdentity(world, id, bad as never, undefined), { name: 'ArmError', code });
});
