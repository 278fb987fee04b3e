// Field tracking and apply on the simplest type.
import { apply, create, merge, type Row, update } from './case.ts';

export const configMapRows: readonly Row[] = [
  ['create', [], create('alice', { data: { a: '1' } })],
  [
    'create with labels, annotations, finalizers',
    [],
    create('alice', {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['x.y/z'] },
      data: { a: '1' },
    }),
  ],
  [
    'create with owners',
    [],
    create('alice', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-1' }] } }),
  ],
  [
    'update of a value by another',
    [create('alice', { data: { a: '1', b: '2' } })],
    update('bob', { data: { a: '9' } }),
  ],
  ['update that changes nothing', [create('alice', { data: { a: '1' } })], update('bob', {})],
  [
    'update that removes a member of another',
    [create('alice', { data: { a: '1', b: '2' } })],
    update('bob', { data: { b: null } }),
  ],
  ['update that removes all members', [create('alice', { data: { a: '1' } })], update('bob', { data: null })],
  ['update that adds to a map', [create('alice', { data: { a: '1' } })], update('alice', { data: { b: '2' } })],
  [
    'update by the same manager changes its time',
    [create('alice', { data: { a: '1' } })],
    update('alice', { data: { a: '2' } }),
  ],
  [
    'update that empties managedFields',
    [create('alice', { data: { a: '1' } })],
    update('bob', { metadata: { managedFields: [{}] } }),
  ],
  [
    'update after managedFields were emptied',
    [create('alice', { data: { a: '1' } }), update('bob', { metadata: { managedFields: [{}] } })],
    update('bob', { data: { a: '2' } }),
  ],
  [
    'update with managedFields left out',
    [create('alice', { data: { a: '1' } })],
    update('bob', { metadata: { managedFields: null }, data: { b: '1' } }),
  ],
  [
    'update with managedFields of its own',
    [create('alice', { data: { a: '1' } })],
    update('bob', {
      metadata: {
        managedFields: [
          {
            manager: 'carol',
            operation: 'Apply',
            apiVersion: 'v1',
            time: '2020-01-01T00:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { 'f:a': {} } },
          },
        ],
      },
    }),
  ],
  [
    'eleventh updater',
    [
      create('m00', { data: { k: '0' } }),
      ...Array.from({ length: 9 }, (_, index) => merge(`m${10 + index}`, { data: { [`k${index}`]: '1' } })),
    ],
    merge('m99', { data: { last: '1' } }),
  ],
  [
    'twelfth updater',
    [
      create('m00', { data: { k: '0' } }),
      ...Array.from({ length: 10 }, (_, index) => merge(`m${10 + index}`, { data: { [`k${index}`]: '1' } })),
    ],
    merge('m99', { data: { last: '1' } }),
  ],
  ['apply creates', [], apply('alice', { metadata: { labels: { a: 'b' } }, data: { a: '1' } })],
  ['apply of the same changes nothing', [apply('alice', { data: { a: '1' } })], apply('alice', { data: { a: '1' } })],
  [
    'apply of what another applied is owned by both',
    [apply('alice', { data: { a: '1' } })],
    apply('bob', { data: { a: '1' } }),
  ],
  [
    'apply of what another created is owned by both',
    [create('alice', { data: { a: '1' } })],
    apply('bob', { data: { a: '1' } }),
  ],
  ['apply of another value is refused', [apply('alice', { data: { a: '1' } })], apply('bob', { data: { a: '2' } })],
  [
    'apply of another value is refused, against an update',
    [create('alice', { data: { a: '1' } })],
    apply('bob', { data: { a: '2' } }),
  ],
  [
    'apply of other values is refused, two managers',
    [apply('alice', { data: { a: '1', b: '2' } }), apply('carol', { data: { c: '3' } })],
    apply('bob', { data: { a: '9', b: '9', c: '9' } }),
  ],
  [
    'apply of other values is refused, applied and updated',
    [apply('alice', { data: { a: '1' } }), merge('carol', { data: { c: '3' } })],
    apply('bob', { data: { a: '9', c: '9' } }),
  ],
  [
    'apply of another value by force',
    [apply('alice', { data: { a: '1', b: '1' } })],
    apply('bob', { data: { a: '2' } }, { force: true }),
  ],
  [
    'apply by force takes the last field of another',
    [apply('alice', { data: { a: '1' } })],
    apply('bob', { data: { a: '2' } }, { force: true }),
  ],
  [
    'apply without a field removes it',
    [apply('alice', { data: { a: '1', b: '2' } })],
    apply('alice', { data: { a: '1' } }),
  ],
  [
    'apply without a field keeps it for another',
    [apply('alice', { data: { a: '1', b: '2' } }), apply('bob', { data: { b: '2' } })],
    apply('alice', { data: { a: '1' } }),
  ],
  [
    'apply without a field keeps it for an updater',
    [apply('alice', { data: { a: '1', b: '2' } }), merge('bob', { data: { b: '3' } })],
    apply('alice', { data: { a: '1' } }),
  ],
  [
    'apply without anything removes everything',
    [apply('alice', { metadata: { labels: { x: 'y' } }, data: { a: '1' } })],
    apply('alice', {}),
  ],
  [
    'apply without anything keeps what others own',
    [apply('alice', { data: { a: '1' } }), apply('bob', { data: { b: '1' } })],
    apply('alice', {}),
  ],
  [
    'apply without anything empties a map that another made',
    [create('bob', { data: { b: '1' } }), apply('alice', { data: { a: '1' } }), merge('bob', { data: { b: null } })],
    apply('alice', {}),
  ],
  [
    'apply after an update of its own field',
    [apply('alice', { data: { a: '1' } }), merge('bob', { data: { a: '2' } })],
    apply('alice', { data: { a: '1' } }),
  ],
  [
    'apply where nothing was tracked',
    [create('alice', { data: { a: '1' } }), update('bob', { metadata: { managedFields: [{}] } })],
    apply('carol', { data: { b: '2' } }),
  ],
  [
    'apply of another value where nothing was tracked',
    [create('alice', { data: { a: '1' } }), update('bob', { metadata: { managedFields: [{}] } })],
    apply('carol', { data: { a: '2' } }),
  ],
  ['apply with managedFields', [], apply('alice', { metadata: { managedFields: [] } })],
  ['apply of a number for a string', [], apply('alice', { data: { a: 1 } })],
  ['apply of unknown members', [], apply('alice', { zork: 1, spec: {} })],
  ['apply of null', [apply('alice', { data: { a: '1' } })], apply('alice', { data: { a: '1' }, immutable: null })],
  ['apply of an empty map', [], apply('alice', { metadata: { labels: {} }, data: {} })],
  [
    'apply of finalizers beside another',
    [apply('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    apply('bob', { metadata: { finalizers: ['x.y/c', 'x.y/a'] } }),
  ],
  [
    'apply without a finalizer',
    [apply('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    apply('alice', { metadata: { finalizers: ['x.y/b'] } }),
  ],
  [
    'apply of finalizers in another order',
    [apply('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    apply('alice', { metadata: { finalizers: ['x.y/b', 'x.y/a'] } }),
  ],
  ['apply of a finalizer twice', [], apply('alice', { metadata: { finalizers: ['x.y/a', 'x.y/a'] } })],
  [
    'apply of owners beside another',
    [apply('alice', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-1' }] } })],
    apply('bob', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'm', uid: 'u-2' }] } }),
  ],
  [
    'apply of another owner with the same uid',
    [apply('alice', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-1' }] } })],
    apply('bob', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'm', uid: 'u-1' }] } }),
  ],
  [
    'kubectl takes over what it applied on the client side',
    [
      create('kubectl-client-side-apply', {
        metadata: {
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration':
              '{"apiVersion":"v1","kind":"ConfigMap","metadata":{},"data":{"a":"1","b":"<x>"}}\n',
          },
        },
        data: { a: '1', b: '<x>' },
      }),
    ],
    apply('kubectl', { data: { a: '2', b: '<y>' } }),
  ],
  [
    'kubectl does not take over what has changed since',
    [
      create('kubectl-client-side-apply', {
        metadata: {
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration':
              '{"apiVersion":"v1","kind":"ConfigMap","metadata":{},"data":{"a":"1"}}\n',
          },
        },
        data: { a: '1' },
      }),
      merge('bob', { data: { a: '5' } }),
    ],
    apply('kubectl', { data: { a: '2' } }),
  ],
];
