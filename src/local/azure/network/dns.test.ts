// Zones and records, and the names that come of them.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { createNetwork } from './network.ts';
import { group, location, startNetwork } from './testing/network-world.ts';

const publicVersion = 'api-version=2018-05-01';
const privateVersion = 'api-version=2020-06-01';

test('zones, records and names', async (t) => {
  const { client, at, call, azure } = await startNetwork(t);
  const { world } = azure;
  const network = createNetwork({
    cloud: world.cloud,
    store: world.store,
    resources: () => world.resources,
    listener: () => ({ host: '127.0.0.1', port: 1 }),
  });
  const put = async (path: string, body: object, version = publicVersion) => {
    const answer = await call(`${at}/${path}?${version}`, { method: 'PUT', body });
    if (answer.status === 201 && version === privateVersion) await settled(path, version);
    return answer;
  };
  const settled = async (path: string, version: string) => {
    const document = await world.resources.read(`${at}/${path}`);
    if (document?.body.operation !== undefined) await world.resources.finished(document.body.operation);
    return call(`${at}/${path}?${version}`);
  };
  const data = async (name: string, type: 'A' | 'CNAME' | 'TXT' | 'NS' = 'A') =>
    (await network.resolve(name, type))?.map((answer) => `${answer.type} ${answer.data}`);

  await t.test('a public zone comes with its servers and its start of authority', async () => {
    const made = await put('dnsZones/example.com', { location: 'global' });
    assert.equal(made.status, 201, made.text);
    const { properties } = (await call(`${at}/dnsZones/example.com?${publicVersion}`)).json as {
      properties: { nameServers: string[]; numberOfRecordSets: number };
    };
    assert.equal(properties.nameServers.length, 4);
    assert.equal(properties.numberOfRecordSets, 2);
    const all = await call(`${at}/dnsZones/example.com/recordsets?${publicVersion}`);
    assert.equal(all.text.split('"fqdn"').length - 1, 2);
    assert.equal((await call(`${at}/dnsZones/example.com/NS/@?${publicVersion}`, { method: 'DELETE' })).status, 400);
  });

  await t.test('records are found by name, alias and wildcard', async () => {
    await put('dnsZones/example.com/A/api', { properties: { TTL: 60, ARecords: [{ ipv4Address: '198.18.0.9' }] } });
    await put('dnsZones/example.com/CNAME/www', { properties: { TTL: 60, CNAMERecord: { cname: 'api.example.com' } } });
    await put('dnsZones/example.com/A/*.apps', { properties: { TTL: 60, ARecords: [{ ipv4Address: '198.18.0.10' }] } });
    await put('dnsZones/example.com/TXT/@', { properties: { TTL: 60, TXTRecords: [{ value: ['a "b"'] }] } });
    assert.deepEqual(await data('API.example.com.'), ['A 198.18.0.9']);
    assert.deepEqual(await data('www.example.com'), ['CNAME api.example.com.', 'A 198.18.0.9']);
    assert.deepEqual(await data('console.apps.example.com'), ['A 198.18.0.10']);
    assert.deepEqual(await data('example.com', 'TXT'), ['TXT "a \\"b\\""']);
    assert.deepEqual(await data('nothing.example.com'), []);
    assert.equal(await data('elsewhere.org'), undefined);
  });

  await t.test('aliases that go in a circle end', async () => {
    await put('dnsZones/example.com/CNAME/x', { properties: { TTL: 60, CNAMERecord: { cname: 'y.example.com' } } });
    await put('dnsZones/example.com/CNAME/y', { properties: { TTL: 60, CNAMERecord: { cname: 'x.example.com' } } });
    assert.equal((await network.resolve('x.example.com', 'A'))?.length, 10);
  });

  await t.test('a zone below another answers once it is delegated', async () => {
    await put('dnsZones/sub.example.com', { location: 'global' });
    await put('dnsZones/sub.example.com/A/api', {
      properties: { TTL: 60, ARecords: [{ ipv4Address: '198.18.0.11' }] },
    });
    assert.deepEqual(await data('api.sub.example.com'), []);
    const child = (await call(`${at}/dnsZones/sub.example.com?${publicVersion}`)).json as {
      properties: { nameServers: string[] };
    };
    await put('dnsZones/example.com/NS/sub', {
      properties: { TTL: 60, NSRecords: child.properties.nameServers.map((nsdname) => ({ nsdname })) },
    });
    assert.deepEqual(await data('api.sub.example.com'), ['A 198.18.0.11']);
  });

  await t.test('records that cannot be are refused', async () => {
    const refused: readonly (readonly [string, object])[] = [
      ['A/bad', { TTL: 60, ARecords: [{ ipv4Address: '300.1.1.1' }] }],
      ['A/bad', { TTL: 0, ARecords: [{ ipv4Address: '1.1.1.1' }] }],
      ['A/bad', { ARecords: [{ ipv4Address: '1.1.1.1' }] }],
      ['A/bad', { TTL: 60, ARecords: 'x' }],
      ['A/bad', { TTL: 60, ARecords: [7] }],
      ['A/www', { TTL: 60, ARecords: [{ ipv4Address: '1.1.1.1' }] }],
      ['CNAME/@', { TTL: 60, CNAMERecord: { cname: 'x.y' } }],
      ['CNAME/api', { TTL: 60, CNAMERecord: { cname: 'x.y' } }],
      ['SOA/bad', { TTL: 60, SOARecord: {} }],
    ];
    for (const [path, properties] of refused) {
      const { status, json } = await put(`dnsZones/example.com/${path}`, { properties });
      assert.equal(status, 400, path);
      assert.equal((json?.error as { code: string } | undefined)?.code ?? json?.code, 'BadRequest');
    }
  });

  await t.test('private zones are linked to networks and answer for names of their own', async () => {
    await client.virtualNetworks.createOrUpdate(group, 'vnet', {
      location,
      addressSpace: { addressPrefixes: ['10.0.0.0/16'] },
      subnets: [{ name: 's', addressPrefix: '10.0.0.0/24' }],
    });
    assert.equal((await put('privateDnsZones/inside.test', { location: 'global' }, privateVersion)).status, 201);
    await put(
      'privateDnsZones/inside.test/A/etcd',
      { properties: { ttl: 60, aRecords: [{ ipv4Address: '10.0.0.7' }] } },
      privateVersion,
    );
    const link = { location: 'global', properties: { virtualNetwork: { id: `${at}/virtualNetworks/vnet` } } };
    await put('privateDnsZones/inside.test/virtualNetworkLinks/l', link, privateVersion);
    const shown = await call(`${at}/privateDnsZones/inside.test/virtualNetworkLinks/l?${privateVersion}`);
    assert.match(shown.text, /"virtualNetworkLinkState":"Completed"/);
    assert.deepEqual(await data('etcd.inside.test'), ['A 10.0.0.7']);
    const kept = await call(`${at}/privateDnsZones/inside.test?${privateVersion}`, { method: 'DELETE' });
    assert.equal(kept.status, 409, kept.text);
  });

  await t.test('names lead to what is attached to their addresses', async (t) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { port } = server.address() as { port: number };
    const target = { host: '127.0.0.1', port };
    const detach = network.attach('198.18.0.9', 6443, target);
    assert.deepEqual(await network.target('www.example.com', 6443), target);
    assert.deepEqual(await network.target('198.18.0.9', 6443), target);
    assert.equal(await network.target('www.example.com', 443), undefined);
    detach();
    assert.equal(await network.target('www.example.com', 6443), undefined);
    assert.deepEqual(await network.target('v.vault.azure.test', 443), { host: '127.0.0.1', port: 1 });
  });

  await t.test('labels of public addresses are names', async () => {
    const { ipAddress } = await client.publicIPAddresses.createOrUpdate(group, 'pip', {
      location,
      sku: { name: 'Standard' },
      dnsSettings: { domainNameLabel: 'labelled' },
    });
    assert.deepEqual(await data('labelled.eastus.cloudapp.azure.test'), [`A ${ipAddress}`]);
    await client.publicIPAddresses.delete(group, 'pip');
    assert.deepEqual(await data('labelled.eastus.cloudapp.azure.test'), []);
  });

  await t.test('a zone that is gone answers no more', async () => {
    await call(`${at}/dnsZones/example.com?${publicVersion}`, { method: 'DELETE' });
    await settled('dnsZones/example.com', publicVersion);
    assert.equal(await data('api.example.com'), undefined);
  });
});
