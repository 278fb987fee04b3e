import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HostedCluster } from '../clusters.ts';
import { type Client, clientOf, startServer } from '../http/testing/server.ts';
import type { KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { Definition } from './definition.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { a: { type: 'string', default: 'A', 'x-kubernetes-validations': [{ rule: "self != 'bad'" }] } },
    },
  },
};

const definition = (plural = 'widgets', kind = 'Widget', more: Record<string, unknown> = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    ...more,
  },
});

const widget = (name: string, metadata: Record<string, unknown> = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec: {},
});

/** Asks until an answer is as wanted. */
async function eventually<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    assert.ok(attempt < 500, `not as wanted: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const established = (client: Client, name: string): Promise<Definition> =>
  eventually(
    async () => (await client.request('GET', `${definitions}/${name}`)).json<Definition>(),
    ({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false,
  );

test('a custom resource is served as soon as its definition is created', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const watching = await client.watch(`${definitions}?watch=1`);
  assert.equal((await client.request('POST', definitions, { body: definition() })).status, 201);
  const created = await client.request('POST', widgets, { body: widget('x') });
  assert.equal(created.status, 201, created.text);
  assert.deepEqual(created.json().spec, { a: 'A' });
  assert.equal((await watching.next())?.type, 'ADDED');
  const changed = await watching.next();
  assert.equal(changed?.type, 'MODIFIED');
  assert.ok(changed);
  const { status } = changed.object as unknown as Definition;
  assert.deepEqual(
    status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    [
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
    ],
  );
  watching.close();
});

test('definitions that say the same share their types in all clusters, and nothing else', async (t) => {
  const running = await startServer(t, { clusters: ['one', 'two'] });
  const [one, two] = ['one', 'two'].map((name) => running.clusters.find(name)) as [HostedCluster, HostedCluster];
  const first = await clientOf(t, running, one);
  const second = await clientOf(t, running, two);
  await first.request('POST', definitions, { body: definition() });
  await second.request('POST', definitions, { body: definition() });
  const type = one.types.find('example.com', 'v1', 'widgets');
  assert.ok(type);
  assert.equal(two.types.find('example.com', 'v1', 'widgets'), type);
  await first.request('POST', widgets, { body: widget('x') });
  assert.equal((await second.request('GET', `${widgets}/x`)).status, 404);
  await second.request('DELETE', `${definitions}/widgets.example.com`);
  await eventually(
    async () => two.types.find('example.com', 'v1', 'widgets'),
    (found) => found === undefined,
  );
  assert.equal(one.types.find('example.com', 'v1', 'widgets'), type);
  assert.equal((await first.request('GET', `${widgets}/x`)).status, 200);
});

test('a server that starts again serves what was defined, under the names that were granted', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'definitions-'));
  t.after(() => rm(dataDirectory, { recursive: true, force: true }));
  const before = await startServer(t, { dataDirectory });
  const client = await clientOf(t, before, before.clusters.find('one'));
  await client.request('POST', definitions, { body: definition('widgets') });
  await established(client, 'widgets.example.com');
  // Comes first by name, but came second.
  await client.request('POST', definitions, { body: definition('gadgets') });
  await client.request('POST', widgets, { body: widget('x') });
  await before.stop();

  const after = await startServer(t, { dataDirectory });
  const again = await clientOf(t, after, after.clusters.find('one'));
  assert.equal((await again.request('GET', `${widgets}/x`)).status, 200);
  assert.equal((await again.request('GET', widgets.replace('widgets', 'gadgets'))).status, 404);
  const refused = await again.request('POST', widgets, {
    body: { ...widget('y'), spec: { a: 'bad' } },
  });
  assert.equal(refused.status, 422, refused.text);
});

test('names that become free go to whoever waits for them', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  await client.request('POST', definitions, { body: definition('widgets') });
  await client.request('POST', definitions, { body: definition('gadgets') });
  assert.equal((await client.request('GET', widgets.replace('widgets', 'gadgets'))).status, 404);
  await client.request('DELETE', `${definitions}/widgets.example.com`);
  await established(client, 'gadgets.example.com');
  assert.equal((await client.request('GET', widgets.replace('widgets', 'gadgets'))).status, 200);
});

test('a definition that is deleted waits for its objects, and they for their finalizers', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  await client.request('POST', definitions, { body: definition() });
  await client.request('POST', widgets, { body: widget('free') });
  await client.request('POST', widgets, { body: widget('held', { finalizers: ['example.com/wait'] }) });
  assert.equal((await client.request('DELETE', `${definitions}/widgets.example.com`)).status, 200);
  await eventually(
    async () => (await client.request('GET', `${widgets}/free`)).status,
    (status) => status === 404,
  );
  assert.equal((await client.request('GET', `${definitions}/widgets.example.com`)).status, 200);
  assert.equal((await client.request('POST', widgets, { body: widget('late') })).status, 403);
  await client.request('PATCH', `${widgets}/held`, {
    body: { metadata: { finalizers: null } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  await eventually(
    async () => (await client.request('GET', `${definitions}/widgets.example.com`)).status,
    (status) => status === 404,
  );
  assert.equal((await client.request('GET', widgets)).status, 404);
  await client.request('POST', definitions, { body: definition() });
  assert.deepEqual((await client.request('GET', widgets)).json<{ items: KubeObject[] }>().items, []);
});

const services = '/apis/apiregistration.k8s.io/v1/apiservices';

interface Service extends KubeObject {
  readonly spec: { readonly groupPriorityMinimum: number; readonly versionPriority: number };
}

/** The API services of the custom resources' group, once there are as many as wanted. */
const servicesOf = (client: Client, wanted: number): Promise<Service[]> =>
  eventually(
    async () =>
      (await client.request('GET', services))
        .json<{ items: Service[] }>()
        .items.filter(({ metadata }) => metadata.name?.endsWith('.example.com')),
    (found) => found.length === wanted,
  );

test('every version of a group has an API service for as long as a definition serves it', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const open = { openAPIV3Schema: { type: 'object' } };
  const versions = [
    { name: 'v1', served: true, storage: true, schema: open },
    { name: 'v2', served: true, storage: false, schema: open },
    { name: 'v3', served: false, storage: false, schema: open },
  ];
  await client.request('POST', definitions, { body: definition('widgets', 'Widget', { versions }) });
  await client.request('POST', definitions, { body: definition('gadgets', 'Gadget') });
  const [first, second] = await servicesOf(client, 2);
  assert.deepEqual([first?.metadata.name, second?.metadata.name], ['v1.example.com', 'v2.example.com']);
  assert.deepEqual(first?.metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'true' });

  await client.request('DELETE', `${services}/v1.example.com`);
  const [again] = await servicesOf(client, 2);
  assert.notEqual(again?.metadata.uid, first?.metadata.uid);
  await client.request('PUT', `${services}/v1.example.com`, {
    body: { ...again, spec: { ...again?.spec, groupPriorityMinimum: 5 } },
  });
  await eventually(
    async () => (await client.request('GET', `${services}/v1.example.com`)).json<Service>(),
    ({ spec }) => spec.groupPriorityMinimum === 1000,
  );

  await client.request('DELETE', `${definitions}/widgets.example.com`);
  assert.deepEqual(
    (await servicesOf(client, 1)).map(({ metadata }) => metadata.name),
    ['v1.example.com'],
  );
  await client.request('DELETE', `${definitions}/gadgets.example.com`);
  await servicesOf(client, 0);
});
