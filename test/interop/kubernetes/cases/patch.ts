// Patches of three kinds; the fourth, apply, has a file of its own.
import { after, type Case, get, jsonPatch, mergePatch, plain, post, send, strategicPatch } from './case.ts';
import { configMap, deployment, pod, service, serviceAccount } from './objects.ts';

const one = [post('configmaps', configMap('a', { data: { x: '1', y: '2' } }, { labels: { app: 'web' } }))];
const web = [post('deployments', deployment('web'))];
const account = post('serviceaccounts', serviceAccount('default'));

export const patchCases: readonly Case[] = [
  after('merge patch', one, mergePatch('configmaps/a', { data: { x: '3', y: null, z: '4' } })),
  after('merge patch that changes nothing', one, mergePatch('configmaps/a', { data: { x: '1' } })),
  after('merge patch of nothing', one, mergePatch('configmaps/a', {})),
  after(
    'merge patch as a dry run',
    one,
    mergePatch('configmaps/a?dryRun=All', { data: { x: '3' } }),
    get('configmaps/a'),
  ),
  after(
    'merge patch of a list',
    web,
    mergePatch('deployments/web', { spec: { template: { spec: { containers: [{ name: 'other', image: 'b' }] } } } }),
  ),
  after('merge patch in YAML', one, mergePatch('configmaps/a', 'data:\n  x: "9"\n')),
  after('merge patch with a manager', one, mergePatch('configmaps/a?fieldManager=other', { data: { x: '3' } })),
  after(
    'merge patch of the version seen',
    one,
    mergePatch('configmaps/a', { metadata: { resourceVersion: '{{0.metadata.resourceVersion}}' }, data: { x: '3' } }),
  ),
  after(
    'merge patch of a version gone',
    [...one, mergePatch('configmaps/a', { data: { x: '2' } })],
    mergePatch('configmaps/a', { metadata: { resourceVersion: '{{0.metadata.resourceVersion}}' }, data: { x: '3' } }),
  ),
  after(
    'merge patch of a uid',
    one,
    mergePatch('configmaps/a', { metadata: { uid: '00000000-0000-4000-8000-000000000000' } }),
  ),
  after('merge patch of a name', one, mergePatch('configmaps/a', { metadata: { name: 'b' } })),
  after('merge patch of a kind', one, mergePatch('configmaps/a', { kind: 'Secret' })),
  after('merge patch that is a list', one, mergePatch('configmaps/a', [])),
  after('merge patch that is no JSON', one, mergePatch('configmaps/a', '{"data":')),
  after('merge patch to a bad value', one, mergePatch('configmaps/a', { data: { x: 5 } })),
  after('merge patch to a bad label', one, mergePatch('configmaps/a', { metadata: { labels: { a: '!' } } })),
  after(
    'merge patch of an unknown field, strict',
    one,
    mergePatch('configmaps/a?fieldValidation=Strict', { colour: 'red' }),
  ),
  after(
    'merge patch of an unknown field, warn',
    one,
    mergePatch('configmaps/a?fieldValidation=Warn', { colour: 'red' }),
  ),
  after(
    'merge patch with a field twice, strict',
    one,
    mergePatch('configmaps/a?fieldValidation=Strict', '{"data":{"x":"3","x":"4"}}'),
  ),
  after('merge patch by force', one, mergePatch('configmaps/a?force=true', { data: { x: '3' } })),
  plain('merge patch of what is not there', mergePatch('configmaps/none', {})),
  after(
    'JSON patch',
    one,
    jsonPatch('configmaps/a', [
      { op: 'replace', path: '/data/x', value: '3' },
      { op: 'add', path: '/data/z', value: '4' },
      { op: 'remove', path: '/data/y' },
    ]),
  ),
  after(
    'JSON patch that tests',
    one,
    jsonPatch('configmaps/a', [
      { op: 'test', path: '/data/x', value: '1' },
      { op: 'move', from: '/data/x', path: '/data/w' },
      { op: 'copy', from: '/data/w', path: '/data/v' },
    ]),
  ),
  after(
    'JSON patch of a label with a slash',
    one,
    jsonPatch('configmaps/a', [{ op: 'add', path: '/metadata/labels/example.com~1a', value: 'b' }]),
  ),
  after(
    'JSON patch at the end of a list',
    web,
    jsonPatch('deployments/web', [
      { op: 'add', path: '/spec/template/spec/containers/-', value: { name: 'more', image: 'c' } },
    ]),
  ),
  after('JSON patch whose test fails', one, jsonPatch('configmaps/a', [{ op: 'test', path: '/data/x', value: '7' }])),
  after(
    'JSON patch that removes what is not there',
    one,
    jsonPatch('configmaps/a', [{ op: 'remove', path: '/data/none' }]),
  ),
  after(
    'JSON patch that replaces what is not there',
    one,
    jsonPatch('configmaps/a', [{ op: 'replace', path: '/data/none', value: 'x' }]),
  ),
  after('JSON patch below nothing', one, jsonPatch('configmaps/a', [{ op: 'add', path: '/none/x', value: 'x' }])),
  after(
    'JSON patch of an operation that is none',
    one,
    jsonPatch('configmaps/a', [{ op: 'paint', path: '/data/x', value: 'x' }]),
  ),
  after('JSON patch that is a map', one, jsonPatch('configmaps/a', { op: 'add' })),
  after('JSON patch without a path', one, jsonPatch('configmaps/a', [{ op: 'add', value: 'x' }])),
  after('JSON patch to a bad value', one, jsonPatch('configmaps/a', [{ op: 'add', path: '/data/x', value: 5 }])),
  after(
    'JSON patch with an unknown part, strict',
    one,
    jsonPatch('configmaps/a?fieldValidation=Strict', [{ op: 'add', path: '/data/x', value: '5', colour: 'red' }]),
  ),
  after(
    'JSON patch with too many operations',
    one,
    jsonPatch(
      'configmaps/a',
      Array.from({ length: 10_001 }, () => ({ op: 'add', path: '/data/x', value: '1' })),
    ),
  ),
  after(
    'strategic patch of a list',
    web,
    strategicPatch('deployments/web', { spec: { template: { spec: { containers: [{ name: 'more', image: 'b' }] } } } }),
  ),
  after(
    'strategic patch of an item',
    web,
    strategicPatch('deployments/web', {
      spec: {
        template: {
          spec: { containers: [{ name: 'main', image: 'example.com/main:2', env: [{ name: 'A', value: 'b' }] }] },
        },
      },
    }),
  ),
  after(
    'strategic patch that takes an item away',
    [
      post(
        'services',
        service('web', {
          spec: {
            ports: [
              { name: 'a', port: 80 },
              { name: 'b', port: 81 },
            ],
          },
        }),
      ),
    ],
    strategicPatch('services/web', { spec: { ports: [{ port: 81, $patch: 'delete' }] } }),
  ),
  after(
    'strategic patch that replaces a map',
    one,
    strategicPatch('configmaps/a', { data: { $patch: 'replace', z: '1' } }),
  ),
  after(
    'strategic patch of finalizers',
    one,
    strategicPatch('configmaps/a', { metadata: { finalizers: ['example.com/a'] } }),
  ),
  after(
    'strategic patch that keeps some keys',
    web,
    strategicPatch('deployments/web', { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
  ),
  after(
    'strategic patch with a directive that is none',
    one,
    strategicPatch('configmaps/a', { data: { $patch: 'paint' } }),
  ),
  after(
    'strategic patch without a merge key',
    web,
    strategicPatch('deployments/web', { spec: { template: { spec: { containers: [{ image: 'b' }] } } } }),
  ),
  after('strategic patch that is no JSON', one, strategicPatch('configmaps/a', 'x')),
  after('strategic patch of a wrong type', web, strategicPatch('deployments/web', { spec: { replicas: 'two' } })),
  after(
    'patch of what cannot change',
    web,
    mergePatch('deployments/web', { spec: { selector: { matchLabels: { app: 'x' } } } }),
  ),
  after(
    'patch of the image of a pod',
    [account, post('pods', pod('a'))],
    strategicPatch('pods/a', { spec: { containers: [{ name: 'main', image: 'example.com/main:2' }] } }),
  ),
  after(
    'patch of a pod that cannot be',
    [account, post('pods', pod('a'))],
    mergePatch('pods/a', { spec: { nodeName: 'x' } }),
  ),
  after('patch of a type that is none', one, send('PATCH', 'configmaps/a', {}, { 'content-type': 'application/json' })),
  after('patch of a text', one, send('PATCH', 'configmaps/a', 'x', { 'content-type': 'text/plain' })),
  after('patch with a bad dry run', one, mergePatch('configmaps/a?dryRun=x', {})),
  plain('patch without a name', mergePatch('/api/v1/namespaces/$NS/configmaps/', {})),
];
