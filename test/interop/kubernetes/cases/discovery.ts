// What a server says about itself.
import { type Case, get, only, plain, send } from './case.ts';

const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
const groups = [
  'apps',
  'batch',
  'coordination.k8s.io',
  'rbac.authorization.k8s.io',
  'networking.k8s.io',
  'policy',
  'discovery.k8s.io',
  'storage.k8s.io',
  'scheduling.k8s.io',
  'certificates.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'admissionregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'events.k8s.io',
  'autoscaling',
];

export const discoveryCases: readonly Case[] = [
  plain('versions of the core', get('/api')),
  plain('resources of the core', get('/api/v1')),
  only(['kind', 'apiVersion'], plain('groups', get('/apis'))),
  ...groups
    .filter((name) => name !== 'autoscaling')
    .map((name) => plain(`resources of ${name}`, get(`/apis/${name}/v1`))),
  ...['apps', 'batch', 'policy', 'apiextensions.k8s.io'].map((name) => plain(`group ${name}`, get(`/apis/${name}`))),
  plain('group that is not there', get('/apis/example.org')),
  plain('version that is not there', get('/apis/apps/v7')),
  plain('core version that is not there', get('/api/v7')),
  plain('aggregated discovery of the core', get('/api', aggregated)),
  only(['kind', 'apiVersion', 'metadata'], plain('aggregated discovery of groups', get('/apis', aggregated))),
  only(['major', 'minor', 'platform'], plain('version', get('/version'))),
  plain('health', get('/healthz')),
  plain('liveness', get('/livez')),
  plain('readiness', get('/readyz')),
  plain('health is only read', send('POST', '/healthz')),
  only(['swagger', 'info.title'], plain('OpenAPI 2', get('/openapi/v2'))),
  only(['openapi', 'info.title'], plain('OpenAPI 3 of apps', get('/openapi/v3/apis/apps/v1'))),
  plain('OpenAPI 3 of what is not there', get('/openapi/v3/apis/example.org/v1')),
  plain('path that is not there', get('/nothing/here')),
  plain('path that is not there in the API', get('/api/v1/namespaces/$NS/configmaps/a/b/c')),
  plain('path with an empty part', get('/api/v1//namespaces')),
  plain('resources with a slash at the end', get('/api/v1/')),
];
