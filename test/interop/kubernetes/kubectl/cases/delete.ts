// kubectl delete and its ways.
import { configMap, namespace } from '../../cases/objects.ts';
import { type KubectlCase, plain, sorted, withFiles } from '../case.ts';

const ready = (name: string): string => `wait deploy/${name} --for=jsonpath={.status.replicas}=1 --timeout=30s`;
const made = (name: string): string => `create deployment ${name} --image=example.com/${name}:1`;

export const deleteCases: readonly KubectlCase[] = [
  withFiles(
    'delete',
    {
      'm.json': [
        configMap('a'),
        configMap('b', {}, { labels: { x: 'y' } }),
        configMap('c', {}, { labels: { x: 'y' } }),
      ],
    },
    'create -f m.json',
    'delete cm a --dry-run=server',
    'delete cm a --dry-run=client -o name',
    'delete cm a',
    'delete cm a',
    'delete cm a --ignore-not-found',
    sorted('delete cm -l x=y'),
    'delete cm -l x=y',
    'delete -f m.json',
    'delete -f m.json --ignore-not-found',
    'create -f m.json',
    'delete cm a b -o name',
    'delete cm/c',
    'delete cm',
    'delete nothings x',
    'delete cm --field-selector=metadata.name=none',
    'delete',
    'delete cm a --cascade=sideways',
    'delete --raw /api/v1/namespaces/$NS/configmaps/none',
    'delete -f nothing.json',
    'delete ns nowhere',
  ),
  plain(
    'delete in the background',
    made('web'),
    ready('web'),
    'delete deploy web --cascade=background',
    'wait rs -l app=web --for=delete --timeout=30s',
    'get deploy,rs,pods',
  ),
  plain(
    'delete in the foreground',
    made('web'),
    ready('web'),
    'delete deploy web --cascade=foreground --timeout=60s',
    'get deploy,rs,pods',
  ),
  plain(
    'delete leaving orphans',
    made('web'),
    ready('web'),
    'delete deploy web --cascade=orphan',
    "get rs -l app=web -o 'jsonpath={.items[*].metadata.ownerReferences}'",
    'get rs -l app=web -o name',
    'delete rs -l app=web --cascade=orphan',
    'get pods -l app=web -o name',
    'delete pods --all',
  ),
  withFiles(
    'delete what is held',
    { 'm.json': configMap('held', {}, { finalizers: ['example.com/hold'] }) },
    'create -f m.json',
    'delete cm held --wait=false',
    'get cm held',
    'delete cm held --timeout=1s',
    `patch cm held --type=merge -p '{"metadata":{"finalizers":null}}'`,
    'get cm held',
  ),
  withFiles(
    'delete namespaces',
    { 'ns.json': namespace('delete-this') },
    'create -f ns.json',
    'create configmap inside -n delete-this',
    'create deployment web --image=example.com/web:1 -n delete-this',
    'delete ns delete-this --timeout=60s',
    'get ns delete-this',
    'get cm inside -n delete-this',
    'delete ns kube-system',
    'delete ns default',
  ),
];
