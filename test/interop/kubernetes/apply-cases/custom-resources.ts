// Custom resources: a schema with every kind of list and map, and none.
import { apply, create, type Json, type JsonMap, json, merge, type Row } from './case.ts';

const text: Json = { type: 'string' };
const number: Json = { type: 'integer' };

/** The schemas of the custom resources. */
export const customSchemas: Readonly<Record<'widgets' | 'blobs', JsonMap>> = {
  widgets: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: number,
          note: { type: 'string', nullable: true },
          port: { 'x-kubernetes-int-or-string': true },
          tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
          words: { type: 'array', items: text },
          parts: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: { type: 'object', required: ['name'], properties: { name: text, count: number, colour: text } },
          },
          doors: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port', 'protocol'],
            items: {
              type: 'object',
              required: ['port'],
              properties: { port: number, protocol: { type: 'string', default: 'TCP' }, open: { type: 'boolean' } },
            },
          },
          options: { type: 'object', additionalProperties: text },
          whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: number, b: number } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          nested: { type: 'object', properties: { x: number, deeper: { type: 'object', properties: { y: number } } } },
        },
      },
      status: { type: 'object', properties: { ready: { type: 'boolean' }, count: number } },
    },
  },
  blobs: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
};
export const widgetRows: readonly Row[] = [
  [
    'create',
    [],
    create('alice', {
      spec: {
        size: 1,
        tags: ['a'],
        parts: [{ name: 'p', count: 1 }],
        options: { x: '1' },
        whole: { a: 1 },
        free: { q: { r: [1] } },
        nested: { deeper: { y: 1 } },
      },
    }),
  ],
  ['create with nothing in it', [], create('alice', { spec: {} })],
  [
    'update of a nested member',
    [create('alice', { spec: { nested: { x: 1 } } })],
    merge('bob', { spec: { nested: { deeper: { y: 2 } } } }),
  ],
  [
    'update of an atomic map',
    [create('alice', { spec: { whole: { a: 1 } } })],
    merge('bob', { spec: { whole: { b: 2 } } }),
  ],
  ['update of a set', [create('alice', { spec: { tags: ['a', 'b'] } })], merge('bob', { spec: { tags: ['b', 'c'] } })],
  [
    'update of a list map',
    [
      create('alice', {
        spec: {
          parts: [
            { name: 'a', count: 1 },
            { name: 'b', count: 1 },
          ],
        },
      }),
    ],
    merge('bob', { spec: { parts: [{ name: 'b', count: 2 }, { name: 'c' }] } }),
  ],
  ['update of a plain list', [create('alice', { spec: { words: ['a'] } })], merge('bob', { spec: { words: ['b'] } })],
  [
    'status is not owned by the main resource',
    [create('alice', { spec: { size: 1 } })],
    merge('bob', { spec: { size: 2 }, status: { ready: true } }),
  ],
  [
    'status by its subresource',
    [create('alice', { spec: { size: 1 } })],
    merge(
      'controller',
      { metadata: { labels: { a: 'b' } }, spec: { size: 5 }, status: { ready: true } },
      { subresource: 'status' },
    ),
  ],
  [
    'apply creates',
    [],
    apply('alice', {
      spec: {
        size: 1,
        tags: ['a'],
        parts: [{ name: 'p', count: 1 }],
        doors: [{ port: 1 }],
        options: { x: '1' },
        whole: { a: 1 },
        free: { q: { r: [1] }, s: {} },
        nested: { deeper: {} },
      },
    }),
  ],
  [
    'apply of the same changes nothing',
    [apply('alice', { spec: { size: 1, tags: ['a'], doors: [{ port: 1, protocol: 'TCP' }] } })],
    apply('alice', { spec: { size: 1, tags: ['a'], doors: [{ port: 1, protocol: 'TCP' }] } }),
  ],
  [
    'apply of a set beside another',
    [apply('alice', { spec: { tags: ['a', 'b'] } })],
    apply('bob', { spec: { tags: ['c', 'b'] } }),
  ],
  [
    'apply of a set in the midst',
    [apply('alice', { spec: { tags: ['a', 'b', 'c', 'd'] } })],
    apply('bob', { spec: { tags: ['d', 'x', 'b'] } }),
  ],
  [
    'apply without a set item',
    [apply('alice', { spec: { tags: ['a', 'b'] } }), apply('bob', { spec: { tags: ['b'] } })],
    apply('alice', { spec: { tags: [] } }),
  ],
  [
    'apply of a list map beside another',
    [apply('alice', { spec: { parts: [{ name: 'a', count: 1 }] } })],
    apply('bob', { spec: { parts: [{ name: 'a', colour: 'red' }, { name: 'b' }] } }),
  ],
  [
    'apply without an item another has a field of',
    [
      apply('alice', { spec: { parts: [{ name: 'a', count: 1 }] } }),
      apply('bob', { spec: { parts: [{ name: 'a', colour: 'red' }] } }),
    ],
    apply('alice', { spec: { size: 1 } }),
  ],
  [
    'apply without an item another has updated',
    [
      apply('alice', {
        spec: {
          parts: [
            { name: 'a', count: 1 },
            { name: 'b', count: 1 },
          ],
        },
      }),
      merge('bob', {
        spec: {
          parts: [
            { name: 'a', count: 1, colour: 'red' },
            { name: 'b', count: 1 },
          ],
        },
      }),
    ],
    apply('alice', { spec: { parts: [{ name: 'b', count: 1 }] } }),
  ],
  [
    'apply of a changed item is refused',
    [apply('alice', { spec: { parts: [{ name: 'a', count: 1 }], doors: [{ port: 1, open: true }] } })],
    apply('bob', { spec: { parts: [{ name: 'a', count: 2 }], doors: [{ port: 1, protocol: 'TCP', open: false }] } }),
  ],
  [
    'apply of an atomic map is refused',
    [apply('alice', { spec: { whole: { a: 1 } } })],
    apply('bob', { spec: { whole: { b: 1 } } }),
  ],
  [
    'apply of a plain list is refused',
    [apply('alice', { spec: { words: ['a'] } })],
    apply('bob', { spec: { words: ['b'] } }),
  ],
  [
    'apply of free-form members beside another',
    [apply('alice', { spec: { free: { a: { b: 1 } } } })],
    apply('bob', { spec: { free: { a: { c: 2 }, d: 3 } } }),
  ],
  [
    'apply of free-form members is refused',
    [apply('alice', { spec: { free: { a: { b: 1 }, list: [1, 2] } } })],
    apply('bob', { spec: { free: { a: 5, list: [2] } } }),
  ],
  [
    'apply without nested members',
    [apply('alice', { spec: { nested: { x: 1, deeper: { y: 1 } } } })],
    apply('alice', { spec: { nested: { x: 1 } } }),
  ],
  ['apply without anything', [apply('alice', { spec: { nested: { x: 1 } } })], apply('alice', {})],
  ['apply of null', [], apply('alice', { spec: { note: null, size: 1 } })],
  ['apply of int or string', [apply('alice', { spec: { port: 80 } })], apply('bob', { spec: { port: 'http' } })],
  ['apply of an unknown field', [], apply('alice', { spec: { zork: 1 } })],
  ['apply of an item without keys', [], apply('alice', { spec: { parts: [{ count: 1 }] } })],
  ['apply of an item twice', [], apply('alice', { spec: { doors: [{ port: 1 }, { port: 1, protocol: 'TCP' }] } })],
  [
    'apply of status',
    [create('alice', { spec: { size: 1 } })],
    apply(
      'controller',
      { metadata: { labels: { a: 'b' } }, spec: { size: 5 }, status: { ready: true } },
      { subresource: 'status' },
    ),
  ],
  [
    'merge: nulls in new values',
    [create('alice', { spec: { size: 1 } })],
    merge('bob', { spec: { free: { a: null, b: { c: null, d: 1 }, e: [{ f: null, g: 1 }, null] } } }),
  ],
  [
    'json: null in a free-form member',
    [create('alice', { spec: { free: {} } })],
    json('bob', [
      { op: 'add', path: '/spec/free/a', value: null },
      { op: 'copy', from: '/spec/free/zork', path: '/spec/free/b' },
    ]),
  ],
];

export const blobRows: readonly Row[] = [
  [
    'create',
    [],
    create('alice', {
      metadata: { labels: { a: 'b' }, finalizers: ['x.y/z'] },
      spec: { a: { b: [1] }, c: 1 },
      other: {},
    }),
  ],
  [
    'update',
    [create('alice', { spec: { a: { b: [1] }, c: 1 } })],
    merge('bob', { spec: { a: { b: [2] }, d: {} }, more: true }),
  ],
  [
    'update of a shape',
    [create('alice', { spec: { a: { b: 1 }, c: [1], d: 1 } })],
    merge('bob', { spec: { a: [1], c: 1, d: { e: 1 } } }),
  ],
  [
    'apply creates',
    [],
    apply('alice', { metadata: { labels: { a: 'b' }, finalizers: ['x.y/z'] }, spec: { a: { b: [{ c: 1 }] } } }),
  ],
  ['apply beside another', [apply('alice', { spec: { a: { b: 1 } } })], apply('bob', { spec: { a: { c: 1 } } })],
  ['apply is refused', [apply('alice', { spec: { a: { b: 1 } } })], apply('bob', { spec: { a: { b: 2 } } })],
  [
    'apply of another shape by force',
    [apply('alice', { spec: { a: { b: 1 } } })],
    apply('bob', { spec: { a: [1] } }, { force: true }),
  ],
  ['apply without a member', [apply('alice', { spec: { a: { b: 1 }, c: 2 } })], apply('alice', { spec: { c: 2 } })],
];
