// Nested lists by key, defaults and subresources.
import { apply, create, type JsonMap, merge, type Row, strategic } from './case.ts';
import { condition, deployment, podSpec, side, template, web } from './workloads.ts';

export const deploymentRows: readonly Row[] = [
  ['create', [], create('alice', deployment(web, side))],
  [
    'update of the image by another',
    [create('alice', deployment(web))],
    strategic('bob', template({ containers: [{ name: 'web', image: 'web:2' }] })),
  ],
  [
    'status by the status subresource',
    [create('alice', deployment(web))],
    merge('controller', { status: { replicas: 1, conditions: [condition('Available')] } }, { subresource: 'status' }),
  ],
  [
    'spec by the status subresource is not owned',
    [create('alice', deployment(web))],
    merge(
      'controller',
      { metadata: { labels: { x: 'y' }, annotations: { x: 'y' } }, spec: { replicas: 7 }, status: { replicas: 1 } },
      { subresource: 'status' },
    ),
  ],
  [
    'status by the main resource is not owned',
    [create('alice', deployment(web))],
    merge('bob', { spec: { replicas: 2 }, status: { replicas: 2 } }),
  ],
  ['apply creates', [], apply('alice', deployment(web, side))],
  ['apply of one field beside a creator', [create('alice', deployment(web))], apply('bob', { spec: { paused: true } })],
  ['apply of replicas is refused', [create('alice', deployment(web))], apply('bob', { spec: { replicas: 3 } })],
  [
    'apply of replicas by force',
    [create('alice', deployment(web))],
    apply('bob', { spec: { replicas: 3 } }, { force: true }),
  ],
  [
    'apply of much is refused',
    [create('alice', deployment(web))],
    apply('bob', {
      spec: {
        replicas: 3,
        ...(template({
          containers: [
            {
              name: 'web',
              image: 'q',
              args: ['z'],
              env: [{ name: 'A', value: '9' }],
              ports: [{ containerPort: 80, name: 'http' }],
            },
          ],
        }).spec as JsonMap),
      },
    }),
  ],
  [
    'apply adds a container of its own',
    [apply('alice', deployment(web))],
    apply('bob', template({ containers: [side] })),
  ],
  [
    'apply without its container removes it',
    [apply('alice', deployment(web)), apply('bob', template({ containers: [side] }))],
    apply('bob', { metadata: { labels: { b: '1' } } }),
  ],
  [
    'apply without env removes items',
    [apply('alice', deployment(web))],
    apply('alice', deployment({ ...web, env: [{ name: 'B', value: '2' }] })),
  ],
  [
    'apply without ports removes the list',
    [apply('alice', deployment(web))],
    apply('alice', deployment({ name: 'web', image: 'web:1' })),
  ],
  [
    'apply of containers in another order',
    [apply('alice', deployment(web, side))],
    apply('alice', deployment(side, web)),
  ],
  [
    'apply of a container between',
    [apply('alice', deployment(web, side))],
    apply(
      'bob',
      template({
        containers: [
          { name: 'mid', image: 'mid:1' },
          { name: 'side', image: 'side:1' },
        ],
      }),
    ),
  ],
  [
    'apply without replicas gives up the field, default stays',
    [apply('alice', { ...deployment(web), spec: { ...(deployment(web).spec as JsonMap), replicas: 3 } })],
    apply('alice', deployment(web)),
  ],
  [
    'apply keeps replicas for the autoscaler',
    [
      apply('alice', { ...deployment(web), spec: { ...(deployment(web).spec as JsonMap), replicas: 3 } }),
      merge('autoscaler', { spec: { replicas: 5 } }),
    ],
    apply('alice', deployment(web)),
  ],
  [
    'apply of status by the status subresource',
    [create('alice', deployment(web))],
    apply('controller', { status: { replicas: 2, conditions: [condition('Available')] } }, { subresource: 'status' }),
  ],
  [
    'apply of status again',
    [
      create('alice', deployment(web)),
      apply(
        'controller',
        { status: { replicas: 2, conditions: [condition('Available'), condition('Progressing')] } },
        { subresource: 'status' },
      ),
    ],
    apply(
      'controller',
      { status: { replicas: 2, conditions: [condition('Available', 'False')] } },
      { subresource: 'status' },
    ),
  ],
  [
    'apply of status is refused',
    [create('alice', deployment(web)), apply('controller', { status: { replicas: 2 } }, { subresource: 'status' })],
    apply('other', { status: { replicas: 3 } }, { subresource: 'status' }),
  ],
  [
    'apply of labels in the template beside another',
    [apply('alice', deployment(web))],
    apply('bob', { spec: { template: { metadata: { annotations: { b: '1' } } } } }),
  ],
  [
    'apply of a volume and its mount',
    [apply('alice', deployment(web))],
    apply(
      'bob',
      template({
        volumes: [{ name: 'v', emptyDir: {} }],
        containers: [{ name: 'web', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      }),
    ),
  ],
  [
    'apply without the volume and its mount',
    [
      apply('alice', deployment(web)),
      apply(
        'bob',
        template({
          volumes: [{ name: 'v', emptyDir: {} }],
          containers: [{ name: 'web', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
        }),
      ),
    ],
    apply('bob', { metadata: { labels: { b: '1' } } }),
  ],
  [
    'apply of the wrong types',
    [],
    apply('alice', { spec: { replicas: [1], paused: 'x', template: { spec: { containers: { a: 1 } } } } }),
  ],
  ['apply of an unknown field', [], apply('alice', { spec: { zork: 1 } })],
  ['apply of a container twice', [], apply('alice', template({ containers: [side, side] }))],
  ['apply of containers that are none', [], apply('alice', template({ containers: [5] }))],
  [
    'apply of a tolerations list is atomic',
    [
      apply('alice', {
        ...deployment(web),
        spec: {
          ...(deployment(web).spec as JsonMap),
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { ...podSpec(web), tolerations: [{ key: 'a', operator: 'Exists' }] },
          },
        },
      }),
    ],
    apply('bob', template({ tolerations: [{ key: 'b', operator: 'Exists' }] })),
  ],
  [
    'update through the scale subresource',
    [create('alice', deployment(web))],
    merge('autoscaler', { spec: { replicas: 4 } }, { subresource: 'scale' }),
  ],
];
