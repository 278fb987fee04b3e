// The credentials of @azure/identity, as services and tools use them, against the endpoints on a real listener.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  ClientAssertionCredential,
  ClientCertificateCredential,
  ClientSecretCredential,
  DeviceCodeCredential,
  OnBehalfOfCredential,
  UsernamePasswordCredential,
  WorkloadIdentityCredential,
} from '@azure/identity';
import { decodeJwt, exportJWK, SignJWT } from 'jose';
import { issueClientCertificate, issueServerCertificate } from '../../../pki/authority.ts';
import { keyPem } from '../../../pki/keys.ts';
import { azureCliAppId } from './first-party.ts';
import { armAudience, armScope, entraWorld, homeTenant, seededApp, seededUser } from './testing/entra-world.ts';

test('a client secret gives a token that the directory knows its application by', async (t) => {
  const world = await entraWorld(t);
  const credential = new ClientSecretCredential(homeTenant.id, seededApp.appId, seededApp.secret.reveal(), world.sdk);
  const { token, expiresOnTimestamp } = await credential.getToken(armScope);
  const claims = decodeJwt(token);
  assert.equal(claims.aud, armAudience);
  assert.equal(claims.iss, `${world.origin}/${homeTenant.id}/`);
  assert.equal(claims.appid, seededApp.appId);
  assert.equal(claims.oid, seededApp.objectId);
  assert.equal(claims.idtyp, 'app');
  assert.equal(claims.ver, '1.0');
  assert.ok(expiresOnTimestamp > Date.now() + 3_000_000);
  assert.deepEqual(await world.directory.authenticate(`Bearer ${token}`, [armAudience]), {
    tenantId: homeTenant.id,
    objectId: seededApp.objectId,
    kind: 'ServicePrincipal',
    appId: seededApp.appId,
    name: seededApp.displayName,
    groups: [],
    roles: [],
    directoryRoles: [],
  });
});

test('a wrong client secret, tenant or resource is refused with the number Entra gives', async (t) => {
  const world = await entraWorld(t);
  const refusals = [
    [homeTenant.id, seededApp.appId, 'wrong', armScope, /AADSTS7000215/],
    [homeTenant.id, '99999999-9999-4999-8999-999999999999', 'x', armScope, /AADSTS700016/],
    [homeTenant.id, seededApp.appId, seededApp.secret.reveal(), 'https://nobody.example/.default', /AADSTS500011/],
    [homeTenant.id, seededApp.appId, seededApp.secret.reveal(), 'https://management.azure.com/x', /AADSTS1002012/],
  ] as const;
  for (const [tenant, app, secret, scope, expected] of refusals) {
    await assert.rejects(new ClientSecretCredential(tenant, app, secret, world.sdk).getToken(scope), expected);
  }
});

test('a certificate signs in as often as asked, and only when it is registered', async (t) => {
  const world = await entraWorld(t);
  const { authority, directory } = world.certificates;
  const known = await issueClientCertificate(authority, { commonName: 'owner', keyType: 'RSA-2048' });
  const other = await issueClientCertificate(authority, { commonName: 'other', keyType: 'RSA-2048' });
  const { objects } = world.directory.entra;
  const application = objects.application(seededApp.appId);
  assert.ok(application);
  await objects.change<'Application'>(application, (now) => ({
    ...now,
    keyCredentials: [
      {
        keyId: '44444444-4444-4444-8444-444444444444',
        startDateTime: new Date(0).toISOString(),
        endDateTime: new Date('2100-01-01').toISOString(),
        certificate: known.certificate.raw.toString('base64'),
      },
    ],
  }));
  const credentialOf = async (name: string, pair: typeof known) => {
    const file = join(directory, `${name}.pem`);
    await writeFile(file, `${keyPem(pair.key)}${pair.certificatePem}`);
    return new ClientCertificateCredential(homeTenant.id, seededApp.appId, file, world.sdk);
  };
  const credential = await credentialOf('known', known);
  assert.equal(decodeJwt((await credential.getToken(armScope)).token).appidacr, '2');
  // A second resource: the library sends the same assertion again.
  await credential.getToken('https://vault.azure.net/.default');
  await assert.rejects((await credentialOf('other', other)).getToken(armScope), /AADSTS700027/);
});

test('a token of an issuer that the application trusts signs in', async (t) => {
  const issuer = await tokenIssuer(t);
  const federated = [
    {
      name: 'cluster',
      issuer: issuer.url(),
      subject: 'system:serviceaccount:ns:name',
      audiences: ['api://AzureADTokenExchange'],
    },
  ];
  const world = await entraWorld(t, {
    target: (host, port) =>
      host === issuer.host && port === 443 ? { host: '127.0.0.1', port: issuer.port() } : undefined,
    seed: { applications: [{ ...seededApp, federatedCredentials: federated }] },
  });
  await issuer.listen(world.certificates);
  const [trusted] = federated;
  assert.ok(trusted);

  const token = await issuer.sign(trusted.subject, 'api://AzureADTokenExchange');
  const credential = new ClientAssertionCredential(homeTenant.id, seededApp.appId, async () => token, world.sdk);
  assert.equal(decodeJwt((await credential.getToken(armScope)).token).oid, seededApp.objectId);

  const tokenFilePath = join(world.certificates.directory, 'token');
  await writeFile(tokenFilePath, token);
  const workload = new WorkloadIdentityCredential({
    tenantId: homeTenant.id,
    clientId: seededApp.appId,
    tokenFilePath,
    ...world.sdk,
  });
  assert.equal(decodeJwt((await workload.getToken(armScope)).token).appid, seededApp.appId);

  const refusals = [
    [await issuer.sign('system:serviceaccount:ns:other', 'api://AzureADTokenExchange'), /AADSTS700213/],
    [await issuer.sign(trusted.subject, 'somebody-else'), /AADSTS700212/],
    [await issuer.sign(trusted.subject, 'api://AzureADTokenExchange', { forged: true }), /AADSTS700027/],
    [await issuer.sign(trusted.subject, 'api://AzureADTokenExchange', { expired: true }), /AADSTS700024/],
  ] as const;
  for (const [assertion, expected] of refusals) {
    const wrong = new ClientAssertionCredential(homeTenant.id, seededApp.appId, async () => assertion, world.sdk);
    await assert.rejects(wrong.getToken(armScope), expected);
  }
});

test('a managed identity signs in with a token that its own federated credential trusts', async (t) => {
  const issuer = await tokenIssuer(t);
  const resourceId = '/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/mi';
  const world = await entraWorld(t, {
    target: (host) => (host === issuer.host ? { host: '127.0.0.1', port: issuer.port() } : undefined),
    federatedCredentialsOf: async (id) =>
      id === resourceId
        ? [{ id: 'x', name: 'x', issuer: issuer.url(), subject: 'pod', audiences: ['api://AzureADTokenExchange'] }]
        : [],
  });
  await issuer.listen(world.certificates);
  const identity = await world.directory.ensureManagedIdentity(resourceId, 'mi');
  const assertion = await issuer.sign('pod', 'api://AzureADTokenExchange');
  const credential = new ClientAssertionCredential(homeTenant.id, identity.clientId, async () => assertion, world.sdk);
  const claims = decodeJwt((await credential.getToken(armScope)).token);
  assert.equal(claims.oid, identity.principalId);
  assert.equal(claims.xms_mirid, resourceId);
});

test('a user name and password give tokens, and a silent renewal by the refresh token', async (t) => {
  const world = await entraWorld(t);
  const credential = new UsernamePasswordCredential(
    homeTenant.id,
    azureCliAppId,
    seededUser.userPrincipalName,
    seededUser.password.reveal(),
    world.sdk,
  );
  const claims = decodeJwt((await credential.getToken(armScope)).token);
  assert.equal(claims.upn, seededUser.userPrincipalName);
  assert.equal(claims.scp, 'user_impersonation');
  assert.equal(claims.idtyp, 'user');
  // Another resource: the library uses the refresh token it was given.
  const vault = await credential.getToken('https://vault.azure.net/.default');
  assert.equal(decodeJwt(vault.token).aud, 'https://vault.azure.net');
  const wrong = new UsernamePasswordCredential(
    homeTenant.id,
    azureCliAppId,
    seededUser.userPrincipalName,
    'guess',
    world.sdk,
  );
  await assert.rejects(wrong.getToken(armScope), /AADSTS50126/);
});

test('a service calls another one as the user who called it', async (t) => {
  const world = await entraWorld(t);
  const tokenFor = async (scope: string) => {
    const [name, password] = [seededUser.userPrincipalName, seededUser.password.reveal()];
    const credential = new UsernamePasswordCredential(homeTenant.id, azureCliAppId, name, password, world.sdk);
    return (await credential.getToken(scope)).token;
  };
  const behalf = (userAssertionToken: string) =>
    new OnBehalfOfCredential({
      tenantId: homeTenant.id,
      clientId: seededApp.appId,
      clientSecret: seededApp.secret.reveal(),
      userAssertionToken,
      ...world.sdk,
    }).getToken(armScope);
  const claims = decodeJwt((await behalf(await tokenFor(`${seededApp.appId}/.default`))).token);
  assert.deepEqual([claims.oid, claims.appid], [seededUser.objectId, seededApp.appId]);
  await assert.rejects(behalf(await tokenFor(armScope)), /AADSTS50013/);
});

test('a device code waits until a person has signed in on the page', async (t) => {
  const world = await entraWorld(t);
  const { entra } = world.directory;
  const credential = new DeviceCodeCredential({
    tenantId: homeTenant.id,
    ...world.sdk,
    userPromptCallback: ({ userCode, verificationUri }) => {
      assert.equal(verificationUri, `${world.origin}/common/oauth2/deviceauth`);
      void entra.grants.decideDevice(homeTenant.id, userCode, seededUser.objectId);
    },
  });
  const { token } = await credential.getToken(armScope);
  assert.equal(decodeJwt(token).oid, seededUser.objectId);
});

/** An issuer beside Entra: a cluster's, say, whose documents are served at a host of the cloud. */
async function tokenIssuer(t: TestContext) {
  const host = 'issuer.azurefd.azure.test';
  const url = () => `https://${host}/cluster`;
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k', use: 'sig', alg: 'RS256' };
  let port = 0;
  return {
    host,
    url,
    port: () => port,
    async listen({ authority }: { readonly authority: Parameters<typeof issueClientCertificate>[0] }) {
      const certificate = await issueServerCertificate(authority, { dnsNames: [host] });
      const server = createServer(
        { cert: certificate.certificatePem, key: keyPem(certificate.key) },
        (request, response) => {
          const documents: Readonly<Record<string, unknown>> = {
            '/cluster/.well-known/openid-configuration': { issuer: url(), jwks_uri: `${url()}/keys` },
            '/cluster/keys': { keys: [jwk] },
          };
          response.end(JSON.stringify(documents[request.url ?? ''] ?? {}));
        },
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      port = (server.address() as AddressInfo).port;
      t.after(() => server.close());
    },
    sign(subject: string, audience: string, how: { readonly forged?: boolean; readonly expired?: boolean } = {}) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({})
        .setProtectedHeader({ alg: 'RS256', kid: 'k' })
        .setIssuer(url())
        .setSubject(subject)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(how.expired ? now - 3600 : now + 600)
        .sign(how.forged ? other.privateKey : pair.privateKey);
    },
  };
}
