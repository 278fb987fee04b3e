// The decision point: services ask whether a principal may do something.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProxyAgent, request } from 'undici';
import { alice, bob, roles, startPeople } from './testing/people.ts';

test('the decision point answers for each action, allowed, not allowed or denied', async (t) => {
  const azure = await startPeople(t);
  await azure.assign(alice, roles.reader, azure.group);
  const dispatcher = new ProxyAgent({ uri: azure.azure.cloud.proxy, requestTls: { ca: azure.azure.ca } });
  t.after(() => dispatcher.close());
  const host = `https://eastus.authorization.${azure.azure.cloud.suffix}`;
  const ask = async (person: typeof alice, body: object) => {
    const { token } = await azure.credentialOf(person).getToken('https://authorization.azure.net/.default');
    const answer = await request(
      `${host}/providers/Microsoft.Authorization/checkAccess?api-version=2021-06-01-preview`,
      {
        method: 'POST',
        dispatcher,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
    );
    return { status: answer.statusCode, json: (await answer.body.json()) as Record<string, unknown> };
  };
  const question = {
    Subject: { Attributes: { ObjectId: alice.objectId } },
    Actions: [
      { Id: 'Microsoft.Network/virtualNetworks/read', IsDataAction: false, Attributes: {} },
      { Id: 'Microsoft.Network/virtualNetworks/write', Attributes: {} },
    ],
    Resource: { Id: `${azure.group}/providers/Microsoft.Network/virtualNetworks/v`, Attributes: {} },
  };
  const answer = await ask(alice, question);
  assert.equal(answer.status, 200);
  const decisions = answer.json.value as { readonly actionId: string; readonly accessDecision: string }[];
  assert.deepEqual(
    decisions.map(({ actionId, accessDecision }) => [actionId, accessDecision]),
    [
      ['Microsoft.Network/virtualNetworks/read', 'Allowed'],
      ['Microsoft.Network/virtualNetworks/write', 'NotAllowed'],
    ],
  );
  const stranger = await ask(bob, question);
  assert.deepEqual([stranger.status, stranger.json.statusCode], [403, '403']);
  const malformed = await ask(alice, { Subject: {} });
  assert.equal(malformed.status, 400);
});
