// Definitions as they are taken and refused.
import {
  type Case,
  create,
  define,
  definition,
  definitionPath,
  type JsonMap,
  many,
  object,
  one,
  redefine,
  widgets,
  withSpec,
} from './case.ts';

const text: JsonMap = { type: 'string' };
const plain = withSpec({ a: text });
const version = (name: string, more: JsonMap = {}): JsonMap => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: plain },
  ...more,
});
/** A definition whose spec has one property of this schema. */
const property = (schema: JsonMap): JsonMap => definition(withSpec({ a: schema }));

export const definitionCases: readonly Case[] = [
  one('definition: the least', definition(plain)),
  many('definition: conditions and names', define(definition(plain)), { method: 'GET', path: definitionPath }),
  many(
    'definition: all names and two versions',
    define(
      definition(plain, {
        spec: {
          names: {
            plural: 'widgets',
            singular: 'wid',
            kind: 'Widget',
            listKind: 'Widgets',
            shortNames: ['wd', 'wdg'],
            categories: ['all', 'parts'],
          },
          versions: [version('v1', { storage: true }), version('v1beta1'), version('v1alpha1', { served: false })],
        },
      }),
    ),
    { method: 'GET', path: definitionPath },
  ),
  one('refused: the name is not plural and group', definition(plain, { name: 'gadgets.GROUP' })),
  one('refused: no group', definition(plain, { spec: { group: '' } })),
  one('refused: a group without a dot', definition(plain, { spec: { group: 'widgets' }, name: 'widgets.widgets' })),
  one('refused: no scope', definition(plain, { spec: { scope: '' } })),
  one('refused: an unknown scope', definition(plain, { spec: { scope: 'Galaxy' } })),
  one(
    'refused: names in the wrong case',
    definition(plain, { spec: { names: { plural: 'Widgets', kind: 'widget-x' } } }),
  ),
  one('refused: no kind', definition(plain, { spec: { names: { plural: 'widgets', kind: '' } } })),
  one(
    'refused: bad short names and categories',
    definition(plain, {
      spec: { names: { plural: 'widgets', kind: 'Widget', shortNames: ['W_'], categories: ['All'] } },
    }),
  ),
  one('refused: no versions', definition(plain, { spec: { versions: [] } })),
  one(
    'refused: two storage versions',
    definition(plain, { spec: { versions: [version('v1', { storage: true }), version('v2', { storage: true })] } }),
  ),
  one('refused: no storage version', definition(plain, { spec: { versions: [version('v1')] } })),
  one(
    'refused: a version twice',
    definition(plain, { spec: { versions: [version('v1', { storage: true }), version('v1')] } }),
  ),
  one('refused: a bad version name', definition(plain, { version: { name: 'V1.0' } })),
  one('refused: no schema', definition(plain, { version: { schema: {} } })),
  one('refused: preserveUnknownFields', definition(plain, { spec: { preserveUnknownFields: true } })),
  one('refused: the root is no object', definition({ type: 'array', items: text })),
  one('refused: no type', property({ description: 'nothing' })),
  one('refused: $ref', property({ $ref: '#/definitions/x' })),
  one('refused: an unknown type', property({ type: 'text' })),
  one('refused: uniqueItems', property({ type: 'array', items: text, uniqueItems: true })),
  one('refused: additionalProperties false', property({ type: 'object', additionalProperties: false })),
  one(
    'refused: properties and additionalProperties',
    property({ type: 'object', properties: { b: text }, additionalProperties: text }),
  ),
  one('refused: an array without items', property({ type: 'array' })),
  one('refused: items as a list', property({ type: 'array', items: [text, text] })),
  one('refused: type within anyOf', property({ type: 'string', anyOf: [{ type: 'string' }, { minLength: 3 }] })),
  one(
    'refused: a property only within allOf',
    property({ type: 'object', allOf: [{ properties: { b: { minLength: 3 } } }] }),
  ),
  one('refused: default within anyOf', property({ type: 'string', anyOf: [{ default: 'x' }] })),
  one('refused: definitions and dependencies', property({ type: 'object', definitions: { x: text } })),
  one('refused: a pattern that is no expression', property({ type: 'string', pattern: '[a-' })),
  one('refused: int-or-string with a type', property({ type: 'string', 'x-kubernetes-int-or-string': true })),
  one(
    'refused: preserve-unknown-fields on a string',
    property({ type: 'string', 'x-kubernetes-preserve-unknown-fields': true }),
  ),
  one(
    'refused: preserve-unknown-fields false',
    property({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
  ),
  one(
    'refused: embedded resource without anything',
    property({ type: 'object', 'x-kubernetes-embedded-resource': true }),
  ),
  one('refused: list type on a string', property({ type: 'string', 'x-kubernetes-list-type': 'set' })),
  one('refused: an unknown list type', property({ type: 'array', items: text, 'x-kubernetes-list-type': 'bag' })),
  one(
    'refused: list type map without keys',
    property({ type: 'array', items: object({ k: text }), 'x-kubernetes-list-type': 'map' }),
  ),
  one(
    'refused: a key that is no property',
    property({
      type: 'array',
      items: object({ k: text }, { required: ['k'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['z'],
    }),
  ),
  one(
    'refused: a key that may be missing',
    property({
      type: 'array',
      items: object({ k: text }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }),
  ),
  one(
    'refused: a set of plain objects',
    property({ type: 'array', items: object({ k: text }), 'x-kubernetes-list-type': 'set' }),
  ),
  one('refused: map type on a list', property({ type: 'array', items: text, 'x-kubernetes-map-type': 'atomic' })),
  one(
    'refused: an unknown map type',
    property({ type: 'object', properties: { b: text }, 'x-kubernetes-map-type': 'loose' }),
  ),
  one('refused: a default of the wrong type', property({ type: 'integer', default: 'x' })),
  one('refused: a default out of range', property({ type: 'integer', maximum: 3, default: 4 })),
  one(
    'refused: a default with unknown fields',
    property({ type: 'object', properties: { b: text }, default: { b: 'x', c: 1 } }),
  ),
  one('refused: a default not in the enum', property({ type: 'string', enum: ['x', 'y'], default: 'z' })),
  one('refused: null as a default that may not be', property({ type: 'string', default: null })),
  one('accepted: null as a default that may be', property({ type: 'string', nullable: true, default: null })),
  one(
    'refused: metadata with more than name and generateName',
    definition(object({ metadata: object({ labels: object({}) }), spec: object({}) })),
  ),
  one(
    'accepted: metadata with a name rule',
    definition(object({ metadata: object({ name: { type: 'string', maxLength: 5 } }), spec: object({}) })),
  ),
  one('refused: apiVersion as a number', definition(object({ apiVersion: { type: 'integer' } }))),
  one(
    'refused: printer columns',
    definition(plain, {
      version: {
        additionalPrinterColumns: [
          { name: 'A', type: 'string', jsonPath: 'spec.a' },
          { name: 'B', type: 'text', jsonPath: '.spec.b' },
          { name: '', type: 'string', jsonPath: '' },
          { name: 'C', type: 'integer', format: 'float', jsonPath: '.spec.c' },
          { name: 'D', type: 'string', jsonPath: '.spec.[' },
        ],
      },
    }),
  ),
  one(
    'refused: scale paths',
    definition(plain, {
      version: {
        subresources: {
          scale: { specReplicasPath: '.status.x', statusReplicasPath: 'status.y', labelSelectorPath: '.other' },
        },
      },
    }),
  ),
  one(
    'refused: scale without paths',
    definition(plain, { version: { subresources: { scale: { specReplicasPath: '', statusReplicasPath: '' } } } }),
  ),
  one(
    'refused: selectable fields',
    definition(plain, {
      version: {
        selectableFields: [{ jsonPath: '.spec.none' }, { jsonPath: '.metadata.name' }, { jsonPath: '.spec' }],
      },
    }),
  ),
  one(
    'refused: a selectable field twice',
    definition(plain, { version: { selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.a' }] } }),
  ),
  one('refused: a conversion nobody knows', definition(plain, { spec: { conversion: { strategy: 'Magic' } } })),
  one(
    'refused: a conversion webhook without details',
    definition(plain, { spec: { conversion: { strategy: 'Webhook' } } }),
  ),
  one(
    'refused: a conversion webhook with bad details',
    definition(plain, {
      spec: {
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v9'], clientConfig: { url: 'http://example.com/x' } },
        },
      },
    }),
  ),
  one(
    'refused: webhook details without the strategy',
    definition(plain, {
      spec: {
        conversion: {
          strategy: 'None',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/x' } },
        },
      },
    }),
  ),
  one(
    'refused: a deprecation warning of a version that is not deprecated',
    definition(plain, { version: { deprecationWarning: 'old' } }),
  ),
  one(
    'refused: an API of the community without approval',
    definition(plain, { spec: { group: 'x.k8s.io' }, name: 'widgets.x.k8s.io' }),
  ),
  many('update: the scope stays', define(definition(plain)), redefine({ spec: { scope: 'Cluster' } })),
  many('update: the kind stays', define(definition(plain)), redefine({ spec: { names: { kind: 'Gadget' } } })),
  many('update: the group stays', define(definition(plain)), redefine({ spec: { group: 'other.example.com' } })),
  many(
    'update: a stored version stays',
    define(definition(plain)),
    redefine({ spec: { versions: [version('v2', { storage: true })] } }),
  ),
  many(
    'update: the storage version moves',
    define(definition(plain)),
    redefine({ spec: { versions: [version('v1'), version('v2', { storage: true })] } }),
    { method: 'GET', path: definitionPath },
  ),
  many(
    'names: a kind that is taken',
    define(definition(plain)),
    define(
      definition(plain, {
        name: 'gadgets.GROUP',
        spec: { names: { plural: 'gadgets', kind: 'Widget', shortNames: ['widgets'] } },
      }),
    ),
    { method: 'GET', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.GROUP' },
    { method: 'GET', path: '/apis/GROUP/v1/namespaces/default/gadgets' },
  ),
  many(
    'delete: with its objects',
    define(definition(plain)),
    create({ a: 'x' }),
    { method: 'DELETE', path: definitionPath, settle: true },
    { method: 'GET', path: definitionPath },
    { method: 'GET', path: widgets() },
  ),
  many(
    'delete: waits for an object with a finalizer',
    define(definition(plain)),
    create({ a: 'x' }, { metadata: { name: 'x', finalizers: ['example.com/wait'] } }),
    { method: 'DELETE', path: definitionPath, settle: true },
    { method: 'GET', path: definitionPath },
    create({ a: 'y' }, { metadata: { name: 'y' } }),
    {
      method: 'PATCH',
      path: `${widgets()}/x`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
      settle: true,
    },
  ),
];
