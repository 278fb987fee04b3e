// The pages in a real browser: its content security policy, its cookies, its way of following redirects after a form.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import { chromium, type Page } from 'playwright-core';
import { needs } from '../../../../test/peers.ts';
import { azureCliAppId } from './first-party.ts';
import { armScope, type EntraWorld, entraWorld, homeTenant, seededApp, seededUser } from './testing/entra-world.ts';

const verifier = randomBytes(32).toString('base64url');

/** A browser, the directory, and an application on this machine that is sent the answers. */
async function setup(t: TestContext) {
  const program = needs(t, 'chromium');
  if (program === undefined) return undefined;
  const received: string[] = [];
  const application = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      if (request.url?.startsWith('/favicon') !== true) received.push(`${request.method} ${request.url} ${body}`);
      response.setHeader('content-type', 'text/html').end('<title>the application</title>');
    });
  });
  application.listen(0, '127.0.0.1');
  await once(application, 'listening');
  t.after(() => application.close());
  t.after(() => application.closeAllConnections());
  const callback = `http://localhost:${(application.address() as AddressInfo).port}/native`;
  const world = await entraWorld(t, {
    seed: { applications: [{ ...seededApp, redirectUris: { publicClient: ['http://localhost/native'] } }] },
  });
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
  t.after(() => browser.close());
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (line) => {
    if (line.type() === 'error' && !line.text().includes('status of 4')) problems.push(line.text());
  });
  return { world, page, callback, received, problems };
}

const authorize = (world: EntraWorld, callback: string, more: Readonly<Record<string, string>> = {}) =>
  `${world.origin}/${homeTenant.id}/oauth2/v2.0/authorize?${new URLSearchParams({
    client_id: seededApp.appId,
    response_type: 'code',
    redirect_uri: callback,
    scope: `${armScope} openid`,
    state: 'the state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  })}`;

async function signIn(page: Page, password = seededUser.password.reveal()): Promise<void> {
  await page.getByLabel('User name').fill(seededUser.userPrincipalName);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('a person signs in after a wrong password, and the application gets a code for tokens', async (t) => {
  const given = await setup(t);
  if (!given) return;
  const { world, page, callback, received, problems } = given;
  await page.goto(authorize(world, callback));
  await signIn(page, 'wrong');
  assert.match((await page.getByRole('alert').textContent()) ?? '', /invalid username or password/);
  await signIn(page);
  await page.waitForURL(`${callback}?**`);
  const url = new URL(page.url());
  assert.equal(url.searchParams.get('state'), 'the state');
  const { json } = await world.form(`/${homeTenant.id}/oauth2/v2.0/token`, {
    grant_type: 'authorization_code',
    client_id: seededApp.appId,
    redirect_uri: callback,
    code: url.searchParams.get('code') ?? '',
    code_verifier: verifier,
  });
  assert.equal(decodeJwt(String(json.access_token)).oid, seededUser.objectId);
  assert.equal(received.length, 1);
  assert.deepEqual(problems, []);
});

test('the answer is posted to an application that wants it so', async (t) => {
  const given = await setup(t);
  if (!given) return;
  const { world, page, callback, received, problems } = given;
  await page.goto(authorize(world, callback, { response_mode: 'form_post' }));
  await signIn(page);
  await page.waitForURL(callback);
  assert.match(received[0] ?? '', /^POST \/native code=.+&state=the\+state$/);
  assert.deepEqual(problems, []);
});

test('a device is signed in by its code', async (t) => {
  const given = await setup(t);
  if (!given) return;
  const { world, page, problems } = given;
  const { json } = await world.form(`/${homeTenant.id}/oauth2/v2.0/devicecode`, {
    client_id: azureCliAppId,
    scope: armScope,
  });
  await page.goto(String(json.verification_uri));
  await page.getByLabel('Code').fill(String(json.user_code));
  await page.getByRole('button', { name: 'Next' }).click();
  await signIn(page);
  await page.getByText('You have signed in to Microsoft Azure CLI').waitFor();
  const token = await world.form(`/${homeTenant.id}/oauth2/v2.0/token`, {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: azureCliAppId,
    device_code: String(json.device_code),
  });
  assert.equal(token.status, 200);
  assert.deepEqual(problems, []);
});
