// Input that is broken, of a wrong type, too large or too deep.
import { after, apply, type Case, get, type Json, jsonPatch, mergePatch, plain, post, put } from './case.ts';
import { configMap } from './objects.ts';

const type = (contentType: string) => ({ 'content-type': contentType });
const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n';
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const asYaml = type('application/yaml');
/** Lists of nine of the one before: each name more is nine times as much. */
const laughs = (names: number): string => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let name = 1; name < names; name += 1) {
    lines.push(`a${name}: &a${name} [${Array.from({ length: 9 }, () => `*a${name - 1}`).join(', ')}]`);
  }
  return `${lines.join('\n')}\n`;
};
/** A config map with members that its type does not have. */
const strange = (count: number, length: number): Json => ({
  ...configMap('a'),
  ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`u${index}`.padEnd(length, 'x'), 1])),
});
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
  plain('YAML list that contains itself', post('configmaps', 'a: &a [*a,*a]', asYaml)),
  plain('YAML map that contains itself', post('configmaps', 'a: &a\n  b: *a\n', asYaml)),
  after('apply of what contains itself', one, apply('configmaps/a?fieldManager=x', 'a: &a [*a,*a]')),
  plain('YAML that names what is not there', post('configmaps', 'a: *b', asYaml)),
  plain('YAML that repeats by name', post('configmaps', `${yaml}${laughs(3)}`, asYaml)),
  plain('YAML that repeats by name too often', post('configmaps', `${yaml}${laughs(4)}`, asYaml)),
  plain('YAML that grows without end', post('configmaps', `${yaml}${laughs(12)}`, asYaml)),
  after('apply of what grows without end', one, apply('configmaps/a?fieldManager=x', `${yaml}${laughs(12)}`)),
  plain(
    'YAML with many names for one text',
    post(
      'configmaps',
      `${yaml}z: &z "1"\n${Array.from({ length: 2000 }, (_, index) => `z${index}: *z\n`).join('')}`,
      asYaml,
    ),
  ),
  plain('YAML that merges a map', post('configmaps', `d: &d\n  y: "2"\n${yaml}  <<: *d\n`, asYaml)),
  plain('YAML that merges a number', post('configmaps', `${yaml}  <<: 5\n`, asYaml)),
  plain('YAML with one key 10,000 times', post('configmaps', `${yaml}${'a: 1\n'.repeat(10_000)}`, asYaml)),
  plain(
    'YAML with one key 200 times, strict',
    post('configmaps?fieldValidation=Strict', `${yaml}${'a: 1\n'.repeat(200)}`, asYaml),
  ),
  plain(
    'YAML with 20,000 keys',
    post('configmaps', `${yaml}${Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`).join('')}`, asYaml),
  ),
  plain('YAML key that is a list', post('configmaps', `${yaml}? [a, b]\n: c\n`, asYaml)),
  plain('YAML key that is nothing', post('configmaps', `${yaml}~: c\n`, asYaml)),
  plain('YAML without end', post('configmaps', `${yaml}c: .inf\n`, asYaml)),
  plain('YAML with a control character', post('configmaps', 'a: \u0001\n', asYaml)),
  plain('YAML flow that is none', post('configmaps', '{a: b: c', asYaml)),
  plain('YAML brackets that do not match', post('configmaps', '[}', asYaml)),
  plain('YAML brackets that do not match, further down', post('configmaps', 'x:\n  - [}\n', asYaml)),
  plain('YAML list that stops', post('configmaps', '[a', asYaml)),
  plain('YAML that steps back halfway', post('configmaps', 'a:\n  b: 1\n c: 2\n', asYaml)),
  plain('100 unknown fields', post('configmaps', strange(100, 5))),
  plain('101 unknown fields', post('configmaps', strange(101, 5))),
  plain('5,000 unknown fields', post('configmaps', strange(5000, 8))),
  plain('200,000 unknown fields', post('configmaps', strange(200_000, 8))),
  plain('5,000 unknown fields, strict', post('configmaps?fieldValidation=Strict', strange(5000, 8))),
  plain('unknown fields of long names', post('configmaps', strange(30, 300))),
  plain('unknown fields of names that are longer together', post('configmaps', strange(100, 200))),
  plain('few unknown fields of very long names', post('configmaps', strange(5, 5000))),
  plain(
    'unknown fields of strange names',
    post('configmaps', { ...configMap('a'), 'a\nb': 1, 'é\u2028<&>"\\': 1, '\u0085': 1 }),
  ),
  plain(
    'unknown fields that come again',
    post('configmaps', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}${',"a":1'.repeat(300)}}`),
  ),
  after(
    'patch that makes an object nothing',
    one,
    jsonPatch('configmaps/a', [{ op: 'replace', path: '', value: null }]),
  ),
  plain('field selector of nothing', get('configmaps?fieldSelector==')),
  plain('field selector of no field', get('configmaps?fieldSelector=%3Da')),
  plain('version beyond 64 bits', get('configmaps?resourceVersion=18446744073709551616')),
  plain('place in a list of another form', get('configmaps?continue=eyJ2IjoieCJ9')),
  plain('query with a bad escape', get('configmaps?labelSelector=%zz')),
  plain('query of unknown things', get('configmaps?colour=red')),
];
