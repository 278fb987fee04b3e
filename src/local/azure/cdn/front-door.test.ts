// Front Door before a static website: what az and clients of OpenID Connect see.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { ProxyAgent, request } from 'undici';
import { clientOptions, startAccount } from '../storage/testing/account.ts';

const version = '2024-02-01';

test('documents of a static website are served through an endpoint, a route and an origin', async (t) => {
  const cloud = await startAccount(t);
  const { azure, service, subscription } = cloud;
  const agent = new ProxyAgent({ uri: azure.cloud.proxy, requestTls: { ca: azure.ca } });
  t.after(() => agent.close());
  const get = async (url: string, method: 'GET' | 'HEAD' = 'GET') => {
    const answer = await request(url, { dispatcher: agent, method });
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  };

  await service.setProperties({
    staticWebsite: { enabled: true, indexDocument: 'index.html', errorDocument404Path: '404.html' },
  });
  assert.equal((await service.getProperties()).staticWebsite?.enabled, true);
  const web = service.getContainerClient('$web');
  const put = (name: string, text: string, type: string, cache?: string) =>
    web.getBlockBlobClient(name).upload(text, Buffer.byteLength(text), {
      blobHTTPHeaders: { blobContentType: type, ...(cache === undefined ? {} : { blobCacheControl: cache }) },
    });
  await put('index.html', '<p>home</p>', 'text/html');
  await put('404.html', '<p>nothing here</p>', 'text/html');
  await put('cluster/.well-known/openid-configuration', '{"issuer":"x"}', 'application/json', 'public, max-age=60');

  await t.test('the website itself is open to everybody', async () => {
    const site = 'https://myaccount.web.storage.azure.test';
    assert.equal((await get(`${site}/`)).text, '<p>home</p>');
    const missing = await get(`${site}/none`);
    assert.equal(missing.status, 404);
    assert.equal(missing.text, '<p>nothing here</p>');
    const document = await get(`${site}/cluster/.well-known/openid-configuration`);
    assert.equal(document.headers['content-type'], 'application/json');
  });

  const profile = `${subscription}/resourceGroups/g/providers/Microsoft.Cdn/profiles/door`;
  const write = async (path: string, body: object) => {
    const made = await cloud.call(`${profile}${path}?api-version=${version}`, { method: 'PUT', body });
    assert.ok(made.status < 300, `${path}: ${made.status} ${made.text}`);
  };
  const settle = async (path: string) => {
    for (let attempt = 0; attempt < 100; attempt++) {
      const { json } = await cloud.call(`${profile}${path}?api-version=${version}`);
      const properties = json?.properties as Record<string, unknown> | undefined;
      if (properties?.provisioningState === 'Succeeded') return properties;
    }
    return assert.fail(`${path} does not come to an end`);
  };
  const make = async (path: string, body: object) => {
    await write(path, body);
    return settle(path);
  };
  await make('', { location: 'Global', sku: { name: 'Standard_AzureFrontDoor' } });
  const endpoint = await make('/afdEndpoints/oidc', { location: 'Global', properties: {} });
  assert.equal(endpoint.hostName, 'oidc.azurefd.azure.test');
  await make('/originGroups/site', { properties: { loadBalancingSettings: { sampleSize: 4 } } });
  const origin = { hostName: 'myaccount.web.storage.azure.test', originHostHeader: 'myaccount.web.storage.azure.test' };
  await make('/originGroups/site/origins/web', { properties: origin });
  const domain = await make('/customDomains/own', { properties: { hostName: 'oidc.azure.test' } });
  assert.equal(domain.domainValidationState, 'Pending');
  const route = {
    originGroup: { id: `${profile}/originGroups/site` },
    patternsToMatch: ['/*'],
    linkToDefaultDomain: 'Enabled',
    cacheConfiguration: { queryStringCachingBehavior: 'IgnoreQueryString' },
    customDomains: [{ id: `${profile}/customDomains/own` }],
  };
  await make('/afdEndpoints/oidc/routes/all', { properties: route });
  const place = 'https://oidc.azurefd.azure.test';
  const path = '/cluster/.well-known/openid-configuration';

  await t.test('documents come with the headers of their origin, and are kept as long as it says', async () => {
    const first = await get(`${place}${path}`);
    assert.equal(first.status, 200);
    assert.equal(first.text, '{"issuer":"x"}');
    assert.equal(first.headers['content-type'], 'application/json');
    assert.equal(first.headers['cache-control'], 'public, max-age=60');
    assert.equal(first.headers['x-cache'], 'TCP_MISS');
    await put('cluster/.well-known/openid-configuration', '{"issuer":"y"}', 'application/json', 'public, max-age=60');
    const second = await get(`${place}${path}?ignored`);
    assert.equal(second.headers['x-cache'], 'TCP_HIT');
    assert.equal(second.text, '{"issuer":"x"}');
    await azure.world.clock.advance(61_000);
    assert.equal((await get(`${place}${path}`)).text, '{"issuer":"y"}');
    assert.equal((await get(`${place}/none`)).status, 404);
    const head = await get(`${place}${path}`, 'HEAD');
    assert.equal(head.status, 200);
    assert.equal(head.headers['content-length'], '14');
  });

  await t.test('purged paths are asked for again', async () => {
    await get(`${place}${path}`);
    await put('cluster/.well-known/openid-configuration', '{"issuer":"z"}', 'application/json', 'public, max-age=60');
    const purge = `${profile}/afdEndpoints/oidc/purge?api-version=${version}`;
    assert.equal((await cloud.call(purge, { method: 'POST', body: { contentPaths: ['/cluster/*'] } })).status, 202);
    for (let attempt = 0; attempt < 100; attempt++) {
      if ((await get(`${place}${path}`)).text === '{"issuer":"z"}') return;
    }
    assert.fail('the old document is still there');
  });

  await t.test('origins outside of the cloud are not reached, unknown endpoints are not found', async () => {
    await make('/originGroups/site/origins/web', { properties: { ...origin, hostName: 'example.com' } });
    assert.equal((await get(`${place}/fresh`)).status, 503);
    assert.equal((await get('https://nobody.azurefd.azure.test/')).status, 404);
  });

  await t.test('the blobs of the website are not open by themselves', async () => {
    const open = new BlobServiceClient('https://myaccount.blob.storage.azure.test', undefined, clientOptions(cloud));
    await assert.rejects(open.getContainerClient('$web').getBlobClient('index.html').download(), { statusCode: 401 });
  });
});
