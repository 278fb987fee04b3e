// Decisions without the wire: what is kept is never older than what was written.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { profiles } from '../kernel/profiles.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import { type AccessOptions, createAccess, type RoleAccess } from './access.ts';
import { roles } from './testing/people.ts';

const subscription = '/subscriptions/00000000-0000-0000-0000-000000000001';
const caller = { objectId: randomUUID(), groups: [] };

function assignment(role: string, scope: string, more: object = {}): ResourceRecord {
  const name = randomUUID();
  return {
    type: 'microsoft.authorization/roleassignments',
    references: {},
    resource: {
      id: `${scope}/providers/Microsoft.Authorization/roleAssignments/${name}`,
      name,
      type: 'Microsoft.Authorization/roleAssignments',
      properties: { roleDefinitionId: `/x/${role}`, principalId: caller.objectId, scope, ...more },
    },
  };
}

function accessOver(records: readonly ResourceRecord[], more: Partial<AccessOptions> = {}): RoleAccess {
  return createAccess({
    resources: () => ({ list: async ({ type }) => records.filter((record) => record.type === type) }),
    clock: { now: () => 1000 },
    faults: { standing: () => [] },
    profile: () => profiles.instant,
    owners: [],
    tenantId: randomUUID(),
    ...more,
  });
}

const effectOf = (kind: 'create' | 'delete', record: ResourceRecord) => ({ kind, record, id: {} as never });

test('what was decided is decided again after every write', async () => {
  const record = assignment(roles.reader, subscription);
  const access = accessOver([]);
  const may = async () =>
    (await access.check(caller, 'Microsoft.Compute/disks/read', `${subscription}/resourceGroups/g`)).allowed;
  assert.equal(await may(), false);
  await access.noted(effectOf('create', record));
  assert.equal(await may(), true);
  await access.noted(effectOf('delete', record));
  assert.equal(await may(), false);
});

test('scopes end at a segment', async () => {
  const access = accessOver([assignment(roles.reader, `${subscription}/resourceGroups/g`)]);
  const may = async (scope: string) => (await access.check(caller, 'a/read', scope)).allowed;
  assert.equal(await may(`${subscription.toUpperCase()}/RESOURCEGROUPS/G/providers/A.B/c/d`), true);
  assert.equal(await may(`${subscription}/resourceGroups/g2`), false);
  assert.equal(await may(subscription), false);
});

test('many principals and many questions are forgotten rather than held for ever', async () => {
  const access = accessOver([assignment(roles.reader, subscription)]);
  for (let index = 0; index < 20_000; index++) await access.check(caller, `a/b${index}/read`, subscription);
  for (let index = 0; index < 5000; index++)
    await access.check({ objectId: `principal-${index}`, groups: [] }, 'a/read', subscription);
  assert.equal((await access.check(caller, 'a/b1/read', subscription)).allowed, true);
});

test('a role with data actions is asked for data', async () => {
  const vault = `${subscription}/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v`;
  const access = accessOver([assignment('4633458b-17de-408a-b874-0445c86b69e6', vault)]);
  const action = 'Microsoft.KeyVault/vaults/secrets/getSecret/action';
  assert.equal((await access.check(caller, action, vault, true)).allowed, true);
  assert.equal((await access.check(caller, action, vault)).allowed, false);
});
