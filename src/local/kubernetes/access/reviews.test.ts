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
  assert.match(await write('roles', role, 'default'), /^403 .*permissions not currently held/);
  assert.equal(await write('roles', role, 'default', role), 'allowed', 'nothing is changed');
  assert.match(
    await write('clusterrolebindings', binding('b1', 'cluster-admin', user('alice'))),
    /^403 .*permissions not currently held/,
  );
  assert.match(await write('clusterrolebindings', binding('b1', 'nosuch', user('alice'))), /^404 /);
  const everything = { metadata: { name: 'agg' }, aggregationRule: { clusterRoleSelectors: [{}] } };
  assert.match(await write('clusterroles', everything), /^403 /);
  const touched = { ...role, metadata: { ...role.metadata, finalizers: ['x/y'] } };
  assert.equal(await write('roles', touched, 'default', role), 'allowed', 'what the collector changes');
  const labelled = { ...role, metadata: { ...role.metadata, labels: { a: 'b' } } };
  assert.match(await write('roles', labelled, 'default', role), /^403 /, 'any other change is a grant');
  const binds = [
    { verbs: ['bind'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], resourceNames: ['view'] },
  ];
  await put(rbacStorage.clusterRoles, clusterRole('binder', { rules: binds }));
  await put(rbacStorage.clusterRoleBindings, binding('binder', 'binder', user('alice')));
  assert.equal(await write('clusterrolebindings', binding('b1', 'view', user('bob'))), 'allowed');
});
