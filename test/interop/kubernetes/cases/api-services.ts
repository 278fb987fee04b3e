// The services that say which groups and versions a server has: those of built-in groups, and those that come and go with
// definitions of custom resources.
import {
  after,
  type Case,
  del,
  get,
  type Json,
  mergePatch,
  plain,
  post,
  put,
  type Step,
  table,
  until,
} from './case.ts';

const services = '/apis/apiregistration.k8s.io/v1/apiservices';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const version = (name: string, served = true): Json => ({
  name,
  served,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object' } },
});
const definition = (group: string, plural: string, kind: string, ...versions: readonly Json[]): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: { group, names: { plural, kind }, scope: 'Namespaced', versions },
});

/** Defines a custom resource of a group, and waits for its service. */
const defined = (group: string): readonly Step[] => [
  post(definitions, definition(group, 'widgets', 'Widget', version('v1'), version('v2beta1'), version('v3', false))),
  until(200, get(`${services}/v1.${group}`)),
  until(200, get(`${services}/v2beta1.${group}`)),
];

const broken = (more: Record<string, Json>): Json => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.nothing.example.com' },
  spec: { group: 'nothing.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15, ...more },
});

export const apiServiceCases: readonly Case[] = [
  plain(
    'services of built-in groups',
    ...['v1.', 'v1.apps', 'v1.events.k8s.io', 'v1.rbac.authorization.k8s.io', 'v1.apiextensions.k8s.io'].map((name) =>
      get(`${services}/${name}`),
    ),
    get(`${services}/v1.apps/status`),
  ),
  plain(
    'services that are not there',
    get(`${services}/v1.apiregistration.k8s.io`),
    get(`${services}/v2.apps`),
    get(`${services}/v1.nothing.example.com`),
    del(`${services}/v1.nothing.example.com`),
  ),
  plain(
    'services that cannot be',
    post(services, broken({ groupPriorityMinimum: 0 })),
    post(services, broken({ version: 'v2' })),
    put(`${services}/v1.apps`, broken({})),
    mergePatch(`${services}/v1.apps`, { spec: { version: 'v2' } }),
  ),
  after(
    'services of a custom resource',
    defined('services.example.com'),
    get(`${services}/v1.services.example.com`),
    get(`${services}/v2beta1.services.example.com`),
    get(`${services}/v3.services.example.com`),
    get(`${services}/v1.services.example.com`, table),
  ),
  after(
    'a service of a custom resource that is deleted comes back',
    [
      ...defined('again.example.com'),
      del(`${services}/v1.again.example.com`),
      until(200, get(`${services}/v1.again.example.com`)),
    ],
    get(`${services}/v1.again.example.com`),
  ),
  after(
    'services go with the last definition that needs them',
    [
      ...defined('last.example.com'),
      post(definitions, definition('last.example.com', 'gadgets', 'Gadget', version('v1'))),
      del(`${definitions}/widgets.last.example.com`),
      until(404, get(`${services}/v2beta1.last.example.com`)),
    ],
    get(`${services}/v1.last.example.com`),
    get(`${services}/v2beta1.last.example.com`),
  ),
  after(
    'a service that is not the server’s any more stays',
    [
      ...defined('kept.example.com'),
      mergePatch(`${services}/v1.kept.example.com`, {
        metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': null } },
      }),
      del(`${definitions}/widgets.kept.example.com`),
      until(404, get(`${services}/v2beta1.kept.example.com`)),
    ],
    get(`${services}/v1.kept.example.com`),
  ),
];
