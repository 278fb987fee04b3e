import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../object.ts';
import { StatusError } from '../status.ts';
import { decodeBuiltin } from './decode.ts';

const pod = (spec: JsonObject): JsonObject => ({ metadata: { name: 'x' }, spec });
const container = (more: JsonObject): JsonObject => pod({ containers: [{ name: 'c', image: 'i', ...more }] });

function refusal(kind: string, body: JsonObject, group = ''): string {
  try {
    decodeBuiltin(group, 'v1', kind, body);
  } catch (error) {
    assert.ok(error instanceof StatusError);
    assert.equal(error.status.code, 400);
    return error.message;
  }
  throw new assert.AssertionError({ message: 'it was taken' });
}

describe('wrong types are refused as the server’s decoder words it', () => {
  const cases: readonly (readonly [title: string, text: string, kind: string, body: JsonObject, group?: string])[] = [
    [
      'a string for a number',
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
      'Deployment',
      { spec: { replicas: '3' } },
      'apps',
    ],
    [
      'a fraction',
      'json: cannot unmarshal number 3.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
      'Deployment',
      { spec: { replicas: 3.5 } },
      'apps',
    ],
    [
      'a number too large',
      'json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32',
      'Deployment',
      { spec: { replicas: 99999999999 } },
      'apps',
    ],
    [
      'a list for an object',
      'json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec',
      'Deployment',
      { spec: [] },
      'apps',
    ],
    [
      'a number in a map of strings',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
      'Pod',
      { metadata: { labels: { a: 1 } } },
    ],
    [
      'a list for a map',
      'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
      'Pod',
      { metadata: { labels: ['a'] } },
    ],
    [
      'within a list',
      'json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string',
      'Pod',
      container({ image: 3 }),
    ],
    [
      'an object for a list',
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
      'Pod',
      pod({ containers: {} }),
    ],
    [
      'a time that is a number',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
      'Pod',
      { metadata: { creationTimestamp: 5 } },
    ],
    [
      'a time that is none',
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
      'Pod',
      { metadata: { creationTimestamp: 'yesterday' } },
    ],
    [
      'a time to the second where microseconds are wanted',
      'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
      'Lease',
      { spec: { renewTime: '2020-01-01T00:00:00Z' } },
      'coordination.k8s.io',
    ],
    ['bytes that are not base64', 'illegal base64 data at input byte 0', 'Secret', { data: { a: '%%%' } }],
    [
      'a number for bytes',
      'json: cannot unmarshal number into Go struct field Secret.data of type []uint8',
      'Secret',
      { data: { a: 1 } },
    ],
    [
      'a flag for a port',
      'json: cannot unmarshal bool into Go struct field HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32',
      'Pod',
      container({ livenessProbe: { httpGet: { port: true } } }),
    ],
    [
      'the failure that ends reading before wrong types',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      'Pod',
      pod({ hostNetwork: 'true', containers: [{ name: 'c', resources: { limits: { cpu: 'abc' } } }] }),
    ],
  ];
  for (const [title, text, kind, body, group] of cases) {
    test(title, () => {
      assert.equal(refusal(kind, body, group), `${kind} in version "v1" cannot be handled as a ${kind}: ${text}`);
    });
  }
});

test('members that the type does not have are dropped and named in the order met', () => {
  const { object, unknown } = decodeBuiltin('', 'v1', 'Pod', {
    ...container({ foo: 1, env: [{ name: 'A', vale: 'b' }] }),
    bar: null,
  });
  assert.deepEqual(unknown, ['spec.containers[0].foo', 'spec.containers[0].env[0].vale', 'bar']);
  assert.deepEqual((object.spec as JsonObject).containers, [
    { name: 'c', image: 'i', env: [{ name: 'A' }], resources: {} },
  ]);
});

test('what is empty is written or left out as the type says', () => {
  const { object: role } = decodeBuiltin('rbac.authorization.k8s.io', 'v1', 'Role', { rules: [] });
  assert.deepEqual(role, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: {}, rules: null });
  const { object: deployment } = decodeBuiltin('apps', 'v1', 'Deployment', {
    spec: { replicas: 0, minReadySeconds: 0, paused: false, template: { spec: { nodeSelector: {}, tolerations: [] } } },
  });
  assert.deepEqual(deployment.spec, {
    replicas: 0,
    selector: null,
    strategy: {},
    template: { metadata: {}, spec: { containers: null } },
  });
  const { object: map } = decodeBuiltin('', 'v1', 'ConfigMap', { data: { a: null, b: '' } });
  assert.deepEqual(map.data, { a: '', b: '' }, 'a null in a map is the empty value');
});

test('a member named __proto__ is data like any other', () => {
  const body = JSON.parse('{"data":{"__proto__":"x"}}') as JsonObject;
  const { object } = decodeBuiltin('', 'v1', 'ConfigMap', body);
  assert.equal(JSON.stringify(object.data), '{"__proto__":"x"}');
});

test('a body of another kind is refused', () => {
  assert.equal(
    refusal('ConfigMap', { kind: 'Secret', apiVersion: 'v1' }),
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  );
  assert.match(
    refusal('ConfigMap', { kind: 'ConfigMap', apiVersion: 'apps/v1' }),
    /no kind "ConfigMap" is registered for version "apps\/v1"/,
  );
});

test('schemas nested without end are refused, not followed', () => {
  let schema: JsonObject = {};
  for (let depth = 0; depth < 5000; depth += 1) schema = { not: schema };
  const body = { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } };
  assert.match(refusal('CustomResourceDefinition', body, 'apiextensions.k8s.io'), /exceeded max depth/);
});
