// Objects of custom resources: defaults, pruning, validation, versions, subresources, tables.
import {
  apply,
  type Case,
  create,
  define,
  definition,
  get,
  type JsonMap,
  jsonPatch,
  many,
  mergePatch,
  object,
  redefine,
  strategicPatch,
  table,
  update,
  widget,
  widgets,
  withSpec,
} from './case.ts';

const text: JsonMap = { type: 'string' };
const integer: JsonMap = { type: 'integer' };

const free = withSpec({ a: text, n: integer });
const strict = withSpec(
  {
    name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
    size: { type: 'string', enum: ['small', 'large'] },
    count: { type: 'integer', minimum: 1, maximum: 10, multipleOf: 2 },
    share: { type: 'number', minimum: 0, maximum: 1, exclusiveMaximum: true, exclusiveMinimum: true },
    on: { type: 'boolean' },
    tags: { type: 'array', minItems: 1, maxItems: 2, items: text },
    map: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: integer },
    port: { 'x-kubernetes-int-or-string': true },
    when: { type: 'string', format: 'date-time' },
    ip: { type: 'string', format: 'ipv4' },
    id: { type: 'string', format: 'uuid' },
    data: { type: 'string', format: 'byte' },
    tiny: { type: 'integer', format: 'int32' },
    length: { type: 'string', format: 'duration' },
    site: { type: 'string', format: 'uri' },
    mail: { type: 'string', format: 'email' },
    host: { type: 'string', format: 'hostname' },
    day: { type: 'string', format: 'date' },
    maybe: { type: 'string', nullable: true },
    choice: {
      type: 'object',
      properties: { a: text, b: text },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    some: { type: 'object', properties: { a: text, b: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    not: { type: 'string', not: { enum: ['bad'] } },
    all: { type: 'string', allOf: [{ minLength: 3 }, { pattern: '^x' }] },
    set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    items: {
      type: 'array',
      items: object({ k: text, v: text }, { required: ['k'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
  },
  { required: ['name'] },
);
const refused = (name: string, spec: JsonMap): Case =>
  many(`value: ${name}`, define(definition(strict)), create({ name: 'abc', ...spec }));

const defaults = withSpec({
  a: { type: 'string', default: 'A' },
  n: { type: 'integer', default: 3 },
  maybe: { type: 'string', nullable: true, default: 'M' },
  inner: { type: 'object', default: {}, properties: { b: { type: 'boolean', default: true } } },
  outer: { type: 'object', properties: { c: { type: 'string', default: 'C' } } },
  list: { type: 'array', items: object({ d: { type: 'string', default: 'D' }, e: text }) },
  map: { type: 'object', additionalProperties: object({ f: { type: 'integer', default: 1 } }) },
});

const withStatus = object({
  spec: object({ a: text, replicas: { type: 'integer', minimum: 0 } }),
  status: object({ replicas: integer, selector: text, phase: text }),
});
const subresources: JsonMap = {
  status: {},
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};
const scaled = define(definition(withStatus, { version: { subresources } }));

export const resourceCases: readonly Case[] = [
  many('object: create and read', define(definition(free)), create({ a: 'x', n: 1 }), get()),
  many('object: unknown fields are pruned', define(definition(free)), create({ a: 'x', z: 1 }, { other: true }), get()),
  many(
    'object: unknown fields are refused when asked',
    define(definition(free)),
    create({ a: 'x', z: 1, y: { q: 1 } }, { other: true }, '?fieldValidation=Strict'),
  ),
  many(
    'object: unknown metadata is refused when asked',
    define(definition(free)),
    create({ a: 'x' }, { metadata: { name: 'x', color: 'red' } }, '?fieldValidation=Strict'),
  ),
  many('object: no name', define(definition(free)), create({ a: 'x' }, { metadata: {} })),
  many('object: a bad name', define(definition(free)), create({ a: 'x' }, { metadata: { name: 'X_' } })),
  many('object: bad labels', define(definition(free)), create({}, { metadata: { name: 'x', labels: { a: 'b c' } } })),
  many(
    'object: labels of the wrong type',
    define(definition(free)),
    create({}, { metadata: { name: 'x', labels: { a: 1 } } }),
  ),
  many('object: a missing kind', define(definition(free)), {
    method: 'POST',
    path: widgets(),
    body: { apiVersion: 'GROUP/v1', metadata: { name: 'x' } },
  }),
  many('object: another kind', define(definition(free)), create({}, { kind: 'Gadget' })),
  many('object: another version', define(definition(free)), create({}, { apiVersion: 'GROUP/v2' })),
  many('object: spec is no object', define(definition(free)), create('x')),
  many(
    'object: the wrong types',
    define(definition(strict)),
    create({ name: 3, count: 'x', share: true, on: 'yes', tags: {}, map: [], port: 1.5, items: 'x' }),
  ),
  many(
    'value: all good',
    define(definition(strict)),
    create({
      name: 'abc',
      size: 'small',
      count: 4,
      share: 0.5,
      on: true,
      tags: ['x'],
      map: { a: 1 },
      port: '80',
      maybe: null,
      choice: { a: 'x' },
      all: 'xyz',
      set: ['a', 'b'],
      items: [{ k: 'a' }, { k: 'b' }],
    }),
  ),
  many('value: nothing required', define(definition(strict)), create({})),
  refused('too short', { name: 'a' }),
  refused('too long', { name: 'abcde' }),
  refused('against the pattern', { name: 'AB' }),
  refused('not in the enum', { size: 'medium' }),
  refused('too small', { count: 0 }),
  refused('too large', { count: 12 }),
  refused('no multiple', { count: 3 }),
  refused('a fraction for an integer', { count: 2.5 }),
  refused('exclusive bounds', { share: 1 }),
  refused('too few items', { tags: [] }),
  refused('too many items', { tags: ['a', 'b', 'c'] }),
  refused('too few members', { map: {} }),
  refused('too many members', { map: { a: 1, b: 2, c: 3 } }),
  refused('a member of the wrong type', { map: { a: 'x' } }),
  refused('a time', { when: 'yesterday' }),
  refused('formats', {
    ip: '1.2.3',
    id: 'x',
    data: '%',
    length: 'long',
    site: '::',
    mail: 'x',
    host: '-',
    day: 'today',
  }),
  refused('int32', { tiny: 3_000_000_000 }),
  refused('none of one', { choice: {} }),
  refused('two of one', { choice: { a: 'x', b: 'y' } }),
  refused('none of any', { some: {} }),
  refused('what it must not be', { not: 'bad' }),
  refused('all of', { all: 'ab' }),
  refused('a set with equals', { set: ['a', 'b', 'a'] }),
  refused('a map with equal keys', { items: [{ k: 'a' }, { k: 'b' }, { k: 'a' }] }),
  refused('an item without its key', { items: [{ v: 'a' }] }),
  refused('null that may not be', { size: null }),
  refused('several at once', { name: 'TOOLONG', size: 'x', count: 11, tags: [] }),
  many('defaults: on create', define(definition(defaults)), create({}), get()),
  many('defaults: none without a spec', define(definition(defaults)), create(null)),
  many(
    'defaults: within what is given',
    define(definition(defaults)),
    create({ outer: {}, list: [{}, { e: 'x' }, { d: 'own' }], map: { one: {}, two: { f: 5 } } }),
  ),
  many('defaults: null', define(definition(defaults)), create({ a: null, maybe: null })),
  many(
    'defaults: of a later definition, in what is stored',
    define(definition(free)),
    create({ a: 'x' }),
    redefine({
      spec: {
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: withSpec({ a: text, late: { type: 'string', default: 'L' } }) },
          },
        ],
      },
    }),
    get(),
    { method: 'GET', path: widgets() },
  ),
  many(
    'preserved: unknown fields where the schema says so',
    define(
      definition(
        object({
          spec: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            properties: { in: object({ a: text }) },
          },
        }),
      ),
    ),
    create({ z: { y: [1, { x: 2 }] }, in: { a: 'x', b: 'gone' } }),
  ),
  many(
    'preserved: everything',
    define(definition({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })),
    create({ z: 1 }, { other: { a: [] } }),
  ),
  many(
    'embedded: metadata is kept to what metadata has',
    define(
      definition(
        withSpec({
          template: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          },
        }),
      ),
    ),
    create({
      template: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', color: 'red', labels: { a: 'b' } },
        spec: { any: 1 },
      },
    }),
  ),
  many(
    'embedded: without a kind',
    define(
      definition(
        withSpec({
          template: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          },
        }),
      ),
    ),
    create({ template: { metadata: { name: 'P_' } } }),
  ),
  many(
    'update: generation grows with the spec',
    define(definition(free)),
    create({ a: 'x' }),
    update({ spec: { a: 'y' } }),
    update({ metadata: { labels: { a: 'b' } } }),
  ),
  many('update: without a resource version', define(definition(free)), create({ a: 'x' }), {
    method: 'PUT',
    path: `${widgets()}/x`,
    body: widget({ a: 'y' }),
  }),
  many('update: no change', define(definition(free)), create({ a: 'x' }), update({})),
  many('update: refused', define(definition(strict)), create({ name: 'abc' }), update({ spec: { name: 'ABC' } })),
  many(
    'ratcheting: what was invalid may stay',
    define(definition(free)),
    create({ a: 'UPPER', n: 1 }),
    redefine({
      spec: {
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: withSpec({
                a: { type: 'string', pattern: '^[a-z]+$' },
                n: { type: 'integer', maximum: 5 },
              }),
            },
          },
        ],
      },
    }),
    update({ spec: { n: 2 } }),
    update({ spec: { a: 'OTHER' } }),
    update({ spec: { n: 7 } }),
    mergePatch({ metadata: { labels: { a: 'b' } } }),
  ),
  many(
    'status: apart from the spec',
    scaled,
    create({ a: 'x', replicas: 1 }, { status: { phase: 'given' } }),
    update({ spec: { a: 'y' }, status: { phase: 'no' } }),
    update({ spec: { a: 'z' }, status: { phase: 'yes', replicas: 2 }, metadata: { labels: { q: 'r' } } }, '/status'),
    get('v1', '/status'),
  ),
  many(
    'status: with the rest',
    define(definition(withStatus)),
    create({ a: 'x' }, { status: { phase: 'given' } }),
    update({ status: { phase: 'more' } }),
    get('v1', '/status'),
  ),
  many('status: refused', scaled, create({ a: 'x' }), update({ status: { phase: 5 } }, '/status')),
  many(
    'scale: read and write',
    scaled,
    create({ replicas: 2 }),
    get('v1', '/scale'),
    mergePatch({ spec: { replicas: 5 } }, '/scale'),
    get(),
  ),
  many('scale: negative', scaled, create({ replicas: 2 }), mergePatch({ spec: { replicas: -1 } }, '/scale')),
  many('patch: merge', define(definition(free)), create({ a: 'x' }), mergePatch({ spec: { a: 'y', z: 1 } })),
  many(
    'patch: JSON',
    define(definition(free)),
    create({ a: 'x' }),
    jsonPatch([{ op: 'replace', path: '/spec/a', value: 'y' }]),
  ),
  many(
    'patch: strategic is not to be had',
    define(definition(free)),
    create({ a: 'x' }),
    strategicPatch({ spec: { a: 'y' } }),
  ),
  many('patch: to the wrong type', define(definition(free)), create({ a: 'x' }), mergePatch({ spec: { a: 5 } })),
  many('apply: create and conflict', define(definition(free)), apply({ a: 'x' }), {
    ...apply({ a: 'y' }),
    path: `${widgets()}/x?fieldManager=another`,
  }),
  many('apply: unknown fields', define(definition(free)), apply({ a: 'x', z: 1 })),
  many(
    'apply: lists by key',
    define(definition(strict)),
    apply({ name: 'abc', items: [{ k: 'a', v: '1' }], set: ['a'] }),
    { ...apply({ items: [{ k: 'b', v: '2' }], set: ['b'] }), path: `${widgets()}/x?fieldManager=another` },
  ),
  many(
    'versions: one object in two',
    define(
      definition(free, {
        spec: {
          versions: [
            { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: free } },
            {
              name: 'v2',
              served: true,
              storage: false,
              schema: { openAPIV3Schema: withSpec({ a: text, extra: { type: 'string', default: 'E' } }) },
            },
            { name: 'v3', served: false, storage: false, schema: { openAPIV3Schema: free } },
          ],
        },
      }),
    ),
    create({ a: 'x', n: 4 }),
    get('v2'),
    {
      method: 'POST',
      path: widgets('v2'),
      body: { apiVersion: 'GROUP/v2', kind: 'Widget', metadata: { name: 'y' }, spec: { a: 'z', n: 9 } },
    },
    { method: 'GET', path: `${widgets('v1')}/y` },
    get('v3'),
  ),
  many('versions: a deprecated one', define(definition(free, { version: { deprecated: true } })), create({ a: 'x' })),
  many(
    'table: columns',
    define(
      definition(withStatus, {
        version: {
          additionalPrinterColumns: [
            { name: 'A', type: 'string', jsonPath: '.spec.a', description: 'the a' },
            { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
            { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
            { name: 'Born', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
          ],
        },
      }),
    ),
    create({ a: 'x', replicas: 3 }),
    { method: 'GET', path: widgets(), accept: table },
  ),
  many('table: without columns', define(definition(free)), create({ a: 'x' }), {
    method: 'GET',
    path: `${widgets()}/x`,
    accept: table,
  }),
  many(
    'selectable fields',
    define(definition(free, { version: { selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.n' }] } })),
    create({ a: 'x', n: 4 }),
    { method: 'GET', path: `${widgets()}?fieldSelector=spec.a%3Dx,spec.n%3D4` },
    { method: 'GET', path: `${widgets()}?fieldSelector=spec.a%3Dy` },
    { method: 'GET', path: `${widgets()}?fieldSelector=spec.b%3Dy` },
  ),
  many(
    'cluster scope',
    define(definition(free, { spec: { scope: 'Cluster' } })),
    {
      method: 'POST',
      path: '/apis/GROUP/v1/widgets',
      body: widget({ a: 'x' }),
    },
    { method: 'GET', path: `${widgets()}/x` },
  ),
  many('read: none', define(definition(free)), get(), { method: 'DELETE', path: `${widgets()}/x` }),
  many('delete', define(definition(free)), create({ a: 'x' }), { method: 'DELETE', path: `${widgets()}/x` }, get()),
  many(
    'numbers: large and small',
    define(
      definition(withSpec({ n: { type: 'integer' }, f: { type: 'number' }, l: { type: 'integer', format: 'int64' } })),
    ),
    create({ n: 5.0, f: 1e3, l: 9007199254740991 }),
  ),
  many(
    'metadata: a name rule',
    define(definition(object({ metadata: object({ name: { type: 'string', maxLength: 3 } }) }))),
    create({}, { metadata: { name: 'long' } }),
  ),
];
