// What a case of field tracking, server-side apply and patches is: what is done first, then the request whose answer is recorded.

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
  readonly resource: Resource;
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
  certificatesigningrequests: {
    group: 'certificates.k8s.io',
    version: 'v1',
    kind: 'CertificateSigningRequest',
    namespaced: false,
    status: true,
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

export type Resource = keyof typeof resources;

const step =
  (verb: Step['verb']) =>
  (manager: string, body: Json, more: Pick<Step, 'force' | 'subresource'> = {}): Step => ({
    verb,
    manager,
    body,
    ...more,
  });
export const create = step('create');
export const update = step('update');
export const json = step('json');
export const merge = step('merge');
export const strategic = step('strategic');
export const apply = step('apply');

/** Grouped by resource: name, what is done first, the request. */
export type Row = readonly [name: string, first: readonly Step[], request: Step];

export const rows = (resource: Case['resource'], list: readonly Row[]): Case[] =>
  list.map(([name, first, request]) => ({ name: `${resource}: ${name}`, resource, first, request }));
