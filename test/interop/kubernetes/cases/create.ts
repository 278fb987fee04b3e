// Creating: names, dry runs, field validation, and what is refused.
import { after, type Case, get, plain, post } from './case.ts';
import {
  configMap,
  deployment,
  job,
  lease,
  namespace,
  pod,
  role,
  roleBinding,
  secret,
  service,
  serviceAccount,
} from './objects.ts';

const unknownField = configMap('a', { data: { x: '1' }, colour: 'red' });
const doubleField = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}';
const unknownInPod = pod('a', { spec: { containers: [{ name: 'main', image: 'x', colour: 'red' }] } });

export const createCases: readonly Case[] = [
  plain('create a config map', post('configmaps', configMap('a', { data: { x: '1' } }, { labels: { app: 'web' } }))),
  plain(
    'create with metadata the server fills in',
    post(
      'configmaps',
      configMap('a', {}, { uid: 'mine', generation: 7, creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x' }),
    ),
  ),
  plain(
    'create a secret from plain texts',
    post('secrets', secret('a', { stringData: { user: 'ann' }, data: { key: 'eA==' } })),
  ),
  plain('create a deployment', post('deployments', deployment('web'))),
  plain('create a job', post('jobs', job('once'))),
  plain('create a lease', post('leases', lease('mine'))),
  plain('create a service', post('services', service('web'))),
  plain(
    'create a headless service',
    post('services', service('web', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } })),
  ),
  plain('create a service account', post('serviceaccounts', serviceAccount('builder'))),
  after('create a pod', [post('serviceaccounts', serviceAccount('default'))], post('pods', pod('a'))),
  plain('create a namespace', post('/api/v1/namespaces', namespace('$NS-more', {}, { labels: { team: 'a' } }))),
  plain(
    'create with an owner',
    post(
      'configmaps',
      configMap(
        'a',
        {},
        {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: '00000000-0000-4000-8000-000000000000' },
          ],
        },
      ),
    ),
  ),
  plain('create with a field manager', post('configmaps?fieldManager=mine', configMap('a', { data: { x: '1' } }))),
  plain('create with an empty body of data', post('configmaps', configMap('a', { data: {}, binaryData: {} }))),
  plain(
    'generate a name',
    post('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }),
  ),
  plain('a name goes before a prefix', post('configmaps', configMap('named', {}, { generateName: 'gen-' }))),
  plain('dry run', post('configmaps?dryRun=All', configMap('a')), get('configmaps/a')),
  plain(
    'dry run of a generated name',
    post('configmaps?dryRun=All', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }),
  ),
  plain('dry run of another kind', post('configmaps?dryRun=Some', configMap('a'))),
  after('dry run of what exists', [post('configmaps', configMap('a'))], post('configmaps?dryRun=All', configMap('a'))),
  plain('unknown field, strict', post('configmaps?fieldValidation=Strict', unknownField)),
  plain('unknown field, warn', post('configmaps?fieldValidation=Warn', unknownField)),
  plain('unknown field, ignore', post('configmaps?fieldValidation=Ignore', unknownField)),
  plain('unknown field, nothing said', post('configmaps', unknownField)),
  plain('unknown field, bad way to validate', post('configmaps?fieldValidation=Maybe', unknownField)),
  plain('duplicate field, strict', post('configmaps?fieldValidation=Strict', doubleField)),
  plain('duplicate field, warn', post('configmaps?fieldValidation=Warn', doubleField)),
  plain('duplicate field, ignore', post('configmaps?fieldValidation=Ignore', doubleField)),
  plain('unknown field in a list, strict', post('pods?fieldValidation=Strict', unknownInPod)),
  plain(
    'two unknown fields, strict',
    post('configmaps?fieldValidation=Strict', configMap('a', { one: 1, two: { three: 3 } })),
  ),
  plain(
    'unknown field in metadata, strict',
    post('configmaps?fieldValidation=Strict', configMap('a', {}, { colour: 'red' })),
  ),
  plain('create without a name', post('configmaps', { apiVersion: 'v1', kind: 'ConfigMap' })),
  plain('name with capitals', post('configmaps', configMap('Not_A_Name'))),
  plain('name that is too long', post('configmaps', configMap('a'.repeat(254)))),
  plain('service name that begins with a digit', post('services', service('1web'))),
  plain('namespace name with a dot', post('/api/v1/namespaces', namespace('$NS.more'))),
  plain('label with a bad key', post('configmaps', configMap('a', {}, { labels: { 'a b': 'x' } }))),
  plain('label with a bad value', post('configmaps', configMap('a', {}, { labels: { a: 'not good' } }))),
  plain('annotation with a bad key', post('configmaps', configMap('a', {}, { annotations: { '/x': 'y' } }))),
  plain('finalizer without a domain', post('configmaps', configMap('a', {}, { finalizers: ['mine'] }))),
  plain('finalizer with a bad name', post('configmaps', configMap('a', {}, { finalizers: ['not good/x'] }))),
  plain(
    'owner without a uid',
    post(
      'configmaps',
      configMap('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: '' }] }),
    ),
  ),
  plain(
    'two owners that control',
    post(
      'configmaps',
      configMap(
        'a',
        {},
        {
          ownerReferences: ['b', 'c'].map((name) => ({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name,
            uid: `u-${name}`,
            controller: true,
          })),
        },
      ),
    ),
  ),
  plain('key of data that is none', post('configmaps', configMap('a', { data: { 'not good': 'x' } }))),
  plain(
    'key in data and in binary data',
    post('configmaps', configMap('a', { data: { x: 'y' }, binaryData: { x: 'eA==' } })),
  ),
  plain('secret that is not base64', post('secrets', secret('a', { data: { x: '***' } }))),
  plain(
    'secret of a type that lacks its keys',
    post('secrets', secret('a', { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } })),
  ),
  plain('number where a text belongs', post('configmaps', configMap('a', { data: { x: 1 } }))),
  plain('text where a map belongs', post('configmaps', configMap('a', { data: 'x' }))),
  plain('text where a number belongs', post('deployments', deployment('web', { spec: { replicas: 'two' } }))),
  plain('namespace that is not there', post('/api/v1/namespaces/$NS-none/configmaps', configMap('a'))),
  plain('namespace of the body differs', post('configmaps', configMap('a', {}, { namespace: 'other' }))),
  plain('kind that does not fit', post('configmaps', secret('a'))),
  plain('version that does not fit', post('configmaps', { ...configMap('a'), apiVersion: 'v2' })),
  plain('group that does not fit', post('deployments', { ...deployment('web'), apiVersion: 'batch/v1' })),
  plain('create without a kind', post('configmaps', { metadata: { name: 'a' } })),
  plain('create without a version', post('configmaps', { kind: 'ConfigMap', metadata: { name: 'a' } })),
  plain('create without a version of another kind', post('configmaps', { kind: 'Secret', metadata: { name: 'a' } })),
  plain('create with a resource version', post('configmaps', configMap('a', {}, { resourceVersion: '5' }))),
  after('create what exists', [post('configmaps', configMap('a'))], post('configmaps', configMap('a'))),
  plain('create at a name', post('configmaps/a', configMap('a'))),
  plain('create without a namespace', post('/api/v1/configmaps', configMap('a'))),
  plain('create of a resource that is not there', post('/api/v1/namespaces/$NS/colours', configMap('a'))),
  plain('create in a group that is not there', post('/apis/example.org/v1/namespaces/$NS/colours', configMap('a'))),
  plain(
    'deployment whose selector does not match',
    post(
      'deployments',
      deployment('web', {
        spec: {
          selector: { matchLabels: { app: 'other' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
        },
      }),
    ),
  ),
  plain(
    'deployment without a selector',
    post('deployments', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: {} }),
  ),
  plain('pod without containers', post('pods', pod('a', { spec: { containers: [] } }))),
  plain('pod without its service account', post('pods', pod('a'))),
  plain(
    'pod with two containers of one name',
    post(
      'pods',
      pod('a', {
        spec: {
          containers: [
            { name: 'a', image: 'b' },
            { name: 'a', image: 'c' },
          ],
        },
      }),
    ),
  ),
  plain('service without ports', post('services', service('web', { spec: { selector: { a: 'b' } } }))),
  plain(
    'role with a rule without verbs',
    post('roles', role('r', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: [] }] })),
  ),
  plain(
    'binding without a role',
    post(
      'rolebindings',
      roleBinding('b', 'joe', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: '' } }),
    ),
  ),
  plain('bad field manager', post(`configmaps?fieldManager=${'m'.repeat(129)}`, configMap('a'))),
  plain('field manager that cannot be printed', post('configmaps?fieldManager=a%01b', configMap('a'))),
  after(
    'create in a namespace that goes',
    [
      post('/api/v1/namespaces', namespace('$NS-gone', {}, { finalizers: ['example.com/hold'] })),
      { method: 'DELETE', path: '/api/v1/namespaces/$NS-gone' },
    ],
    post('/api/v1/namespaces/$NS-gone/configmaps', configMap('a')),
  ),
];
