// Versions that a server has forgotten: 410 Gone. A real server forgets by compaction, the embedded one when it is started again.
import { after, type Case, get, type Json, plain, post, until, watch } from './case.ts';

const group = 'expired.example.com';
const definition: Json = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const widgets = `/apis/${group}/v1/namespaces/$NS/widgets`;

/** Where a list of pages goes on after a name, as servers write it. */
const token = (version: number, name: string): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start: `${name}\0` })).toString('base64url');

const exactly = 'resourceVersion=1&resourceVersionMatch=Exact';
const forgotten = [until(410, get(`configmaps?${exactly}`))];

export const expiredCases: readonly Case[] = [
  after('list exactly a version that is forgotten', forgotten, get(`configmaps?${exactly}`)),
  after('list a page of a version that is forgotten', forgotten, get('configmaps?limit=1&resourceVersion=1')),
  after('list no older than a version that is forgotten', forgotten, get('configmaps?resourceVersion=1')),
  after(
    'page after one of a version that is forgotten',
    forgotten,
    get(`configmaps?limit=1&continue=${token(1, 'a')}`),
  ),
  plain('page after one of whatever version there is', get(`configmaps?limit=1&continue=${token(-1, 'a')}`)),
  after(
    'watch from a version that is forgotten',
    [
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
      until(200, get(widgets)),
      until(410, get(`${widgets}?${exactly}`)),
    ],
    watch(`${widgets}?watch=1&resourceVersion=1&timeoutSeconds=5`, 1),
    get(`${widgets}?${exactly}`),
  ),
];
