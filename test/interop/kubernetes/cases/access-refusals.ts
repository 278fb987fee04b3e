// Refusals in every form, and who may say, grant or review what: asked by accounts with tokens of their own.
import {
  after,
  as,
  type Case,
  del,
  get,
  type Headers,
  type Json,
  type JsonMap,
  mergePatch,
  plain,
  post,
  put,
  type Step,
  watch,
} from './case.ts';
import { configMap, deployment, pod, role, roleBinding, serviceAccount } from './objects.ts';

const rbac = 'rbac.authorization.k8s.io';
const rbacPath = `/apis/${rbac}/v1`;

/** Two steps after which `{{1.status.token}}` is the token of an account named builder. */
const account: readonly Step[] = [
  post('serviceaccounts', serviceAccount('builder')),
  post('serviceaccounts/builder/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
];
const builder: Headers = { authorization: 'Bearer {{1.status.token}}' };
const acting = (user: string, ...more: readonly (readonly [string, string])[]): Headers => ({
  ...builder,
  'impersonate-user': user,
  ...Object.fromEntries(more),
});

const clusterRole = (name: string, rules: Json, more: JsonMap = {}): JsonMap => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
  ...more,
});
const toBuilder: Json = [{ kind: 'ServiceAccount', name: 'builder', namespace: '$NS' }];
/** Rights for the account in the whole cluster, under names of this case. */
const granted = (rules: Json): readonly Step[] => [
  ...account,
  post(`${rbacPath}/clusterroles`, clusterRole('$NS', rules)),
  post(`${rbacPath}/clusterrolebindings`, {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: '$NS' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: '$NS' },
    subjects: toBuilder,
  }),
  // A path that begins with role tells the runner that grants were made.
  post('roles', role('settled')),
];
const impersonate = (resources: readonly string[], more: JsonMap = {}, group = ''): Json => ({
  apiGroups: [group],
  resources,
  verbs: ['impersonate'],
  ...more,
});
const rbacWriter: Json = { apiGroups: [rbac], resources: ['*'], verbs: ['get', 'create', 'update', 'patch'] };
const readsPods: Json = { apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: ['p1'] };

const boundTo = (name: string, kind: string, to: string): JsonMap => ({
  ...roleBinding(name, 'joe'),
  roleRef: { apiGroup: rbac, kind, name: to },
});
const clusterBound = (name: string, to: string): JsonMap => ({
  ...boundTo(name, 'ClusterRole', to),
  kind: 'ClusterRoleBinding',
});

const authorization = '/apis/authorization.k8s.io/v1';
const authentication = '/apis/authentication.k8s.io/v1';
const review = (kind: string, spec: Json, group = 'authorization'): JsonMap => ({
  apiVersion: `${group}.k8s.io/v1`,
  kind,
  spec,
});
const mayUser = (spec: JsonMap): Step =>
  post(`${authorization}/subjectaccessreviews`, review('SubjectAccessReview', spec));
const mayI = (spec: JsonMap, headers?: Headers): Step =>
  post(`${authorization}/selfsubjectaccessreviews`, review('SelfSubjectAccessReview', spec), headers);
const reviewToken = (spec: JsonMap): Step =>
  post(`${authentication}/tokenreviews`, review('TokenReview', spec, 'authentication'));
const joe = as('joe');

export const accessRefusalCases: readonly Case[] = [
  after(
    'an account without rights',
    account,
    get('pods', builder),
    get('/api/v1/pods', builder),
    get('pods/a', builder),
    get('pods/a/log', builder),
    post('pods/a/eviction', {}, builder),
    post('pods/a/binding', {}, builder),
    get('pods/a/exec?command=ls', builder),
    post('pods', pod('a'), builder),
    put('pods/a', pod('a'), builder),
    put('pods/a/status', pod('a'), builder),
    mergePatch('pods/a', {}, builder),
    del('pods/a', undefined, builder),
    del('pods', undefined, builder),
    watch('pods?watch=1', 1, builder),
    watch('/api/v1/watch/namespaces/$NS/pods', 1, builder),
    put('deployments/web/scale', {}, builder),
    get('/api/v1/namespaces', builder),
    get('/api/v1/namespaces/$NS', builder),
    get('/api/v1/namespaces/$NS/status', builder),
    put('/api/v1/namespaces/$NS/finalize', {}, builder),
    get('/api/v1/nodes/n1/proxy/stats', builder),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', builder),
    get('/apis/none.example.com/v1/things/a', builder),
    get('/apis/none.example.com/v1/namespaces/$NS/things/a/more', builder),
    get('/metrics', builder),
    get('/logs/', builder),
    post('/healthz', {}, builder),
    get('/api/v1/namespaces/$NS/services/http:x:80/proxy/a', builder),
  ),
  plain('names that browsers must not take for tags', get('configmaps/a', as('<joe>&co'))),
  plain('a user whose name has quotes', get('configmaps', as('jo"e'))),
  after('allowed discovery for an account', account, get('/livez', builder), get('/apis/none', builder)),
  after(
    'impersonation by an account without rights',
    account,
    get('pods', acting('joe')),
    get('pods', acting('joe', ['impersonate-group', 'devs'])),
    get('pods', acting('system:serviceaccount:$NS:other')),
    get('pods', acting('joe', ['impersonate-uid', '77'])),
    get('pods', { ...builder, 'impersonate-group': 'devs' }),
    get('pods', { ...builder, 'impersonate-extra-scopes': 'a' }),
    get('pods', { ...builder, 'impersonate-uid': '77' }),
  ),
  after(
    'impersonation of users only',
    granted([impersonate(['users'])]),
    get('pods', acting('joe')),
    get('pods', acting('joe', ['impersonate-group', 'devs'])),
    get('pods', acting('joe', ['impersonate-uid', '77'])),
    get('pods', acting('joe', ['impersonate-extra-scopes', 'view'])),
    get('pods', acting('joe', ['impersonate-extra-example.com%2fscopes', 'view'])),
    get('pods', acting('system:serviceaccount:$NS:other')),
    get('pods', acting('system:anonymous')),
  ),
  after(
    'impersonation of one name',
    granted([impersonate(['users'], { resourceNames: ['joe'] }), impersonate(['groups'], { resourceNames: ['devs'] })]),
    get('pods', acting('ann')),
    get('pods', acting('joe', ['impersonate-group', 'devs'])),
    get('pods', acting('joe', ['impersonate-group', 'system:masters'])),
  ),
  after(
    'impersonation with a uid and extra values',
    granted([
      impersonate(['users', 'groups']),
      impersonate(['uids', 'userextras/scopes'], {}, 'authentication.k8s.io'),
      { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
    ]),
    post(
      `${authentication}/selfsubjectreviews`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      acting('joe', ['impersonate-group', 'devs'], ['impersonate-extra-scopes', 'view']),
    ),
    get('pods', acting('joe', ['impersonate-extra-other', 'view'])),
  ),
  after(
    'who an account is',
    account,
    post(
      `${authentication}/selfsubjectreviews`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      builder,
    ),
  ),
  plain(
    'who somebody impersonated is',
    post(
      `${authentication}/selfsubjectreviews`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { 'impersonate-user': 'system:serviceaccount:$NS:builder' },
    ),
    post(
      `${authentication}/selfsubjectreviews`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { ...as('joe', 'devs'), 'impersonate-uid': '77', 'impersonate-extra-example.com%2fscopes': 'view' },
    ),
    post(
      `${authentication}/selfsubjectreviews`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      as('system:anonymous'),
    ),
  ),
  after(
    'roles that grant more than one has',
    granted([rbacWriter, readsPods]),
    post(
      'roles',
      role('r1', {
        rules: [
          { apiGroups: ['', 'apps'], resources: ['pods', 'secrets'], verbs: ['get', 'list'] },
          { apiGroups: [''], resources: ['pods'], resourceNames: ['p1', 'p2'], verbs: ['get'] },
        ],
      }),
      builder,
    ),
    post(
      'roles',
      role('r2', { rules: [{ apiGroups: [''], resources: ['pods'], resourceNames: ['p1'], verbs: ['get'] }] }),
      builder,
    ),
    put('roles/settled', role('settled', {}, { labels: { a: 'b' } }), builder),
    put('roles/settled', role('settled', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }), builder),
    mergePatch('roles/settled', { rules: [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }] }, builder),
    mergePatch('roles/settled', { metadata: { labels: { a: 'b' } } }, builder),
    post(
      `${rbacPath}/clusterroles`,
      clusterRole('$NS-paths', [{ nonResourceURLs: ['/metrics', '/logs/*'], verbs: ['get'] }]),
      builder,
    ),
    post(
      `${rbacPath}/clusterroles`,
      clusterRole('$NS-agg', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }),
      builder,
    ),
    put('roles/r9', role('r9', { rules: [{ apiGroups: ['x'], resources: ['y'], verbs: ['get'] }] }), builder),
  ),
  after(
    'roles that stay as they are',
    [
      ...granted([rbacWriter, readsPods]),
      post('roles', role('held', { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] })),
      get('roles/held'),
    ],
    put('roles/held', role('held', { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] }), builder),
    put(
      'roles/held',
      role(
        'held',
        { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] },
        {
          uid: '{{5.metadata.uid}}',
          resourceVersion: '{{5.metadata.resourceVersion}}',
          creationTimestamp: '{{5.metadata.creationTimestamp}}',
        },
      ),
      builder,
    ),
    put(
      'roles/held',
      role(
        'held',
        { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] },
        { uid: '{{5.metadata.uid}}', resourceVersion: '{{5.metadata.resourceVersion}}' },
      ),
      builder,
    ),
    put('roles/held', role('held', { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: [] }] }), builder),
    put(
      'roles/held',
      role('held', { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }, { verbs: [] }] }),
      builder,
    ),
    post('roles', role('r1', { rules: [{}] }), builder),
    post('roles', role('R1', { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] }), builder),
    mergePatch('roles/held', { metadata: { finalizers: ['example.com/wait'] } }, builder),
  ),
  after(
    'bindings of more than one has',
    granted([rbacWriter, readsPods]),
    post('rolebindings', boundTo('b1', 'ClusterRole', 'cluster-admin'), builder),
    post('rolebindings', boundTo('b1', 'Role', 'settled'), builder),
    post('rolebindings', boundTo('b1', 'Role', 'none'), builder),
    post('rolebindings', boundTo('b1', 'ClusterRole', 'none'), builder),
    post('rolebindings', boundTo('b1', 'Nothing', 'none'), builder),
    post('rolebindings', boundTo('b1', 'Role', ''), builder),
    post('rolebindings', { apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name: 'b1' } }, builder),
    post(`${rbacPath}/clusterrolebindings`, clusterBound('$NS-b', 'cluster-admin'), builder),
    post(`${rbacPath}/clusterrolebindings`, clusterBound('$NS-b', 'none'), builder),
    post(`${rbacPath}/clusterrolebindings`, clusterBound('$NS-b', 'system:discovery'), builder),
  ),
  after(
    'binding by the right to bind',
    granted([rbacWriter, { apiGroups: [rbac], resources: ['clusterroles'], resourceNames: ['view'], verbs: ['bind'] }]),
    post('rolebindings', boundTo('b1', 'ClusterRole', 'view'), builder),
    post('rolebindings', boundTo('b2', 'ClusterRole', 'system:kube-dns'), builder),
  ),
  after(
    'granting by the right to escalate',
    granted([rbacWriter, { apiGroups: [rbac], resources: ['roles'], verbs: ['escalate'] }]),
    post('roles', role('r1', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }), builder),
    post(
      `${rbacPath}/clusterroles`,
      clusterRole('$NS-x', [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]),
      builder,
    ),
  ),
  after(
    'a binding to a cluster role that is not there',
    [post('rolebindings', boundTo('gone', 'ClusterRole', 'gone'))],
    get('configmaps', joe),
  ),
  after(
    'a binding to a role that is not there',
    [post('rolebindings', roleBinding('gone', 'joe'))],
    get('configmaps', joe),
    mayUser({ user: 'joe', resourceAttributes: { namespace: '$NS', verb: 'list', resource: 'configmaps' } }),
    post(`${authorization}/selfsubjectrulesreviews`, review('SelfSubjectRulesReview', { namespace: '$NS' }), joe),
  ),
  after(
    'rules by name, subresource and wildcard',
    [
      post(
        'roles',
        role('joe', {
          rules: [
            {
              apiGroups: [''],
              resources: ['pods'],
              resourceNames: ['p1'],
              verbs: ['get', 'create', 'deletecollection'],
            },
            { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
            { apiGroups: ['*'], resources: ['*/scale'], verbs: ['get'] },
            { apiGroups: ['apps'], resources: ['*'], verbs: ['list'] },
          ],
        }),
      ),
      post('rolebindings', roleBinding('joe', 'joe')),
    ],
    get('pods/p1', joe),
    get('pods/p2', joe),
    get('pods/p2/log', joe),
    get('pods/p1/status', joe),
    post('pods', pod('p1'), joe),
    get('deployments/web/scale', joe),
    get('deployments', joe),
    get('deployments/web', joe),
    get('statefulsets', joe),
    post('deployments', deployment('web'), joe),
    get('jobs', joe),
  ),
  plain(
    'reviews of default roles',
    mayUser({
      user: 'system:serviceaccount:kube-system:kube-dns',
      resourceAttributes: { verb: 'list', resource: 'services' },
    }),
    mayUser({
      user: 'sue',
      groups: ['system:authenticated'],
      nonResourceAttributes: { verb: 'get', path: '/apis' },
    }),
    mayUser({
      user: 'sue',
      groups: ['system:authenticated'],
      nonResourceAttributes: { verb: 'post', path: '/healthz' },
    }),
    mayUser({
      user: 'sue',
      groups: ['system:unauthenticated'],
      nonResourceAttributes: { verb: 'get', path: '/version/' },
    }),
    mayUser({ groups: ['system:masters'], resourceAttributes: { verb: 'delete', resource: 'nodes' } }),
    mayUser({
      user: 'system:kube-scheduler',
      resourceAttributes: { verb: 'create', resource: 'pods', subresource: 'binding', namespace: 'a' },
    }),
    mayUser({
      user: 'system:kube-controller-manager',
      resourceAttributes: {
        verb: 'create',
        resource: 'serviceaccounts',
        subresource: 'token',
        namespace: 'kube-system',
      },
    }),
    mayUser({
      user: 'system:node:n',
      groups: ['system:nodes'],
      resourceAttributes: { verb: 'get', resource: 'nodes', name: 'n' },
    }),
    mayUser({
      user: 'sue',
      uid: '7',
      extra: { scopes: ['a'] },
      resourceAttributes: { verb: '*', group: '*', resource: '*' },
    }),
    mayUser({
      user: 'sue',
      resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector: { rawSelector: 'spec.nodeName=n' } },
    }),
    mayUser({
      user: 'sue',
      resourceAttributes: {
        verb: 'list',
        resource: 'pods',
        labelSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'Exists' }] },
      },
    }),
  ),
  plain(
    'reviews that cannot be answered',
    mayI({}),
    mayI({ resourceAttributes: {}, nonResourceAttributes: { path: '/x', verb: 'get' } }),
    mayI({ resourceAttributes: {} }),
    mayUser({ nonResourceAttributes: { path: '/x' } }),
    mayUser({}),
    post(
      'localsubjectaccessreviews',
      review('LocalSubjectAccessReview', { user: 'joe', nonResourceAttributes: { path: '/x', verb: 'get' } }),
    ),
    post(
      'localsubjectaccessreviews',
      review('LocalSubjectAccessReview', { user: 'joe', resourceAttributes: { verb: 'get' } }),
    ),
    post('localsubjectaccessreviews', {
      ...review('LocalSubjectAccessReview', { resourceAttributes: { namespace: '$NS' } }),
      metadata: { namespace: 'other' },
    }),
    post(`${authorization}/selfsubjectaccessreviews`, {
      ...review('SelfSubjectAccessReview', { resourceAttributes: {} }),
      metadata: { name: 'x', labels: { a: 'b' } },
    }),
    post(`${authorization}/subjectaccessreviews`, review('SelfSubjectAccessReview', {})),
    post(`${authorization}/selfsubjectaccessreviews`, '{'),
    post(
      `${authorization}/selfsubjectaccessreviews?dryRun=All`,
      review('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } }),
    ),
  ),
  after(
    'reviews asked by an account',
    account,
    mayI({ resourceAttributes: { namespace: '$NS', verb: 'get', resource: 'pods' } }, builder),
    mayI({ nonResourceAttributes: { verb: 'get', path: '/api' } }, builder),
    post(
      `${authorization}/subjectaccessreviews`,
      review('SubjectAccessReview', { user: 'x', resourceAttributes: {} }),
      builder,
    ),
    post(
      'localsubjectaccessreviews',
      review('LocalSubjectAccessReview', { user: 'x', resourceAttributes: {} }),
      builder,
    ),
    post(`${authentication}/tokenreviews`, review('TokenReview', { token: 'x' }, 'authentication'), builder),
    post(`${authorization}/selfsubjectrulesreviews`, review('SelfSubjectRulesReview', { namespace: '$NS' }), builder),
  ),
  after(
    'reviews of tokens',
    account,
    reviewToken({ token: '{{1.status.token}}' }),
    reviewToken({ token: '{{1.status.token}}', audiences: ['https://kubernetes.default.svc', 'x'] }),
    reviewToken({ token: '{{1.status.token}}', audiences: ['vault'] }),
    reviewToken({ token: '{{1.status.token}}x' }),
    reviewToken({ token: 'a.b.c' }),
    reviewToken({ token: '', audiences: ['x'] }),
  ),
  after(
    'tokens that are asked for wrongly',
    account,
    post(
      'serviceaccounts/builder/token',
      review('TokenRequest', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'none' } }, 'authentication'),
    ),
    post(
      'serviceaccounts/builder/token',
      review('TokenRequest', { boundObjectRef: { kind: 'Foo', apiVersion: 'v1', name: 'none' } }, 'authentication'),
    ),
    post('serviceaccounts/builder/token', review('TokenRequest', { expirationSeconds: 10 }, 'authentication')),
    post('serviceaccounts/none/token', review('TokenRequest', {}, 'authentication')),
    post('serviceaccounts/builder/token', review('TokenRequest', {}, 'authentication'), builder),
    get('serviceaccounts/builder/token'),
  ),
  after(
    'the token of an account that is gone',
    // A grant, for which the runner waits: the server learns of accounts that go by watching them too.
    [...account, del('serviceaccounts/builder'), post('roles', role('settled'))],
    get('pods', builder),
    get('/nothing', builder),
  ),
  plain(
    'tokens in wrong forms',
    get('pods', { authorization: 'Bearer ' }),
    get('pods', { authorization: 'bearer x' }),
    get('pods', { authorization: 'Basic YTpi' }),
    get('/version', { authorization: 'Bearer x' }),
    post('configmaps', configMap('a'), { authorization: 'Bearer x' }),
  ),
];
