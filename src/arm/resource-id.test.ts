import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  buildResourceId,
  idKey,
  isResourceGroupName,
  parseResourceId,
  type ResourceId,
  sameId,
} from './resource-id.ts';

const subscription = '0A1B2C3D-0000-1111-2222-333344445555';

function parsed(text: string): ResourceId {
  const result = parseResourceId(text);
  assert.ok(result.ok, JSON.stringify(result));
  return result.id;
}

function problem(text: string): string {
  const result = parseResourceId(text);
  assert.ok(!result.ok, `${text} should not be an id`);
  return result.problem;
}

describe('resource ids', () => {
  it('keep the case they came in and compare without it', () => {
    const text = `/Subscriptions/${subscription}/resourcegroups/My-RG/providers/Microsoft.Network/virtualNetworks/Net/subnets/A`;
    const id = parsed(text);
    assert.equal(id.text, text);
    assert.equal(id.key, text.toLowerCase());
    assert.equal(id.subscriptionId, subscription);
    assert.equal(id.resourceGroup, 'My-RG');
    assert.equal(id.type, 'Microsoft.Network/virtualNetworks/subnets');
    assert.deepEqual(id.names, ['Net', 'A']);
    assert.equal(id.name, 'A');
    assert.ok(sameId(id, `${text.toUpperCase()}/`));
  });

  it('are subscriptions, groups and locations too', () => {
    assert.equal(parsed(`/subscriptions/${subscription}`).type, 'Microsoft.Resources/subscriptions');
    assert.equal(parsed(`/subscriptions/${subscription}/resourceGroups/g`).type, 'Microsoft.Resources/resourceGroups');
    assert.equal(parsed(`/subscriptions/${subscription}/locations/westeurope`).location, 'westeurope');
  });

  it('stand at tenant and at subscription scope, with a location in the type', () => {
    const tenant = parsed('/providers/Microsoft.Management/managementGroups/root');
    assert.equal(tenant.scope, 'tenant');
    const operation = parsed(`/subscriptions/${subscription}/providers/A.B/locations/WestEurope/statuses/x`);
    assert.equal(operation.scope, 'subscription');
    assert.equal(operation.location, 'WestEurope');
    assert.equal(operation.type, 'A.B/locations/statuses');
  });

  it('may extend another resource', () => {
    const id = parsed(
      `/subscriptions/${subscription}/resourceGroups/g/providers/A.B/c/d/providers/Microsoft.Authorization/locks/l`,
    );
    assert.equal(id.type, 'Microsoft.Authorization/locks');
    assert.equal(id.extends?.type, 'A.B/c');
    assert.equal(id.extends?.text, `/subscriptions/${subscription}/resourceGroups/g/providers/A.B/c/d`);
    assert.equal(parsed(`/subscriptions/${subscription}/resourceGroups/g/providers/A.B/c/d`).extends, undefined);
  });

  it('are refused with the reason', () => {
    assert.equal(problem(''), 'NotAnId');
    assert.equal(problem('/'), 'NotAnId');
    assert.equal(problem('subscriptions/x'), 'NotAnId');
    assert.equal(problem('/subscriptions/1'), 'InvalidSubscription');
    assert.equal(problem(`/subscriptions/${subscription}/resourceGroups/bad.`), 'InvalidResourceGroup');
    assert.equal(problem(`/subscriptions/${subscription}/resourceGroups/${'x'.repeat(91)}`), 'InvalidResourceGroup');
    assert.equal(problem(`/subscriptions/${subscription}/resourceGroups/g/providers/`), 'InvalidProvider');
    assert.equal(problem(`/subscriptions/${subscription}/resourceGroups/g/providers/A.B`), 'InvalidType');
    assert.equal(problem(`/subscriptions/${subscription}/resourceGroups/g/providers/A.B/c`), 'InvalidName');
    assert.equal(problem(`/subscriptions/${subscription}/resourceGroups/g/providers/A.B/c/..`), 'InvalidName');
    assert.equal(problem(`/subscriptions/${subscription}//resourceGroups/g`), 'NotAnId');
    assert.equal(problem(`/${'x'.repeat(3000)}`), 'TooLong');
  });

  it('have group names of letters of any script', () => {
    assert.ok(isResourceGroupName('Grüße_(1)-α.x'));
    assert.ok(!isResourceGroupName('a/b'));
    assert.ok(!isResourceGroupName('a b'));
  });

  it('build and parse back to the same', () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,20}$/).filter((text) => text.toLowerCase() !== 'providers');
    fc.assert(
      fc.property(
        fc.uuid(),
        name,
        fc.array(fc.tuple(name, name), { minLength: 1, maxLength: 4 }),
        (guid, group, path) => {
          const text = buildResourceId({ subscriptionId: guid, resourceGroup: group, provider: 'Micro.Soft', path });
          const id = parsed(text);
          assert.equal(id.text, text);
          assert.deepEqual(
            id.names,
            path.map(([, last]) => last),
          );
          assert.equal(idKey(text), id.key);
        },
      ),
    );
  });

  it('fold A to Z and no other letter', () => {
    const of = (group: string) => `/subscriptions/${subscription}/resourceGroups/${group}`;
    assert.ok(sameId(of('K'), of('k')));
    for (const [a, b] of [
      ['\u212a', 'k'],
      ['\u212a', 'K'],
      ['İ', 'i\u0307'],
      ['É', 'é'],
    ] as const) {
      assert.ok(!sameId(of(a), of(b)), a);
      if (isResourceGroupName(a) && isResourceGroupName(b)) assert.notEqual(parsed(of(a)).key, parsed(of(b)).key);
    }
  });

  it('never throw, whatever the text', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc
        .array(
          fc.constantFrom('/', 'subscriptions', subscription, 'resourceGroups', 'providers', '\u0000', '%2f', 'a', 'İ'),
        )
        .map((p) => p.join('/')),
    );
    fc.assert(
      fc.property(hostile, (text) => typeof parseResourceId(text).ok === 'boolean'),
      { numRuns: 2000 },
    );
  });
});
