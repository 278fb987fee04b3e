import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionTest, compilePermission } from './action-pattern.ts';

test('a pattern without a star is the action itself, in any case', () => {
  const test = actionTest('Microsoft.Network/virtualNetworks/Read');
  assert.equal(test('microsoft.network/virtualnetworks/read'), true);
  assert.equal(test('microsoft.network/virtualnetworks/reads'), false);
});

test('a star stands for any text, slashes included', () => {
  const cases: readonly [pattern: string, action: string, fits: boolean][] = [
    ['*', 'a/b/read', true],
    ['*/read', 'a/b/read', true],
    ['*/read', 'a/b/reader', false],
    ['Microsoft.Network/*', 'microsoft.network/virtualnetworks/subnets/join/action', true],
    ['Microsoft.Network/*', 'microsoft.networks/virtualnetworks/read', false],
    ['Microsoft.Authorization/*/Write', 'microsoft.authorization/roleassignments/write', true],
    ['Microsoft.Authorization/*/Write', 'microsoft.authorization/roleassignments/read', false],
    ['a/*/b/*/c', 'a/x/b/y/c', true],
    ['a/*/b/*/c', 'a/x/y/c', false],
    ['ab*ba', 'aba', false],
  ];
  for (const [pattern, action, fits] of cases) assert.equal(actionTest(pattern)(action), fits, `${pattern} ${action}`);
});

test('a star between slashes may stand for nothing, as in the role Managed Identity Operator', () => {
  const test = actionTest('Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action');
  assert.equal(test('microsoft.managedidentity/userassignedidentities/assign/action'), true);
});

test('a pattern of many stars takes no longer than the text is', () => {
  const pattern = `${'*a'.repeat(200)}*b`;
  assert.equal(actionTest(pattern)('a'.repeat(400)), false);
});

test('a permission covers what its actions fit and its exceptions do not; data actions are another matter', () => {
  const permission = compilePermission({
    actions: ['*'],
    notActions: ['Microsoft.Authorization/*/Write'],
    dataActions: ['Microsoft.KeyVault/vaults/secrets/*'],
    notDataActions: [],
  });
  assert.equal(permission.covers('microsoft.compute/disks/write', false), true);
  assert.equal(permission.covers('microsoft.authorization/roleassignments/write', false), false);
  assert.equal(permission.covers('microsoft.compute/disks/write', true), false);
  assert.equal(permission.covers('microsoft.keyvault/vaults/secrets/getsecret/action', true), true);
});
