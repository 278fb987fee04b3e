// Replacing objects: conflicts, what cannot change, what is not there.
import { after, type Case, get, plain, post, put } from './case.ts';
import {
  claim,
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

const one = [post('configmaps', configMap('a', { data: { x: '1' } }))];
const changed = [...one, put('configmaps/a', configMap('a', { data: { x: '2' } }))];
const account = post('serviceaccounts', serviceAccount('default'));
const web = [post('deployments', deployment('web'))];

export const updateCases: readonly Case[] = [
  after('update', one, put('configmaps/a', configMap('a', { data: { x: '2' } })), get('configmaps/a')),
  after(
    'update of the version seen',
    one,
    put('configmaps/a', configMap('a', { data: { x: '2' } }, { resourceVersion: '{{0.metadata.resourceVersion}}' })),
  ),
  after('update of the object seen', one, put('configmaps/a', configMap('a', {}, { uid: '{{0.metadata.uid}}' }))),
  after(
    'update that changes nothing',
    one,
    put('configmaps/a', configMap('a', { data: { x: '1' } }, { resourceVersion: '{{0.metadata.resourceVersion}}' })),
  ),
  after(
    'update by another manager',
    one,
    put('configmaps/a?fieldManager=other', configMap('a', { data: { x: '2', y: '3' } })),
  ),
  after(
    'update as a dry run',
    one,
    put('configmaps/a?dryRun=All', configMap('a', { data: { x: '2' } })),
    get('configmaps/a'),
  ),
  after('update of a deployment', web, put('deployments/web', deployment('web', {}, { labels: { a: 'b' } }))),
  after(
    'update of a deployment that grows',
    web,
    put(
      'deployments/web',
      deployment('web', {
        spec: {
          replicas: 5,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: [{ name: 'main', image: 'example.com/main:2' }] },
          },
        },
      }),
    ),
  ),
  after('update without a status', web, put('deployments/web', deployment('web', { status: { replicas: 7 } }))),
  after(
    'update of a version gone',
    changed,
    put('configmaps/a', configMap('a', {}, { resourceVersion: '{{0.metadata.resourceVersion}}' })),
  ),
  after('update of a version that is none', one, put('configmaps/a', configMap('a', {}, { resourceVersion: 'abc' }))),
  after(
    'update of another object of the name',
    one,
    put('configmaps/a', configMap('a', {}, { uid: '00000000-0000-4000-8000-000000000000' })),
  ),
  after(
    'update as a dry run of a version gone',
    changed,
    put('configmaps/a?dryRun=All', configMap('a', {}, { resourceVersion: '{{0.metadata.resourceVersion}}' })),
  ),
  plain('update of what is not there', put('configmaps/none', configMap('none'))),
  plain('update of what is not there with a uid', put('configmaps/none', configMap('none', {}, { uid: 'x' }))),
  plain('update creates a lease', put('leases/mine', lease('mine'))),
  after('update without a version of a lease', [post('leases', lease('mine'))], put('leases/mine', lease('mine'))),
  after('update without a version of a role', [post('roles', role('r'))], put('roles/r', role('r'))),
  after('update under another name', one, put('configmaps/a', configMap('b'))),
  after('update without a name', one, put('configmaps/a', { apiVersion: 'v1', kind: 'ConfigMap' })),
  after('update in another namespace', one, put('configmaps/a', configMap('a', {}, { namespace: 'other' }))),
  after('update to another kind', one, put('configmaps/a', secret('a'))),
  after(
    'update with an unknown field, strict',
    one,
    put('configmaps/a?fieldValidation=Strict', configMap('a', { colour: 'red' })),
  ),
  after(
    'update with an unknown field, warn',
    one,
    put('configmaps/a?fieldValidation=Warn', configMap('a', { colour: 'red' })),
  ),
  after('update of a bad label', one, put('configmaps/a', configMap('a', {}, { labels: { a: '-' } }))),
  after(
    'update of what is immutable',
    [post('configmaps', configMap('a', { immutable: true, data: { x: '1' } }))],
    put('configmaps/a', configMap('a', { immutable: true, data: { x: '2' } })),
  ),
  after(
    'update that takes immutability away',
    [post('configmaps', configMap('a', { immutable: true }))],
    put('configmaps/a', configMap('a')),
  ),
  after(
    'update of a secret to another type',
    [post('secrets', secret('s'))],
    put('secrets/s', secret('s', { type: 'example.com/other' })),
  ),
  after(
    'update of a selector',
    web,
    put(
      'deployments/web',
      deployment('web', {
        spec: {
          selector: { matchLabels: { app: 'other' } },
          template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
        },
      }),
    ),
  ),
  after(
    'update of a role reference',
    [post('rolebindings', roleBinding('b', 'joe'))],
    put(
      'rolebindings/b',
      roleBinding('b', 'joe', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'other' } }),
    ),
  ),
  after(
    'update of a pod',
    [account, post('pods', pod('a'))],
    put(
      'pods/a',
      pod('a', { spec: { containers: [{ name: 'main', image: 'example.com/main:1' }], hostNetwork: true } }),
    ),
  ),
  after(
    'update of a claim',
    [post('persistentvolumeclaims', claim('c'))],
    put(
      'persistentvolumeclaims/c',
      claim('c', { spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } } }),
    ),
  ),
  after(
    'update of a job',
    [post('jobs', job('once'))],
    put(
      'jobs/once',
      job('once', {
        spec: {
          completions: 5,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/main:2' }] } },
        },
      }),
    ),
  ),
  after(
    'update of a service to another address',
    [post('services', service('web'))],
    put('services/web', service('web', { spec: { clusterIP: '10.0.200.200', ports: [{ port: 80 }] } })),
  ),
  plain('update of a namespace', put('/api/v1/namespaces/$NS', namespace('$NS', {}, { labels: { team: 'b' } }))),
];
