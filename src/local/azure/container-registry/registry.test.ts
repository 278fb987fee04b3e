// Registries as clients of the distribution protocol use them.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { basic, digest, registryVersion, startRegistry, type TestRegistry } from './testing/registry.ts';

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';

function idOf(text: string): ResourceId {
  const parsed = parseResourceId(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.id;
}

async function adminOf(cloud: TestRegistry, name: string): Promise<string> {
  const path = `${cloud.registryId(name)}/listCredentials?api-version=${registryVersion}`;
  const { json } = await cloud.call(path, { method: 'POST' });
  const [first] = (json?.passwords ?? []) as readonly { readonly value: string }[];
  return basic(name, first?.value ?? '');
}

async function pushBlob(
  cloud: TestRegistry,
  registry: string,
  repository: string,
  bytes: Buffer,
  authorization: string,
): Promise<string> {
  const start = await cloud.ask(registry, `/v2/${repository}/blobs/uploads/`, {
    method: 'POST',
    headers: { authorization },
  });
  assert.equal(start.status, 202);
  const place = String(start.headers.location);
  const done = await cloud.ask(registry, `${place}?digest=${digest(bytes)}`, {
    method: 'PUT',
    headers: { authorization },
    body: bytes,
  });
  assert.equal(done.status, 201, done.bytes.toString());
  return digest(bytes);
}

async function pushImage(
  cloud: TestRegistry,
  registry: string,
  repository: string,
  tag: string,
  authorization: string,
) {
  const [config, layer] = [Buffer.from('{}'), randomBytes(200_000)];
  for (const bytes of [config, layer]) await pushBlob(cloud, registry, repository, bytes, authorization);
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digest(config), size: config.length },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: digest(layer), size: layer.length }],
  });
  const put = await cloud.ask(registry, `/v2/${repository}/manifests/${tag}`, {
    method: 'PUT',
    headers: { authorization, 'content-type': manifestType },
    body: manifest,
  });
  assert.equal(put.status, 201, put.bytes.toString());
  return { manifest, layer, digest: digest(manifest) };
}

test('images are pushed, pulled, listed and deleted by tag and by digest', async (t) => {
  const cloud = await startRegistry(t);
  await cloud.create('myregistry', { adminUserEnabled: true });
  const authorization = await adminOf(cloud, 'myregistry');
  const ask = (path: string, options: Parameters<TestRegistry['ask']>[2] = {}) =>
    cloud.ask('myregistry', path, { ...options, headers: { authorization, ...options.headers } });

  const image = await pushImage(cloud, 'myregistry', 'team/app', 'v1', authorization);
  for (const reference of ['v1', image.digest]) {
    const got = await ask(`/v2/team/app/manifests/${reference}`);
    assert.equal(got.status, 200);
    assert.equal(got.headers['docker-content-digest'], image.digest);
    assert.equal(got.headers['content-type'], manifestType);
    assert.equal(got.bytes.toString(), image.manifest);
  }
  const head = await ask('/v2/team/app/manifests/v1', { method: 'HEAD' });
  assert.equal(head.headers['content-length'], String(image.manifest.length));
  const layer = await ask(`/v2/team/app/blobs/${digest(image.layer)}`);
  assert.ok(layer.bytes.equals(image.layer));
  const part = await ask(`/v2/team/app/blobs/${digest(image.layer)}`, { headers: { range: 'bytes=10-19' } });
  assert.equal(part.status, 206);
  assert.ok(part.bytes.equals(image.layer.subarray(10, 20)));

  await t.test('what is not as it says, or refers to what is not there, is refused', async () => {
    const headers = { 'content-type': manifestType };
    const put = (reference: string, body: string) =>
      ask(`/v2/team/app/manifests/${reference}`, { method: 'PUT', headers, body });
    assert.equal((await put(digest('other'), image.manifest)).status, 400);
    const broken = image.manifest.replace(digest(image.layer), digest('missing'));
    assert.match((await put('v2', broken)).bytes.toString(), /MANIFEST_BLOB_UNKNOWN/);
    assert.match((await put('v2', 'no json')).bytes.toString(), /MANIFEST_INVALID/);
    const start = await ask('/v2/team/app/blobs/uploads/', { method: 'POST' });
    const wrong = await ask(`${start.headers.location}?digest=${digest('a')}`, { method: 'PUT', body: 'b' });
    assert.match(wrong.bytes.toString(), /DIGEST_INVALID/);
    assert.equal((await ask('/v2/team/app/manifests/none')).status, 404);
    assert.equal((await ask('/v2/Team/app/manifests/v1')).status, 400);
    assert.equal(
      (await ask(`/v2/other/app/blobs/${digest(image.layer)}`)).status,
      404,
      'a blob is seen in its repository only',
    );
  });

  await t.test('a blob is uploaded in chunks, or mounted from another repository', async () => {
    const bytes = randomBytes(150_000);
    const start = await ask('/v2/team/chunks/blobs/uploads/', { method: 'POST' });
    const place = String(start.headers.location);
    const first = await ask(place, {
      method: 'PATCH',
      headers: { 'content-range': '0-99999' },
      body: bytes.subarray(0, 100_000),
    });
    assert.equal(first.status, 202);
    assert.equal(first.headers.range, '0-99999');
    assert.equal((await ask(place, { method: 'PATCH', headers: { 'content-range': '5-9' }, body: 'x' })).status, 416);
    await ask(place, { method: 'PATCH', body: bytes.subarray(100_000) });
    assert.equal((await ask(`${place}?digest=${digest(bytes)}`, { method: 'PUT' })).status, 201);
    assert.ok((await ask(`/v2/team/chunks/blobs/${digest(bytes)}`)).bytes.equals(bytes));
    const mounted = await ask(`/v2/team/mounted/blobs/uploads/?mount=${digest(bytes)}&from=team/chunks`, {
      method: 'POST',
    });
    assert.equal(mounted.status, 201);
    assert.equal((await ask(`/v2/team/mounted/blobs/${digest(bytes)}`, { method: 'HEAD' })).status, 200);
  });

  await t.test('lists of repositories, tags and referrers', async () => {
    const subject = { mediaType: manifestType, digest: image.digest, size: image.manifest.length };
    const signature = JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      artifactType: 'application/x-signature',
      subject,
      layers: [],
    });
    const headers = { 'content-type': manifestType };
    const put = await ask(`/v2/team/app/manifests/${digest(signature)}`, { method: 'PUT', headers, body: signature });
    assert.equal(put.headers['oci-subject'], image.digest);
    const { json } = await ask(`/v2/team/app/referrers/${image.digest}`);
    assert.deepEqual(
      (json.manifests as readonly { readonly digest: string }[]).map((one) => one.digest),
      [digest(signature)],
    );
    for (const tag of ['v2', 'v3'])
      await ask(`/v2/team/app/manifests/${tag}`, { method: 'PUT', headers, body: image.manifest });
    const page = await ask('/v2/team/app/tags/list?n=2');
    assert.deepEqual(page.json.tags, ['v1', 'v2']);
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String(page.headers.link)) ?? [];
    assert.deepEqual((await ask(next)).json.tags, ['v3']);
    assert.deepEqual((await ask('/v2/_catalog')).json.repositories, ['team/app', 'team/chunks', 'team/mounted']);
  });

  await t.test('a manifest goes with its tags', async () => {
    assert.equal((await ask(`/v2/team/app/manifests/${image.digest}`, { method: 'DELETE' })).status, 202);
    assert.equal((await ask('/v2/team/app/manifests/v1')).status, 404);
    assert.deepEqual((await ask('/v2/team/app/tags/list')).json.tags, []);
  });
});

test('tokens are given for what their holder may do, and hold nothing more', async (t) => {
  const cloud = await startRegistry(t);
  await cloud.create('myregistry', { adminUserEnabled: true });
  const admin = await adminOf(cloud, 'myregistry');
  const image = await pushImage(cloud, 'myregistry', 'app', 'v1', admin);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const service = 'myregistry.azurecr.azure.test';

  const challenge = await cloud.ask('myregistry', '/v2/');
  assert.equal(challenge.status, 401);
  assert.equal(
    challenge.headers['www-authenticate'],
    `Bearer realm="https://${service}/oauth2/token",service="${service}"`,
  );

  const aad = (await cloud.credential.getToken('https://containerregistry.azure.net/.default')).token;
  const exchange = await cloud.ask('myregistry', '/oauth2/exchange', {
    method: 'POST',
    headers: form,
    body: new URLSearchParams({ grant_type: 'access_token', service, tenant: 't', access_token: aad }).toString(),
  });
  const refresh = String(exchange.json.refresh_token);
  const access = async (scope: string) => {
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      service,
      refresh_token: refresh,
      scope,
    }).toString();
    return `Bearer ${(await cloud.ask('myregistry', '/oauth2/token', { method: 'POST', headers: form, body })).json.access_token}`;
  };
  const pull = await access('repository:app:pull');
  assert.equal(
    (await cloud.ask('myregistry', '/v2/app/manifests/v1', { headers: { authorization: pull } })).status,
    200,
  );
  const push = await cloud.ask('myregistry', '/v2/app/blobs/uploads/', {
    method: 'POST',
    headers: { authorization: pull },
  });
  assert.equal(push.status, 401);
  assert.match(String(push.headers['www-authenticate']), /scope="repository:app:pull,push".*insufficient_scope/);
  const other = await cloud.ask('myregistry', '/v2/other/manifests/v1', { headers: { authorization: pull } });
  assert.equal(other.status, 401);
  const catalog = await access('registry:catalog:*');
  assert.equal((await cloud.ask('myregistry', '/v2/_catalog', { headers: { authorization: catalog } })).status, 200);
  const forged = `${pull.slice(0, -6)}AAAAAA`;
  assert.equal((await cloud.ask('myregistry', '/v2/', { headers: { authorization: forged } })).status, 401);

  await t.test('a token with a scope map does what the map says', async () => {
    const id = cloud.registryId('myregistry');
    const put = (path: string, body: object) =>
      cloud.call(`${id}/${path}?api-version=${registryVersion}`, { method: 'PUT', body });
    const map = await put('scopeMaps/readers', { properties: { actions: ['repositories/app/content/read'] } });
    assert.ok(map.status < 300, map.text);
    const made = await put('tokens/reader', {
      properties: { scopeMapId: `${id}/scopeMaps/readers`, status: 'enabled' },
    });
    assert.ok(made.status < 300, made.text);
    const act = await cloud.azure.world.resources.act(idOf(id), 'generateCredentials', {
      apiVersion: registryVersion,
      body: { tokenId: `${id}/tokens/reader`, name: 'password1' },
      query: {},
      caller: { tenantId: '', objectId: '', kind: 'User', groups: [] },
    });
    const finished = await cloud.azure.world.resources.finished(act.operation ?? '');
    assert.equal(finished.error, undefined);
    const operation = await cloud.azure.world.resources.operation(cloud.subscriptionId, act.operation ?? '');
    const result = operation?.result as { readonly passwords: readonly { readonly value: string }[] };
    const authorization = basic('reader', result.passwords[0]?.value ?? '');
    const get = await cloud.ask('myregistry', `/v2/app/manifests/${image.digest}`, { headers: { authorization } });
    assert.equal(get.status, 200);
    const denied = await cloud.ask('myregistry', '/v2/app/blobs/uploads/', {
      method: 'POST',
      headers: { authorization },
    });
    assert.equal(denied.status, 403);
  });

  await t.test('an image is imported from another registry with all it consists of', async () => {
    const index = JSON.stringify({
      schemaVersion: 2,
      mediaType: indexType,
      manifests: [{ mediaType: manifestType, digest: image.digest, size: image.manifest.length }],
    });
    await cloud.ask('myregistry', '/v2/app/manifests/all', {
      method: 'PUT',
      headers: { authorization: admin, 'content-type': indexType },
      body: index,
    });
    await cloud.create('secondone', { adminUserEnabled: true });
    const path = `${cloud.registryId('secondone')}/importImage?api-version=${registryVersion}`;
    const source = { resourceId: cloud.registryId('myregistry'), sourceImage: 'app:all' };
    const started = await cloud.call(path, { method: 'POST', body: { source, targetTags: ['mirror/app:all'] } });
    assert.equal(started.status, 202, started.text);
    const place = new URL(String(started.headers.location ?? started.headers['azure-asyncoperation']));
    for (let attempt = 0; attempt < 50; attempt++) {
      if ((await cloud.call(`${place.pathname}${place.search}`)).status !== 202) break;
    }
    const authorization = await adminOf(cloud, 'secondone');
    const got = await cloud.ask('secondone', '/v2/mirror/app/manifests/all', { headers: { authorization } });
    assert.equal(got.bytes.toString(), index);
    const layer = await cloud.ask('secondone', `/v2/mirror/app/blobs/${digest(image.layer)}`, {
      headers: { authorization },
    });
    assert.ok(layer.bytes.equals(image.layer));
  });
});
