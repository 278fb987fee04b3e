// Who may do what: impersonation, refusals, grants, reviews.
import { after, as, type Case, del, get, type Json, mergePatch, plain, post, put, type Step, watch } from './case.ts';
import { configMap, deployment, role, roleBinding, serviceAccount } from './objects.ts';

const reader = [post('roles', role('joe')), post('rolebindings', roleBinding('joe', 'joe'))];
const admin = (user: string): readonly Step[] => [
  post(
    'roles',
    role('admin', {
      rules: [
        {
          apiGroups: ['', 'apps', 'rbac.authorization.k8s.io'],
          resources: ['configmaps', 'deployments', 'roles', 'rolebindings'],
          verbs: ['get', 'list', 'create', 'update'],
        },
      ],
    }),
  ),
  post('rolebindings', roleBinding('admin', user)),
];
const joe = as('joe');
const review = (group: string, kind: string, spec: Json): Json => ({ apiVersion: `${group}.k8s.io/v1`, kind, spec });
const authorization = '/apis/authorization.k8s.io/v1';
const mayJoe = (verb: string, resource: string): Json => ({
  user: 'joe',
  resourceAttributes: { namespace: '$NS', verb, resource },
});

export const accessCases: readonly Case[] = [
  plain('refused: get', get('configmaps/a', joe)),
  plain('refused: list', get('configmaps', joe)),
  plain('refused: list of all', get('/api/v1/configmaps', joe)),
  plain('refused: watch', watch('configmaps?watch=1', 1, joe)),
  plain('refused: create', post('configmaps', configMap('a'), joe)),
  plain('refused: create of what is broken', post('configmaps', '{', joe)),
  plain('refused: update', put('configmaps/a', configMap('a'), joe)),
  plain('refused: patch', mergePatch('configmaps/a', {}, joe)),
  plain('refused: delete', del('configmaps/a', undefined, joe)),
  plain('refused: delete all', del('configmaps', undefined, joe)),
  plain('refused: subresource', get('deployments/web/scale', joe)),
  plain('refused: cluster resource', get('/api/v1/nodes', joe)),
  plain('refused: one cluster resource', get('/api/v1/nodes/n', joe)),
  plain('refused: namespace', get('/api/v1/namespaces/$NS', joe)),
  plain('refused: another group', get('deployments', joe)),
  plain('refused: resource that is not there', get('/api/v1/namespaces/$NS/colours', joe)),
  plain('refused: path', get('/metrics', joe)),
  plain(
    'refused: service account',
    get('configmaps', as('system:serviceaccount:$NS:builder', 'system:serviceaccounts')),
  ),
  plain('allowed: discovery', get('/api', as('joe', 'system:authenticated'))),
  plain('allowed: health', get('/healthz', as('joe', 'system:authenticated'))),
  after('allowed: list', reader, get('configmaps', joe)),
  after('allowed: get of what is not there', reader, get('configmaps/none', joe)),
  after('allowed to read, refused to write', reader, post('configmaps', configMap('a'), joe)),
  after('allowed here, refused elsewhere', reader, get('/api/v1/namespaces/default/configmaps', joe)),
  after(
    'allowed by a cluster role',
    admin('ann'),
    post('configmaps', configMap('a'), as('ann')),
    post('deployments', deployment('web'), as('ann')),
  ),
  after(
    'update may not create',
    [
      post(
        'roles',
        role('joe', { rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update'] }] }),
      ),
      post('rolebindings', roleBinding('joe', 'joe')),
    ],
    put('leases/a', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: {} }, joe),
  ),
  after(
    'allowed by name',
    [
      post(
        'roles',
        role('joe', {
          rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get', 'list'] }],
        }),
      ),
      post('rolebindings', roleBinding('joe', 'joe')),
      post('configmaps', configMap('a')),
    ],
    get('configmaps/a', joe),
    get('configmaps/b', joe),
    get('configmaps?fieldSelector=metadata.name%3Da', joe),
    get('configmaps', joe),
  ),
  after(
    'grant of more than one has',
    admin('ann'),
    post('roles', role('more', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }), as('ann')),
  ),
  after(
    'binding of more than one has',
    admin('ann'),
    post(
      'rolebindings',
      {
        ...roleBinding('more', 'ann'),
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      } as Json,
      as('ann'),
    ),
  ),
  plain('impersonation of a group alone', get('configmaps', { 'impersonate-group': 'x' })),
  after('impersonation by one who may not', reader, get('configmaps', { ...joe, authorization: 'Bearer wrong' })),
  plain('no right token', get('configmaps', { authorization: 'Bearer wrong' })),
  plain('token of no form', get('configmaps', { authorization: 'Colour red' })),
  plain('unauthorised before not found', get('/nothing', { authorization: 'Bearer wrong' })),
  after(
    'review of a right',
    reader,
    post(
      `${authorization}/subjectaccessreviews`,
      review('authorization', 'SubjectAccessReview', mayJoe('get', 'configmaps')),
    ),
  ),
  after(
    'review of no right',
    reader,
    post(
      `${authorization}/subjectaccessreviews`,
      review('authorization', 'SubjectAccessReview', mayJoe('delete', 'configmaps')),
    ),
  ),
  after(
    'review in a namespace',
    reader,
    post('localsubjectaccessreviews', {
      ...(review('authorization', 'LocalSubjectAccessReview', mayJoe('get', 'configmaps')) as object),
      metadata: { namespace: '$NS' },
    } as Json),
  ),
  plain(
    'review in another namespace',
    post(
      'localsubjectaccessreviews',
      review('authorization', 'LocalSubjectAccessReview', {
        user: 'joe',
        resourceAttributes: { namespace: 'other', verb: 'get', resource: 'pods' },
      }),
    ),
  ),
  plain(
    'review of nobody',
    post(
      `${authorization}/subjectaccessreviews`,
      review('authorization', 'SubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } }),
    ),
  ),
  plain(
    'review of nothing',
    post(`${authorization}/subjectaccessreviews`, review('authorization', 'SubjectAccessReview', { user: 'joe' })),
  ),
  plain(
    'review of two things',
    post(
      `${authorization}/subjectaccessreviews`,
      review('authorization', 'SubjectAccessReview', {
        user: 'joe',
        resourceAttributes: { verb: 'get' },
        nonResourceAttributes: { verb: 'get', path: '/' },
      }),
    ),
  ),
  plain(
    'review of a path',
    post(
      `${authorization}/subjectaccessreviews`,
      review('authorization', 'SubjectAccessReview', {
        user: 'joe',
        groups: ['system:authenticated'],
        nonResourceAttributes: { verb: 'get', path: '/api' },
      }),
    ),
  ),
  plain(
    'review of oneself',
    post(
      `${authorization}/selfsubjectaccessreviews`,
      review('authorization', 'SelfSubjectAccessReview', { resourceAttributes: { verb: '*', resource: '*' } }),
    ),
  ),
  plain(
    'review of oneself as another',
    post(
      `${authorization}/selfsubjectaccessreviews`,
      review('authorization', 'SelfSubjectAccessReview', {
        resourceAttributes: { namespace: '$NS', verb: 'get', resource: 'pods' },
      }),
      as('joe', 'system:authenticated'),
    ),
  ),
  after(
    'rules of another',
    reader,
    post(
      `${authorization}/selfsubjectrulesreviews`,
      review('authorization', 'SelfSubjectRulesReview', { namespace: '$NS' }),
      as('joe', 'system:masters'),
    ),
  ),
  plain(
    'rules of no namespace',
    post(`${authorization}/selfsubjectrulesreviews`, review('authorization', 'SelfSubjectRulesReview', {})),
  ),
  plain(
    'who am I',
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      as('joe', 'system:authenticated'),
    ),
  ),
  plain(
    'review of a token that is none',
    post('/apis/authentication.k8s.io/v1/tokenreviews', review('authentication', 'TokenReview', { token: 'x' })),
  ),
  plain(
    'review of no token',
    post('/apis/authentication.k8s.io/v1/tokenreviews', review('authentication', 'TokenReview', {})),
  ),
  plain('reviews are not listed', get(`${authorization}/subjectaccessreviews`)),
  after(
    'account reads with its role',
    [
      post('serviceaccounts', serviceAccount('builder')),
      post('roles', role('sa')),
      post('rolebindings', {
        ...roleBinding('sa', 'x'),
        subjects: [{ kind: 'ServiceAccount', name: 'builder', namespace: '$NS' }],
      }),
    ],
    get('configmaps', { 'impersonate-user': 'system:serviceaccount:$NS:builder' }),
  ),
];
