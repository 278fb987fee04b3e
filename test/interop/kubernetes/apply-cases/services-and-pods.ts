// Ports known by two keys; pods and their status.
import { apply, create, merge, type Row, strategic } from './case.ts';
import { condition, podSpec, side, web } from './workloads.ts';

export const serviceRows: readonly Row[] = [
  [
    'create',
    [],
    create('alice', {
      spec: {
        selector: { a: 'b' },
        ports: [
          { port: 80, name: 'http' },
          { port: 53, protocol: 'UDP', name: 'dns' },
        ],
      },
    }),
  ],
  ['apply of ports without protocol', [], apply('alice', { spec: { ports: [{ port: 80, name: 'http' }] } })],
  [
    'apply of a port beside another',
    [apply('alice', { spec: { ports: [{ port: 80, name: 'http' }] } })],
    apply('bob', { spec: { ports: [{ port: 443, name: 'https', protocol: 'TCP' }] } }),
  ],
  [
    'apply of the same port with another protocol',
    [apply('alice', { spec: { ports: [{ port: 53, name: 'tcp' }] } })],
    apply('bob', { spec: { ports: [{ port: 53, name: 'udp', protocol: 'UDP' }] } }),
  ],
  [
    'apply of another name for a port is refused',
    [apply('alice', { spec: { ports: [{ port: 80, name: 'http' }] } })],
    apply('bob', { spec: { ports: [{ port: 80, name: 'web', targetPort: 8080 }] } }),
  ],
  [
    'apply without a port',
    [
      apply('alice', {
        spec: {
          ports: [
            { port: 80, name: 'http' },
            { port: 443, name: 'https' },
          ],
        },
      }),
    ],
    apply('alice', { spec: { ports: [{ port: 443, name: 'https' }] } }),
  ],
  ['apply of a port twice', [], apply('alice', { spec: { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } })],
  [
    'apply of another selector is refused whole',
    [apply('alice', { spec: { selector: { a: 'b' }, ports: [{ port: 80 }] } })],
    apply('bob', { spec: { selector: { c: 'd' } } }),
  ],
  [
    'status conditions',
    [create('alice', { spec: { ports: [{ port: 80 }] } })],
    merge(
      'controller',
      {
        status: {
          conditions: [
            { ...condition('Ready'), reason: 'R', message: 'm', lastTransitionTime: '2020-01-01T00:00:00Z' },
          ],
        },
      },
      { subresource: 'status' },
    ),
  ],
  [
    'strategic: ports by port',
    [
      create('alice', {
        spec: {
          ports: [
            { port: 80, name: 'a' },
            { port: 81, name: 'b' },
          ],
        },
      }),
    ],
    strategic('bob', { spec: { ports: [{ port: 81, targetPort: 9 }] } }),
  ],
  [
    'strategic: port deleted',
    [
      create('alice', {
        spec: {
          ports: [
            { port: 80, name: 'a' },
            { port: 81, name: 'b' },
          ],
        },
      }),
    ],
    strategic('bob', { spec: { ports: [{ port: 81, $patch: 'delete' }] } }),
  ],
];

export const podRows: readonly Row[] = [
  [
    'create',
    [],
    create('alice', {
      spec: {
        ...podSpec({ ...web, volumeMounts: [{ name: 'v', mountPath: '/v' }] }, side),
        volumes: [{ name: 'v', emptyDir: {} }],
      },
      metadata: { labels: { a: 'b' } },
    }),
  ],
  ['create with a name made up', [], create('alice', { metadata: { generateName: 'x-' }, spec: podSpec(side) })],
  ['labels by another', [create('alice', { spec: podSpec(side) })], merge('bob', { metadata: { labels: { a: 'b' } } })],
  [
    'image by another',
    [create('alice', { spec: podSpec(side) })],
    strategic('bob', { spec: { containers: [{ name: 'side', image: 'side:2' }] } }),
  ],
  [
    'status by the kubelet',
    [create('alice', { spec: podSpec(side) })],
    strategic(
      'kubelet',
      {
        metadata: { ownerReferences: null },
        status: {
          phase: 'Running',
          podIP: '10.0.0.9',
          podIPs: [{ ip: '10.0.0.9' }],
          conditions: [condition('Ready'), condition('Initialized')],
          containerStatuses: [
            {
              name: 'side',
              ready: true,
              restartCount: 0,
              image: 'side:1',
              imageID: 'x',
              state: { running: { startedAt: '2020-01-01T00:00:00Z' } },
            },
          ],
        },
      },
      { subresource: 'status' },
    ),
  ],
  [
    'apply of status by two',
    [
      create('alice', { spec: podSpec(side) }),
      apply('kubelet', { status: { conditions: [condition('Ready')] } }, { subresource: 'status' }),
    ],
    apply('scheduler', { status: { conditions: [condition('PodScheduled')] } }, { subresource: 'status' }),
  ],
  [
    'apply of owners by the status subresource',
    [create('alice', { spec: podSpec(side) })],
    apply(
      'kubelet',
      {
        metadata: { labels: { x: 'y' }, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-1' }] },
        status: { conditions: [condition('Ready')] },
      },
      { subresource: 'status' },
    ),
  ],
];
