import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import { Secret } from '../kit/secret.ts';
import { createIdentityService } from '../local/azure/imds/identity-service.ts';
import { createAuthority, issueClientCertificate } from '../pki/authority.ts';
import { keyPem } from '../pki/keys.ts';
import { createAccessChecker } from './check-access.ts';
import { createCredential, credentialConfigFrom } from './credential.ts';
import { environmentFrom, environmentFromMetadata, publicCloud, usGovernment } from './environment.ts';
import { createGraphClient } from './graph.ts';
import { testCloud } from './testing/cloud.ts';

async function directory(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'credential-test-'));
  t.after(() => rm(made, { recursive: true, force: true }));
  return made;
}

test('the credential follows from what is in the environment', () => {
  const app = { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c' };
  const kinds = [
    [{ ...app, AZURE_CLIENT_SECRET: 's' }, 'clientSecret'],
    [{ ...app, AZURE_CLIENT_CERTIFICATE_PATH: 'c.pem' }, 'clientCertificate'],
    [{ ...app, AZURE_FEDERATED_TOKEN_FILE: 'token' }, 'workloadIdentity'],
    [{ IDENTITY_ENDPOINT: 'http://127.0.0.1/x', IDENTITY_HEADER: 'h' }, 'managedIdentity'],
    [app, 'managedIdentity'],
    [{}, 'machineOrCli'],
  ] as const;
  for (const [variables, kind] of kinds) assert.equal(credentialConfigFrom(variables).kind, kind);
  assert.throws(
    () => credentialConfigFrom({ AZURE_CLIENT_SECRET: 's', AZURE_TENANT_ID: 't' }),
    /AZURE_CLIENT_SECRET is set but AZURE_CLIENT_ID not/,
  );
});

test('environments are known by name; another tells its own endpoints', async (t) => {
  assert.equal(await environmentFrom({}).then(({ name }) => name), publicCloud.name);
  assert.deepEqual(await environmentFrom({ AZURE_ENVIRONMENT: 'AzureUSGovernmentCloud' }), usGovernment);
  await assert.rejects(environmentFrom({ AZURE_ENVIRONMENT: 'AzureMoon' }), /AzureMoon.*AZURE_METADATA_URL/);
  await assert.rejects(environmentFromMetadata('http://localhost:1'), /https/);
  await assert.rejects(environmentFromMetadata('https://localhost:1'), /cannot be read at https:\/\/localhost:1/);

  const { azure } = await testCloud(t);
  const caFile = join(await directory(t), 'ca.pem');
  await writeFile(caFile, azure.azure.ca);
  const environment = await environmentFrom({ AZURE_METADATA_URL: azure.origin, AZURE_CA_FILE: caFile });
  assert.equal(environment.authorityHost, azure.origin);
  assert.equal(environment.keyVault.suffix, 'vault.azure.test');
  assert.equal(environment.knownAuthority, false);
});

test('a certificate signs in; a wrong secret is told with what to do', async (t) => {
  const authority = await createAuthority({ name: 'test' });
  const pair = await issueClientCertificate(authority, { commonName: 'app', keyType: 'RSA-2048' });
  const appId = '11111111-2222-4333-8444-555555555555';
  const { azure, environment } = await testCloud(t, {
    directory: { applications: [{ displayName: 'App', appId, certificate: pair.certificatePem }] },
  });
  const certificateFile = join(await directory(t), 'app.pem');
  await writeFile(certificateFile, `${keyPem(pair.key)}${pair.certificatePem}`);
  const { tenantId, clientId } = azure.azure.owner;
  const credential = createCredential(environment, {
    kind: 'clientCertificate',
    tenantId,
    clientId: appId,
    certificateFile,
  });
  const token = await credential.getToken(`${environment.resourceManager.audience}/.default`);
  assert.equal(decodeJwt(token?.token ?? '').appid, appId);

  const wrong = createCredential(environment, {
    kind: 'clientSecret',
    tenantId,
    clientId,
    secret: new Secret('not the secret'),
  });
  const graph = createGraphClient({ environment, credential: wrong, sleep: async () => undefined });
  await assert.rejects(graph.servicePrincipalOf(appId), (error: Error & { code?: string; advice?: string }) => {
    assert.equal(error.code, 'AADSTS7000215');
    assert.match(error.advice ?? '', /secret/);
    assert.ok(!error.message.includes('not the secret'));
    return true;
  });
});

test('programs of one process have the managed identities of the endpoint they are given', async (t) => {
  const { azure, environment } = await testCloud(t);
  const { world } = azure.azure;
  const service = await createIdentityService({ directory: world.directory as never, logger: world.logger });
  t.after(() => service.stop(AbortSignal.abort()));
  const scope = `${environment.resourceManager.audience}/.default`;
  for (const name of ['one', 'two']) {
    const id = `${azure.subscription}/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${name}`;
    const { principalId } = await world.directory.ensureManagedIdentity(id, name);
    const endpoint = service.createIdentityEndpoint({ user: [id] });
    const credential = createCredential(environment, { kind: 'managedIdentity', endpoint });
    const [token, same] = await Promise.all([credential.getToken(scope), credential.getToken(scope)]);
    assert.equal(decodeJwt(token?.token ?? '').oid, principalId);
    assert.equal(same?.token, token?.token, 'asked for once');
    endpoint.remove();
    assert.equal((await credential.getToken(scope))?.token, token?.token, 'kept');
    await assert.rejects(credential.getToken('https://vault.azure.net/.default'), { code: 'NoToken', status: 404 });
  }
});

test('Graph finds service principals, the decision point decides', async (t) => {
  const { azure, environment, credential } = await testCloud(t);
  const { owner } = azure.azure;
  const graph = createGraphClient({ environment, credential });
  assert.equal((await graph.servicePrincipalOf(owner.clientId))?.id, owner.objectId);
  assert.equal(await graph.servicePrincipalOf('99999999-9999-4999-8999-999999999999'), undefined);
  await assert.rejects(graph.servicePrincipalOf("' or 1 eq 1"), TypeError);

  const checker = createAccessChecker({ environment, credential, location: 'westeurope' });
  const actions = ['Microsoft.Network/virtualNetworks/read', 'Microsoft.Network/virtualNetworks/write'];
  const ask = (objectId: string) => checker.check({ objectId, resourceId: azure.subscription, actions });
  const decisions = async (objectId: string) => (await ask(objectId)).map(({ decision }) => decision);
  assert.deepEqual(await decisions(owner.objectId), ['Allowed', 'Allowed']);
  assert.deepEqual(await decisions('99999999-9999-4999-8999-999999999999'), ['NotAllowed', 'NotAllowed']);
});
