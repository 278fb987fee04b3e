// The same objects in other shapes: tables, and metadata alone.

import type { Step } from './case.ts';
import { after, type Case, get, partial, partialList, plain, post, table } from './case.ts';
import {
  claim,
  configMap,
  cronJob,
  daemonSet,
  deployment,
  disruptionBudget,
  ingress,
  job,
  lease,
  node,
  pod,
  replicaSet,
  role,
  roleBinding,
  secret,
  service,
  serviceAccount,
  statefulSet,
} from './objects.ts';

const made: readonly (readonly [string, Step, ...Step[]])[] = [
  ['configmaps', post('configmaps', configMap('a', { data: { x: '1' } }))],
  ['secrets', post('secrets', secret('a', { stringData: { x: '1' } }))],
  ['serviceaccounts', post('serviceaccounts', serviceAccount('a'))],
  ['services', post('services', service('web'))],
  ['pods', post('pods', pod('a')), post('serviceaccounts', serviceAccount('default'))],
  ['deployments', post('deployments', deployment('web'))],
  ['replicasets', post('replicasets', replicaSet('web'))],
  ['statefulsets', post('statefulsets', statefulSet('web'))],
  ['daemonsets', post('daemonsets', daemonSet('web'))],
  ['jobs', post('jobs', job('once'))],
  ['cronjobs', post('cronjobs', cronJob('often'))],
  ['leases', post('leases', lease('mine'))],
  ['roles', post('roles', role('r'))],
  ['rolebindings', post('rolebindings', roleBinding('b', 'joe'))],
  ['persistentvolumeclaims', post('persistentvolumeclaims', claim('c'))],
  ['poddisruptionbudgets', post('poddisruptionbudgets', disruptionBudget('web'))],
  ['ingresses', post('ingresses', ingress('web'))],
];

const one = [post('configmaps', configMap('a', { data: { x: '1' } }))];

export const shapeCases: readonly Case[] = [
  ...made.map(([resource, first, ...before]) =>
    after(`table of ${resource}`, [...before, first], get(resource, table)),
  ),
  after('table of one', one, get('configmaps/a', table)),
  plain('table of nothing', get('configmaps', table)),
  after('table with whole objects', one, get('configmaps?includeObject=Object', table)),
  after('table without objects', one, get('configmaps?includeObject=None', table)),
  after('table with objects of a kind that is none', one, get('configmaps?includeObject=Half', table)),
  after('table of a page', [...one, post('configmaps', configMap('b'))], get('configmaps?limit=1', table)),
  after(
    'table of the old version',
    one,
    get('configmaps', { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' }),
  ),
  after(
    'table or JSON',
    one,
    get('configmaps', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }),
  ),
  plain('table of a creation', post('configmaps', configMap('a'), table)),
  plain('table of a refusal', get('configmaps/none', table)),
  plain('table of a namespace', get('/api/v1/namespaces/$NS', table)),
  after('table of a node', [post('/api/v1/nodes', node('$NS'))], get('/api/v1/nodes/$NS', table)),
  after('metadata of one', one, get('configmaps/a', partial)),
  after('metadata of many', one, get('configmaps', partialList)),
  after('metadata of one as a list', one, get('configmaps/a', partialList)),
  after('metadata of many as one', one, get('configmaps', partial)),
  plain('metadata of a creation', post('configmaps', configMap('a'), partial)),
  after('shape that is none', one, get('configmaps', { accept: 'application/json;as=Picture;v=v1;g=meta.k8s.io' })),
  after(
    'shape that is none, or JSON',
    one,
    get('configmaps/a', { accept: 'application/json;as=Picture;v=v1;g=meta.k8s.io,application/json' }),
  ),
  after('text that nobody writes', one, get('configmaps/a', { accept: 'text/html' })),
  after('anything at all', one, get('configmaps/a', { accept: '*/*' })),
  after('any application', one, get('configmaps/a', { accept: 'application/*' })),
];
