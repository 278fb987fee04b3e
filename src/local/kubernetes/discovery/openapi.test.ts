import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { createTypeTable } from '../types/table.ts';
import { type DiscoveryAnswer, discoveryAnswer } from './paths.ts';

const widget: ResourceType = {
  group: 'stable.example.com',
  version: 'v1',
  kind: 'Widget',
  listKind: 'WidgetList',
  plural: 'widgets',
  singular: 'widget',
  shortNames: ['wd'],
  categories: [],
  namespaced: true,
  verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
  subresources: { status: { kind: 'status' } },
  storage: 'stable.example.com/widgets',
  storageVersion: 'v1',
  schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 1 } } } },
  },
  columns: [],
  strategy: {},
  custom: { preserveUnknownFields: false },
};

const table = createTypeTable([widget]);

function ask(path: string, headers: Readonly<Record<string, string>> = {}, query = ''): DiscoveryAnswer | undefined {
  return discoveryAnswer({
    table,
    url: 'https://192.0.2.1:6443',
    method: 'GET',
    path,
    query: new URLSearchParams(query),
    header: (name) => headers[name],
  });
}

const parsed = (answer: DiscoveryAnswer | undefined): JsonObject => JSON.parse(String(answer?.body)) as JsonObject;
const at = (value: JsonObject, ...path: string[]): JsonObject =>
  path.reduce((inner, step) => inner[step] as JsonObject, value);

/** Every reference in a document. */
const references = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) =>
        name === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
      );

test('the index names a document for each group and version, each with all that it refers to', () => {
  const { paths } = parsed(ask('/openapi/v3')) as unknown as { paths: Record<string, { serverRelativeURL: string }> };
  assert.ok(paths['api/v1'] && paths['apis/apps/v1'] && paths['apis/stable.example.com/v1']);
  for (const [name, { serverRelativeURL }] of Object.entries(paths)) {
    const answer = ask(`/openapi/v3/${name}`);
    assert.equal(serverRelativeURL, `/openapi/v3/${name}?hash=${answer?.headers?.etag?.replaceAll('"', '')}`);
    const document = parsed(answer);
    const schemas = at(document, 'components', 'schemas');
    for (const reference of references(document)) {
      assert.ok(Object.hasOwn(schemas, reference.replace('#/components/schemas/', '')), `${name}: ${reference}`);
    }
  }
});

test('a patch names the kind it is of and the parameters that kubectl looks for', () => {
  const document = parsed(ask('/openapi/v3/apis/apps/v1'));
  const patch = at(document, 'paths', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}', 'patch');
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], { group: 'apps', version: 'v1', kind: 'Deployment' });
  const names = (patch.parameters as JsonObject[]).map(({ name }) => name);
  assert.deepEqual(names, ['dryRun', 'fieldManager', 'fieldValidation', 'force']);
  const containers = at(document, 'components', 'schemas', 'io.k8s.api.core.v1.PodSpec', 'properties', 'containers');
  assert.equal(containers['x-kubernetes-patch-merge-key'], 'name');
});

test('custom resources are published with what every object has', () => {
  const document = parsed(ask('/openapi/v3/apis/stable.example.com/v1'));
  const schema = at(document, 'components', 'schemas', 'com.example.stable.v1.Widget');
  assert.deepEqual(schema['x-kubernetes-group-version-kind'], [
    { group: 'stable.example.com', kind: 'Widget', version: 'v1' },
  ]);
  assert.deepEqual(Object.keys(at(schema, 'properties')).sort(), ['apiVersion', 'kind', 'metadata', 'spec']);
});

test('OpenAPI v2 holds everything in one document, cut to what v2 can say', () => {
  const document = parsed(ask('/openapi/v2', { accept: 'application/json' }));
  const definitions = at(document, 'definitions');
  for (const reference of references(document)) {
    assert.ok(Object.hasOwn(definitions, reference.replace('#/definitions/', '')), reference);
  }
  assert.deepEqual(definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'], {
    type: 'string',
    format: 'int-or-string',
  });
  const spec = at(definitions, 'com.example.stable.v1.Widget', 'properties', 'spec', 'properties', 'size');
  assert.deepEqual(spec, { type: 'integer' });
});

test('OpenAPI v2 is had in protobuf by clients that ask for it, and refused in other forms', () => {
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  const answer = ask('/openapi/v2', { accept });
  assert.equal(answer?.contentType, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
  const bytes = answer?.body;
  assert.ok(Buffer.isBuffer(bytes));
  assert.deepEqual([...bytes.subarray(0, 5)], [0x0a, 3, ...Buffer.from('2.0')], 'the first field is the version');
  assert.ok(bytes.includes('com.example.stable.v1.Widget'));
  assert.throws(() => ask('/openapi/v2', { accept: 'text/plain' }), /only the following media types are accepted/);
});

test('a document is not sent again to a client that has it', () => {
  const etag = ask('/openapi/v3/apis/apps/v1')?.headers?.etag ?? '';
  assert.equal(ask('/openapi/v3/apis/apps/v1', { 'if-none-match': etag })?.status, 304);
  const hash = etag.replaceAll('"', '');
  assert.match(ask('/openapi/v3/apis/apps/v1', {}, `hash=${hash}`)?.headers?.['cache-control'] ?? '', /immutable/);
  assert.equal(
    ask('/openapi/v3/apis/apps/v1', {}, 'hash=OLD')?.headers?.location,
    `/openapi/v3/apis/apps/v1?hash=${hash}`,
  );
});

test('clusters with the same types share the documents', () => {
  const other = createTypeTable([widget]);
  const answer = discoveryAnswer({
    table: other,
    url: 'https://192.0.2.2:6443',
    method: 'GET',
    path: '/openapi/v3/apis/stable.example.com/v1',
    query: new URLSearchParams(),
    header: () => undefined,
  });
  assert.equal(answer?.body, ask('/openapi/v3/apis/stable.example.com/v1')?.body);
});

test('custom resources are discovered with their group and version', () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { items } = parsed(ask('/apis', { accept })) as unknown as {
    items: { versions: { resources: JsonObject[] }[] }[];
  };
  assert.deepEqual(items.at(-1)?.versions[0]?.resources[0]?.responseKind, {
    group: 'stable.example.com',
    version: 'v1',
    kind: 'Widget',
  });
});

test('what is not served is not found', () => {
  assert.throws(() => ask('/apis/apps/v9'), /the server could not find the requested resource/);
  assert.deepEqual(ask('/openapi/v3/apis/nothing.example.com/v1'), { status: 404 });
  assert.equal(ask('/apis/nothing.example.com')?.status, 404);
  assert.equal(ask('/healthz'), undefined);
});
