// Graph as az and the portal use it, over a real listener with real tokens.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ClientSecretCredential } from '@azure/identity';
import { Secret } from '../../../kit/secret.ts';
import { azureCliAppId, resourceProviderAppId } from '../entra/first-party.ts';
import { type Answer, armScope, entraWorld, homeTenant, seededApp, seededUser } from '../entra/testing/entra-world.ts';
import { graphRoutes } from './routes.ts';

const bob = {
  userPrincipalName: `bob@${homeTenant.domain}`,
  displayName: 'Bob',
  objectId: '55555555-5555-4555-8555-555555555555',
  password: new Secret('another long password'),
} as const;
const plainApp = {
  displayName: 'plain',
  appId: '66666666-6666-4666-8666-666666666666',
  objectId: '66666666-6666-4666-8666-000000000000',
  secret: new Secret('plain-secret'),
} as const;

type Ask = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

async function graph(t: TestContext) {
  const world = await entraWorld(t, {
    seed: { users: [seededUser, bob], applications: [seededApp, plainApp] },
    routes: (app, directory) => graphRoutes(app, directory.entra),
  });
  const asker =
    (token: string): Ask =>
    (method, path, body, headers = {}) =>
      world.call(`/v1.0/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
  const asUser = async (user: { readonly userPrincipalName: string; readonly password: Secret<string> }) => {
    const { json } = await world.form(`/${homeTenant.id}/oauth2/v2.0/token`, {
      grant_type: 'password',
      client_id: azureCliAppId,
      username: user.userPrincipalName,
      password: user.password.reveal(),
      scope: 'https://graph.microsoft.com/.default offline_access',
    });
    return { ask: asker(String(json.access_token)), refreshToken: String(json.refresh_token) };
  };
  const asApp = async (app: { readonly appId: string; readonly secret: Secret<string> }) => {
    const { json } = await world.form(`/${homeTenant.id}/oauth2/v2.0/token`, {
      grant_type: 'client_credentials',
      client_id: app.appId,
      client_secret: app.secret.reveal(),
      scope: 'https://graph.microsoft.com/.default',
    });
    return asker(String(json.access_token));
  };
  return { world, asker, asUser, asApp };
}

const values = (answer: Answer) => answer.json.value as readonly Record<string, unknown>[];
const codeOf = (answer: Answer) => [answer.status, (answer.json.error as { code?: string } | undefined)?.code];

test("az aro create's calls: find the resource provider, make an application, a secret and a principal, sign in with it", async (t) => {
  const { world, asApp } = await graph(t);
  const ask = await asApp(seededApp);
  const found = await ask('GET', `servicePrincipals?$filter=appId%20eq%20'${resourceProviderAppId}'`);
  assert.equal(values(found).length, 1);
  assert.equal(values(found)[0]?.appId, resourceProviderAppId);

  const made = await ask('POST', 'applications', { displayName: 'aro-cluster' });
  assert.equal(made.status, 201);
  const { id, appId } = made.json as { readonly id: string; readonly appId: string };
  const added = await ask('POST', `applications/${id}/addPassword`, {
    passwordCredential: { displayName: 'rbac', endDateTime: '2099-01-01T00:00:00Z' },
  });
  assert.equal(added.status, 200);
  const secret = String(added.json.secretText);
  assert.deepEqual(values(await ask('GET', `servicePrincipals?$filter=appId eq '${appId}'`)), []);
  const principal = await ask('POST', 'servicePrincipals', { appId });
  assert.equal(principal.status, 201);
  assert.deepEqual(codeOf(await ask('POST', 'servicePrincipals', { appId })), [
    409,
    'Request_MultipleObjectsWithSameKeyValue',
  ]);

  const { token } = await new ClientSecretCredential(homeTenant.id, appId, secret, world.sdk).getToken(armScope);
  const caller = await world.directory.authenticate(`Bearer ${token}`, ['https://management.azure.com']);
  assert.equal(caller.objectId, principal.json.id);

  const shown = await ask('GET', `applications(appId='${appId}')?$select=id,passwordCredentials`);
  assert.deepEqual(Object.keys(shown.json).sort(), ['@odata.context', 'id', 'passwordCredentials']);
  assert.ok(!shown.text.includes(secret));
  const keyId = added.json.keyId;
  assert.equal((await ask('POST', `applications/${id}/removePassword`, { keyId })).status, 204);
  await assert.rejects(
    new ClientSecretCredential(homeTenant.id, appId, secret, world.sdk).getToken(armScope),
    /AADSTS7000215/,
  );

  assert.equal((await ask('DELETE', `applications/${id}`)).status, 204);
  assert.deepEqual(codeOf(await ask('GET', `servicePrincipals/${principal.json.id}`)), [
    404,
    'Request_ResourceNotFound',
  ]);
  await assert.rejects(world.directory.authenticate(`Bearer ${token}`, ['https://management.azure.com']), {
    status: 401,
    code: 'InvalidAuthenticationToken',
  });
});

test('federated credentials of an application are made, unique, changed and removed', async (t) => {
  const { asApp } = await graph(t);
  const ask = await asApp(seededApp);
  const path = `applications(appId='${plainApp.appId}')/federatedIdentityCredentials`;
  const body = {
    name: 'pod',
    issuer: 'https://issuer.example',
    subject: 's',
    audiences: ['api://AzureADTokenExchange'],
  };
  const made = await ask('POST', path, body);
  assert.equal(made.status, 201);
  assert.equal((await ask('POST', path, body)).status, 409);
  assert.equal((await ask('POST', path, { ...body, name: 'x', issuer: 'http://issuer.example' })).status, 400);
  assert.equal((await ask('PATCH', `${path}/${made.json.id}`, { subject: 't' })).status, 204);
  assert.equal((await ask('GET', `${path}/pod`)).json.subject, 't');
  assert.equal((await ask('DELETE', `${path}/${made.json.id}`)).status, 204);
  assert.deepEqual(values(await ask('GET', path)), []);
});

test('a user reads the directory and owns what they register; only an administrator changes the rest', async (t) => {
  const { asUser, asApp } = await graph(t);
  const ada = (await asUser(seededUser)).ask;
  const ordinary = (await asUser(bob)).ask;
  assert.equal((await ordinary('GET', 'me')).json.userPrincipalName, bob.userPrincipalName);
  const own = await ordinary('POST', 'applications', { displayName: 'mine' });
  assert.equal((await ordinary('PATCH', `applications/${own.json.id}`, { displayName: 'still mine' })).status, 204);
  const other = await ordinary('PATCH', `applications(appId='${seededApp.appId}')`, { displayName: 'taken' });
  assert.deepEqual(codeOf(other), [403, 'Authorization_RequestDenied']);
  assert.equal(
    (await ada('PATCH', `applications/${own.json.id}`, { displayName: 'by the administrator' })).status,
    204,
  );
  assert.equal((await ordinary('POST', 'users', {})).status, 403);
  assert.equal((await ordinary('DELETE', `users/${seededUser.objectId}`)).status, 403);
  const unpermitted = await asApp(plainApp);
  assert.deepEqual(codeOf(await unpermitted('GET', 'users')), [403, 'Authorization_RequestDenied']);
  assert.equal((await unpermitted('GET', `servicePrincipals/${plainApp.objectId}`)).status, 200);
  assert.equal((await unpermitted('GET', 'me')).status, 400);
});

test('users are made, sign in, and are cut off by a new password or when disabled', async (t) => {
  const { world, asUser } = await graph(t);
  const { ask } = await asUser(seededUser);
  const carol = { userPrincipalName: `carol@${homeTenant.domain}`, password: new Secret('yet another password') };
  const body = {
    accountEnabled: true,
    displayName: 'Carol',
    mailNickname: 'carol',
    userPrincipalName: carol.userPrincipalName,
    passwordProfile: { password: carol.password.reveal() },
  };
  const made = await ask('POST', 'users', body);
  assert.equal(made.status, 201);
  assert.ok(!made.text.includes('password'));
  assert.deepEqual(codeOf(await ask('POST', 'users', body)), [400, 'Request_BadRequest']);
  const signedIn = await asUser(carol);
  assert.equal((await signedIn.ask('GET', 'me')).status, 200);
  const refresh = () =>
    world.form(`/${homeTenant.id}/oauth2/v2.0/token`, {
      grant_type: 'refresh_token',
      client_id: azureCliAppId,
      refresh_token: signedIn.refreshToken,
      scope: armScope,
    });
  assert.equal((await refresh()).status, 200);
  world.clock.skip(1000);
  await ask('PATCH', `users/${carol.userPrincipalName}`, { passwordProfile: { password: 'a changed password' } });
  assert.deepEqual((await refresh()).json.error_codes, [50173]);
  await ask('PATCH', `users/${carol.userPrincipalName}`, { accountEnabled: false });
  assert.deepEqual(codeOf(await signedIn.ask('GET', 'me')), [401, 'InvalidAuthenticationToken']);
});

test('groups nest, and tokens and questions know all of them', async (t) => {
  const { world, asUser } = await graph(t);
  const { ask } = await asUser(seededUser);
  const group = async (displayName: string) =>
    String(
      (
        await ask('POST', 'groups', {
          displayName,
          mailEnabled: false,
          mailNickname: displayName,
          securityEnabled: true,
        })
      ).json.id,
    );
  const [inner, outer] = [await group('inner'), await group('outer')];
  const add = (to: string, id: string) =>
    ask('POST', `groups/${to}/members/$ref`, {
      '@odata.id': `https://graph.microsoft.com/v1.0/directoryObjects/${id}`,
    });
  assert.equal((await add(inner, bob.objectId)).status, 204);
  assert.equal((await add(inner, bob.objectId)).status, 400);
  assert.equal((await add(outer, inner)).status, 204);
  assert.equal((await add(inner, outer)).status, 204, 'groups may contain each other');
  assert.deepEqual(
    values(await ask('GET', `users/${bob.objectId}/memberOf`)).map(({ id }) => id),
    [inner],
  );
  assert.equal(values(await ask('GET', `users/${bob.objectId}/transitiveMemberOf`)).length, 2);
  assert.ok(values(await ask('GET', `groups/${outer}/transitiveMembers`)).some(({ id }) => id === bob.objectId));
  const checked = await ask('POST', `users/${bob.objectId}/checkMemberGroups`, {
    groupIds: [outer, seededUser.objectId],
  });
  assert.deepEqual(checked.json.value, [outer]);

  const { ask: asBob } = await asUser(bob);
  const mine = await asBob('POST', 'me/getMemberGroups', { securityEnabledOnly: true });
  assert.deepEqual([...(mine.json.value as string[])].sort(), [inner, outer].sort());
  assert.equal(world.directory.entra.objects.groupsOf(bob.objectId).length, 2);
  assert.equal((await ask('DELETE', `groups/${inner}/members/${bob.objectId}/$ref`)).status, 204);
  assert.deepEqual(values(await ask('GET', `users/${bob.objectId}/transitiveMemberOf`)), []);
});

test('objects of any type are found by their ids', async (t) => {
  const { asApp } = await graph(t);
  const ask = await asApp(seededApp);
  const ids = [bob.objectId, plainApp.objectId, '77777777-7777-4777-8777-777777777777'];
  const all = await ask('POST', 'directoryObjects/getByIds', { ids });
  assert.deepEqual(
    values(all).map((one) => one['@odata.type']),
    ['#microsoft.graph.user', '#microsoft.graph.servicePrincipal'],
  );
  assert.equal(values(await ask('POST', 'directoryObjects/getByIds', { ids, types: ['user'] })).length, 1);
  assert.equal((await ask('POST', 'directoryObjects/getByIds', { ids: [] })).status, 400);
});

test('lists come in pages that are complete, counted and ordered when asked', async (t) => {
  const { asApp } = await graph(t);
  const ask = await asApp(seededApp);
  const all = values(await ask('GET', 'servicePrincipals')).map(({ id }) => id);
  const seen: unknown[] = [];
  let path: string | undefined = 'servicePrincipals?$top=3&$select=id';
  for (let pages = 0; path !== undefined && pages < 100; pages++) {
    const page = await ask('GET', path);
    assert.ok(values(page).length <= 3);
    seen.push(...values(page).map(({ id }) => id));
    path = (page.json['@odata.nextLink'] as string | undefined)?.split('/v1.0/')[1];
  }
  assert.deepEqual(seen, all);
  const eventual = { consistencylevel: 'eventual' };
  const counted = await ask('GET', 'servicePrincipals?$count=true&$top=1', undefined, eventual);
  assert.equal(counted.json['@odata.count'], all.length);
  assert.equal((await ask('GET', 'servicePrincipals/$count', undefined, eventual)).text, String(all.length));
  const ordered = values(await ask('GET', 'users?$orderby=displayName desc')).map(({ displayName }) => displayName);
  assert.deepEqual(ordered, ['Bob', 'Ada Lovelace']);
  const named = await ask('GET', "servicePrincipals?$filter=startswith(displayName,'azure red')");
  assert.equal(values(named).length, 1);
  const byName = await ask('GET', `servicePrincipals?$filter=servicePrincipalNames/any(c:c eq '${plainApp.appId}')`);
  assert.equal(values(byName)[0]?.id, plainApp.objectId);
});

test('an administrator grants a permission, and new tokens have it', async (t) => {
  const { asUser, asApp } = await graph(t);
  const ada = (await asUser(seededUser)).ask;
  const [resource] = values(await ada('GET', `servicePrincipals?$filter=displayName eq 'Microsoft Graph'`));
  const path = `servicePrincipals/${plainApp.objectId}/appRoleAssignments`;
  const body = {
    principalId: plainApp.objectId,
    resourceId: resource?.id,
    appRoleId: '7ab1d382-f21e-4acd-a863-ba3e13f7da61',
  };
  const plain = await asApp(plainApp);
  assert.equal((await plain('POST', path, body)).status, 403);
  assert.equal((await (await asUser(bob)).ask('POST', path, body)).status, 403);
  const granted = await ada('POST', path, body);
  assert.equal(granted.status, 201);
  assert.equal((await ada('POST', path, body)).status, 400);
  assert.equal((await (await asApp(plainApp))('GET', 'users')).status, 200);
  assert.equal((await ada('DELETE', `${path}/${granted.json.id}`)).status, 204);
  assert.equal((await (await asApp(plainApp))('GET', 'users')).status, 403);
});

test('what is wrong with a request is told in the words of Graph', async (t) => {
  const { world, asApp, asker } = await graph(t);
  const ask = await asApp(seededApp);
  const wrong: readonly (readonly [Promise<Answer>, number, string])[] = [
    [world.call('/v1.0/users'), 401, 'InvalidAuthenticationToken'],
    [asker('x.y.z')('GET', 'users'), 401, 'InvalidAuthenticationToken'],
    [ask('GET', 'nothing'), 400, 'BadRequest'],
    [ask('GET', 'users/nobody'), 404, 'Request_ResourceNotFound'],
    [ask('GET', 'users?$filter=color eq 1'), 400, 'BadRequest'],
    [ask('GET', 'users?$filter=displayName eq'), 400, 'BadRequest'],
    [ask('GET', "users?$filter=displayName ne 'x'"), 400, 'Request_UnsupportedQuery'],
    [ask('GET', 'users?$select=color'), 400, 'BadRequest'],
    [ask('GET', 'users?$top=0'), 400, 'BadRequest'],
    [ask('GET', 'users?$top=1&$top=2'), 400, 'BadRequest'],
    [ask('GET', 'users?$skiptoken=x'), 400, 'BadRequest'],
    [ask('GET', 'users?$expand=manager'), 400, 'Request_UnsupportedQuery'],
    [ask('POST', 'applications', {}), 400, 'Request_BadRequest'],
    [ask('POST', 'applications', []), 400, 'Request_BadRequest'],
    [ask('POST', 'applications', { displayName: 7 }), 400, 'Request_BadRequest'],
    [ask('POST', 'applications', { displayName: 'x', color: 'red' }), 400, 'Request_BadRequest'],
    [ask('POST', 'applications', { displayName: 'x', keyCredentials: [{ key: 'AAAA' }] }), 400, 'Request_BadRequest'],
    [
      ask('POST', 'applications', { displayName: 'x', identifierUris: ['https://vault.azure.net'] }),
      400,
      'Request_BadRequest',
    ],
    [ask('POST', 'applications', { displayName: '\ud800' }), 400, 'Request_BadRequest'],
    [ask('POST', 'applications', { displayName: 'x', notes: '\ud800' }), 400, 'Request_BadRequest'],
    [ask('POST', 'servicePrincipals', { appId: 'x' }), 400, 'Request_BadRequest'],
    [
      ask('PATCH', `servicePrincipals(appId='${resourceProviderAppId}')`, { tags: [] }),
      403,
      'Authorization_RequestDenied',
    ],
    [ask('DELETE', 'users'), 405, 'Request_BadRequest'],
    [ask('POST', 'applications', undefined, { 'content-type': 'text/plain' }), 400, 'Request_BadRequest'],
    [ask('POST', 'applications', 'x', { 'content-type': 'text/plain' }), 400, 'BadRequest'],
    [world.call('/v1.0/applications', { method: 'POST', body: 'x' }), 401, 'InvalidAuthenticationToken'],
  ];
  for (const [answer, status, code] of wrong) {
    const given = await answer;
    assert.deepEqual(codeOf(given), [status, code], given.text);
  }
});
