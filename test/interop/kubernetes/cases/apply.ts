// Server-side apply: owners of fields, conflicts, force, and what is refused.
import { after, apply, type Case, del, get, mergePatch, plain, post } from './case.ts';
import { configMap, deployment, secret, service } from './objects.ts';

const mine = 'configmaps/a?fieldManager=mine';
const other = 'configmaps/a?fieldManager=other';
const one = [apply(mine, configMap('a', { data: { x: '1', y: '2' } }))];

export const applyCases: readonly Case[] = [
  plain('apply creates', apply(mine, configMap('a', { data: { x: '1' } }))),
  plain('apply in YAML', apply(mine, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n')),
  after('apply again', one, apply(mine, configMap('a', { data: { x: '1', y: '2' } }))),
  after('apply takes away what it leaves out', one, apply(mine, configMap('a', { data: { x: '3' } }))),
  after('apply of others adds', one, apply(other, configMap('a', { data: { z: '1' } }))),
  after('apply of the same value is shared', one, apply(other, configMap('a', { data: { x: '1' } }))),
  after('apply of another value', one, apply(other, configMap('a', { data: { x: '5' } }))),
  after('apply of two other values', one, apply(other, configMap('a', { data: { x: '5', y: '6' } }))),
  after(
    'apply by force',
    one,
    apply(`${other}&force=true`, configMap('a', { data: { x: '5' } })),
    apply(mine, configMap('a', { data: { x: '1' } })),
  ),
  after(
    'apply over an update',
    [post('configmaps', configMap('a', { data: { x: '1' } }))],
    apply(mine, configMap('a', { data: { x: '2' } })),
  ),
  after(
    'apply, then update',
    one,
    mergePatch('configmaps/a?fieldManager=hand', { data: { x: '7' } }),
    apply(mine, configMap('a', { data: { x: '1' } })),
  ),
  after(
    'apply as a dry run',
    one,
    apply(`${mine}&dryRun=All`, configMap('a', { data: { x: '9' } })),
    get('configmaps/a'),
  ),
  plain('apply as a dry run creates nothing', apply(`${mine}&dryRun=All`, configMap('a')), get('configmaps/a')),
  plain('apply of a deployment', apply('deployments/web?fieldManager=mine', deployment('web'))),
  after(
    'apply of a second container',
    [apply('deployments/web?fieldManager=mine', deployment('web'))],
    apply('deployments/web?fieldManager=other', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { template: { spec: { containers: [{ name: 'more', image: 'b' }] } } },
    }),
  ),
  after(
    'apply of a scale that others hold',
    [apply('deployments/web?fieldManager=mine', deployment('web'))],
    apply('deployments/web?fieldManager=other', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 9 },
    }),
  ),
  plain('apply of a service', apply('services/web?fieldManager=mine', service('web'))),
  plain('apply without a manager', apply('configmaps/a', configMap('a'))),
  plain('apply under another name', apply(mine, configMap('b'))),
  plain('apply of another kind', apply(mine, secret('a'))),
  plain('apply without a kind', apply(mine, { metadata: { name: 'a' } })),
  plain('apply without a version', apply(mine, { kind: 'ConfigMap', metadata: { name: 'a' } })),
  plain(
    'apply with managed fields',
    apply(
      mine,
      configMap(
        'a',
        {},
        {
          managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }],
        },
      ),
    ),
  ),
  plain('apply of an unknown field', apply(mine, configMap('a', { colour: 'red' }))),
  plain(
    'apply of an unknown field, ignored',
    apply(`${mine}&fieldValidation=Ignore`, configMap('a', { colour: 'red' })),
  ),
  plain('apply of a wrong type', apply(mine, configMap('a', { data: 'x' }))),
  plain('apply of a bad name', apply('configmaps/A?fieldManager=mine', configMap('A'))),
  plain('apply of a broken text', apply(mine, '{"a":')),
  plain('apply of a list', apply(mine, [])),
  plain(
    'apply of duplicate list items',
    apply(
      'deployments/web?fieldManager=mine',
      deployment('web', {
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: {
              containers: [
                { name: 'a', image: 'b' },
                { name: 'a', image: 'c' },
              ],
            },
          },
        },
      }),
    ),
  ),
  plain('apply with a version of nothing', apply(mine, configMap('a', {}, { resourceVersion: '5' }))),
  plain(
    'apply in a namespace that is not there',
    apply('/api/v1/namespaces/$NS-none/configmaps/a?fieldManager=mine', configMap('a')),
  ),
  after(
    'apply of a version gone',
    [...one, mergePatch('configmaps/a', { data: { z: '1' } })],
    apply(mine, configMap('a', { data: { x: '1' } }, { resourceVersion: '{{0.metadata.resourceVersion}}' })),
  ),
  after('apply after delete', [...one, del('configmaps/a')], apply(mine, configMap('a', { data: { x: '1' } }))),
  after('managed fields can be cleared', one, mergePatch('configmaps/a', { metadata: { managedFields: [{}] } })),
];
