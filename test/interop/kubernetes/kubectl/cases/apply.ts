// kubectl apply, on either side, diff and kustomize.
import { configMap, deployment, service } from '../../cases/objects.ts';
import { fed, type KubectlCase, plain, sorted, withFiles } from '../case.ts';

const map = (...data: readonly string[]): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n${data.map((line) => `  ${line}\n`).join('')}`;

export const applyCases: readonly KubectlCase[] = [
  withFiles(
    'apply',
    {
      '1.yaml': map('a: "1"', 'b: "2"'),
      '2.yaml': map('a: "1"', 'c: "3"'),
      'bad.yaml': map('a: {}'),
      'dir/a.json': configMap('da'),
      'dir/b.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: db\n',
    },
    'apply -f 1.yaml --dry-run=server',
    'apply -f 1.yaml --dry-run=client',
    'diff -f 1.yaml',
    'apply -f 1.yaml',
    'apply -f 1.yaml',
    'diff -f 1.yaml',
    'diff -f 2.yaml',
    'apply -f 2.yaml',
    "get cm m -o 'jsonpath={.data}'",
    'get cm m -o yaml',
    'apply view-last-applied cm/m',
    'apply set-last-applied -f 1.yaml',
    'apply view-last-applied cm m -o json',
    'apply -f 2.yaml -o name',
    'apply -f bad.yaml',
    'diff -f bad.yaml',
    'apply -f dir',
    'apply -f dir -R',
    'apply -f nothing',
    'apply',
    'create configmap own --from-literal=a=1',
    fed('apply -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\ndata:\n  a: "2"\n'),
    'apply view-last-applied cm nothing',
    'apply -f 1.yaml --force --grace-period=0',
    'apply -f 1.yaml --server-side --force',
    'apply -f 1.yaml --dry-run=nothing',
  ),
  withFiles(
    'apply server side',
    { '1.yaml': map('a: "1"', 'b: "2"'), '2.yaml': map('a: "9"') },
    'apply --server-side -f 1.yaml',
    'apply --server-side -f 1.yaml',
    'apply --server-side -f 2.yaml --field-manager=other',
    'apply --server-side -f 2.yaml --field-manager=other --dry-run=server',
    'diff --server-side -f 2.yaml --field-manager=other',
    'diff --server-side -f 2.yaml --field-manager=other --force-conflicts',
    'apply --server-side -f 2.yaml --field-manager=other --force-conflicts',
    'apply --server-side -f 1.yaml',
    'get cm m -o yaml --show-managed-fields',
    'apply -f 2.yaml',
    "get cm m -o 'jsonpath={.data}'",
    'apply --server-side -f 2.yaml --dry-run=client',
    'apply --server-side -f 2.yaml --field-manager=',
    fed(
      'apply --server-side -f -',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  managedFields: [{manager: x}]\n',
    ),
    fed('apply --server-side -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: v\ndatas: {}\n'),
    fed(
      'apply --server-side --validate=ignore -f -',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: v\ndatas: {}\n',
    ),
  ),
  withFiles(
    'apply over the other side',
    { '1.yaml': map('a: "1"'), '2.yaml': map('b: "2"') },
    'apply -f 1.yaml',
    'apply --server-side -f 2.yaml',
    "get cm m -o 'jsonpath={.data}'",
    'get cm m -o yaml --show-managed-fields',
    'apply -f 1.yaml',
    "get cm m -o 'jsonpath={.data}'",
  ),
  withFiles(
    'apply with prune and selector',
    {
      'all.json': [configMap('a', {}, { labels: { set: 'x' } }), configMap('b', {}, { labels: { set: 'x' } })],
      'one.json': configMap('a', {}, { labels: { set: 'x' } }),
    },
    'apply -f all.json -l set=x',
    sorted('apply -f one.json -l set=x --prune --prune-allowlist=core/v1/ConfigMap'),
    'get cm -l set=x -o name',
    'apply -f all.json -l set=y',
    'apply -f all.json --prune',
  ),
  withFiles(
    'apply of what cannot change',
    {
      'deployment.json': deployment('web', {
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] },
          },
        },
      }),
      'other.json': deployment('web', {
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: 'other' } },
          template: {
            metadata: { labels: { app: 'other' } },
            spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] },
          },
        },
      }),
      'service.json': service('s'),
      'moved.json': service('s', {
        spec: { clusterIP: '10.0.77.77', selector: { app: 'web' }, ports: [{ port: 80 }] },
      }),
      'immutable.json': configMap('i', { immutable: true, data: { a: '1' } }),
      'changed.json': configMap('i', { immutable: true, data: { a: '2' } }),
      'nocontainers.json': deployment('none', {
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: {} },
        },
      }),
      'mismatch.json': deployment('mismatch', {
        spec: {
          selector: { matchLabels: { app: 'a' } },
          template: {
            metadata: { labels: { app: 'b' } },
            spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] },
          },
        },
      }),
      'port.json': service('p', { spec: { ports: [{ port: 70000 }] } }),
    },
    'apply -f deployment.json -f service.json -f immutable.json',
    'apply -f other.json',
    'apply -f moved.json',
    'apply -f changed.json',
    'apply -f nocontainers.json',
    'apply -f mismatch.json',
    'apply -f port.json',
    'apply --server-side -f other.json --force-conflicts',
    'replace -f changed.json',
    'diff -f changed.json',
  ),
  withFiles(
    'kustomize',
    {
      'base/kustomization.yaml':
        'resources: [m.yaml]\nnamePrefix: pre-\nlabels:\n- pairs: {app: web}\nconfigMapGenerator:\n- name: gen\n  literals: [a=b]\n',
      'base/m.yaml': map('a: "1"'),
      'over/kustomization.yaml':
        'resources: [../base]\npatches:\n- patch: |-\n    - op: replace\n      path: /data/a\n      value: "2"\n  target: {kind: ConfigMap, name: m}\n',
      'bad/kustomization.yaml': 'resources: [none.yaml]\n',
    },
    'kustomize base',
    sorted('apply -k over'),
    "get cm pre-m -o 'jsonpath={.data.a} {.metadata.labels.app}'",
    'diff -k over',
    'get -k over -o name',
    sorted('delete -k over'),
    'apply -k nothing',
    'apply -k base -f base',
  ),
  plain('diff refused', 'diff', 'diff -f nothing.yaml'),
];
