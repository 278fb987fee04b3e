// Cases of field tracking, server-side apply and patches, as data: what is done first, then the request whose answer is recorded.

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
export type JsonMap = { [member: string]: Json };

/**
 * `create` posts the body, `update` puts the live object with the body merged into it, the others are patches. `body` of a
 * create or apply gets apiVersion, kind and the name.
 */
export interface Step {
  readonly verb: 'create' | 'update' | 'json' | 'merge' | 'strategic' | 'apply';
  readonly manager: string;
  readonly body: Json;
  readonly force?: boolean;
  readonly subresource?: string;
}

export interface Case {
  readonly name: string;
  readonly resource: keyof typeof resources;
  readonly first: readonly Step[];
  readonly request: Step;
}

export const resources = {
  configmaps: { group: '', version: 'v1', kind: 'ConfigMap', namespaced: true, status: false, custom: false },
  secrets: { group: '', version: 'v1', kind: 'Secret', namespaced: true, status: false, custom: false },
  services: { group: '', version: 'v1', kind: 'Service', namespaced: true, status: true, custom: false },
  pods: { group: '', version: 'v1', kind: 'Pod', namespaced: true, status: true, custom: false },
  namespaces: { group: '', version: 'v1', kind: 'Namespace', namespaced: false, status: true, custom: false },
  nodes: { group: '', version: 'v1', kind: 'Node', namespaced: false, status: true, custom: false },
  endpoints: { group: '', version: 'v1', kind: 'Endpoints', namespaced: true, status: false, custom: false },
  events: {
    reportingComponent: '',
    reportingInstance: '',
    group: '',
    version: 'v1',
    kind: 'Event',
    namespaced: true,
    status: false,
    custom: false,
  },
  limitranges: { group: '', version: 'v1', kind: 'LimitRange', namespaced: true, status: false, custom: false },
  serviceaccounts: { group: '', version: 'v1', kind: 'ServiceAccount', namespaced: true, status: false, custom: false },
  persistentvolumes: {
    group: '',
    version: 'v1',
    kind: 'PersistentVolume',
    namespaced: false,
    status: true,
    custom: false,
  },
  persistentvolumeclaims: {
    group: '',
    version: 'v1',
    kind: 'PersistentVolumeClaim',
    namespaced: true,
    status: true,
    custom: false,
  },
  deployments: { group: 'apps', version: 'v1', kind: 'Deployment', namespaced: true, status: true, custom: false },
  statefulsets: { group: 'apps', version: 'v1', kind: 'StatefulSet', namespaced: true, status: true, custom: false },
  cronjobs: { group: 'batch', version: 'v1', kind: 'CronJob', namespaced: true, status: true, custom: false },
  ingresses: {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'Ingress',
    namespaced: true,
    status: true,
    custom: false,
  },
  networkpolicies: {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'NetworkPolicy',
    namespaced: true,
    status: false,
    custom: false,
  },
  poddisruptionbudgets: {
    group: 'policy',
    version: 'v1',
    kind: 'PodDisruptionBudget',
    namespaced: true,
    status: true,
    custom: false,
  },
  clusterroles: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'ClusterRole',
    namespaced: false,
    status: false,
    custom: false,
  },
  rolebindings: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'RoleBinding',
    namespaced: true,
    status: false,
    custom: false,
  },
  endpointslices: {
    group: 'discovery.k8s.io',
    version: 'v1',
    kind: 'EndpointSlice',
    namespaced: true,
    status: false,
    custom: false,
  },
  leases: {
    group: 'coordination.k8s.io',
    version: 'v1',
    kind: 'Lease',
    namespaced: true,
    status: false,
    custom: false,
  },
  storageclasses: {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'StorageClass',
    namespaced: false,
    status: false,
    custom: false,
  },
  validatingwebhookconfigurations: {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingWebhookConfiguration',
    namespaced: false,
    status: false,
    custom: false,
  },
  widgets: { group: 'example.com', version: 'v1', kind: 'Widget', namespaced: true, status: true, custom: true },
  blobs: { group: 'example.com', version: 'v1', kind: 'Blob', namespaced: true, status: false, custom: true },
} as const;

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

const step =
  (verb: Step['verb']) =>
  (manager: string, body: Json, more: Pick<Step, 'force' | 'subresource'> = {}): Step => ({
    verb,
    manager,
    body,
    ...more,
  });
const create = step('create');
const update = step('update');
const json = step('json');
const merge = step('merge');
const strategic = step('strategic');
const apply = step('apply');

const podSpec = (...containers: Json[]): JsonMap => ({ containers });
const web: JsonMap = {
  name: 'web',
  image: 'web:1',
  args: ['a', 'b'],
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  ports: [{ containerPort: 80 }, { containerPort: 81 }],
};
const side: JsonMap = { name: 'side', image: 'side:1' };
const deployment = (...containers: Json[]): JsonMap => ({
  metadata: { labels: { app: 'web' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: podSpec(...containers) },
  },
});
const template = (spec: JsonMap): JsonMap => ({ spec: { template: { spec } } });
const condition = (type: string, status = 'True'): JsonMap => ({ type, status });

/** Grouped by resource: name, what is done first, the request. */
type Row = readonly [name: string, first: readonly Step[], request: Step];

const configMap: readonly Row[] = [
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

const deploymentRows: readonly Row[] = [
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

const serviceRows: readonly Row[] = [
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

const podRows: readonly Row[] = [
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

const widgetRows: readonly Row[] = [
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
    apply('alice', {}),
  ],
  ['apply of null', [], apply('alice', { spec: { note: null, size: 1 } })],
  ['apply of int or string', [apply('alice', { port: 80 })], apply('bob', { port: 'http' })],
  ['apply of an unknown field', [], apply('alice', { zork: 1 })],
  ['apply of an item without keys', [], apply('alice', { parts: [{ count: 1 }] })],
  ['apply of an item twice', [], apply('alice', { doors: [{ port: 1 }, { port: 1, protocol: 'TCP' }] })],
  [
    'apply of status',
    [create('alice', { size: 1 })],
    apply(
      'controller',
      { a: 'b' , spec: size: 5 , status: ready: true },
      { subresource: 'status' },
    ),
  ],
  [
    'merge: nulls in new values',
    [create('alice', { size: 1 })],
    merge('bob', { a: null, b: c: null, d: 1 , e: [f: null, g: 1 , null] }),
  ],
  [
    'json: null in a free-form member',
    [create('alice', { })],
    json('bob', [
      { op: 'add', path: '/spec/free/a', value: null },
      { op: 'copy', from: '/spec/free/zork', path: '/spec/free/b' },
    ]),
  ],
];

const blobRows: readonly Row[] = [
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

const creates: Readonly<Partial<Record<Case['resource'], JsonMap>>> = {
  nodes: { spec: { unschedulable: true } },
  secrets: { data: { a: 'YQ==' } },
  endpoints: { subsets: [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ port: 80 }] }] },
  events: {
    reportingComponent: '',
    reportingInstance: '',
    involvedObject: { kind: 'Pod', name: 'x', namespace: 'default' },
    reason: 'x',
    message: 'm',
    type: 'Normal',
  },
  limitranges: { spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '9Gi' } }] } },
  serviceaccounts: { imagePullSecrets: [{ name: 'x' }] },
  persistentvolumes: {
    metadata: { finalizers: ['kubernetes.io/pv-protection'] },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x', type: '' } },
  },
  persistentvolumeclaims: {
    metadata: { finalizers: ['kubernetes.io/pvc-protection'] },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  statefulsets: { spec: { ...(deployment(side).spec as JsonMap), serviceName: 'x' } },
  cronjobs: {
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...podSpec(side), restartPolicy: 'Never' } } } },
    },
  },
  ingresses: {
    spec: {
      defaultBackend: { service: { name: 'x', port: { number: 1 } } },
      rules: [
        {
          host: 'a.b',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'x', port: { number: 1 } } } }],
          },
        },
      ],
    },
  },
  networkpolicies: { spec: { podSelector: {}, policyTypes: ['Ingress'] } },
  poddisruptionbudgets: { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
  clusterroles: { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] },
  rolebindings: {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
  },
  endpointslices: {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.9.9.9'] }],
    ports: [{ port: 80, name: '', protocol: 'TCP' }],
  },
  leases: { spec: { holderIdentity: 'x' } },
  storageclasses: { provisioner: 'x.y/z', parameters: { a: 'b' } },
  validatingwebhookconfigurations: {
    webhooks: [
      { name: 'a.b.c', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: 'https://x.y/z' } },
    ],
  },
};

const rows = (resource: Case['resource'], list: readonly Row[]): Case[] =>
  list.map(([name, first, request]) => ({ name: `${resource}: ${name}`, resource, first, request }));

export const cases: readonly Case[] = [
  ...rows('configmaps', configMap),
  ...rows('deployments', deploymentRows),
  ...rows('services', serviceRows),
  ...rows('pods', podRows),
  ...rows('widgets', widgetRows),
  ...rows('blobs', blobRows),
  ...(Object.entries(creates) as [Case['resource'], JsonMap][]).flatMap(([resource, body]) =>
    rows(resource, [
      ['create', [], create('alice', body)],
      ['apply creates', [], apply('alice', body)],
      [
        'apply of labels beside the creator',
        [create('alice', body)],
        apply('bob', { metadata: { labels: { b: '1' } } }),
      ],
    ]),
  ),
];
