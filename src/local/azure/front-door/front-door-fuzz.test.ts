// Nothing that clients, or a provider, send makes the front door fail by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linksIn } from './linked-access.ts';
import { rewriteBody, rewriteLink } from './links.ts';

test('links of any form are rewritten or left, never lost', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string()), (link) => {
      const rewritten = rewriteLink(link, 'https://provider.example/base', 'https://arm.example');
      assert.ok(rewritten === link || rewritten.startsWith('https://arm.example/'));
    }),
  );
  assert.equal(
    rewriteLink(
      'https://provider.example/base/subscriptions/s/x?a=b',
      'https://provider.example/base/',
      'https://arm.example:1',
    ),
    'https://arm.example:1/subscriptions/s/x?a=b',
  );
  assert.equal(
    rewriteLink('https://else.example/other', 'https://p.example', 'https://a.example'),
    'https://else.example/other',
  );
});

test('bodies of any form are searched for links', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      linksIn(body);
      rewriteBody(body, 'https://p.example', 'https://a.example');
    }),
  );
  assert.deepEqual(linksIn(Array.from({ length: 500_000 }, () => 1)), []);
});

test('subnets, identities and the like are found among values and names, once each; what is null is not used', () => {
  const group = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g/providers';
  const subnet = `${group}/Microsoft.Network/virtualNetworks/v/subnets/s`;
  const identity = `${group}/Microsoft.ManagedIdentity/userAssignedIdentities/i`;
  const links = linksIn({
    properties: { a: subnet, b: [subnet.toUpperCase()], c: `${group}/Microsoft.Storage/storageAccounts/x` },
    identity: { userAssignedIdentities: { [identity]: {}, [`${identity}2`]: null } },
  });
  assert.deepEqual(links.map(({ action }) => action).sort(), [
    'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action',
    'Microsoft.Network/virtualNetworks/subnets/join/action',
  ]);
});
