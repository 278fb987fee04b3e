// Subresources: status, scale, binding, eviction, tokens, and those that are not there.
import { after, apply, type Case, get, jsonPatch, mergePatch, plain, post, put, send, strategicPatch } from './case.ts';
import { configMap, deployment, namespace, pod, replicaSet, serviceAccount, statefulSet } from './objects.ts';

const web = [post('deployments', deployment('web'))];
const account = post('serviceaccounts', serviceAccount('default'));
const one = [account, post('pods', pod('a'))];
const scale = (replicas: number | string, metadata: Record<string, string> = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'web', ...metadata },
  spec: { replicas },
});
const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } };
const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } };

export const subresourceCases: readonly Case[] = [
  after('status is read', web, get('deployments/web/status')),
  after(
    'status is updated',
    web,
    put('deployments/web/status', deployment('web', { status: { replicas: 2, observedGeneration: 1 } })),
  ),
  after(
    'status leaves the rest alone',
    web,
    put(
      'deployments/web/status',
      deployment('web', { status: { replicas: 1 } }, { labels: { a: 'b' }, annotations: { c: 'd' } }),
    ),
  ),
  after(
    'status is patched',
    web,
    mergePatch('deployments/web/status', { status: { replicas: 3 }, spec: { replicas: 9 } }),
  ),
  after(
    'status is patched strategically',
    one,
    strategicPatch('pods/a/status', { status: { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' } }),
  ),
  after(
    'status is applied',
    web,
    apply('deployments/web/status?fieldManager=mine', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      status: { replicas: 3 },
    }),
  ),
  after('status that is bad', web, mergePatch('deployments/web/status', { status: { replicas: -1 } })),
  after('status of a wrong type', web, mergePatch('deployments/web/status', { status: { replicas: 'x' } })),
  after(
    'status of a version gone',
    [...web, mergePatch('deployments/web', { spec: { replicas: 4 } })],
    put('deployments/web/status', deployment('web', {}, { resourceVersion: '{{0.metadata.resourceVersion}}' })),
  ),
  plain('status of what is not there', put('deployments/none/status', deployment('none'))),
  after('status of what has none', [post('configmaps', configMap('a'))], get('configmaps/a/status')),
  after('status cannot be created', web, post('deployments/web/status', deployment('web'))),
  after('status cannot be deleted', web, send('DELETE', 'deployments/web/status')),
  after('scale is read', web, get('deployments/web/scale')),
  after('scale of a replica set is read', [post('replicasets', replicaSet('web'))], get('replicasets/web/scale')),
  after('scale of a stateful set is read', [post('statefulsets', statefulSet('web'))], get('statefulsets/web/scale')),
  after('scale is updated', web, put('deployments/web/scale', scale(5)), get('deployments/web')),
  after(
    'scale is patched',
    web,
    mergePatch('deployments/web/scale', { spec: { replicas: 7 } }),
    get('deployments/web/scale'),
  ),
  after(
    'scale is patched by operations',
    web,
    jsonPatch('deployments/web/scale', [{ op: 'replace', path: '/spec/replicas', value: 4 }]),
  ),
  after(
    'scale as a dry run',
    web,
    mergePatch('deployments/web/scale?dryRun=All', { spec: { replicas: 7 } }),
    get('deployments/web/scale'),
  ),
  after(
    'scale that changes nothing',
    web,
    mergePatch('deployments/web/scale', { spec: { replicas: 1 } }),
    get('deployments/web'),
    mergePatch('deployments/web/scale', { spec: { replicas: 1 } }),
    get('deployments/web'),
    mergePatch('deployments/web/scale?fieldManager=other', { spec: { replicas: 2 } }),
    get('deployments/web'),
  ),
  after(
    'scale that is updated to what it is',
    web,
    put('deployments/web/scale', scale(1)),
    get('deployments/web'),
    put('deployments/web/scale?fieldManager=other', scale(3)),
    get('deployments/web'),
  ),
  after(
    'scale of what was applied',
    [
      apply('deployments/web?fieldManager=mine', deployment('web')),
      mergePatch('deployments/web/scale?fieldManager=first', { spec: { replicas: 1 } }),
    ],
    get('deployments/web'),
    mergePatch('deployments/web/scale?fieldManager=first', { spec: { replicas: 2 } }),
    get('deployments/web'),
    mergePatch('deployments/web/scale?fieldManager=second', { spec: { replicas: 3 } }),
    get('deployments/web'),
    mergePatch('deployments/web/scale?fieldManager=third', { spec: { replicas: 3 } }),
    get('deployments/web'),
  ),
  after(
    'scale that is applied beside others',
    web,
    apply('deployments/web/scale?fieldManager=mine', scale(1)),
    get('deployments/web'),
    apply('deployments/web/scale?fieldManager=mine', scale(1)),
    get('deployments/web'),
    apply('deployments/web/scale?fieldManager=mine', scale(2)),
    get('deployments/web'),
  ),
  after('scale below nothing', web, put('deployments/web/scale', scale(-1))),
  after('scale to a text', web, put('deployments/web/scale', scale('x'))),
  after(
    'scale of a version gone',
    [...web, mergePatch('deployments/web', { spec: { replicas: 4 } })],
    put('deployments/web/scale', scale(5, { resourceVersion: '{{0.metadata.resourceVersion}}' })),
  ),
  after('scale under another name', web, put('deployments/web/scale', { ...scale(1), metadata: { name: 'other' } })),
  after('scale of another kind', web, put('deployments/web/scale', deployment('web'))),
  plain('scale of what is not there', get('deployments/none/scale')),
  plain('scale of what is not there is updated', put('deployments/web/scale', scale(5))),
  after('scale of what has none', [post('configmaps', configMap('a'))], get('configmaps/a/scale')),
  after('pod is bound', one, post('pods/a/binding', binding), get('pods/a')),
  after('pod is bound the old way', one, post('bindings', binding)),
  after('pod is bound twice', [...one, post('pods/a/binding', binding)], post('pods/a/binding', binding)),
  after('pod is bound to nothing', one, post('pods/a/binding', { ...binding, target: { name: '' } })),
  plain('pod that is not there is bound', post('pods/a/binding', binding)),
  after('pod is evicted', one, post('pods/a/eviction', eviction), get('pods/a')),
  after('pod is evicted as a dry run', one, post('pods/a/eviction?dryRun=All', eviction)),
  plain('pod that is not there is evicted', post('pods/a/eviction', eviction)),
  after('pod is evicted under another name', one, post('pods/a/eviction', { ...eviction, metadata: { name: 'b' } })),
  after(
    'ephemeral container',
    one,
    strategicPatch('pods/a/ephemeralcontainers', { spec: { ephemeralContainers: [{ name: 'debug', image: 'x' }] } }),
  ),
  after('logs of a pod on no node', one, get('pods/a/log')),
  plain('logs of a pod that is not there', get('pods/a/log')),
  after('logs of a container that is not there', one, get('pods/a/log?container=x')),
  after(
    'token',
    [post('serviceaccounts', serviceAccount('builder'))],
    post('serviceaccounts/builder/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: ['x'], expirationSeconds: 600 },
    }),
  ),
  after(
    'token for too short a time',
    [post('serviceaccounts', serviceAccount('builder'))],
    post('serviceaccounts/builder/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 5 },
    }),
  ),
  plain(
    'token of nobody',
    post('serviceaccounts/none/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
  ),
  plain(
    'namespace is finalised',
    put('/api/v1/namespaces/$NS/finalize', namespace('$NS', { spec: { finalizers: [] } })),
  ),
  plain('namespace has a status', get('/api/v1/namespaces/$NS/status')),
  after('subresource that is not there', one, get('pods/a/colours')),
];
