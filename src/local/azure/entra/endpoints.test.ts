// Discovery and the token endpoint, as bare HTTP: what client libraries rely on and what they are told when something is wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRemoteJWKSet, customFetch, decodeJwt, jwtVerify } from 'jose';
import { Agent, fetch } from 'undici';
import { Secret } from '../../../kit/secret.ts';
import { azureCliAppId } from './first-party.ts';
import { armScope, entraWorld, homeTenant, seededApp, seededUser } from './testing/entra-world.ts';

const tokenPath = `/${homeTenant.id}/oauth2/v2.0/token`;
const byPassword = {
  grant_type: 'password',
  client_id: azureCliAppId,
  username: seededUser.userPrincipalName,
  password: seededUser.password.reveal(),
  scope: armScope,
} as const;
const bySecret = {
  grant_type: 'client_credentials',
  client_id: seededApp.appId,
  client_secret: seededApp.secret.reveal(),
  scope: armScope,
} as const;

test('discovery leads to the keys that tokens verify with', async (t) => {
  const world = await entraWorld(t);
  for (const path of [`/${homeTenant.id}/v2.0`, `/${homeTenant.domain}/v2.0`, `/${homeTenant.id}`]) {
    const { json } = await world.call(`${path}/.well-known/openid-configuration`);
    const version = path.endsWith('v2.0') ? 'v2.0' : '';
    assert.equal(json.issuer, `${world.origin}/${homeTenant.id}/${version}`);
    assert.ok(String(json.token_endpoint).startsWith(`${world.origin}/${homeTenant.id}/oauth2/`));
    const dispatcher = new Agent({ connect: { ca: world.certificates.ca } });
    const keys = createRemoteJWKSet(new URL(String(json.jwks_uri)), {
      [customFetch]: (url, options) => fetch(url, { ...options, dispatcher } as never) as never,
    });
    const { json: token } = await world.form(tokenPath, bySecret);
    const verified = await jwtVerify(String(token.access_token), keys, {
      issuer: `${world.origin}/${homeTenant.id}/`,
      audience: 'https://management.azure.com',
    });
    assert.equal(verified.payload.tid, homeTenant.id);
    await dispatcher.destroy();
  }
});

test('documents for every tenant, for AD FS, for instances and user realms', async (t) => {
  const world = await entraWorld(t);
  const common = (await world.call('/common/v2.0/.well-known/openid-configuration')).json;
  assert.equal(common.issuer, `${world.origin}/{tenantid}/v2.0`);
  const adfs = (await world.call('/adfs/.well-known/openid-configuration')).json;
  assert.equal(adfs.token_endpoint, `${world.origin}/adfs/oauth2/token/`);
  const byAdfs = await world.form('/adfs/oauth2/token', { ...bySecret, scope: `${world.origin}/.default` });
  assert.equal(decodeJwt(String(byAdfs.json.access_token)).aud, world.origin);
  const known = await world.call(
    `/common/discovery/instance?api-version=1.1&authorization_endpoint=${world.origin}/common/oauth2/v2.0/authorize`,
  );
  assert.equal(known.json.tenant_discovery_endpoint, `${world.origin}/common/v2.0/.well-known/openid-configuration`);
  const other = await world.call('/common/discovery/instance?authorization_endpoint=https://evil.example/x/authorize');
  assert.deepEqual([other.status, other.json.error], [400, 'invalid_instance']);
  const realm = await world.call(`/common/userrealm/${seededUser.userPrincipalName}?api-version=1.0`);
  assert.equal(realm.json.account_type, 'Managed');
  const atLogin = await world.call('/common/v2.0/.well-known/openid-configuration', {
    headers: { host: 'login.azure.test' },
  });
  assert.ok(String(atLogin.json.token_endpoint).startsWith('https://login.azure.test/'));
  const spoofed = await world.call('/common/v2.0/.well-known/openid-configuration', {
    headers: { host: 'evil.example' },
  });
  assert.ok(String(spoofed.json.token_endpoint).startsWith(world.origin));
});

test('the older endpoint names a resource and answers in texts', async (t) => {
  const world = await entraWorld(t);
  const { scope, ...rest } = bySecret;
  const { json } = await world.form(`/${homeTenant.id}/oauth2/token`, { ...rest, resource: 'https://vault.azure.net' });
  assert.equal(json.expires_in, '3599');
  assert.equal(json.resource, 'https://vault.azure.net');
  assert.equal(decodeJwt(String(json.access_token)).exp, Number(json.expires_on));
});

test('names of services in this cloud are resources, of the double-slash form too', async (t) => {
  const world = await entraWorld(t);
  const audienceOf = async (scope: string) =>
    decodeJwt(String((await world.form(tokenPath, { ...bySecret, scope })).json.access_token)).aud;
  assert.equal(await audienceOf(`${world.origin}//.default`), `${world.origin}/`);
  assert.equal(await audienceOf('https://myvault.vault.azure.test/.default'), 'https://myvault.vault.azure.test');
  assert.equal(await audienceOf(`${seededApp.appId}/.default`), seededApp.appId);
  assert.equal((await world.form(tokenPath, { ...bySecret, scope: 'https://azure.test/.default' })).status, 400);
});

test('every refusal has the number, word and form of Entra', async (t) => {
  const world = await entraWorld(t);
  const without = (name: keyof typeof bySecret) =>
    Object.fromEntries(Object.entries(bySecret).filter(([key]) => key !== name));
  const refusals: readonly (readonly [string, Readonly<Record<string, string>>, number, string, number])[] = [
    [tokenPath, {}, 900144, 'invalid_request', 400],
    [tokenPath, without('client_id'), 900144, 'invalid_request', 400],
    [tokenPath, without('scope'), 900144, 'invalid_request', 400],
    [tokenPath, without('client_secret'), 7000216, 'invalid_client', 401],
    [tokenPath, { ...bySecret, grant_type: 'magic' }, 70003, 'unsupported_grant_type', 400],
    [tokenPath, { ...bySecret, grant_type: 'constructor' }, 70003, 'unsupported_grant_type', 400],
    [tokenPath, { ...bySecret, client_secret: 'wrong' }, 7000215, 'invalid_client', 401],
    [tokenPath, { ...bySecret, client_id: 'nobody' }, 700016, 'unauthorized_client', 400],
    [tokenPath, { ...bySecret, scope: 'https://a.example/.default' }, 500011, 'invalid_resource', 400],
    [
      tokenPath,
      { ...bySecret, scope: 'https://management.azure.com/.default https://vault.azure.net/.default' },
      28000,
      'invalid_scope',
      400,
    ],
    [tokenPath, { ...bySecret, scope: '/.default' }, 70011, 'invalid_scope', 400],
    [tokenPath, { ...bySecret, client_assertion: 'x' }, 50027, 'invalid_request', 400],
    ['/88888888-8888-4888-8888-888888888888/oauth2/v2.0/token', bySecret, 90002, 'invalid_request', 400],
    ['/nobody.example/oauth2/v2.0/token', bySecret, 90002, 'invalid_request', 400],
    ['/%20/oauth2/v2.0/token', bySecret, 900023, 'invalid_request', 400],
    [tokenPath, { ...byPassword, password: 'wrong' }, 50126, 'invalid_grant', 400],
    [tokenPath, { ...byPassword, username: 'nobody@x.example' }, 50126, 'invalid_grant', 400],
    [tokenPath, { ...byPassword, client_id: seededApp.appId }, 7000218, 'invalid_client', 401],
    [tokenPath, { ...byPassword, grant_type: 'refresh_token', refresh_token: 'x' }, 9002313, 'invalid_grant', 400],
    [
      tokenPath,
      { ...byPassword, grant_type: 'authorization_code', code: 'x', redirect_uri: 'http://localhost' },
      70000,
      'invalid_grant',
      400,
    ],
    [tokenPath, { ...byPassword, grant_type: 'device_code', device_code: 'x' }, 70018, 'bad_verification_code', 400],
  ];
  const correlationId = '99999999-9999-4999-8999-999999999999';
  for (const [path, form, number, error, status] of refusals) {
    const { json, status: given, text } = await world.form(path, form, { 'client-request-id': correlationId });
    assert.deepEqual([json.error_codes, json.error, given], [[number], error, status], text);
    assert.match(String(json.error_description), new RegExp(`^AADSTS${number}: .+ Trace ID: .+ Timestamp: \\d{4}-`));
    assert.equal(json.correlation_id, correlationId);
    assert.ok(!text.includes(seededApp.secret.reveal()) && !text.includes(seededUser.password.reveal()));
  }
});

test('bodies that are no forms, forms that contradict themselves and forms too large are refused', async (t) => {
  const world = await entraWorld(t);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const bodies = [
    { headers: { 'content-type': 'application/json' }, body: '{}' },
    { headers: form, body: 'grant_type=password&grant_type=client_credentials' },
    { headers: form, body: `grant_type=${'x'.repeat(100_000)}` },
    { headers: form, body: Array.from({ length: 200 }, (_, index) => `p${index}=1`).join('&') },
    { headers: form, body: '%' },
  ];
  for (const { headers, body } of bodies) {
    const answer = await world.call(tokenPath, { method: 'POST', headers, body });
    assert.equal(answer.status, 400, body.slice(0, 40));
    assert.equal(answer.json.error, 'invalid_request');
  }
});

test('ten wrong passwords lock the account for a minute, whatever the case of its name', async (t) => {
  const world = await entraWorld(t);
  const attempt = (password: string, username: string = seededUser.userPrincipalName) =>
    world.form(tokenPath, { ...byPassword, username, password }).then(({ json }) => json.error_codes);
  for (let wrong = 0; wrong < 10; wrong++) {
    assert.deepEqual(await attempt('wrong', seededUser.userPrincipalName.toUpperCase()), [50126]);
  }
  assert.deepEqual(await attempt(seededUser.password.reveal()), [50053]);
  world.clock.skip(61_000);
  assert.equal(await attempt(seededUser.password.reveal()), undefined);
});

test('a secret ends when its time is over', async (t) => {
  const world = await entraWorld(t);
  const { objects } = world.directory.entra;
  const application = objects.application(seededApp.appId);
  assert.ok(application);
  await objects.change<'Application'>(application, (now) => ({
    ...now,
    passwordCredentials: now.passwordCredentials.map((one) => ({ ...one, endDateTime: '2020-01-01T00:00:00Z' })),
  }));
  assert.deepEqual((await world.form(tokenPath, bySecret)).json.error_codes, [7000222]);
});

test('after a restart tokens, refresh tokens and principals are what they were', async (t) => {
  const world = await entraWorld(t);
  const first = (await world.form(tokenPath, { ...byPassword, scope: `${armScope} offline_access` })).json;
  const again = await world.reopen();
  const caller = await again.authenticate(`Bearer ${first.access_token}`, ['https://management.azure.com/']);
  assert.equal(caller.objectId, seededUser.objectId);
  const grant = await again.entra.grants.refresh(homeTenant.id, String(first.refresh_token));
  assert.equal(grant.userId, seededUser.objectId);
});

test('a new signing key is used from now on, and tokens of the old one stay valid', async (t) => {
  const world = await entraWorld(t);
  const { directory } = world;
  const old = String((await world.form(tokenPath, bySecret)).json.access_token);
  const before = await directory.entra.keys.current();
  const after = await directory.entra.keys.rotate();
  assert.notEqual(after.kid, before.kid);
  const { keys } = (await world.call('/common/discovery/v2.0/keys')).json as { keys: { kid: string; d?: string }[] };
  assert.deepEqual(
    keys.map(({ kid }) => kid),
    [after.kid, before.kid],
  );
  assert.ok(keys.every((key) => key.d === undefined));
  await directory.authenticate(`Bearer ${old}`, ['https://management.azure.com']);
  await (await world.reopen()).authenticate(`Bearer ${old}`, ['https://management.azure.com']);
});

test('authenticate tells what is wrong with a token in the words of Resource Manager', async (t) => {
  const world = await entraWorld(t, {
    seed: {
      applications: [
        seededApp,
        {
          ...seededApp,
          appId: '12121212-1212-4212-8212-121212121212',
          objectId: '12121212-1212-4212-8212-000000000000',
          secret: new Secret('x'),
        },
      ],
    },
  });
  const { directory } = world;
  const arm = ['https://management.azure.com'];
  const token = String((await world.form(tokenPath, bySecret)).json.access_token);
  const refused = (authorization: string | undefined, code: string, audiences = arm) =>
    assert.rejects(
      directory.authenticate(authorization, audiences),
      (error: { code: string; status: number; headers: Record<string, string> }) => {
        assert.deepEqual([error.status, error.code], [401, code]);
        assert.match(error.headers['www-authenticate'] ?? '', /^Bearer authorization_uri="https:/);
        return true;
      },
    );
  await refused(undefined, 'AuthenticationFailed');
  await refused('Basic x', 'InvalidAuthenticationToken');
  await refused('Bearer x', 'InvalidAuthenticationToken');
  const [header, payload, signature] = token.split('.');
  await refused(`Bearer ${header}.${payload}.${signature?.slice(0, -4)}AAAA`, 'InvalidAuthenticationToken');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  await refused(`Bearer ${none}.${payload}.`, 'InvalidAuthenticationToken');
  await refused(`Bearer ${token}`, 'InvalidAuthenticationTokenAudience', ['https://vault.azure.net']);
  await directory.authenticate(`bearer ${token}`, ['https://Management.azure.com/']);
  world.clock.skipOnMachine(3_700_000);
  await refused(`Bearer ${token}`, 'ExpiredAuthenticationToken');
  const fresh = String((await world.form(tokenPath, bySecret)).json.access_token);
  await directory.authenticate(`Bearer ${fresh}`, arm);
  await directory.entra.objects.remove(homeTenant.id, [seededApp.objectId]);
  await refused(`Bearer ${fresh}`, 'InvalidAuthenticationToken');
});

test('tokens live by the clock of the machine, however far the time of the cloud has gone ahead', async (t) => {
  const world = await entraWorld(t);
  const arm = ['https://management.azure.com'];
  const ask = async () => String((await world.form(tokenPath, bySecret)).json.access_token);
  const before = await ask();
  world.clock.skip(200 * 86_400_000);
  await world.directory.authenticate(`Bearer ${before}`, arm);
  const after = await ask();
  const { iat = 0, nbf, exp } = decodeJwt(after);
  assert.ok(iat <= Date.now() / 1000);
  assert.deepEqual([nbf, exp], [iat, iat + 3600]);
  await world.directory.authenticate(`Bearer ${after}`, arm);
});

test('a token that the cloud issues itself is for exactly the audience asked for', async (t) => {
  const { directory } = await entraWorld(t);
  const audience = 'https://rp.aro.azure.test';
  const principal = directory.entra.objects.servicePrincipal(homeTenant.id, seededApp.appId);
  const token = await directory.issue({ audience, appId: seededApp.appId, objectId: principal?.id ?? '' });
  assert.equal((await directory.authenticate(`Bearer ${token.reveal()}`, [audience])).objectId, seededApp.objectId);
  assert.deepEqual(await directory.principal(seededUser.objectId.toUpperCase()), {
    kind: 'User',
    name: 'Ada Lovelace',
  });
  assert.equal(await directory.principal('12121212-1212-4212-8212-121212121212'), undefined);
});
