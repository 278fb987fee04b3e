import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../object.ts';
import { type AdmittedCluster, admittedCluster, refusal } from './testing/admitted-cluster.ts';

const group = 'admissionregistration.k8s.io/v1';
const rules = (resource: string): JsonObject => ({
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: [resource] }],
});

async function withPolicy(spec: JsonObject, binding: JsonObject = {}): Promise<AdmittedCluster> {
  const cluster = await admittedCluster();
  const matchConstraints = rules('configmaps');
  await cluster.create(`${group}/validatingadmissionpolicies`, '', {
    metadata: { name: 'p1' },
    spec: { matchConstraints, ...spec },
  });
  await cluster.create(`${group}/validatingadmissionpolicybindings`, '', {
    metadata: { name: 'b1' },
    spec: { policyName: 'p1', validationActions: ['Deny'], ...binding },
  });
  return cluster;
}

const make = ({ create }: AdmittedCluster, name: string, data?: JsonObject): Promise<string> =>
  refusal(create('/v1/configmaps', 'default', { metadata: { name }, ...(data ? { data } : {}) }));

const denied = (name: string, why: string): string =>
  `422 configmaps "${name}" is forbidden: ValidatingAdmissionPolicy 'p1' with binding 'b1' denied request: ${why}`;

test('a policy refuses what its expressions do not hold for, in the words of the server', async () => {
  const cluster = await withPolicy({
    variables: [{ name: 'n', expression: 'object.metadata.name' }],
    validations: [
      { expression: '!variables.n.startsWith("bad")' },
      { expression: 'variables.n != "ugly"', message: 'no ugly' },
      { expression: 'variables.n != "dyn"', messageExpression: '"name is " + variables.n' },
      { expression: 'has(object.data) ? object.data.x == "y" : true' },
    ],
  });
  assert.match(await make(cluster, 'good'), /^not refused/);
  assert.equal(await make(cluster, 'bad1'), denied('bad1', 'failed expression: !variables.n.startsWith("bad")'));
  assert.equal(await make(cluster, 'ugly'), denied('ugly', 'no ugly'));
  assert.equal(await make(cluster, 'dyn'), denied('dyn', 'name is dyn'));
  assert.equal(
    await make(cluster, 'err', { z: '1' }),
    denied('err', `expression 'has(object.data) ? object.data.x == "y" : true' resulted in error: no such key: x`),
  );
});

test('bindings may warn only, and choose their requests', async () => {
  const never = { validations: [{ expression: 'object.metadata.name != "warny"', reason: 'Forbidden' }] };
  const warns = await withPolicy(never, { validationActions: ['Warn', 'Audit'] });
  assert.match(await make(warns, 'warny'), /^not refused/);
  assert.deepEqual(warns.warnings, [
    `Validation failed for ValidatingAdmissionPolicy 'p1' with binding 'b1': failed expression: object.metadata.name != "warny"`,
  ]);
  const elsewhere = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } };
  const bound = await withPolicy(never, { matchResources: elsewhere });
  assert.match(await make(bound, 'warny'), /^not refused/);
  const forbids = await withPolicy(never);
  assert.match(await make(forbids, 'warny'), /^403 /);
});

test('conditions, and a policy that fails, pass over or refuse', async () => {
  const conditions = [{ name: 'x', expression: 'object.metadata.name.startsWith("par")' }];
  const only = await withPolicy({ matchConditions: conditions, validations: [{ expression: 'false' }] });
  assert.match(await make(only, 'other'), /^not refused/);
  assert.match(await make(only, 'par'), /^422 /);
  const broken = { validations: [{ expression: 'object.data.nosuch == "x"' }] };
  assert.match(await make(await withPolicy(broken), 'c'), /^422 .*no such key: data$/);
  assert.match(await make(await withPolicy({ ...broken, failurePolicy: 'Ignore' }), 'c'), /^not refused/);
});

test('parameters come from objects of the cluster', async () => {
  const cluster = await withPolicy(
    {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: rules('secrets'),
      validations: [{ expression: 'object.metadata.name != params.data.not' }],
    },
    { paramRef: { name: 'prm', namespace: 'default', parameterNotFoundAction: 'Deny' } },
  );
  const secret = (name: string): Promise<string> =>
    refusal(cluster.create('/v1/secrets', 'default', { metadata: { name } }));
  assert.match(
    await secret('s1'),
    /denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
  );
  await make(cluster, 'prm', { not: 's2' });
  assert.match(await secret('s2'), /failed expression: object.metadata.name != params.data.not$/);
  assert.match(await secret('s3'), /^not refused/);
});

test('numbers are compared as whole numbers', async () => {
  const cluster = await withPolicy({
    matchConstraints: {
      resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }],
    },
    validations: [{ expression: 'object.spec.replicas <= 5' }],
  });
  const deployment = (name: string, replicas: number): Promise<string> =>
    refusal(
      cluster.create('apps/v1/deployments', 'default', {
        metadata: { name },
        spec: {
          replicas,
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      }),
    );
  assert.match(await deployment('small', 5), /^not refused/);
  assert.match(await deployment('large', 6), /failed expression: object.spec.replicas <= 5$/);
});

test('what a policy says for the audit log is noted, and so are failures that only count there', async () => {
  const cluster = await withPolicy(
    {
      validations: [{ expression: 'true' }, { expression: 'object.metadata.name != "bad"', message: 'no' }],
      auditAnnotations: [
        { key: 'name', valueExpression: '"made " + object.metadata.name' },
        { key: 'nothing', valueExpression: 'null' },
      ],
    },
    { validationActions: ['Audit'] },
  );
  assert.match(await make(cluster, 'bad'), /^not refused/);
  assert.deepEqual(cluster.notes, {
    'p1/name': 'made bad',
    'validation.policy.admission.k8s.io/validation_failure': JSON.stringify([
      { message: 'no', policy: 'p1', binding: 'b1', expressionIndex: 1, validationActions: ['Audit'] },
    ]),
  });
});
