// JSON patches and merge patches, on ConfigMaps.
import { create, json, merge, type Row } from './case.ts';

export const jsonPatchRows: readonly Row[] = [
  [
    'json: add, replace, remove',
    [create('alice', { data: { a: '1', b: '2' } })],
    json('bob', [
      { op: 'add', path: '/data/c', value: '3' },
      { op: 'replace', path: '/data/a', value: '9' },
      { op: 'remove', path: '/data/b' },
    ]),
  ],
  [
    'json: test and move',
    [create('alice', { data: { a: '1' } })],
    json('bob', [
      { op: 'test', path: '/data', value: { a: '1' } },
      { op: 'move', from: '/data/a', path: '/data/b' },
    ]),
  ],
  [
    'json: copy',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'copy', from: '/data', path: '/metadata/annotations' }]),
  ],
  [
    'json: replace of what is not there adds',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'replace', path: '/data/b', value: '2' }]),
  ],
  [
    'json: escapes',
    [create('alice', { metadata: { annotations: { 'x/y': '1' } } })],
    json('bob', [{ op: 'replace', path: '/metadata/annotations/x~1y', value: '2' }]),
  ],
  [
    'json: indexes',
    [create('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    json('bob', [
      { op: 'add', path: '/metadata/finalizers/1', value: 'x.y/c' },
      { op: 'add', path: '/metadata/finalizers/-', value: 'x.y/d' },
      { op: 'remove', path: '/metadata/finalizers/0' },
    ]),
  ],
  [
    'json: indexes from the end',
    [create('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    json('bob', [
      { op: 'replace', path: '/metadata/finalizers/-1', value: 'x.y/c' },
      { op: 'add', path: '/metadata/finalizers/-1', value: 'x.y/d' },
    ]),
  ],
  ['json: nothing', [create('alice', { data: { a: '1' } })], json('bob', [])],
  ['json: null', [create('alice', { data: { a: '1' } })], json('bob', null)],
  [
    'json: failed test',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'test', path: '/data/a', value: '2' }]),
  ],
  [
    'json: test of null on what is not there',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'test', path: '/data/b', value: null }]),
  ],
  [
    'json: remove of what is not there',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'remove', path: '/data/b' }]),
  ],
  [
    'json: add below what is not there',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'add', path: '/binaryData/b', value: 'eA==' }]),
  ],
  [
    'json: add below a scalar',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'add', path: '/data/a/b', value: 'x' }]),
  ],
  [
    'json: index out of range',
    [create('alice', { metadata: { finalizers: ['x.y/a'] } })],
    json('bob', [{ op: 'add', path: '/metadata/finalizers/3', value: 'x.y/b' }]),
  ],
  [
    'json: index that is none',
    [create('alice', { metadata: { finalizers: ['x.y/a'] } })],
    json('bob', [{ op: 'replace', path: '/metadata/finalizers/x', value: 'x.y/b' }]),
  ],
  [
    'json: move of what is not there',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'move', from: '/data/b', path: '/data/c' }]),
  ],
  [
    'json: move into itself',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'move', from: '/data', path: '/data/c' }]),
  ],
  ['json: unknown operation', [create('alice', { data: { a: '1' } })], json('bob', [{ op: 'frob', path: '/data/a' }])],
  ['json: no path', [create('alice', { data: { a: '1' } })], json('bob', [{ op: 'add', value: '1' }])],
  [
    'json: add of the whole document',
    [create('alice', { data: { a: '1' } })],
    json('bob', [{ op: 'add', path: '', value: {} }]),
  ],
  ['json: not a list', [create('alice', { data: { a: '1' } })], json('bob', { op: 'add' })],
  ['json: not operations', [create('alice', { data: { a: '1' } })], json('bob', [1])],
  ['json: operation is a number', [create('alice', { data: { a: '1' } })], json('bob', [{ op: 1, path: '/x' }])],
  [
    'json: too many operations',
    [create('alice', { data: { a: '1' } })],
    json(
      'bob',
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' })),
    ),
  ],
  [
    'merge: set, change, remove',
    [create('alice', { data: { a: '1', b: '2' } })],
    merge('bob', { data: { a: null, b: '3', c: '4' } }),
  ],
  [
    'merge: null for all labels',
    [create('alice', { metadata: { labels: { a: 'b' } } })],
    merge('bob', { metadata: { labels: null } }),
  ],
  [
    'merge: list replaced',
    [create('alice', { metadata: { finalizers: ['x.y/a', 'x.y/b'] } })],
    merge('bob', { metadata: { finalizers: ['x.y/c'] } }),
  ],
  ['merge: nothing', [create('alice', { data: { a: '1' } })], merge('bob', {})],
  ['merge: a list', [create('alice', { data: { a: '1' } })], merge('bob', [])],
  ['merge: null', [create('alice', { data: { a: '1' } })], merge('bob', null)],
  ['merge: a number', [create('alice', { data: { a: '1' } })], merge('bob', 5)],
];
