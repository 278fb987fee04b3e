// Reading one object and many: selectors, pages, resource versions.
import { after, type Case, get, only, plain, post, send } from './case.ts';
import { configMap, pod, secret, serviceAccount } from './objects.ts';

const three = ['a', 'b', 'c'].map((name, index) =>
  post(
    'configmaps',
    configMap(name, { data: { x: name } }, { labels: { app: name, tier: index === 0 ? 'front' : 'back' } }),
  ),
);
/** A real server's cache may be a moment behind, unless somebody asked for the newest. */
const threeCached = [...three, get('configmaps')];
const pods = [post('serviceaccounts', serviceAccount('default')), post('pods', pod('one')), post('pods', pod('two'))];

const listed = (name: string, query: string): Case => after(name, three, get(`configmaps?${query}`));
const refused = (name: string, query: string): Case => plain(name, get(`configmaps?${query}`));

export const listCases: readonly Case[] = [
  after('get', three, get('configmaps/a')),
  after('get at a version that may be newer', threeCached, get('configmaps/a?resourceVersion=0')),
  after('get at least as new as', three, get('configmaps/a?resourceVersion={{0.metadata.resourceVersion}}')),
  after('get in YAML', three, get('configmaps/a', { accept: 'application/yaml' })),
  after('get printed', three, get('configmaps/a?pretty=true')),
  plain('get what is not there', get('configmaps/none')),
  plain('get a resource that is not there', get('/api/v1/namespaces/$NS/colours/x')),
  plain('get in a namespace that is not there', get('/api/v1/namespaces/$NS-none/configmaps/x')),
  plain('get a version that is far ahead', get('configmaps/a?resourceVersion=99999999999')),
  plain('get a version that is none', get('configmaps/a?resourceVersion=abc')),
  plain('get a namespaced object without its namespace', get('/api/v1/configmaps/a')),
  plain('get a cluster object in a namespace', get('/api/v1/namespaces/$NS/nodes/a')),
  after('list', three, get('configmaps')),
  plain('list of nothing', get('configmaps')),
  plain('list of a namespace that is not there', get('/api/v1/namespaces/$NS-none/configmaps')),
  after('list in YAML', three, get('configmaps', { accept: 'application/yaml' })),
  after('list of all namespaces', three, get('/api/v1/configmaps?fieldSelector=metadata.namespace=$NS')),
  listed('label equals', 'labelSelector=app%3Da'),
  listed('label equals twice', 'labelSelector=app%3D%3Da'),
  listed('label differs', 'labelSelector=app!%3Da'),
  listed('label in', 'labelSelector=app+in+(a,b)'),
  listed('label not in', 'labelSelector=app+notin+(a,b)'),
  listed('label there', 'labelSelector=tier'),
  listed('label not there', 'labelSelector=!tier'),
  listed('two labels', 'labelSelector=tier%3Dback,app%3Db'),
  listed('label beyond a number', 'labelSelector=app%3E5'),
  refused('label selector with no end', 'labelSelector=app+in+(a'),
  refused('label selector with a bad key', 'labelSelector=a%20b'),
  refused('label selector with a bad value', 'labelSelector=a%3D_b_'),
  refused('label selector that begins with a comma', 'labelSelector=,a'),
  refused('label selector with an operator alone', 'labelSelector=%3D'),
  refused('label selector beyond a text', 'labelSelector=app%3Ex'),
  listed('field name', 'fieldSelector=metadata.name%3Db'),
  listed('field name differs', 'fieldSelector=metadata.name!%3Db'),
  listed('field and label', 'fieldSelector=metadata.name%3Db&labelSelector=tier%3Dfront'),
  after('field of pods', pods, get('pods?fieldSelector=status.phase%3DPending,metadata.name%3Done')),
  only(
    ['kind', 'items.0.metadata.name', 'items.1.metadata.name'],
    after('field of pods that is empty', pods, get('pods?fieldSelector=spec.nodeName%3D')),
  ),
  after(
    'field of secrets',
    [post('secrets', secret('s')), post('secrets', secret('t', { type: 'example.com/t' }))],
    get('secrets?fieldSelector=type%3Dexample.com/t'),
  ),
  refused('field that is no selector', 'fieldSelector=data.x%3Dy'),
  refused('field selector with no operator', 'fieldSelector=metadata.name'),
  refused('field selector with a bad escape', 'fieldSelector=metadata.name%3Da%5C'),
  listed('page', 'limit=2'),
  after('next page', [...three, get('configmaps?limit=2')], get('configmaps?limit=2&continue={{3.metadata.continue}}')),
  after('page of a selection', three, get('configmaps?limit=1&labelSelector=tier%3Dback')),
  listed('page as large as all', 'limit=3'),
  refused('page after nothing known', 'limit=2&continue=abc'),
  after(
    'page with a version',
    [...three, get('configmaps?limit=2')],
    get('configmaps?limit=2&continue={{3.metadata.continue}}&resourceVersion=5'),
  ),
  refused('limit that is no number', 'limit=many'),
  refused('limit below nothing', 'limit=-1'),
  after('list any version', threeCached, get('configmaps?resourceVersion=0')),
  after('list at least as new as', three, get('configmaps?resourceVersion={{2.metadata.resourceVersion}}')),
  after(
    'list not older than',
    three,
    get('configmaps?resourceVersion={{2.metadata.resourceVersion}}&resourceVersionMatch=NotOlderThan'),
  ),
  after(
    'list exactly',
    three,
    get('configmaps?resourceVersion={{1.metadata.resourceVersion}}&resourceVersionMatch=Exact'),
  ),
  refused('match without a version', 'resourceVersionMatch=Exact'),
  refused('match exactly nothing', 'resourceVersion=0&resourceVersionMatch=Exact'),
  refused('match in a way that is none', 'resourceVersion=5&resourceVersionMatch=About'),
  refused('list a version that is none', 'resourceVersion=abc'),
  refused('list a version that is far ahead', 'resourceVersion=99999999999'),
  refused('list exactly a version that is far ahead', 'resourceVersion=99999999999&resourceVersionMatch=Exact'),
  refused('list initial events without a watch', 'sendInitialEvents=true'),
  after(
    'match while paging on',
    [...three, get('configmaps?limit=2')],
    get('configmaps?limit=2&continue={{3.metadata.continue}}&resourceVersionMatch=Exact'),
  ),
  plain('list a resource that is not there', get('/api/v1/namespaces/$NS/colours')),
  plain('list a version that is not there', get('/apis/apps/v9/namespaces/$NS/deployments')),
  plain('put to a collection', send('PUT', 'configmaps', configMap('a'))),
  plain('patch a collection', send('PATCH', 'configmaps', {}, { 'content-type': 'application/merge-patch+json' })),
  plain('a method that is none', send('BREW', 'configmaps')),
  plain('options of a collection', send('OPTIONS', 'configmaps')),
];
