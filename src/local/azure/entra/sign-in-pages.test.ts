// The pages, as a browser goes through them.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import { azureCliAppId } from './first-party.ts';
import {
  type Answer,
  armScope,
  type EntraWorld,
  entraWorld,
  homeTenant,
  seededApp,
  seededUser,
} from './testing/entra-world.ts';

const portal = {
  ...seededApp,
  redirectUris: { web: ['https://portal.example/callback'], publicClient: ['http://localhost/native'] },
} as const;
const tokenPath = `/${homeTenant.id}/oauth2/v2.0/token`;
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const native = {
  client_id: azureCliAppId,
  response_type: 'code',
  redirect_uri: 'http://localhost:8400',
  scope: `${armScope} openid offline_access`,
  state: 'a state & more',
  nonce: 'n-1',
  code_challenge: challenge,
  code_challenge_method: 'S256',
} as const;
const credentials = {
  username: seededUser.userPrincipalName,
  password: seededUser.password.reveal(),
  decision: 'sign-in',
};

/** Keeps cookies and sends forms of the page it is on. */
function browser(world: EntraWorld) {
  const cookies = new Map<string, string>();
  const headers = () => ({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') });
  const keep = (answer: Answer): Answer => {
    for (const cookie of [answer.headers['set-cookie'] ?? []].flat()) {
      const [name = '', value = ''] = cookie.split(';')[0]?.split('=') ?? [];
      cookies.set(name, value);
    }
    return answer;
  };
  return {
    open: async (path: string) => keep(await world.call(path, { headers: headers() })),
    submit: async (
      page: Answer,
      fields: Readonly<Record<string, string>>,
      more: Readonly<Record<string, string>> = {},
    ) => {
      const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const flow = /name="flow" value="([^"]+)"/.exec(page.text)?.[1];
      return keep(
        await world.form(action, { ...(flow === undefined ? {} : { flow }), ...fields }, { ...headers(), ...more }),
      );
    },
  };
}

const authorizePath = (parameters: Readonly<Record<string, string>>, tenant: string = homeTenant.id) =>
  `/${tenant}/oauth2/v2.0/authorize?${new URLSearchParams(parameters)}`;
const without = (name: keyof typeof native) =>
  Object.fromEntries(Object.entries(native).filter(([key]) => key !== name));
const world = (t: TestContext) => entraWorld(t, { seed: { applications: [portal] } });

async function codeOf(page: Answer) {
  const url = new URL(String(page.headers.location));
  return { url, code: url.searchParams.get('code') ?? '' };
}

test('a person signs in; the program gets a code, and for it tokens, once', async (t) => {
  const entra = await world(t);
  const { open, submit } = browser(entra);
  const page = await open(authorizePath({ ...native, login_hint: '"><script>' }, 'organizations'));
  assert.equal(page.status, 200);
  assert.match(page.text, /Microsoft Azure CLI/);
  assert.ok(!page.text.includes('<script'));
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'.*form-action 'self' http:\/\/localhost:8400; frame-ancestors 'none'/);
  assert.match(String(page.headers['set-cookie']), /^__Host-.*Secure; HttpOnly; SameSite=Lax$/);

  const wrong = await submit(page, { ...credentials, password: 'wrong' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /role="alert".*invalid username or password/);
  const signedIn = await submit(wrong, credentials);
  assert.equal(signedIn.status, 303);
  const { url, code } = await codeOf(signedIn);
  assert.equal(url.origin, 'http://localhost:8400');
  assert.equal(url.searchParams.get('state'), native.state);

  const redeem = (fields: Readonly<Record<string, string>>) =>
    entra.form(tokenPath, {
      grant_type: 'authorization_code',
      client_id: azureCliAppId,
      redirect_uri: native.redirect_uri,
      client_info: '1',
      code,
      code_verifier: verifier,
      ...fields,
    });
  const { json } = await redeem({});
  assert.equal(decodeJwt(String(json.access_token)).oid, seededUser.objectId);
  const idToken = decodeJwt(String(json.id_token));
  assert.deepEqual([idToken.nonce, idToken.aud, idToken.ver], ['n-1', azureCliAppId, '2.0']);
  assert.deepEqual(JSON.parse(Buffer.from(String(json.client_info), 'base64url').toString()), {
    uid: seededUser.objectId,
    utid: homeTenant.id,
  });
  assert.deepEqual((await redeem({})).json.error_codes, [54005]);

  const refreshed = await entra.form(tokenPath, {
    grant_type: 'refresh_token',
    client_id: azureCliAppId,
    refresh_token: String(json.refresh_token),
    scope: 'https://vault.azure.net/.default',
  });
  assert.equal(decodeJwt(String(refreshed.json.access_token)).aud, 'https://vault.azure.net');
  assert.notEqual(refreshed.json.refresh_token, json.refresh_token);
  const otherClient = await entra.form(tokenPath, {
    grant_type: 'refresh_token',
    client_id: portal.appId,
    client_secret: portal.secret.reveal(),
    refresh_token: String(json.refresh_token),
    scope: armScope,
  });
  assert.deepEqual(otherClient.json.error_codes, [9002313]);
});

test('a code is worth nothing with another verifier, address or client, or too late', async (t) => {
  const entra = await world(t);
  const newCode = async () => {
    const { open, submit } = browser(entra);
    return (await codeOf(await submit(await open(authorizePath(native)), credentials))).code;
  };
  const base = {
    grant_type: 'authorization_code',
    client_id: azureCliAppId,
    redirect_uri: native.redirect_uri,
    code_verifier: verifier,
  };
  const attempts = [
    [{ code_verifier: 'x'.repeat(43) }, 501481],
    [{ redirect_uri: 'http://localhost:9999' }, 500112],
    [{ client_id: portal.appId, client_secret: portal.secret.reveal() }, 70000],
  ] as const;
  for (const [change, number] of attempts) {
    const { json } = await entra.form(tokenPath, { ...base, ...change, code: await newCode() });
    assert.deepEqual(json.error_codes, [number]);
  }
  const late = await newCode();
  entra.clock.skip(601_000);
  assert.deepEqual((await entra.form(tokenPath, { ...base, code: late })).json.error_codes, [70008]);
});

test('a web application proves itself with its secret', async (t) => {
  const entra = await world(t);
  const { open, submit } = browser(entra);
  const redirect_uri = portal.redirectUris.web[0];
  const asked = {
    client_id: portal.appId,
    response_type: 'code',
    redirect_uri,
    scope: 'openid profile',
    response_mode: 'form_post',
  };
  const page = await open(authorizePath(asked));
  const back = await submit(page, credentials);
  assert.equal(back.status, 200);
  assert.match(String(back.headers['content-security-policy']), /form-action 'self' https:\/\/portal\.example/);
  const code = /name="code" value="([^"]+)"/.exec(back.text)?.[1] ?? '';
  const form = {
    grant_type: 'authorization_code',
    client_id: portal.appId,
    redirect_uri,
    code,
    scope: 'openid profile',
  };
  const proven = await entra.form(tokenPath, { ...form, client_secret: portal.secret.reveal() });
  assert.equal(decodeJwt(String(proven.json.id_token)).preferred_username, seededUser.userPrincipalName);
  const second = await codeOf(
    await submit(await open(authorizePath({ ...asked, response_mode: 'query' })), credentials),
  );
  assert.deepEqual((await entra.form(tokenPath, { ...form, code: second.code })).json.error_codes, [7000218]);
});

test('an address that is not registered gets neither a code nor an error', async (t) => {
  const entra = await world(t);
  const { open } = browser(entra);
  for (const redirect_uri of [
    'https://evil.example/',
    'http://localhost.evil.example/',
    'http://localhost@evil.example/',
    'http://localhost:8400/#x',
    'https://portal.example/callback',
    'javascript:alert(1)',
    '//evil.example',
  ]) {
    const answer = await open(authorizePath({ ...native, redirect_uri }));
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined], redirect_uri);
    assert.match(answer.text, /AADSTS50011/);
  }
  for (const redirect_uri of [
    'https://portal.example/callback/',
    'https://portal.example/callback?x=1',
    'http://localhost:1/other',
  ]) {
    assert.equal((await open(authorizePath({ ...native, client_id: portal.appId, redirect_uri }))).status, 400);
  }
  const anyPort = { ...native, client_id: portal.appId, redirect_uri: 'http://localhost:5555/native' };
  assert.equal((await open(authorizePath(anyPort))).status, 200);
});

test('what is wrong otherwise is told to the application', async (t) => {
  const entra = await world(t);
  const { open } = browser(entra);
  const wrong = [
    [{ ...native, response_type: 'token' }, 'unsupported_response_type'],
    [without('response_type'), 'invalid_request'],
    [without('code_challenge'), 'invalid_request'],
    [{ ...native, code_challenge_method: 'plain' }, 'invalid_request'],
    [{ ...native, scope: 'https://nobody.example/.default' }, 'invalid_resource'],
    [{ ...native, prompt: 'none' }, 'login_required'],
    [{ ...native, response_mode: 'carrier_pigeon' }, 'invalid_request'],
  ] as const;
  for (const [parameters, error] of wrong) {
    const answer = await open(authorizePath(parameters));
    assert.equal(answer.status, 303);
    const { url } = await codeOf(answer);
    assert.deepEqual([url.searchParams.get('error'), url.searchParams.get('state')], [error, native.state]);
  }
  assert.equal((await open(authorizePath(without('client_id')))).status, 400);
  assert.equal((await open(`${authorizePath(native)}&state=twice`)).status, 400);
});

test('a form that another site, another browser or nobody was given does not sign in', async (t) => {
  const entra = await world(t);
  const one = browser(entra);
  const page = await one.open(authorizePath(native));
  const crossSite = await one.submit(page, credentials, { origin: 'https://evil.example' });
  assert.deepEqual([crossSite.status, crossSite.headers.location], [400, undefined]);
  assert.equal((await one.submit(page, credentials, { origin: 'null' })).status, 400);
  assert.equal((await one.submit(page, credentials, { 'sec-fetch-site': 'cross-site' })).status, 400);
  const other = browser(entra);
  await other.open(authorizePath(native));
  assert.equal((await other.submit(page, credentials)).status, 400);
  assert.equal((await browser(entra).submit(page, credentials)).status, 400);
  assert.equal((await one.submit(page, { ...credentials, flow: 'made-up' })).status, 400);
  const own = { origin: entra.origin, 'sec-fetch-site': 'same-origin' };
  assert.equal((await one.submit(page, credentials, own)).status, 303);
  entra.clock.skip(16 * 60_000);
  assert.equal((await one.submit(page, credentials, own)).status, 400);
});

test('a device is signed in on the page, and only the person who typed the code decides', async (t) => {
  const entra = await world(t);
  const start = async () =>
    (await entra.form(`/${homeTenant.id}/oauth2/v2.0/devicecode`, { client_id: azureCliAppId, scope: armScope })).json;
  const poll = (code: unknown) =>
    entra.form(tokenPath, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: azureCliAppId,
      device_code: String(code),
    });
  const { open, submit } = browser(entra);
  const started = await start();
  assert.equal((await poll(started.device_code)).json.error, 'authorization_pending');
  const page = await open(`/common/oauth2/deviceauth?otc=${started.user_code}`);
  assert.equal((await submit(page, { user_code: 'WRONGCODE' })).status, 400);
  const signIn = await submit(page, { user_code: String(started.user_code).toLowerCase() });
  assert.match(signIn.text, /Microsoft Azure CLI/);
  assert.equal((await submit(signIn, { ...credentials, password: 'wrong' })).status, 400);
  assert.equal((await submit(signIn, credentials)).status, 200);
  const { json } = await poll(started.device_code);
  assert.equal(decodeJwt(String(json.access_token)).oid, seededUser.objectId);
  assert.equal((await poll(started.device_code)).json.error, 'bad_verification_code');
  assert.equal((await submit(signIn, credentials)).status, 400);

  const refused = await start();
  await submit(await submit(page, { user_code: String(refused.user_code) }), { decision: 'decline' });
  assert.equal((await poll(refused.device_code)).json.error, 'authorization_declined');
  const late = await start();
  entra.clock.skip(901_000);
  assert.equal((await poll(late.device_code)).json.error, 'expired_token');
});
