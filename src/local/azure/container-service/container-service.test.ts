import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import { fetch as fetchBy, ProxyAgent, request } from 'undici';
import { parse } from 'yaml';
import { startAzure, type TestAzure } from '../testing/start-azure.ts';
import { demandUpgrade, kubernetesVersions, supportedVersion, upgradesOf } from './versions.ts';

const version = '2024-09-01';
const system = { name: 'system', mode: 'System', count: 2, vmSize: 'Standard_D4ds_v5', availabilityZones: ['1', '2'] };

type Method = 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';

function clusterOf(cloud: TestAzure) {
  const group = `${cloud.subscription}/resourceGroups/g`;
  const id = `${group}/providers/Microsoft.ContainerService/managedClusters/svc`;
  const call = (path: string, method: Method = 'GET', body?: object) =>
    cloud.call(`${id}${path}?api-version=${version}`, { method, ...(body ? { body } : {}) });
  const settled = async (): Promise<void> => {
    const record = (await cloud.azure.world.resources.read(id))?.body;
    if (record?.operation === undefined) return;
    const { error } = await cloud.azure.world.resources.finished(record.operation);
    assert.equal(error, undefined);
  };
  const put = async (properties: object, more: object = {}) => {
    const answer = await call('', 'PUT', { location: 'eastus', properties, ...more });
    if (answer.status < 300) await settled();
    return answer;
  };
  return { group, id, call, put, settled };
}

async function startCluster(t: TestContext, properties: object = {}) {
  const cloud = await startAzure(t, { keep: true });
  const cluster = clusterOf(cloud);
  await cloud.call(cluster.group, { method: 'PUT', body: { location: 'eastus' } });
  const made = await cluster.put({ agentPoolProfiles: [system], oidcIssuerProfile: { enabled: true }, ...properties });
  return { cloud, made, ...cluster };
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Record<string, string> }[];
  readonly users: readonly { readonly user: Record<string, string> }[];
}

/** Does with a kubeconfig what kubectl does: through its proxy, by its server's name. */
async function ask(kubeconfig: Kubeconfig, path: string, object?: object): Promise<Record<string, unknown>> {
  const { cluster } = kubeconfig.clusters[0] ?? { cluster: {} };
  const { user } = kubeconfig.users[0] ?? { user: {} };
  const decoded = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();
  const agent = new ProxyAgent({
    uri: cluster['proxy-url'] ?? '',
    requestTls: {
      ca: decoded(cluster['certificate-authority-data']),
      cert: decoded(user['client-certificate-data']),
      key: decoded(user['client-key-data']),
    },
  });
  try {
    const answer = await request(new URL(path, cluster.server), {
      dispatcher: agent,
      method: object ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json' },
      ...(object ? { body: JSON.stringify(object) } : {}),
    });
    return (await answer.body.json()) as Record<string, unknown>;
  } finally {
    await agent.destroy();
  }
}

async function credential(call: ReturnType<typeof clusterOf>['call'], which = 'listClusterAdminCredential') {
  const answer = await call(`/${which}`, 'POST');
  assert.equal(answer.status, 200, answer.text);
  const { kubeconfigs } = answer.json as { kubeconfigs: { value: string }[] };
  return parse(Buffer.from(kubeconfigs[0]?.value ?? '', 'base64').toString()) as Kubeconfig;
}

const names = (list: Record<string, unknown>): string[] =>
  (list.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);

test('a cluster answers under its own name, to those who have its credentials', async (t) => {
  const { call, made, cloud } = await startCluster(t);
  assert.equal(made.status, 201, made.text);
  const kubeconfig = await credential(call);
  const server = kubeconfig.clusters[0]?.cluster.server ?? '';
  assert.match(server, /^https:\/\/svc-[0-9a-f]{8}\.hcp\.eastus\.azmk8s\.azure\.test:443$/);
  assert.equal(kubeconfig.clusters[0]?.cluster['proxy-url'], cloud.azure.cloud.proxy);
  const found = names(await ask(kubeconfig, '/api/v1/nodes'));
  assert.equal(found.length, 2);
  assert.match(found[0] ?? '', /^aks-system-\d{8}-vmss000000$/);
  const user = await credential(call, 'listClusterUserCredential');
  assert.equal((await ask(user, '/api/v1/namespaces')).kind, 'NamespaceList');
  const monitor = await credential(call, 'listClusterMonitoringUserCredential');
  assert.equal((await ask(monitor, '/api/v1/secrets')).code, 403);
});

test('what is in a cluster survives a restart of the cloud, and its credentials go on working', async (t) => {
  const { cloud, call } = await startCluster(t);
  const kubeconfig = await credential(call);
  const maps = '/api/v1/namespaces/default/configmaps';
  await ask(kubeconfig, maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } });
  await cloud.restart();
  assert.ok(names(await ask(kubeconfig, maps)).includes('kept'));
});

test('pools come with a cluster and beside it, and their nodes follow their counts', async (t) => {
  const { call, cloud, id } = await startCluster(t);
  const kubeconfig = await credential(call);
  const nodes = async (): Promise<number> => names(await ask(kubeconfig, '/api/v1/nodes')).length;
  const pool = async (body: object, method: Method = 'PUT'): Promise<number> => {
    const answer = await call('/agentPools/user', method, body);
    const operation = (await cloud.azure.world.resources.read(`${id}/agentPools/user`))?.body.operation;
    if (operation !== undefined) await cloud.azure.world.resources.finished(operation);
    return answer.status;
  };
  assert.equal(await pool({ properties: { count: 3, vmSize: 'Standard_D8ds_v5' } }), 201);
  assert.equal(await nodes(), 5);
  const shown = (await call('')).json as { properties: { agentPoolProfiles: { name: string; count: number }[] } };
  assert.deepEqual(
    shown.properties.agentPoolProfiles.map(({ name, count }) => [name, count]),
    [
      ['system', 2],
      ['user', 3],
    ],
  );
  await pool({ properties: { count: 1, vmSize: 'Standard_D8ds_v5' } });
  assert.equal(await nodes(), 3);
  assert.equal(await pool({ properties: { count: 1, vmSize: 'Standard_D4ds_v5' } }), 400);
  assert.equal((await call('/agentPools/system', 'DELETE')).status, 400);
  await pool({}, 'DELETE');
  assert.equal(await nodes(), 2);
});

test('its issuer is described where its address says, and its tokens are of that issuer', async (t) => {
  const { call, cloud } = await startCluster(t);
  const { properties } = (await call('')).json as { properties: { oidcIssuerProfile: { issuerURL: string } } };
  const { issuerURL } = properties.oidcIssuerProfile;
  const agent = new ProxyAgent({ uri: cloud.azure.cloud.proxy, requestTls: { ca: cloud.azure.ca } });
  t.after(() => agent.destroy());
  const get = async (url: string) =>
    (await request(url, { dispatcher: agent })).body.json() as Promise<Record<string, string>>;
  const document = await get(`${issuerURL}.well-known/openid-configuration`);
  assert.equal(document.issuer, issuerURL);
  const kubeconfig = await credential(call);
  const asked = await ask(kubeconfig, '/api/v1/namespaces/default/serviceaccounts/default/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['api://AzureADTokenExchange'] },
  });
  const { token } = asked.status as { token: string };
  const keys = createRemoteJWKSet(new URL(document.jwks_uri ?? ''), {
    [customFetch]: ((url: string) => fetchBy(url, { dispatcher: agent })) as unknown as typeof fetch,
  });
  const { payload } = await jwtVerify(token, keys, { issuer: issuerURL, audience: 'api://AzureADTokenExchange' });
  assert.equal(payload.sub, 'system:serviceaccount:default:default');
  const nobody = await request(`${new URL(issuerURL).origin}/x/y/.well-known/openid-configuration`, {
    dispatcher: agent,
  });
  assert.equal(nobody.statusCode, 404);
  await nobody.body.dump();
});

test('the group of its machines comes and goes with it', async (t) => {
  const { call, cloud, settled } = await startCluster(t);
  const { resources } = cloud.azure.world;
  const group = `${cloud.subscription}/resourceGroups/MC_g_svc_eastus`;
  assert.equal((await cloud.call(group)).status, 200);
  const kubeconfig = await credential(call);
  assert.ok([202, 204].includes((await call('', 'DELETE')).status));
  await settled();
  const going = (await resources.read(group))?.body.operation;
  if (going !== undefined) await resources.finished(going);
  assert.equal((await cloud.call(group)).status, 404);
  await assert.rejects(ask(kubeconfig, '/api/v1/nodes'), /403/);
});

test('a stopped cluster cannot be reached until it is started', async (t) => {
  const { call, cloud, id } = await startCluster(t);
  const kubeconfig = await credential(call);
  const act = async (name: string): Promise<void> => {
    const answer = await call(`/${name}`, 'POST');
    assert.equal(answer.status, 202, answer.text);
    const operation = /\/([0-9a-f-]{36})\?/i.exec(
      String(answer.headers['azure-asyncoperation'] ?? answer.headers.location),
    );
    await cloud.azure.world.resources.finished(operation?.[1] ?? '');
  };
  await act('stop');
  await assert.rejects(ask(kubeconfig, '/api/v1/nodes'), /403/);
  const record = (await cloud.azure.world.resources.read(id))?.body.resource;
  assert.deepEqual(record?.properties?.powerState, { code: 'Stopped' });
  await act('start');
  assert.equal(names(await ask(kubeconfig, '/api/v1/nodes')).length, 2);
});

test('it is upgraded by one minor version at a time', async (t) => {
  const { put, call } = await startCluster(t, { kubernetesVersion: '1.32.7' });
  assert.equal((await put({ kubernetesVersion: '1.34.1' })).status, 400);
  assert.equal((await put({ kubernetesVersion: '1.31.11' })).status, 400);
  assert.equal((await put({ kubernetesVersion: '1.33.4' })).status, 200);
  const shown = (await call('')).json as { properties: Record<string, unknown> };
  assert.equal(shown.properties.currentKubernetesVersion, '1.33.4');
  const profile = (await call('/upgradeProfiles/default')).json as {
    properties: { controlPlaneProfile: { upgrades: object[] } };
  };
  assert.equal(profile.properties.controlPlaneProfile.upgrades.length, 2);
});

for (const [what, properties] of [
  ['without a system pool', { agentPoolProfiles: [{ name: 'user', mode: 'User', count: 1 }] }],
  ['of a version that there is not', { agentPoolProfiles: [system], kubernetesVersion: '1.10' }],
  ['with two pools of one name', { agentPoolProfiles: [system, system] }],
  ['with a pool without nodes', { agentPoolProfiles: [{ ...system, count: 0 }] }],
] as const) {
  test(`a cluster ${what} is refused`, async (t) => {
    const { made } = await startCluster(t, properties);
    assert.equal(made.status, 400, made.text);
  });
}

test('what it cannot do it says', async (t) => {
  const { call, cloud } = await startCluster(t, { disableLocalAccounts: true });
  assert.equal((await call('/runCommand', 'POST', { command: 'ls' })).status, 400);
  assert.equal((await call('/listClusterAdminCredential', 'POST')).status, 400);
  const versions = await cloud.call(
    `${cloud.subscription}/providers/Microsoft.ContainerService/locations/eastus/kubernetesVersions?api-version=${version}`,
  );
  const { values } = versions.json as { values: object[] };
  assert.ok(values.length > 2);
});

test('versions follow each other', () => {
  assert.equal(supportedVersion('1.33'), '1.33.4');
  assert.throws(() => supportedVersion('1.3'), { code: 'K8sVersionNotSupported' });
  for (const from of kubernetesVersions) for (const to of upgradesOf(from)) demandUpgrade(from, to);
});
