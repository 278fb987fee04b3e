import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { request } from 'undici';
import { createLogger } from '../../../kit/log.ts';
import { type EntraWorld, entraWorld } from '../entra/testing/entra-world.ts';
import { createIdentityService } from './identity-service.ts';

const idOf = (name: string) =>
  `/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${name}`;
const vault = 'https://vault.azure.net';

async function identities(t: TestContext) {
  const world = await entraWorld(t);
  const logger = createLogger({ service: 'imds', level: 'fatal' });
  const service = await createIdentityService({ directory: world.directory, logger });
  t.after(() => service.stop(AbortSignal.abort()));
  return { world, service };
}

async function get(url: string, headers: Record<string, string> = {}) {
  const answer = await request(url, { headers });
  return { status: answer.statusCode, json: (await answer.body.json()) as Record<string, string> };
}

/** ManagedIdentityCredential looks at the environment of its process, so it gets one of its own. */
async function tokenOfSdk(world: EntraWorld, environment: object, options: object = {}) {
  const script = `
    import { ManagedIdentityCredential } from '@azure/identity';
    const credential = new ManagedIdentityCredential({ ...${JSON.stringify(options)}, retryOptions: { maxRetries: 0 } });
    process.stdout.write((await credential.getToken(${JSON.stringify(`${vault}/.default`)})).token);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: process.cwd(),
    env: { PATH: process.env.PATH, ...environment },
  });
  const caller = await world.directory.authenticate(`Bearer ${stdout}`, [vault]);
  return { claims: decodeJwt(stdout), caller };
}

test('ManagedIdentityCredential gets the identity of its endpoint, in the ways of App Service and of a machine', async (t) => {
  const { world, service } = await identities(t);
  const own = await world.directory.ensureManagedIdentity(idOf('own'), 'own');
  const endpoint = service.createIdentityEndpoint({ user: [idOf('OWN')] });
  for (const environment of [endpoint.appService, endpoint.imds]) {
    const { claims, caller } = await tokenOfSdk(world, environment);
    assert.equal(claims.oid, own.principalId);
    assert.equal(claims.xms_mirid, idOf('own'));
    assert.equal(caller.kind, 'ManagedIdentity');
  }
  const named = await tokenOfSdk(world, endpoint.appService, { clientId: own.clientId });
  assert.equal(named.caller.objectId, own.principalId);
  const byId = await tokenOfSdk(world, endpoint.imds, { resourceId: idOf('own') });
  assert.equal(byId.caller.objectId, own.principalId);
});

test('an endpoint gives none of the identities of another', async (t) => {
  const { world, service } = await identities(t);
  const a = await world.directory.ensureManagedIdentity(idOf('a'), 'a');
  await world.directory.ensureManagedIdentity(idOf('b'), 'b');
  const ofA = service.createIdentityEndpoint({ user: [idOf('a')] });
  const ofB = service.createIdentityEndpoint({ user: [idOf('b')] });
  const query = `?api-version=2019-08-01&resource=${vault}`;
  const refused = await get(`${ofB.url}${query}&client_id=${a.clientId}`, { 'x-identity-header': ofB.header.reveal() });
  assert.deepEqual([refused.status, refused.json.error_description], [400, 'Identity not found']);
  const wrongHeader = await get(`${ofA.url}${query}`, { 'x-identity-header': ofB.header.reveal() });
  assert.equal(wrongHeader.status, 401);
  assert.equal((await get(`${ofA.url}${query}`)).status, 401);
  assert.equal((await get(`${ofA.url.replace(/\/[^/]+\/msi/, '/guess/msi')}${query}`)).status, 404);
  ofA.remove();
  assert.equal((await get(`${ofA.url}${query}`, { 'x-identity-header': ofA.header.reveal() })).status, 404);
});

test('a machine with its own identity uses it unless another is named; with several others one must be named', async (t) => {
  const { world, service } = await identities(t);
  const machine = idOf('machine');
  const [system, first, second] = await Promise.all(
    ['machine', 'first', 'second'].map((name) => world.directory.ensureManagedIdentity(idOf(name), name)),
  );
  assert.ok(system && first && second);
  const both = service.createIdentityEndpoint({ system: machine, user: [idOf('first'), idOf('second')] });
  const several = service.createIdentityEndpoint({ user: [idOf('first'), idOf('second')] });
  const ask = (endpoint: typeof both, more = '') =>
    get(
      `${endpoint.imds.AZURE_POD_IDENTITY_AUTHORITY_HOST}/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${vault}${more}`,
      { metadata: 'true' },
    );
  assert.equal((await ask(both)).json.client_id, system.clientId);
  assert.equal((await ask(both, `&object_id=${second.principalId}`)).json.client_id, second.clientId);
  assert.match((await ask(several)).json.error_description ?? '', /^Multiple user assigned identities exist/);
  await world.directory.removeManagedIdentity(idOf('second'));
  assert.equal((await ask(several)).json.client_id, first.clientId);
});

test('requests that a machine would refuse are refused', async (t) => {
  const { world, service } = await identities(t);
  await world.directory.ensureManagedIdentity(idOf('own'), 'own');
  const root = service.createIdentityEndpoint({ user: [idOf('own')] }).imds.AZURE_POD_IDENTITY_AUTHORITY_HOST;
  const path = `${root}/metadata/identity/oauth2/token`;
  const metadata = { metadata: 'true' };
  const refusals = [
    [await get(`${path}?api-version=2018-02-01&resource=${vault}`), 'invalid_request'],
    [await get(`${path}?resource=${vault}`, metadata), /^Bad request\. api-version/],
    [await get(`${path}?api-version=2018-02-01`, metadata), 'invalid_request'],
    [await get(`${path}?api-version=2018-02-01&resource=https://nobody.example`, metadata), 'invalid_resource'],
    [await get(`${path}?api-version=2018-02-01&resource=a&resource=b`, metadata), 'invalid_request'],
  ] as const;
  for (const [answer, error] of refusals) {
    assert.equal(answer.status, 400);
    assert.match(answer.json.error ?? '', error instanceof RegExp ? error : new RegExp(`^${error}$`));
  }
});

test('an identity that is made again under the same id is another one', async (t) => {
  const { world } = await identities(t);
  const [first, same] = await Promise.all([
    world.directory.ensureManagedIdentity(idOf('mi'), 'mi'),
    world.directory.ensureManagedIdentity(idOf('MI'), 'mi'),
  ]);
  assert.deepEqual(same, first);
  assert.deepEqual(await (await world.reopen()).ensureManagedIdentity(idOf('mi'), 'mi'), first);
  await world.directory.removeManagedIdentity(idOf('mi'));
  assert.notEqual((await world.directory.ensureManagedIdentity(idOf('mi'), 'mi')).principalId, first.principalId);
});
