// Warnings to clients of versions that will go.
import { after, type Case, del, get, type Json, mergePatch, only, plain, post, put, until, watch } from './case.ts';

const endpoints: Json = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'a' } };
const one = [post('endpoints', endpoints)];

const group = 'deprecation.example.com';
const version = (name: string, more: Readonly<Record<string, Json>> = {}): Json => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
});
const definition: Json = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [
      version('v1'),
      version('v2', { deprecated: true }),
      version('v1beta1', { deprecated: true }),
      version('v1alpha1', { deprecated: true, deprecationWarning: 'take "v1"' }),
    ],
  },
};
const widgets = (name: string): string => `/apis/${group}/${name}/namespaces/$NS/widgets`;

export const deprecationCases: readonly Case[] = [
  plain('endpoints that are created', post('endpoints', endpoints)),
  after('endpoints that are listed', one, get('endpoints')),
  after('endpoints that are read', one, get('endpoints/a')),
  plain('endpoints that are not there', get('endpoints/a')),
  after('endpoints that are patched', one, mergePatch('endpoints/a', { metadata: { labels: { app: 'web' } } })),
  after('endpoints that are updated', one, put('endpoints/a', endpoints)),
  after('endpoints that are watched', one, watch('endpoints?watch=1', 1)),
  after('endpoints that are deleted', one, del('endpoints/a')),
  plain('endpoints that are refused', post('endpoints', { ...endpoints, metadata: { name: 'A' } })),
  plain('endpoints one may not see', get('endpoints', { 'impersonate-user': 'joe' })),
  only(['kind', 'apiVersion'], plain('component statuses', get('/api/v1/componentstatuses'))),
  after(
    'versions of a custom resource that are deprecated',
    [post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition), until(200, get(widgets('v1')))],
    ...['v1', 'v2', 'v1beta1', 'v1alpha1'].map((name) => get(widgets(name))),
    post(widgets('v1beta1'), { apiVersion: `${group}/v1beta1`, kind: 'Widget', metadata: { name: 'a' } }),
    get(`${widgets('v1alpha1')}/b`),
  ),
];
