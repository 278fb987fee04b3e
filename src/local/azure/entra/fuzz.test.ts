// Nothing that a client sends may fail the service.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { graphRoutes } from '../graph/routes.ts';
import { azureCliAppId } from './first-party.ts';
import { armScope, entraWorld, homeTenant, seededApp } from './testing/entra-world.ts';

const segment = fc.oneof(
  fc.constantFrom(
    homeTenant.id,
    'common',
    'adfs',
    'oauth2',
    'v2.0',
    'token',
    'authorize',
    'login',
    '.well-known',
    'userrealm',
    'discovery',
    'keys',
    'openid-configuration',
    'deviceauth',
    'devicecode',
    'instance',
    '%00',
    '%',
  ),
  fc.webPath().map((path) => path.slice(1, 40)),
);
const name = fc.constantFrom(
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
  'resource',
  'code',
  'redirect_uri',
  'username',
  'password',
  'refresh_token',
  'device_code',
  'response_type',
  'response_mode',
  'state',
  'flow',
  'user_code',
  'code_challenge',
);
const value = fc.oneof(
  fc.constantFrom(
    'client_credentials',
    'password',
    'device_code',
    'refresh_token',
    'authorization_code',
    azureCliAppId,
    seededApp.appId,
    seededApp.secret.reveal(),
    armScope,
    'code',
    'http://localhost:1',
    'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    'e30.e30.e30',
    'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOjEsImF1ZCI6W119.AA',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

test('any path and form to Entra ID is answered without a failure of ours', async (t) => {
  const world = await entraWorld(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(segment, { minLength: 1, maxLength: 5 }),
      fc.dictionary(name, value),
      fc.boolean(),
      async (segments, fields, post) => {
        const path = `/${segments.join('/')}`;
        const answer = post
          ? await world.form(path, fields)
          : await world.call(`${path}?${new URLSearchParams(fields)}`);
        assert.ok(answer.status < 500, `${path} ${JSON.stringify(fields)} ${answer.status} ${answer.text}`);
      },
    ),
    { numRuns: 300 },
  );
});

test('any form to the token and sign-in endpoints is answered without a failure of ours', async (t) => {
  const world = await entraWorld(t);
  const path = fc.constantFrom(
    `/${homeTenant.id}/oauth2/v2.0/token`,
    '/common/oauth2/token',
    '/adfs/oauth2/token',
    `/${homeTenant.id}/oauth2/v2.0/devicecode`,
    '/common/login',
    '/common/oauth2/deviceauth',
  );
  await fc.assert(
    fc.asyncProperty(path, fc.dictionary(name, value, { maxKeys: 8 }), async (to, fields) => {
      const answer = await world.form(to, fields);
      assert.ok(answer.status < 500, `${to} ${JSON.stringify(fields)} ${answer.status} ${answer.text}`);
    }),
    { numRuns: 300 },
  );
});

test('any path, query and body to Graph is answered without a failure of ours', async (t) => {
  const world = await entraWorld(t, { routes: (app, directory) => graphRoutes(app, directory.entra) });
  const { json } = await world.form(`/${homeTenant.id}/oauth2/v2.0/token`, {
    grant_type: 'client_credentials',
    client_id: seededApp.appId,
    client_secret: seededApp.secret.reveal(),
    scope: 'https://graph.microsoft.com/.default',
  });
  const graphSegment = fc.oneof(
    fc.constantFrom(
      'users',
      'groups',
      'applications',
      'servicePrincipals',
      'directoryObjects',
      'getByIds',
      'members',
      '$ref',
      '$count',
      'addPassword',
      'federatedIdentityCredentials',
      'owners',
      'me',
      'checkMemberGroups',
      seededApp.objectId,
      `applications(appId='${seededApp.appId}')`,
      "users('x')",
      'appRoleAssignments',
    ),
    fc.webPath().map((path) => path.slice(1, 30)),
  );
  const body = fc.oneof(
    fc.json(),
    fc
      .dictionary(
        fc.constantFrom(
          'displayName',
          'appId',
          'ids',
          'types',
          'groupIds',
          'passwordCredential',
          'keyCredentials',
          'web',
          'api',
          'identifierUris',
          '@odata.id',
          'name',
          'issuer',
          'subject',
          'audiences',
          'accountEnabled',
          'passwordProfile',
          'mailNickname',
          'userPrincipalName',
          'securityEnabled',
          'mailEnabled',
          'members@odata.bind',
          'tags',
        ),
        fc.oneof(fc.string({ unit: 'binary' }), fc.boolean(), fc.jsonValue(), fc.constant([seededApp.objectId])),
      )
      .map((object) => JSON.stringify(object)),
  );
  const query = fc.dictionary(
    fc.constantFrom('$filter', '$select', '$top', '$skiptoken', '$orderby', '$count'),
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom("displayName eq 'x'", '5', 'true', 'displayName desc', 'W10'),
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE'),
      fc.array(graphSegment, { minLength: 1, maxLength: 4 }),
      query,
      body,
      async (method, segments, options, text) => {
        const path = `/v1.0/${segments.join('/')}?${new URLSearchParams(options)}`;
        const answer = await world.call(path, {
          method,
          headers: { authorization: `Bearer ${json.access_token}`, 'content-type': 'application/json' },
          ...(method === 'GET' ? {} : { body: text }),
        });
        assert.ok(answer.status < 500, `${method} ${path} ${text} ${answer.status} ${answer.text}`);
      },
    ),
    { numRuns: 400 },
  );
});
