// Every template of deploy/azure on a cloud, by the functions behind `aro deploy` and by the command itself.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ProxyAgent, request } from 'undici';
import { blobService } from '../azure/blobs.ts';
import type { JsonObject } from '../azure/json.ts';
import { builtInRoles, roleAssignment } from '../azure/resources/authorization.ts';
import { type TestCloud, testCloud } from '../azure/testing/cloud.ts';
import { forecastLines, subscriptionsOf } from './deploy-action.ts';
import { parametersOf, readPlan, type ScopeName, scopeNames } from './deploy-plan.ts';
import { applyPlan, DeployError, forecastPlan } from './deploy-run.ts';

/** As deploy/azure/environments/local.json has them. */
const subscriptions = {
  global: 'a2000000-0000-4000-8000-000000000001',
  regional: 'a2000000-0000-4000-8000-000000000002',
  classic: 'a2000000-0000-4000-8000-000000000003',
  management: 'a2000000-0000-4000-8000-000000000011',
  second: 'a2000000-0000-4000-8000-000000000012',
} as const;

function localCloud(t: TestContext): Promise<TestCloud> {
  const named = { subscriptionId: '00000000-1111-4222-8333-444444444444', displayName: 'Test' };
  const more = Object.entries(subscriptions).map(([displayName, subscriptionId]) => ({ subscriptionId, displayName }));
  return testCloud(t, { subscriptions: [named, ...more] });
}

const planOf = (scope: ScopeName, location = 'westus3', stamp = '1') =>
  readPlan({ scope, location, environment: 'local', stamp, subscriptions: {} });

const apply = async (cloud: TestCloud, scope: ScopeName, location?: string, stamp?: string): Promise<JsonObject> =>
  applyPlan(await planOf(scope, location, stamp), { ...cloud, sleep: async () => undefined });

test('all scopes are applied, each on what those before it gave; a second time nothing changes', async (t) => {
  const cloud = await localCloud(t);
  const made = new Map<ScopeName, JsonObject>();
  for (const scope of scopeNames) {
    await t.test(scope, async () => {
      const plan = await planOf(scope);
      const target = { ...cloud, sleep: async () => undefined };
      const before = await forecastPlan(plan, target);
      assert.ok(
        before.some(({ changes }) => changes === undefined || changes.some(({ change }) => change === 'Create')),
      );
      const states = new Map<string, string>();
      const outputs = await applyPlan(plan, target, { onResource: (_step, { id, state }) => states.set(id, state) });
      assert.ok(states.size >= plan.steps.length - 1);
      assert.deepEqual([...new Set(states.values())], ['Succeeded']);
      const forecast = async () =>
        (await forecastPlan(plan, target)).flatMap(({ changes }) =>
          (changes ?? []).filter(({ change }) => change !== 'NoChange'),
        );
      assert.deepEqual(await forecast(), []);
      assert.deepEqual(await applyPlan(plan, target), outputs);
      assert.deepEqual(await forecast(), []);
      made.set(scope, outputs);
    });
  }

  await t.test('the zones of the region are delegated to where they are', async () => {
    const { globalGroup, cxZoneNameServers } = made.get('regional') ?? {};
    const id = `/subscriptions/${subscriptions.global}/resourceGroups/${globalGroup}/providers/Microsoft.Network/dnsZones/hcp.aro.test/NS/westus3`;
    const { properties } = (await cloud.arm.get(id, '2018-05-01')) as { properties: JsonObject };
    const records = properties.NSRecords as readonly { readonly nsdname: string }[];
    assert.deepEqual(
      records.map(({ nsdname }) => nsdname),
      cxZoneNameServers,
    );
  });

  await t.test('identities trust the cluster that their services run in', async () => {
    const { managementGroup, managementClusterIssuer } = made.get('management') ?? {};
    const id = `/subscriptions/${subscriptions.management}/resourceGroups/${managementGroup}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/maestro-agent/federatedIdentityCredentials/maestro-maestro-agent`;
    const { properties } = (await cloud.arm.get(id, '2023-01-31')) as { properties: JsonObject };
    assert.equal(properties.issuer, managementClusterIssuer);
    assert.equal(properties.subject, 'system:serviceaccount:maestro:maestro-agent');
  });

  await t.test('documents in the storage are served at the issuer that clusters get', async () => {
    const { oidcIssuerBaseUrl, oidcAccountName, oidcBlobUrl, regionalGroup } = made.get('regional') ?? {};
    const { ca, cloud: names, owner } = cloud.azure.azure;
    await cloud.arm.put(
      roleAssignment({
        scope: `/subscriptions/${subscriptions.regional}/resourceGroups/${regionalGroup}/providers/Microsoft.Storage/storageAccounts/${oidcAccountName}`,
        subscriptionId: subscriptions.regional,
        role: builtInRoles.storageBlobDataContributor,
        principalId: owner.objectId,
      }),
    );
    const service = await blobService(cloud.environment, cloud.credential, String(oidcBlobUrl));
    const path = 'cluster/.well-known/openid-configuration';
    await service.getContainerClient('$web').getBlockBlobClient(path).upload('{"issuer":"x"}', 14);
    const dispatcher = new ProxyAgent({ uri: names.proxy, requestTls: { ca } });
    try {
      const answer = await request(`${oidcIssuerBaseUrl}${path}`, { dispatcher });
      assert.deepEqual([answer.statusCode, await answer.body.json()], [200, { issuer: 'x' }]);
    } finally {
      await dispatcher.close();
    }
  });

  await t.test('another region, and another management cluster, stand beside the first', async () => {
    const other = await apply(cloud, 'regional', 'eastus');
    assert.equal(other.regionalGroup, 'hcp-underlay-local-use');
    assert.equal(other.globalGroup, made.get('regional')?.globalGroup);
    const replication = `${other.svcRegistryId}/replications/eastus`;
    assert.equal((await cloud.arm.get(replication, '2023-07-01')).name, 'eastus');
    const second = await apply(cloud, 'management', 'westus3', '2');
    assert.equal(second.maestroConsumerName, 'hcp-underlay-local-usw3-mgmt-2');
    assert.equal(second.eventGridNamespace, made.get('management')?.eventGridNamespace);
  });
});

test('a scope whose ground is missing says which command makes it', async (t) => {
  const cloud = await localCloud(t);
  await assert.rejects(apply(cloud, 'regional'), /global.*run aro deploy --scope global --location westus3 first/);
});

test('what failed is named with what to do; the next run goes on', async (t) => {
  const cloud = await localCloud(t);
  cloud.fault({
    match: { method: 'PUT', path: '**/dnsZones/hcp.aro.test' },
    times: 1,
    effect: { kind: 'error', status: 403, code: 'AuthorizationFailed', message: 'Not you.' },
  });
  await assert.rejects(apply(cloud, 'global'), (error) => {
    assert.ok(error instanceof DeployError);
    assert.match(
      error.message,
      /^global\/dns failed: .*dnsZones\/hcp\.aro\.test: AuthorizationFailed: Not you\..*role/,
    );
    return true;
  });
  await apply(cloud, 'global');
});

test('throttling and lost answers on the way do no harm', async (t) => {
  const cloud = await localCloud(t);
  const deployments = '/subscriptions/*/resourceGroups/*/providers/Microsoft.Resources/deployments/*';
  cloud.fault({ match: { method: 'PUT', path: deployments }, times: 2, effect: { kind: 'lostAnswer' } });
  cloud.fault({
    match: { method: 'GET', path: deployments },
    times: 2,
    effect: { kind: 'error', status: 429, code: 'TooManyRequests', retryAfterSeconds: 2 },
  });
  await apply(cloud, 'global');
  assert.ok(cloud.retried.includes('NoAnswer') && cloud.retried.includes('TooManyRequests'));
  assert.ok(cloud.waits.includes(2000));
});

test('plans are checked before anything is sent', async () => {
  const options = {
    scope: 'global',
    location: 'westus3',
    environment: 'local',
    stamp: '1',
    subscriptions: {},
  } as const;
  await assert.rejects(readPlan({ ...options, location: 'westus33' }), /did you mean westus3\?/);
  await assert.rejects(readPlan({ ...options, environment: 'nowhere' }), /there is no file .*nowhere\.json/);
  await assert.rejects(
    readPlan({ ...options, scope: 'management', stamp: '9' }),
    /no subscription for the management cluster 9/,
  );
  await assert.rejects(readPlan({ ...options, subscriptions: { global: 'x' } }), /no GUID/);
  const { steps } = await readPlan(options);
  const [, dns] = steps;
  assert.ok(dns);
  assert.throws(
    () => parametersOf(dns, { cxParentZoneName: 'a' }),
    /global\/dns needs values for svcParentZoneName, cluster/,
  );
  assert.throws(() => subscriptionsOf('global', ['region=1']), /must be <id> or <scope>=<id>/);
  assert.deepEqual(subscriptionsOf('regional', ['1', 'global=2']), { regional: '1', global: '2' });
});

test('the command tells what would change, applies it resource by resource, and ends with 0', async (t) => {
  const cloud = await localCloud(t);
  const directory = await mkdtemp(join(tmpdir(), 'deploy-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, cloud.azure.azure.ca);
  const { owner, cloud: names } = cloud.azure.azure;
  const aro = (
    ...args: readonly string[]
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> =>
    new Promise((resolve) => {
      const program = fileURLToPath(new URL('../../bin/aro.ts', import.meta.url));
      const env = {
        PATH: process.env.PATH,
        AZURE_METADATA_URL: cloud.azure.origin,
        AZURE_CA_FILE: caFile,
        AZURE_PROXY_URL: names.proxy,
        AZURE_TENANT_ID: owner.tenantId,
        AZURE_CLIENT_ID: owner.clientId,
        AZURE_CLIENT_SECRET: owner.secret.reveal(),
      };
      execFile(process.execPath, [program, 'deploy', ...args], { env }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      );
    });
  const global = ['--scope', 'global', '--location', 'West US 3'];
  const before = await aro(...global, '--what-if');
  assert.deepEqual([before.code, before.err], [0, '']);
  assert.match(before.out, /global\/groups\n {2}\+ .*\/resourceGroups\/global/);
  assert.match(before.out, /global\/dns\n {2}\+ all of it/);
  const applied = await aro(...global);
  assert.deepEqual([applied.code, applied.err], [0, '']);
  assert.match(applied.out, / {2}Succeeded Microsoft\.Network\/dnsZones hcp\.aro\.test\n/);
  assert.match(applied.out, /All 4 deployments are applied/);
  const after = await aro(...global, '--what-if');
  assert.match(after.out, /\nNoChange: \d+\n$/);
  const wrong = await aro('--scope', 'everything', '--location', 'westus3');
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /^aro: the scope is one of global, regional, management, classic/);
});

test('a forecast marks what is new, changed and the same', async () => {
  const { steps } = await planOf('global');
  const [step, unknown] = steps;
  assert.ok(step && unknown);
  const lines = forecastLines([
    {
      step,
      changes: [
        { id: '/a', change: 'Create', members: [] },
        { id: '/b', change: 'Modify', members: ['properties.x'] },
        { id: '/c', change: 'NoChange', members: [] },
      ],
    },
    { step: unknown, changes: undefined },
  ]);
  assert.deepEqual(lines.slice(0, 4), ['global/groups', '  + /a', '  ~ /b (properties.x)', '  = /c']);
  assert.equal(lines.at(-1), 'Create: 1, Modify: 1, NoChange: 1, new templates: 1');
});
