import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, KubeObject } from '../object.ts';
import type { RequestContext } from '../request-context.ts';
import { StatusError } from '../status.ts';
import { rbacStorage } from './default-rbac.ts';
import { checkEscalation } from './escalation.ts';
import { reviews } from './reviews.ts';
import { binding, clusterRole, person, type TestCluster, testCluster, user } from './testing/cluster-access.ts';
import { requestToken } from './token-request.ts';
import type { User } from './user.ts';

async function review(
  { access, clock }: TestCluster,
  asker: User,
  resource: string,
  spec: JsonObject,
  namespace = '',
): Promise<{ status: Record<string, unknown> }> {
  const answer = reviews.get(resource);
  assert.ok(answer, resource);
  const context = { user: asker, cluster: { now: () => clock.now } } as unknown as RequestContext;
  return (await answer(access, context, namespace, {
    apiVersion: 'x/v1',
    kind: 'X',
    metadata: {},
    spec,
  })) as KubeObject & {
    status: Record<string, unknown>;
  };
}

async function message(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof StatusError) return `${error.status.code} ${error.message}`;
    throw error;
  }
  return 'allowed';
}

const bob = person('bob');
const self = 'authorization.k8s.io/selfsubjectaccessreviews';

test('access reviews answer as the authoriser does', async () => {
  const cluster = await testCluster();
  const pods = { resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } };
  assert.deepEqual((await review(cluster, bob, self, pods)).status, { allowed: false });
  assert.deepEqual((await review(cluster, person('a', 'system:masters'), self, pods)).status, { allowed: true });
  const dns = {
    user: 'system:serviceaccount:kube-system:kube-dns',
    resourceAttributes: { verb: 'list', resource: 'services' },
  };
  assert.deepEqual((await review(cluster, bob, 'authorization.k8s.io/subjectaccessreviews', dns)).status, {
    allowed: true,
    reason:
      'RBAC: allowed by ClusterRoleBinding "system:kube-dns" of ClusterRole "system:kube-dns" to ServiceAccount "kube-dns/kube-system"',
  });
});

test('access reviews that ask nothing, twice, or of nobody are refused in the words of the server', async () => {
  const cluster = await testCluster();
  const path = { path: '/x', verb: 'get' };
  const local = 'authorization.k8s.io/localsubjectaccessreviews';
  assert.equal(
    await message(() => review(cluster, bob, self, {})),
    '422 .authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
  );
  assert.equal(
    await message(() => review(cluster, bob, self, { resourceAttributes: {}, nonResourceAttributes: path })),
    '422 .authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
  );
  assert.equal(
    await message(() =>
      review(cluster, bob, 'authorization.k8s.io/subjectaccessreviews', { nonResourceAttributes: path }),
    ),
    '422 .authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
  );
  assert.equal(
    await message(() =>
      review(cluster, bob, local, { user: 'u', resourceAttributes: { namespace: 'other' } }, 'default'),
    ),
    '422 .authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
  );
});

test('a rules review lists what everybody may do', async () => {
  const cluster = await testCluster();
  const rules = 'authorization.k8s.io/selfsubjectrulesreviews';
  const { status } = await review(cluster, bob, rules, { namespace: 'default' });
  assert.deepEqual(status.resourceRules, [
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
  ]);
  assert.equal((status.nonResourceRules as unknown[]).length, 2);
  assert.equal(status.incomplete, false);
  assert.equal(await message(() => review(cluster, bob, rules, {})), '400 no namespace on request');
});

test('tokens are issued on request and reviewed', async () => {
  const cluster = await testCluster();
  const { access, objects, put } = cluster;
  await put('/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'sa1', namespace: 'default' },
  });
  const ask = (spec: JsonObject, name = 'sa1'): Promise<KubeObject> =>
    requestToken(
      access,
      objects,
      { namespace: 'default', name },
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec },
      '2026-01-01T00:00:00Z',
    );
  const issued = await ask({});
  assert.deepEqual((issued.spec as JsonObject).audiences, ['https://kubernetes.default.svc']);
  const { token } = issued.status as { token: string };
  const reviewed = await review(cluster, bob, 'authentication.k8s.io/tokenreviews', { token });
  assert.equal(reviewed.status.authenticated, true);
  assert.deepEqual(reviewed.status.audiences, ['https://kubernetes.default.svc']);
  assert.equal((reviewed.status.user as JsonObject).username, 'system:serviceaccount:default:sa1');
  const vault = (await ask({ audiences: ['vault'] })).status as { token: string };
  const elsewhere = { token: vault.token, audiences: ['vault', 'x'] };
  const forVault = await review(cluster, bob, 'authentication.k8s.io/tokenreviews', elsewhere);
  assert.deepEqual(forVault.status.audiences, ['vault']);
  assert.deepEqual((await review(cluster, bob, 'authentication.k8s.io/tokenreviews', { token: 'nope' })).status, {
    user: {},
    error: 'invalid bearer token',
  });
  const bind = (kind: string): JsonObject => ({ boundObjectRef: { kind, apiVersion: 'v1', name: 'nope' } });
  assert.equal(await message(() => ask(bind('Pod'))), '404 pods "nope" not found');
  assert.equal(await message(() => ask(bind('Foo'))), '400 cannot bind token to object of type /v1, Kind=Foo');
  assert.equal(await message(() => ask({}, 'nope')), '404 serviceaccounts "nope" not found');
  assert.equal(
    await message(() => ask({ expirationSeconds: 10 })),
    '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
  );
});

test('nobody grants what he does not hold', async () => {
  const { access, put } = await testCluster();
  const rules = [
    { verbs: ['create', 'get', 'update', 'patch'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'] },
    { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p1'] },
  ];
  await put(rbacStorage.clusterRoles, clusterRole('editor', { rules }));
  await put(rbacStorage.clusterRoleBindings, binding('editor', 'editor', user('alice')));
  const alice = person('alice', 'devs', 'qa');
  const write = (resource: string, object: JsonObject, namespace = '', old?: JsonObject): Promise<string> =>
    message(() =>
      checkEscalation(access.authorizer, {
        user: alice,
        resource,
        namespace,
        object: object as unknown as KubeObject,
        old: old as unknown as KubeObject | undefined,
      }),
    );
  const role = {
    metadata: { name: 'r1' },
    rules: [
      { apiGroups: ['', 'apps'], resources: ['pods', 'secrets'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['pods'], resourceNames: ['p1', 'p2'], verbs: ['get'] },
    ],
  };
  assert.equal(
    await write('roles', role, 'default'),
    '403 roles.rbac.authorization.k8s.io "r1" is forbidden: user "alice" (groups=["devs" "qa" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["p2"], Verbs:["get"]}\n' +
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}\n' +
      '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}\n' +
      '{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "list"]}',
  );
  assert.equal(await write('roles', role, 'default', role), 'allowed', 'what was there before stays');
  assert.equal(
    await write('clusterrolebindings', binding('b1', 'cluster-admin', user('alice'))),
    '403 clusterrolebindings.rbac.authorization.k8s.io "b1" is forbidden: user "alice" (groups=["devs" "qa" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
  );
  assert.equal(
    await write('clusterrolebindings', binding('b1', 'nosuch', user('alice'))),
    '404 clusterrolebindings.rbac.authorization.k8s.io "nosuch" not found',
  );
  assert.equal(
    await write('clusterroles', { metadata: { name: 'agg' }, aggregationRule: { clusterRoleSelectors: [{}] } }),
    '403 clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule',
  );
  const binds = [
    { verbs: ['bind'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], resourceNames: ['view'] },
  ];
  await put(rbacStorage.clusterRoles, clusterRole('binder', { rules: binds }));
  await put(rbacStorage.clusterRoleBindings, binding('binder', 'binder', user('alice')));
  assert.equal(await write('clusterrolebindings', binding('b1', 'view', user('bob'))), 'allowed');
});
