// Deleting: finalizers, grace, preconditions, propagation, collections.
import { after, type Case, del, get, mergePatch, plain, post, put } from './case.ts';
import { configMap, deployment, namespace, pod, secret, serviceAccount } from './objects.ts';

const one = [post('configmaps', configMap('a'))];
const held = [post('configmaps', configMap('a', {}, { finalizers: ['example.com/hold'] }))];
const going = [...held, del('configmaps/a')];
const three = ['a', 'b', 'c'].map((name) =>
  post('configmaps', configMap(name, {}, { labels: { app: name === 'a' ? 'x' : 'y' } })),
);
const account = post('serviceaccounts', serviceAccount('default'));
const options = (more: Record<string, string | number | boolean | Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...more,
});

export const deleteCases: readonly Case[] = [
  after('delete', one, del('configmaps/a'), get('configmaps/a')),
  after('delete with options', one, del('configmaps/a', options({}))),
  after(
    'delete with options of the group',
    one,
    del('configmaps/a', { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' }),
  ),
  after('delete as a dry run', one, del('configmaps/a?dryRun=All'), get('configmaps/a')),
  after(
    'delete as a dry run by its options',
    one,
    del('configmaps/a', { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] }),
    get('configmaps/a'),
  ),
  plain('delete what is not there', del('configmaps/none')),
  plain('delete a resource that is not there', del('/api/v1/namespaces/$NS/colours/a')),
  after('delete what is held', held, del('configmaps/a'), get('configmaps/a')),
  after('delete what goes already', going, del('configmaps/a')),
  after(
    'the last finalizer goes',
    going,
    mergePatch('configmaps/a', { metadata: { finalizers: null } }),
    get('configmaps/a'),
  ),
  after('the last finalizer goes by an update', going, put('configmaps/a', configMap('a')), get('configmaps/a')),
  after(
    'a finalizer too late',
    going,
    mergePatch('configmaps/a', { metadata: { finalizers: ['example.com/hold', 'example.com/late'] } }),
  ),
  after('a change to what goes', going, mergePatch('configmaps/a', { data: { x: '1' } })),
  after(
    'delete of the object seen',
    one,
    del('configmaps/a', options({ preconditions: { uid: '{{0.metadata.uid}}' } })),
  ),
  after(
    'delete of another object',
    one,
    del('configmaps/a', options({ preconditions: { uid: '00000000-0000-4000-8000-000000000000' } })),
  ),
  after(
    'delete of the version seen',
    one,
    del('configmaps/a', options({ preconditions: { resourceVersion: '{{0.metadata.resourceVersion}}' } })),
  ),
  after(
    'delete of a version gone',
    [...one, mergePatch('configmaps/a', { data: { x: '1' } })],
    del('configmaps/a', options({ preconditions: { resourceVersion: '1' } })),
  ),
  after('delete in the foreground', one, del('configmaps/a?propagationPolicy=Foreground')),
  after('delete in the background', one, del('configmaps/a?propagationPolicy=Background')),
  after('delete and orphan', one, del('configmaps/a?propagationPolicy=Orphan')),
  after('delete and orphan the old way', one, del('configmaps/a?orphanDependents=true')),
  after('delete in a way that is none', one, del('configmaps/a?propagationPolicy=Sideways')),
  after(
    'delete in two ways',
    one,
    del('configmaps/a', options({ propagationPolicy: 'Orphan', orphanDependents: true })),
  ),
  after(
    'delete a deployment in the foreground',
    [post('deployments', deployment('web'))],
    del('deployments/web', options({ propagationPolicy: 'Foreground' })),
  ),
  after('delete with a bad dry run', one, del('configmaps/a?dryRun=x')),
  after('delete with grace below nothing', one, del('configmaps/a?gracePeriodSeconds=-5')),
  after('delete with grace that is no number', one, del('configmaps/a?gracePeriodSeconds=soon')),
  after('delete a pod that is on no node', [account, post('pods', pod('a'))], del('pods/a')),
  after(
    'delete a pod that is on a node',
    [account, post('pods', pod('a', { spec: { nodeName: 'n', containers: [{ name: 'main', image: 'x' }] } }))],
    del('pods/a'),
    get('pods/a'),
  ),
  after(
    'delete a pod with grace',
    [account, post('pods', pod('a', { spec: { nodeName: 'n', containers: [{ name: 'main', image: 'x' }] } }))],
    del('pods/a?gracePeriodSeconds=5'),
  ),
  after(
    'delete a pod at once',
    [account, post('pods', pod('a', { spec: { nodeName: 'n', containers: [{ name: 'main', image: 'x' }] } }))],
    del('pods/a', options({ gracePeriodSeconds: 0 })),
    get('pods/a'),
  ),
  after(
    'delete a pod with less grace',
    [
      account,
      post('pods', pod('a', { spec: { nodeName: 'n', containers: [{ name: 'main', image: 'x' }] } })),
      del('pods/a'),
    ],
    del('pods/a?gracePeriodSeconds=2'),
  ),
  after('delete with a body that is no options', one, del('configmaps/a', configMap('a'))),
  after('delete with an unknown option', one, del('configmaps/a', options({ colour: 'red' }))),
  after('delete with a broken body', one, del('configmaps/a', '{"kind":')),
  after('delete with options of a wrong type', one, del('configmaps/a', options({ gracePeriodSeconds: 'x' }))),
  after('delete all', three, del('configmaps'), get('configmaps')),
  after('delete a selection', three, del('configmaps?labelSelector=app%3Dy'), get('configmaps')),
  after('delete one of all by its name', three, del('configmaps?fieldSelector=metadata.name%3Da'), get('configmaps')),
  after('delete all as a dry run', three, del('configmaps?dryRun=All'), get('configmaps?labelSelector=app%3Dx')),
  after('delete all that are held', held, del('configmaps'), get('configmaps')),
  plain('delete all of nothing', del('configmaps')),
  plain('delete all with a bad selector', del('configmaps?labelSelector=a+in')),
  plain('delete all with a bad field', del('configmaps?fieldSelector=data.x%3Dy')),
  plain('delete all namespaces', del('/api/v1/namespaces')),
  plain('delete all services of everywhere', del('/api/v1/configmaps')),
  after(
    'delete a namespace',
    [post('/api/v1/namespaces', namespace('$NS-more'))],
    del('/api/v1/namespaces/$NS-more'),
    get('/api/v1/namespaces/$NS-more'),
  ),
  plain('delete a namespace that must stay', del('/api/v1/namespaces/default')),
  after('delete of another kind of the name', [post('secrets', secret('a'))], del('configmaps/a')),
];
