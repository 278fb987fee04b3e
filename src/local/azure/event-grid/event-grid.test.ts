import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { createAuthority, issueClientCertificate } from '../../../pki/authority.ts';
import { startAzure } from '../testing/start-azure.ts';
import { ClientQueryError, parseClientQuery } from './client-query.ts';
import { clientOf, mayUse, mqttAuthorisation } from './mqtt-authorisation.ts';
import { eventGridProvider } from './provider.ts';
import { covers, filterFor, templateProblem } from './topic-templates.ts';

const version = '2024-06-01-preview';
/** As templates write a variable of the client. */
const variable = (name: string): string => `\${client.${name}}`;

async function startNamespace(t: TestContext) {
  const { call, subscription, azure } = await startAzure(t);
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const id = `${group}/providers/Microsoft.EventGrid/namespaces/bus`;
  const put = async (path: string, properties: object, more: object = {}) =>
    call(`${id}${path}?api-version=${version}`, { method: 'PUT', body: { properties, ...more } });
  const made = await put('', { topicSpacesConfiguration: { state: 'Enabled' } }, { location: 'eastus' });
  assert.equal(made.status, 201, made.text);
  return { id, put, call, azure, made };
}

test('it is one of the namespaces of the cloud', () => {
  assert.ok(eventGridProvider.types.some(({ type }) => type === 'namespaces'));
});

test('a namespace has names for MQTT and HTTP, and keys', async (t) => {
  const { id, call } = await startNamespace(t);
  const shown = (await call(`${id}?api-version=${version}`)).json as {
    properties: Record<string, Record<string, unknown>>;
    sku: object;
  };
  assert.equal(shown.properties.topicSpacesConfiguration?.hostname, 'bus.eastus-1.ts.eventgrid.azure.test');
  assert.equal(shown.properties.topicsConfiguration?.hostname, 'bus.eastus-1.eventgrid.azure.test');
  assert.deepEqual(shown.sku, { name: 'Standard', capacity: 1 });
  const keys = async (): Promise<Record<string, unknown> | undefined> =>
    (await call(`${id}/listKeys?api-version=${version}`, { method: 'POST' })).json;
  const before = await keys();
  const body = { keyName: 'key1' };
  await call(`${id}/regenerateKey?api-version=${version}`, { method: 'POST', body });
  const after = await keys();
  assert.notEqual(after?.key1, before?.key1);
  assert.equal(after?.key2, before?.key2);
});

test('who may publish and subscribe to what follows from clients, groups, topic spaces and bindings', async (t) => {
  const { id, put, azure } = await startNamespace(t);
  const authority = await createAuthority({ name: 'Devices' });
  await put('/caCertificates/devices', { encodedCertificate: authority.certificatePem });
  await put('/clientGroups/servers', { query: "attributes.role = 'server'" });
  await put('/clientGroups/consumers', { query: "attributes.role IN ['consumer', 'agent']" });
  await put('/topicSpaces/all-events', { topicTemplates: ['sources/+/events'] });
  await put('/topicSpaces/own-events', { topicTemplates: [`sources/${variable('authenticationName')}/events`] });
  const binding = { clientGroupName: 'servers', topicSpaceName: 'all-events', permission: 'Subscriber' };
  assert.equal((await put('/permissionBindings/server-reads', binding)).status, 201);
  const own = { clientGroupName: 'consumers', topicSpaceName: 'own-events', permission: 'Publisher' };
  assert.equal((await put('/permissionBindings/consumer-writes', own)).status, 201);
  await put('/clients/maestro', { attributes: { role: 'server' } });
  await put('/clients/mc-1', { attributes: { role: 'consumer' } });
  await put('/clients/off', { attributes: { role: 'consumer' }, state: 'Disabled' });

  const model = await mqttAuthorisation(azure.world, id);
  assert.ok(model);
  assert.equal(model.hostname, 'bus.eastus-1.ts.eventgrid.azure.test');
  assert.equal(model.authorities.length, 1);
  const certificate = async (commonName: string) =>
    new X509Certificate((await issueClientCertificate(authority, { commonName })).certificatePem);
  const server = clientOf(model, await certificate('maestro'));
  const consumer = clientOf(model, await certificate('mc-1'), 'mc-1');
  assert.ok(server && consumer);
  assert.equal(clientOf(model, await certificate('off')), undefined);
  assert.equal(clientOf(model, await certificate('mc-1'), 'maestro'), undefined);
  assert.equal(clientOf(model, await certificate('stranger')), undefined);
  assert.ok(mayUse(server, 'subscribe', 'sources/+/events'));
  assert.ok(!mayUse(server, 'publish', 'sources/mc-1/events'));
  assert.ok(mayUse(consumer, 'publish', 'sources/mc-1/events'));
  assert.ok(!mayUse(consumer, 'publish', 'sources/mc-2/events'));
  assert.equal(await mqttAuthorisation(azure.world, `${id}-other`), undefined);
});

test('a client is known by the thumbprint of its certificate', async (t) => {
  const { id, put, azure } = await startNamespace(t);
  const authority = await createAuthority({ name: 'Devices' });
  const issued = await issueClientCertificate(authority, { commonName: 'whoever' });
  const certificate = new X509Certificate(issued.certificatePem);
  const allowedThumbprints = [certificate.fingerprint256.replaceAll(':', '')];
  await put('/clients/pinned', {
    clientCertificateAuthentication: { validationScheme: 'ThumbprintMatch', allowedThumbprints },
  });
  const model = await mqttAuthorisation(azure.world, id);
  assert.equal(model && clientOf(model, certificate)?.name, 'pinned');
});

for (const [what, path, properties] of [
  ['a query that cannot be read', '/clientGroups/broken', { query: 'attributes.role =' }],
  ['a change of the group of all', '/clientGroups/$all', { query: 'false' }],
  ['a template with a wildcard inside a segment', '/topicSpaces/broken', { topicTemplates: ['a/b+/c'] }],
  ['a topic space without templates', '/topicSpaces/broken', { topicTemplates: [] }],
  [
    'a binding of a group that is not there',
    '/permissionBindings/broken',
    { clientGroupName: 'none', topicSpaceName: 'none', permission: 'Publisher' },
  ],
  [
    'a client by thumbprint without one',
    '/clients/broken',
    { clientCertificateAuthentication: { validationScheme: 'ThumbprintMatch' } },
  ],
  ['a certificate that is none', '/caCertificates/broken', { encodedCertificate: 'x' }],
] as const) {
  test(`it refuses ${what}`, async (t) => {
    const { put } = await startNamespace(t);
    const answer = await put(path, properties);
    assert.equal(answer.status, 400, answer.text);
  });
}

test('queries choose by attributes and names', () => {
  const client = { authenticationName: 'a', attributes: { role: 'x', floor: 3, tags: ['hot', 'new'] } };
  for (const [text, expected] of [
    ['true', true],
    ["attributes.role = 'x' AND attributes.floor >= 3", true],
    ["attributes.role <> 'x' OR attributes.floor < 3", false],
    ["NOT (attributes.role = 'y')", true],
    ["attributes.tags IN ['hot']", true],
    ["attributes.missing = 'x'", false],
    ["authenticationName = 'a'", true],
  ] as const)
    assert.equal(parseClientQuery(text)(client), expected, text);
  for (const text of [
    '',
    'x',
    "attributes.a = 'b' attributes.c",
    '('.repeat(100),
    "attributes.a IN 'b'",
    'a'.repeat(3000),
  ])
    assert.throws(() => parseClientQuery(text), ClientQueryError, text.slice(0, 20));
});

test('templates become filters that cover no more than they say', () => {
  const client = { authenticationName: 'mc-1', attributes: { floor: 3, wide: 'a/#' } };
  assert.equal(filterFor(`x/${variable('authenticationName')}`, client), 'x/mc-1');
  assert.equal(filterFor(`x/${variable('attributes.floor')}`, client), 'x/3');
  assert.equal(filterFor(`x/${variable('attributes.wide')}`, client), undefined);
  assert.equal(filterFor(`x/${variable('attributes.none')}`, client), undefined);
  assert.equal(templateProblem('a/#/b') === undefined, false);
  assert.equal(templateProblem(`a/${variable('secret')}`) === undefined, false);
  for (const [filter, asked, expected] of [
    ['a/+', 'a/b', true],
    ['a/+', 'a/+', true],
    ['a/+', 'a/#', false],
    ['a/#', 'a', true],
    ['a/#', 'a/b/c', true],
    ['a/b', 'a/+', false],
    ['a/+', 'a/b/c', false],
    ['#', '$share/x', false],
    ['+/x', '$x/x', false],
  ] as const)
    assert.equal(covers(filter, asked), expected, `${filter} covers ${asked}`);
});
