// Strategic merge patches, on ConfigMaps and Deployments.
import { create, type JsonMap, type Row, strategic } from './case.ts';
import { deployment, podSpec, side, template, web } from './workloads.ts';

export const metadataPatchRows: readonly Row[] = [
  [
    'strategic: finalizers are merged',
    [create('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    strategic('bob', { metadata: { finalizers: ['x.y/c', 'x.y/b'] } }),
  ],
  [
    'strategic: finalizers are deleted',
    [create('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    strategic('bob', { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.y/a'] } }),
  ],
  [
    'strategic: finalizers in order',
    [create('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    strategic('bob', {
      metadata: { '$setElementOrder/finalizers': ['x.y/b', 'x.y/c', 'x.y/a'], finalizers: ['x.y/c'] },
    }),
  ],
  [
    'strategic: order that the list breaks',
    [create('alice', { metadata: { finalizers: ['x.y/a'] } })],
    strategic('bob', {
      metadata: { '$setElementOrder/finalizers': ['x.y/b', 'x.y/c'], finalizers: ['x.y/c', 'x.y/b'] },
    }),
  ],
  [
    'strategic: owners by uid',
    [create('alice', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-1' }] } })],
    strategic('bob', {
      metadata: {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: 'm', uid: 'u-2' },
          { uid: 'u-1', blockOwnerDeletion: true },
        ],
      },
    }),
  ],
  [
    'strategic: owner deleted',
    [create('alice', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-1' }] } })],
    strategic('bob', { metadata: { ownerReferences: [{ $patch: 'delete', uid: 'u-1' }] } }),
  ],
  [
    'strategic: map replaced',
    [create('alice', { data: { a: '1', b: '2' } })],
    strategic('bob', { data: { $patch: 'replace', c: '3' } }),
  ],
  [
    'strategic: map deleted',
    [create('alice', { data: { a: '1', b: '2' } })],
    strategic('bob', { data: { $patch: 'delete' } }),
  ],
  [
    'strategic: null removes',
    [create('alice', { data: { a: '1', b: '2' } })],
    strategic('bob', { data: { a: null, c: null } }),
  ],
  ['strategic: a list', [create('alice', { data: { a: '1' } })], strategic('bob', [])],
  ['strategic: null', [create('alice', { data: { a: '1' } })], strategic('bob', null)],
  [
    'strategic: unknown directive',
    [create('alice', { data: { a: '1' } })],
    strategic('bob', { data: { $patch: 'frob' } }),
  ],
];

export const templatePatchRows: readonly Row[] = [
  [
    'strategic: containers are merged',
    [create('alice', deployment(web, side))],
    strategic(
      'bob',
      template({
        containers: [
          { name: 'side', image: 'side:2' },
          { name: 'new', image: 'new:1' },
        ],
      }),
    ),
  ],
  [
    'strategic: container deleted',
    [create('alice', deployment(web, side))],
    strategic('bob', template({ containers: [{ $patch: 'delete', name: 'web' }] })),
  ],
  [
    'strategic: containers replaced',
    [create('alice', deployment(web, side))],
    strategic('bob', template({ containers: [{ $patch: 'replace' }, { name: 'new', image: 'new:1' }] })),
  ],
  [
    'strategic: containers in order',
    [create('alice', deployment(web, side))],
    strategic(
      'bob',
      template({
        '$setElementOrder/containers': [{ name: 'side' }, { name: 'new' }, { name: 'web' }],
        containers: [
          { name: 'new', image: 'new:1' },
          { name: 'web', image: 'web:2' },
        ],
      }),
    ),
  ],
  [
    'strategic: order alone',
    [create('alice', deployment(web, side))],
    strategic('bob', template({ '$setElementOrder/containers': [{ name: 'side' }, { name: 'web' }] })),
  ],
  [
    'strategic: env, ports and args',
    [create('alice', deployment(web))],
    strategic(
      'bob',
      template({
        containers: [
          {
            name: 'web',
            args: ['z'],
            env: [
              { name: 'C', value: '3' },
              { name: 'A', value: null, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            ],
            ports: [{ containerPort: 80, name: 'http' }],
          },
        ],
      }),
    ),
  ],
  [
    'strategic: retain keys',
    [create('alice', deployment(web))],
    strategic('bob', { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
  ],
  [
    'strategic: retain keys with others',
    [create('alice', deployment(web))],
    strategic('bob', { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: {} } } }),
  ],
  [
    'strategic: retain keys of a volume',
    [
      create('alice', {
        ...deployment(web),
        spec: {
          ...(deployment(web).spec as JsonMap),
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { ...podSpec(web), volumes: [{ name: 'v', emptyDir: {} }] },
          },
        },
      }),
    ],
    strategic(
      'bob',
      template({ volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x', type: '' } }] }),
    ),
  ],
  [
    'strategic: new list with directives in it',
    [create('alice', deployment(web))],
    strategic(
      'bob',
      template({
        volumes: [
          { name: 'v', emptyDir: {}, $retainKeys: ['name', 'emptyDir'] },
          { name: 'w', $patch: 'delete' },
        ],
        '$setElementOrder/volumes': [{ name: 'v' }],
      }),
    ),
  ],
  [
    'strategic: no merge key',
    [create('alice', deployment(web))],
    strategic('bob', template({ containers: [{ image: 'x' }] })),
  ],
  [
    'strategic: unknown directive in an item',
    [create('alice', deployment(web))],
    strategic('bob', template({ containers: [{ name: 'web', $patch: 'frob' }] })),
  ],
  [
    'strategic: merge directive in an item',
    [create('alice', deployment(web))],
    strategic('bob', template({ containers: [{ name: 'web', $patch: 'merge' }] })),
  ],
  [
    'strategic: directive that is a number',
    [create('alice', deployment(web))],
    strategic('bob', { spec: { template: { $patch: 5 } } }),
  ],
  [
    'strategic: items of two kinds',
    [create('alice', deployment(side))],
    strategic('bob', template({ containers: [5] })),
  ],
  [
    'strategic: order without an item',
    [create('alice', deployment(web, side))],
    strategic(
      'bob',
      template({ '$setElementOrder/containers': [{ name: 'side' }], containers: [{ name: 'web', image: 'x' }] }),
    ),
  ],
  [
    'strategic: atomic list is replaced',
    [create('alice', deployment(web))],
    strategic('bob', template({ tolerations: [{ key: 'a', operator: 'Exists' }] })),
  ],
  [
    'strategic: node selector is merged',
    [
      create('alice', {
        ...deployment(web),
        spec: {
          ...(deployment(web).spec as JsonMap),
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { ...podSpec(web), nodeSelector: { a: '1', b: '2' } },
          },
        },
      }),
    ],
    strategic('bob', template({ nodeSelector: { a: null, c: '3' } })),
  ],
  [
    'strategic: an item twice',
    [create('alice', deployment(web))],
    strategic(
      'bob',
      template({
        containers: [
          { name: 'web', image: 'x' },
          { name: 'web', image: 'y' },
        ],
      }),
    ),
  ],
];
