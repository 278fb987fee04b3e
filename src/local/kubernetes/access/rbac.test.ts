import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rbacStorage } from './default-rbac.ts';
import { accessForbidden } from './forbidden.ts';
import { ask, binding, clusterRole, person, testCluster, user } from './testing/cluster-access.ts';

const { clusterRoles, clusterRoleBindings, roles, roleBindings } = rbacStorage;
const bob = person('bob');

test('system:masters may do everything, others what the default roles give everybody', async () => {
  const { access } = await testCluster();
  const { mayDo } = access;
  assert.deepEqual(mayDo(person('admin', 'system:masters'), ask('delete', 'nodes')), { allowed: true, reason: '' });
  assert.deepEqual(mayDo(bob, ask('get', 'pods')), { allowed: false, reason: '' });
  assert.deepEqual(mayDo(bob, { kind: 'path', verb: 'get', path: '/healthz' }), {
    allowed: true,
    reason:
      'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
  });
  assert.equal(mayDo(bob, { kind: 'path', verb: 'get', path: '/apis/apps/v1' }).allowed, true);
  assert.equal(mayDo(bob, { kind: 'path', verb: 'post', path: '/apis/apps/v1' }).allowed, false);
  assert.equal(mayDo(bob, { kind: 'path', verb: 'get', path: '/metrics' }).allowed, false);
});

test('a default binding to a service account is found by its user name', async () => {
  const { access } = await testCluster();
  const dns = person('system:serviceaccount:kube-system:kube-dns');
  assert.equal(
    access.mayDo(dns, ask('list', 'services')).reason,
    'RBAC: allowed by ClusterRoleBinding "system:kube-dns" of ClusterRole "system:kube-dns" to ServiceAccount "kube-dns/kube-system"',
  );
});

test('bindings count as soon as they are written, in their namespace only, and no longer than they are there', async () => {
  const { access, put, objects } = await testCluster();
  const inNamespace = ask('list', 'pods', { namespace: 'a' });
  assert.equal(access.mayDo(bob, inNamespace).allowed, false);
  const entry = await put(roleBindings, binding('bob-views', 'view', user('bob'), 'a'));
  assert.equal(
    access.mayDo(bob, inNamespace).reason,
    'RBAC: allowed by RoleBinding "bob-views/a" of ClusterRole "view" to User "bob"',
  );
  assert.equal(access.mayDo(bob, ask('list', 'pods', { namespace: 'b' })).allowed, false);
  assert.equal(access.mayDo(bob, ask('list', 'pods')).allowed, false);
  assert.equal(access.mayDo(bob, ask('list', 'secrets', { namespace: 'a' })).allowed, false);
  await put(roleBindings, binding('bob-views', 'view', user('alice'), 'a'));
  assert.equal(access.mayDo(bob, inNamespace).allowed, false);
  assert.equal(access.mayDo(person('alice'), inNamespace).allowed, true);
  await objects.commit((transaction) => transaction.delete(transaction.get(entry.type, 'a', 'bob-views') ?? entry));
  assert.equal(access.mayDo(person('alice'), inNamespace).allowed, false);
});

test('rules match names, subresources and wildcards', async () => {
  const { access, put } = await testCluster();
  await put(
    clusterRoles,
    clusterRole('mixed', {
      rules: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p1'] },
        { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] },
        { verbs: ['update'], apiGroups: ['*'], resources: ['*/scale'] },
        { verbs: ['*'], apiGroups: ['x.io'], resources: ['*'] },
        { verbs: ['get'], nonResourceURLs: ['/logs/*'] },
      ],
    }),
  );
  await put(clusterRoleBindings, binding('mixed', 'mixed', user('bob')));
  const may = (question: Parameters<typeof access.mayDo>[1]): boolean => access.mayDo(bob, question).allowed;
  assert.equal(may(ask('get', 'pods', { name: 'p1' })), true);
  assert.equal(may(ask('get', 'pods', { name: 'p2' })), false);
  assert.equal(may(ask('get', 'pods', { name: 'p1', subresource: 'status' })), false);
  assert.equal(may(ask('get', 'pods', { name: 'p9', subresource: 'log' })), true);
  assert.equal(may(ask('update', 'deployments', { group: 'apps', subresource: 'scale' })), true);
  assert.equal(may(ask('update', 'deployments', { group: 'apps' })), false);
  assert.equal(may(ask('patch', 'things', { group: 'x.io', subresource: 'status' })), true);
  assert.equal(may({ kind: 'path', verb: 'get', path: '/logs/today' }), true);
  assert.equal(may({ kind: 'path', verb: 'get', path: '/logs' }), false);
});

test('a binding to a missing role allows nothing and says so', async () => {
  const { access, put } = await testCluster();
  await put(clusterRoleBindings, binding('dangling', 'nosuch', user('bob')));
  const other = binding('dangling', 'nosuch2', user('bob'), 'default');
  await put(roleBindings, {
    ...other,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'nosuch2' },
  });
  const question = ask('list', 'pods', { namespace: 'default' });
  const answer = access.mayDo(bob, question);
  assert.equal(
    accessForbidden(bob, question, answer.reason).message,
    'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default": ' +
      'RBAC: [clusterrole.rbac.authorization.k8s.io "nosuch" not found, role.rbac.authorization.k8s.io "nosuch2" not found]',
  );
});

test('aggregating roles have the rules of those they select, new ones included', async () => {
  const { access, put, objects } = await testCluster();
  await put(roleBindings, binding('bob-admin', 'admin', user('bob'), 'a'));
  const may = (verb: string, resource: string, group = ''): boolean =>
    access.mayDo(bob, ask(verb, resource, { group, namespace: 'a' })).allowed;
  assert.equal(may('list', 'pods'), true, 'from view, through edit');
  assert.equal(may('delete', 'secrets'), true, 'from edit');
  assert.equal(may('create', 'roles', 'rbac.authorization.k8s.io'), true, 'its own');
  assert.equal(may('get', 'widgets', 'x.io'), false);
  const rules = [{ verbs: ['get'], apiGroups: ['x.io'], resources: ['widgets'] }];
  await put(
    clusterRoles,
    clusterRole('widget-view', { rules }, { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }),
  );
  assert.equal(may('get', 'widgets', 'x.io'), true);
  const admin = JSON.parse(objects.get(clusterRoles, '', 'admin')?.bytes.toString() ?? '{}') as { rules: object[] };
  assert.ok(admin.rules.length > 25, 'the rules stand in the object as well');
});

test('a role of a namespace counts there', async () => {
  const { access, put } = await testCluster();
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }];
  await put(roles, { apiVersion, kind: 'Role', metadata: { name: 'r', namespace: 'a' }, rules });
  const bound = binding('b', 'r', { kind: 'ServiceAccount', name: 'builder' }, 'a');
  await put(roleBindings, { ...bound, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } });
  const builder = person('system:serviceaccount:a:builder');
  assert.equal(
    access.mayDo(builder, ask('get', 'secrets', { namespace: 'a', name: 'x' })).reason,
    'RBAC: allowed by RoleBinding "b/a" of Role "r" to ServiceAccount "builder/a"',
  );
});

test('refusals are worded as the server words them', () => {
  const text = (question: Parameters<typeof accessForbidden>[1]): unknown => {
    const { message, reason, details, code } = accessForbidden(bob, question, '').status;
    return { message, reason, details, code };
  };
  assert.deepEqual(text(ask('get', 'pods', { namespace: 'default', name: 'x', subresource: 'log' })), {
    message:
      'pods "x" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in the namespace "default"',
    reason: 'Forbidden',
    details: { name: 'x', kind: 'pods' },
    code: 403,
  });
  assert.deepEqual(text(ask('list', 'deployments', { group: 'apps' })), {
    message:
      'deployments.apps is forbidden: User "bob" cannot list resource "deployments" in API group "apps" at the cluster scope',
    reason: 'Forbidden',
    details: { group: 'apps', kind: 'deployments' },
    code: 403,
  });
  assert.deepEqual(text({ kind: 'path', verb: 'get', path: '/metrics' }), {
    message: 'forbidden: User "bob" cannot get path "/metrics"',
    reason: 'Forbidden',
    details: {},
    code: 403,
  });
});
