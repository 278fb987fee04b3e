// Input that is broken, of a wrong type, too large or too deep.
import { after, type Case, get, type Json, mergePatch, plain, post, put } from './case.ts';
import { configMap } from './objects.ts';

const type = (contentType: string) => ({ 'content-type': contentType });
const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n';
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const one = [post('configmaps', configMap('a'))];

export const inputCases: readonly Case[] = [
  plain('YAML', post('configmaps', yaml, type('application/yaml'))),
  plain(
    'YAML that repeats itself',
    post('configmaps?fieldValidation=Strict', `${yaml}  x: "2"\n`, type('application/yaml')),
  ),
  plain(
    'YAML with an unknown field, strict',
    post('configmaps?fieldValidation=Strict', `${yaml}colour: red\n`, type('application/yaml')),
  ),
  plain('YAML that is none', post('configmaps', 'a: b: c', type('application/yaml'))),
  plain('YAML with a tab', post('configmaps', 'a:\n\tb: c\n', type('application/yaml'))),
  plain('YAML of nothing', post('configmaps', '', type('application/yaml'))),
  plain('YAML of a text', post('configmaps', 'hello', type('application/yaml'))),
  plain('JSON called YAML', post('configmaps', configMap('a') as Json, type('application/yaml'))),
  plain('YAML called JSON', post('configmaps', yaml)),
  plain('JSON with a character set', post('configmaps', configMap('a'), type('application/json; charset=utf-8'))),
  plain('JSON that stops', post('configmaps', '{"apiVersion":"v1"')),
  plain('JSON with something after it', post('configmaps', `${JSON.stringify(configMap('a'))} x`)),
  plain('JSON with a comma too many', post('configmaps', '{"apiVersion":"v1","kind":"ConfigMap",}')),
  plain('JSON list', post('configmaps', '[]')),
  plain('JSON text', post('configmaps', '"hello"')),
  plain('JSON number', post('configmaps', '5')),
  plain('JSON null', post('configmaps', 'null')),
  plain('JSON of nothing', post('configmaps', '')),
  plain('JSON without anything', post('configmaps', '{}')),
  plain('metadata that is a text', post('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: 'a' })),
  plain('kind that is a number', post('configmaps', { apiVersion: 'v1', kind: 5, metadata: { name: 'a' } })),
  plain('name that is a number', post('configmaps', configMap('', {}, { name: 5 }))),
  plain('labels that are a list', post('configmaps', configMap('a', {}, { labels: ['x'] }))),
  plain('time that is none', post('configmaps', configMap('a', {}, { deletionTimestamp: 'yesterday' }))),
  plain('version with two slashes', post('configmaps', { ...configMap('a'), apiVersion: 'a/b/c' })),
  plain('case of fields matters', post('configmaps?fieldValidation=Strict', configMap('a', { Data: { x: '1' } }))),
  plain('content of a type nobody reads', post('configmaps', configMap('a'), type('text/plain'))),
  plain('content of a form', post('configmaps', 'a=b', type('application/x-www-form-urlencoded'))),
  plain('content of a type that is none', post('configmaps', configMap('a'), type('///'))),
  after('update of a type nobody reads', one, put('configmaps/a', configMap('a'), type('text/plain'))),
  plain(
    'annotations that are too large',
    post('configmaps', configMap('a', {}, { annotations: { x: 'x'.repeat(262_145) } })),
  ),
  plain('config map that is too large', post('configmaps', configMap('a', { data: { x: 'x'.repeat(1_048_577) } }))),
  plain('body that is too large', post('configmaps', configMap('a', { data: { x: 'x'.repeat(3_200_000) } }))),
  after('patch that is too large', one, mergePatch('configmaps/a', { data: { x: 'x'.repeat(3_200_000) } })),
  plain(
    'object that is deep',
    post('configmaps', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"deep":${nested(1000)}}`),
  ),
  plain(
    'object that is too deep',
    post('configmaps', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"deep":${nested(20_000)}}`),
  ),
  after('patch that is too deep', one, mergePatch('configmaps/a', `{"deep":${nested(20_000)}}`)),
  plain(
    'text that is no UTF-8 escape',
    post('configmaps', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"\\ud800"}}'),
  ),
  plain(
    'number beyond a whole one',
    post('/apis/apps/v1/namespaces/$NS/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { replicas: 1.5 },
    }),
  ),
  plain(
    'number beyond 32 bits',
    post('/apis/apps/v1/namespaces/$NS/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { replicas: 4294967296 },
    }),
  ),
  plain('query with a bad escape', get('configmaps?labelSelector=%zz')),
  plain('query of unknown things', get('configmaps?colour=red')),
];
