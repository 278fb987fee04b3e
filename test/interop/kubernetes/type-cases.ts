// Objects that are put to a real kube-apiserver and to the embedded server's types, and must fare the same at both.
import type { JsonObject, JsonValue } from '../../../src/local/kubernetes/object.ts';

export interface CreateCase {
  readonly name: string;
  /** `group/version/plural`, or `version/plural`. */
  readonly resource: string;
  readonly body: JsonObject;
}

export interface UpdateCase extends CreateCase {
  /** A merge patch on what the create gave. */
  readonly change: JsonObject;
}

export const podSpec = (more: JsonObject = {}, container: JsonObject = {}): JsonObject => ({
  containers: [{ name: 'c', image: 'nginx', ...container }],
  ...more,
});

export const template = (more: JsonObject = {}, container: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: 'a' } },
  spec: podSpec(more, container),
});

const selector: JsonObject = { matchLabels: { app: 'a' } };
const object = (spec: JsonObject | undefined, more: JsonObject = {}): JsonObject => ({
  metadata: { name: 'x' },
  ...(spec ? { spec } : {}),
  ...more,
});
const claim: JsonObject = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const webhook: JsonObject = {
  name: 'a.b.c',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { service: { namespace: 'default', name: 'hook' } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
};
const policySpec: JsonObject = {
  matchConstraints: {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
  },
  validations: [{ expression: 'true' }],
};
const crdSpec: JsonObject = {
  group: 'example.com',
  scope: 'Namespaced',
  names: { plural: 'widgets', kind: 'Widget' },
  versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
};
const rbac = 'rbac.authorization.k8s.io';
const roleRef = (kind: string): JsonObject => ({ apiGroup: rbac, kind, name: 'r' });
/** A certificate request for CN=x that was made once; its key is not kept. */
export const certificateRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQ1VUQ0NBVGtDQVFBd0RERUtNQWdHQTFVRUF3d0JlRENDQVNJd0RRWUpLb1pJaHZjTkFRRUJCUUFEZ2dFUApBRENDQVFvQ2dnRUJBTHJxLzFBNllwazNmbGR5UVBqQVE3U2Vhdk1MU3UzRFUwdVgvdHNHdVNUZXRHbnZjdTJMCkVnSkQza1VuVUFXeDl6NFRqNXZDcU0vK2EvMzhlUEZxZlZKRFY2Qi9UY2lJSlNtVnppVkV1QjZJSEJWZFNXa2MKeTZSOFVEdmdvbkZSSmM5bGp4SG5JaEZCNFVBKzgrTnl0dkZWekU5RlFJaGc0ZW5McU9KMkY2RGdkZ09wOXZEMwo3bGlKbzZIZ09oY200a3N3ZUMxanhUQm43dlNLYzF2NGM1NFZtSHlsamhJTk96c3lnMG9vK3p0c1ZFMFRYN1FMCnl0VjE2bXVHZzFoV3h6T2hMMGE1MDdzeHZ0cGladkg0UU1ycWJVNDVqZUlCek03T3RIbjV2ZlNNelpVelhoVUgKSllJZlNEMWhnd01jYmFwNk54SnQ3eTBwWTJySmtxTzcrL2NDQXdFQUFhQUFNQTBHQ1NxR1NJYjNEUUVCQ3dVQQpBNElCQVFBUVpqYnNXb1ZGcE0rTkloWmRZL3JQcG9DWG95T3QwWTloSzhUQm5DZ3BrNFpYR2prbWNVend6RmhvCk55UTVvSnpmT1VJSndpQmV4cjhhdTdOVjQ1WW5wdnErR2hRSTlwSjU1TDVielY2ODgzRUJ3NzJBejJOeG1nbGEKalFrN3l4NzdWdjVqMXF5RkN4RWFnQ1R4c3l6L1lBV0VXTUtzSWEwdDFoYmZLZ0QzQi93UFQ5U3pCMkU4QXdPVgp1UVl1c3lQYlJ2VXlzbGJmSThENzhyNXd5ODNNZnYxMmFWQnJSVEgyUEJ5dzFiVGY2RmN0b3pnTmdkYllidFFZCnVHMmJpcWtSWDhGWGNyZTFhaUNJN3ZjRnYyaU5jTmhGaGtOcWhzamphd2JaMGY4czVvWDI1d08yQmp3YS84VHMKTmE0M2NFUFJnN2RLOWV6dEtqSVppMlpSTlBkQwotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';

const csrSpec: JsonObject = {
  request: certificateRequest,
  signerName: 'kubernetes.io/kube-apiserver-client',
  usages: ['client auth'],
};

let count = 0;
const accepted = (resource: string, body: JsonObject): CreateCase => {
  count += 1;
  return { name: `${resource} ${count}`, resource, body };
};

/** Objects that are taken; what the server makes of them is compared. */
export const acceptedCreates: readonly CreateCase[] = [
  accepted('v1/configmaps', object(undefined)),
  accepted('v1/configmaps', object(undefined, { data: { a: 'b' }, binaryData: { c: 'ZA==' }, immutable: true })),
  accepted('v1/secrets', object(undefined)),
  accepted('v1/secrets', object(undefined, { stringData: { a: 'b' }, data: { c: 'ZA==' } })),
  accepted('v1/secrets', object(undefined, { type: 'kubernetes.io/basic-auth', stringData: { username: 'u' } })),
  accepted('v1/namespaces', object(undefined)),
  accepted('v1/pods', object(podSpec())),
  accepted('v1/pods', object(podSpec({}, { image: 'nginx:1.2' }))),
  accepted(
    'v1/pods',
    object(
      podSpec(
        {},
        { image: 'registry:5000/nginx@sha256:0000000000000000000000000000000000000000000000000000000000000000' },
      ),
    ),
  ),
  accepted(
    'v1/pods',
    object(
      podSpec(
        {
          hostNetwork: true,
          serviceAccountName: 's',
          initContainers: [{ name: 'i', image: 'busybox:1', restartPolicy: 'Always' }],
          volumes: [
            { name: 'a' },
            { name: 'b', secret: { secretName: 's' } },
            { name: 'c', configMap: { name: 'c' } },
            { name: 'd', hostPath: { path: '/x' } },
            {
              name: 'e',
              projected: {
                sources: [
                  { serviceAccountToken: { path: 't' } },
                  { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
                ],
              },
            },
            { name: 'f', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
            { name: 'g', ephemeral: { volumeClaimTemplate: { spec: claim } } },
          ],
        },
        {
          ports: [{ containerPort: 80 }],
          env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '0.5' } },
          livenessProbe: { httpGet: { port: 80 } },
          readinessProbe: { tcpSocket: { port: 80 } },
          startupProbe: { grpc: { port: 80 } },
          lifecycle: { preStop: { httpGet: { port: 80 } } },
        },
      ),
    ),
  ),
  accepted('v1/services', object({ ports: [{ port: 80 }] })),
  accepted(
    'v1/services',
    object({
      type: 'NodePort',
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', targetPort: 'x' },
      ],
    }),
  ),
  accepted('v1/services', object({ type: 'LoadBalancer', sessionAffinity: 'ClientIP', ports: [{ port: 80 }] })),
  accepted('v1/services', object({ type: 'ExternalName', externalName: 'a.example.com' })),
  accepted('v1/services', object({ clusterIP: 'None', selector: { a: 'b' } })),
  accepted(
    'v1/endpoints',
    object(undefined, { subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }] }),
  ),
  accepted(
    'v1/events',
    object(undefined, {
      metadata: { name: 'x', namespace: 'default' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
      reason: 'R',
    }),
  ),
  accepted('v1/limitranges', object({ limits: [{ type: 'Container', max: { cpu: '1' }, min: { memory: '1Mi' } }] })),
  accepted('v1/resourcequotas', object({ hard: { pods: '4', 'requests.cpu': '1000m' } })),
  accepted('v1/serviceaccounts', object(undefined)),
  accepted('v1/nodes', object(undefined)),
  accepted(
    'v1/nodes',
    object(
      { unschedulable: true, podCIDR: '10.4.0.0/24', taints: [{ key: 'a', effect: 'NoSchedule' }] },
      { status: { capacity: { cpu: '4' } } },
    ),
  ),
  accepted(
    'v1/persistentvolumes',
    object({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } }),
  ),
  accepted('v1/persistentvolumeclaims', object(claim)),
  accepted('v1/podtemplates', object(undefined, { template: template() })),
  accepted('v1/replicationcontrollers', object({ template: template() })),
  accepted('apps/v1/deployments', object({ selector, template: template() })),
  accepted(
    'apps/v1/deployments',
    object({ selector, replicas: 0, strategy: { type: 'Recreate' }, template: template() }),
  ),
  accepted(
    'apps/v1/deployments',
    object({ selector, strategy: { rollingUpdate: { maxSurge: 2 } }, template: template() }),
  ),
  accepted('apps/v1/replicasets', object({ selector, template: template() })),
  accepted('apps/v1/statefulsets', object({ selector, serviceName: 's', template: template() })),
  accepted(
    'apps/v1/statefulsets',
    object({
      selector,
      template: template(),
      updateStrategy: { type: 'OnDelete' },
      volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: claim }],
    }),
  ),
  accepted('apps/v1/daemonsets', object({ selector, template: template() })),
  accepted('apps/v1/controllerrevisions', object(undefined, { revision: 1, data: { a: 1 } })),
  accepted('batch/v1/jobs', object({ template: template({ restartPolicy: 'Never' }) })),
  accepted(
    'batch/v1/jobs',
    object({
      parallelism: 2,
      backoffLimitPerIndex: 1,
      completions: 3,
      completionMode: 'Indexed',
      template: template({ restartPolicy: 'Never' }),
    }),
  ),
  accepted(
    'batch/v1/cronjobs',
    object({ schedule: '* * * * *', jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } } }),
  ),
  accepted(`${rbac}/v1/roles`, object(undefined)),
  accepted(
    `${rbac}/v1/roles`,
    object(undefined, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  ),
  accepted(
    `${rbac}/v1/clusterroles`,
    object(undefined, { rules: [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }] }),
  ),
  accepted(
    `${rbac}/v1/rolebindings`,
    object(undefined, {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'default' },
      ],
    }),
  ),
  accepted(
    `${rbac}/v1/clusterrolebindings`,
    object(undefined, { roleRef: roleRef('ClusterRole'), subjects: [{ kind: 'Group', name: 'g' }] }),
  ),
  accepted('coordination.k8s.io/v1/leases', object(undefined)),
  accepted(
    'coordination.k8s.io/v1/leases',
    object({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      renewTime: '2024-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    }),
  ),
  accepted(
    'discovery.k8s.io/v1/endpointslices',
    object(undefined, { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.1.1'] }], ports: [{ port: 80 }] }),
  ),
  accepted('certificates.k8s.io/v1/certificatesigningrequests', object(csrSpec)),
  accepted('apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: crdSpec,
  }),
  accepted('apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.example.org' },
    spec: {
      group: 'example.org',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: 'default', name: 's' },
      insecureSkipTLSVerify: true,
    },
  }),
  accepted('apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v2.example.org' },
    spec: { group: 'example.org', version: 'v2', groupPriorityMinimum: 100, versionPriority: 10 },
  }),
  accepted(
    'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    object(undefined, { webhooks: [webhook] }),
  ),
  accepted('admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', object(undefined, { webhooks: [webhook] })),
  accepted('admissionregistration.k8s.io/v1/validatingadmissionpolicies', object(policySpec)),
  accepted(
    'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    object({ policyName: 'x', validationActions: ['Deny'], matchResources: {} }),
  ),
  accepted(
    'networking.k8s.io/v1/ingresses',
    object({
      rules: [
        {
          host: 'a.example.com',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        },
      ],
    }),
  ),
  accepted(
    'networking.k8s.io/v1/ingressclasses',
    object({ controller: 'example.com/c', parameters: { kind: 'P', name: 'p' } }),
  ),
  accepted('networking.k8s.io/v1/networkpolicies', object({ podSelector: {}, egress: [{ ports: [{ port: 53 }] }] })),
  accepted(
    'networking.k8s.io/v1/networkpolicies',
    object({ podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { a: 'b' } } }] }] }),
  ),
  accepted('policy/v1/poddisruptionbudgets', object({ minAvailable: 1, selector })),
  accepted('scheduling.k8s.io/v1/priorityclasses', object(undefined, { value: 5 })),
  accepted('storage.k8s.io/v1/storageclasses', object(undefined, { provisioner: 'example.com/p' })),
  accepted('storage.k8s.io/v1/csidrivers', object({})),
  accepted('storage.k8s.io/v1/csinodes', object({ drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['a'] }] })),
  accepted(
    'storage.k8s.io/v1/volumeattachments',
    object({ attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } }),
  ),
  accepted('storage.k8s.io/v1/csistoragecapacities', object(undefined, { storageClassName: 's', capacity: '1024Mi' })),
  accepted('storage.k8s.io/v1/volumeattributesclasses', object(undefined, { driverName: 'd', parameters: { a: 'b' } })),
  accepted('networking.k8s.io/v1/ipaddresses', {
    metadata: { name: '10.0.0.77' },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } },
  }),
  accepted('networking.k8s.io/v1/servicecidrs', object({ cidrs: ['10.7.0.0/24'] })),
  accepted(
    'events.k8s.io/v1/events',
    object(undefined, {
      metadata: { name: 'x', namespace: 'default' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'c/x',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      type: 'Normal',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
    }),
  ),
];

const refused = (name: string, resource: string, body: JsonObject): CreateCase => ({ name, resource, body });
const named = (name: string): JsonObject => ({ metadata: { name } });
const pod = (name: string, spec: JsonObject, metadata: JsonObject = {}): CreateCase =>
  refused(name, 'v1/pods', { metadata: { name: 'x', ...metadata }, spec });
const deployment = (name: string, spec: JsonObject): CreateCase => refused(name, 'apps/v1/deployments', object(spec));
const service = (name: string, spec: JsonObject): CreateCase => refused(name, 'v1/services', object(spec));
const long = (length: number): string => 'a'.repeat(length);

/** Objects that are refused; status, reason, message and causes are compared. */
export const refusedCreates: readonly CreateCase[] = [
  refused('no name', 'v1/configmaps', { metadata: {} }),
  refused('upper case', 'v1/configmaps', named('A_b')),
  refused('too long', 'v1/configmaps', named(long(254))),
  refused('generateName', 'v1/configmaps', { metadata: { generateName: 'A_' } }),
  refused('label key', 'v1/configmaps', { metadata: { name: 'x', labels: { 'a b': 'c' } } }),
  refused('label prefix', 'v1/configmaps', { metadata: { name: 'x', labels: { '/b': 'c' } } }),
  refused('label slashes', 'v1/configmaps', { metadata: { name: 'x', labels: { 'a/b/c': 'c' } } }),
  refused('label key length', 'v1/configmaps', { metadata: { name: 'x', labels: { [long(64)]: 'c' } } }),
  refused('label value', 'v1/configmaps', { metadata: { name: 'x', labels: { a: 'c d' } } }),
  refused('label value length', 'v1/configmaps', { metadata: { name: 'x', labels: { a: long(64) } } }),
  refused('annotation key', 'v1/configmaps', { metadata: { name: 'x', annotations: { 'a b': 'c' } } }),
  refused('annotation size', 'v1/configmaps', { metadata: { name: 'x', annotations: { a: long(262145) } } }),
  refused('owner', 'v1/configmaps', {
    metadata: { name: 'x', ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
  }),
  refused('two controllers', 'v1/configmaps', {
    metadata: {
      name: 'x',
      ownerReferences: ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true })),
    },
  }),
  refused('finalizer', 'v1/configmaps', { metadata: { name: 'x', finalizers: ['a b'] } }),
  refused('key', 'v1/configmaps', object(undefined, { data: { 'a b': 'c' } })),
  refused('key dots', 'v1/configmaps', object(undefined, { data: { '..': 'c' } })),
  refused('key twice', 'v1/configmaps', object(undefined, { data: { a: 'c' }, binaryData: { a: 'ZA==' } })),
  refused('size', 'v1/configmaps', object(undefined, { data: { a: long(1048577) } })),
  refused('key', 'v1/secrets', object(undefined, { data: { 'a/b': 'ZA==' } })),
  refused('size', 'v1/secrets', object(undefined, { stringData: { a: long(1048577) } })),
  refused('basic auth', 'v1/secrets', object(undefined, { type: 'kubernetes.io/basic-auth' })),
  refused('ssh auth', 'v1/secrets', object(undefined, { type: 'kubernetes.io/ssh-auth' })),
  refused('tls', 'v1/secrets', object(undefined, { type: 'kubernetes.io/tls' })),
  refused('docker config missing', 'v1/secrets', object(undefined, { type: 'kubernetes.io/dockerconfigjson' })),
  refused(
    'docker config json',
    'v1/secrets',
    object(undefined, { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{' } }),
  ),
  refused('docker config', 'v1/secrets', object(undefined, { type: 'kubernetes.io/dockercfg' })),
  refused('service account token', 'v1/secrets', object(undefined, { type: 'kubernetes.io/service-account-token' })),
  refused('dots', 'v1/namespaces', named('a.b')),
  refused('underscore', 'v1/namespaces', named('a_b')),
  refused('name', 'v1/serviceaccounts', named('A')),
  pod('no containers', { containers: [] }),
  pod('no name', podSpec({}, { name: '' })),
  pod('name', podSpec({}, { name: 'A_' })),
  pod('no image', podSpec({}, { image: '' })),
  pod('image spaces', podSpec({}, { image: ' a ' })),
  pod('same name', {
    containers: [
      { name: 'a', image: 'a' },
      { name: 'a', image: 'b' },
    ],
  }),
  pod('init container same name', podSpec({ initContainers: [{ name: 'c', image: 'a' }] })),
  pod('restart policy', podSpec({ restartPolicy: 'Sometimes' })),
  pod('dns policy', podSpec({ dnsPolicy: 'X' })),
  pod('dns none', podSpec({ dnsPolicy: 'None' })),
  pod('pull policy', podSpec({}, { imagePullPolicy: 'X' })),
  pod('message policy', podSpec({}, { terminationMessagePolicy: 'X' })),
  pod('port', podSpec({}, { ports: [{ containerPort: 0 }, { containerPort: 70000 }] })),
  pod('port name', podSpec({}, { ports: [{ containerPort: 80, name: 'A--very-long-port-name' }] })),
  pod(
    'port twice',
    podSpec(
      {},
      {
        ports: [
          { containerPort: 80, name: 'a' },
          { containerPort: 81, name: 'a' },
        ],
      },
    ),
  ),
  pod('port protocol', podSpec({}, { ports: [{ containerPort: 80, protocol: 'X' }] })),
  pod('host port twice', {
    containers: [
      { name: 'a', image: 'a', ports: [{ containerPort: 80, hostPort: 80 }] },
      { name: 'b', image: 'b', ports: [{ containerPort: 80, hostPort: 80 }] },
    ],
  }),
  pod('env name', podSpec({}, { env: [{ name: '' }, { name: 'a=b' }] })),
  pod(
    'env both',
    podSpec({}, { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
  ),
  pod('env none', podSpec({}, { env: [{ name: 'A', valueFrom: {} }] })),
  pod('env field', podSpec({}, { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] })),
  pod('env key', podSpec({}, { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: '', key: 'a b' } } }] })),
  pod('env from', podSpec({}, { envFrom: [{}] })),
  pod('request over limit', podSpec({}, { resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } })),
  pod('negative', podSpec({}, { resources: { requests: { memory: '-1' } } })),
  pod('resource name', podSpec({}, { resources: { requests: { foo: '1' } } })),
  pod('extended resource', podSpec({}, { resources: { limits: { 'example.com/gpu': '1.5' } } })),
  pod('probe', podSpec({}, { livenessProbe: {} })),
  pod('probe two', podSpec({}, { livenessProbe: { httpGet: { port: 80 }, tcpSocket: { port: 80 } } })),
  pod(
    'probe numbers',
    podSpec({}, { livenessProbe: { httpGet: { port: 0 }, periodSeconds: -1, successThreshold: 2 } }),
  ),
  pod('volume name', podSpec({ volumes: [{ name: 'A_' }, { name: '' }] })),
  pod('volume twice', podSpec({ volumes: [{ name: 'a' }, { name: 'a' }] })),
  pod('volume two sources', podSpec({ volumes: [{ name: 'a', emptyDir: {}, secret: { secretName: 's' } }] })),
  pod(
    'volume source empty',
    podSpec({
      volumes: [
        { name: 'a', secret: {} },
        { name: 'b', configMap: {} },
        { name: 'c', hostPath: {} },
        { name: 'd', persistentVolumeClaim: {} },
      ],
    }),
  ),
  pod('mount unknown', podSpec({}, { volumeMounts: [{ name: 'a', mountPath: '/a' }] })),
  pod(
    'mount path',
    podSpec(
      { volumes: [{ name: 'a' }] },
      {
        volumeMounts: [
          { name: 'a', mountPath: '' },
          { name: 'a', mountPath: '/b', subPath: '../x' },
        ],
      },
    ),
  ),
  pod(
    'mount twice',
    podSpec(
      { volumes: [{ name: 'a' }] },
      {
        volumeMounts: [
          { name: 'a', mountPath: '/a' },
          { name: 'a', mountPath: '/a' },
        ],
      },
    ),
  ),
  pod('node name', podSpec({ nodeName: 'A_' })),
  pod('node selector', podSpec({ nodeSelector: { 'a b': 'c' } })),
  pod('service account', podSpec({ serviceAccountName: 'A_' })),
  pod('hostname', podSpec({ hostname: 'A.b', subdomain: 'C_' })),
  pod('deadline', podSpec({ activeDeadlineSeconds: 0 })),
  pod(
    'toleration',
    podSpec({
      tolerations: [
        { operator: 'Exists', value: 'x' },
        { key: 'a b' },
        { key: 'a', operator: 'X' },
        { key: 'a', effect: 'X' },
        { key: 'a', tolerationSeconds: 3 },
        { operator: 'Equal' },
      ],
    }),
  ),
  pod('pull secrets and host aliases', podSpec({ hostAliases: [{ ip: 'x', hostnames: ['A_'] }] })),
  pod(
    'affinity',
    podSpec({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'X' },
                  { key: 'a', operator: 'In' },
                  { key: 'b', operator: 'Exists', values: ['c'] },
                ],
              },
            ],
          },
        },
      },
    }),
  ),
  pod(
    'pod affinity',
    podSpec({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { a: 'b' } } }],
        },
      },
    }),
  ),
  pod('spread', podSpec({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'X' }] })),
  pod(
    'security',
    podSpec(
      { securityContext: { runAsUser: -1, fsGroup: -1 } },
      { securityContext: { runAsUser: -1, privileged: true, allowPrivilegeEscalation: false } },
    ),
  ),
  pod('ephemeral containers', podSpec({ ephemeralContainers: [{ name: 'e', image: 'i' }] })),
  pod('lifecycle', podSpec({}, { lifecycle: { preStop: {}, postStart: { exec: {} } } })),
  deployment('empty', {}),
  deployment('selector does not match', { selector: { matchLabels: { app: 'b' } }, template: template() }),
  deployment('empty selector', { selector: {}, template: template() }),
  deployment('selector operator', {
    selector: {
      matchExpressions: [
        { key: 'app', operator: 'X' },
        { key: 'app', operator: 'In' },
        { key: 'app', operator: 'Exists', values: ['a'] },
      ],
    },
    template: template(),
  }),
  deployment('replicas', {
    selector,
    replicas: -1,
    minReadySeconds: -1,
    revisionHistoryLimit: -1,
    progressDeadlineSeconds: 0,
    template: template(),
  }),
  deployment('strategy', { selector, strategy: { type: 'X' }, template: template() }),
  deployment('recreate with rolling update', {
    selector,
    strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } },
    template: template(),
  }),
  deployment('rolling update zero', {
    selector,
    strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
    template: template(),
  }),
  deployment('rolling update percent', {
    selector,
    strategy: { rollingUpdate: { maxSurge: 'x', maxUnavailable: '101%' } },
    template: template(),
  }),
  deployment('restart policy', { selector, template: template({ restartPolicy: 'Never' }) }),
  deployment('template', { selector, template: template({}, { image: '' }) }),
  deployment('active deadline', { selector, template: template({ activeDeadlineSeconds: 5 }) }),
  refused('empty', 'apps/v1/replicasets', object({})),
  refused('selector', 'apps/v1/replicasets', object({ selector: { matchLabels: { app: 'b' } }, template: template() })),
  refused('empty', 'apps/v1/statefulsets', object({})),
  refused(
    'policy',
    'apps/v1/statefulsets',
    object({ selector, template: template(), podManagementPolicy: 'X', updateStrategy: { type: 'X' } }),
  ),
  refused('empty', 'apps/v1/daemonsets', object({})),
  refused(
    'strategy',
    'apps/v1/daemonsets',
    object({ selector, template: template(), updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } }),
  ),
  refused('no data', 'apps/v1/controllerrevisions', object(undefined, { revision: -1 })),
  refused('empty', 'batch/v1/jobs', object({})),
  refused('restart policy', 'batch/v1/jobs', object({ template: template() })),
  refused(
    'numbers',
    'batch/v1/jobs',
    object({
      parallelism: -1,
      completions: -1,
      backoffLimit: -1,
      activeDeadlineSeconds: -1,
      ttlSecondsAfterFinished: -1,
      template: template({ restartPolicy: 'Never' }),
    }),
  ),
  refused('selector', 'batch/v1/jobs', object({ selector, template: template({ restartPolicy: 'Never' }) })),
  refused(
    'completion mode',
    'batch/v1/jobs',
    object({ completionMode: 'Indexed', parallelism: 1, template: template({ restartPolicy: 'Never' }) }),
  ),
  refused('empty', 'batch/v1/cronjobs', object({})),
  refused(
    'schedule',
    'batch/v1/cronjobs',
    object({
      schedule: 'x',
      concurrencyPolicy: 'X',
      startingDeadlineSeconds: -1,
      jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } },
    }),
  ),
  refused(
    'zone',
    'batch/v1/cronjobs',
    object({
      schedule: '* * * * *',
      timeZone: 'Nowhere/City',
      jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } },
    }),
  ),
  refused('name too long', 'batch/v1/cronjobs', {
    metadata: { name: long(53) },
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } } },
  }),
  service('no ports', {}),
  service('name of ports', { ports: [{ port: 80 }, { port: 81 }] }),
  service('port', { ports: [{ port: 0 }] }),
  service('port range', { ports: [{ port: 70000, targetPort: 'A_' }] }),
  service('port twice', {
    ports: [
      { port: 80, name: 'a' },
      { port: 80, name: 'b' },
    ],
  }),
  service('port name twice', {
    ports: [
      { port: 80, name: 'a' },
      { port: 81, name: 'a' },
    ],
  }),
  service('protocol', { ports: [{ port: 80, protocol: 'X' }] }),
  service('type', { type: 'X', ports: [{ port: 80 }] }),
  service('external name', { type: 'ExternalName' }),
  service('selector', { selector: { 'a b': 'c' }, ports: [{ port: 80 }] }),
  service('affinity', { sessionAffinity: 'X', ports: [{ port: 80 }] }),
  service('cluster ip', { clusterIP: 'x', ports: [{ port: 80 }] }),
  service('headless node port', { type: 'NodePort', clusterIP: 'None', ports: [{ port: 80 }] }),
  service('node port of cluster ip', { ports: [{ port: 80, nodePort: 30000 }] }),
  service('traffic policy', { externalTrafficPolicy: 'Local', ports: [{ port: 80 }] }),
  service('external ips', { externalIPs: ['x', '127.0.0.1'], ports: [{ port: 80 }] }),
  refused('name', 'v1/services', { metadata: { name: '1a' }, spec: { ports: [{ port: 80 }] } }),
  refused(
    'addresses',
    'v1/endpoints',
    object(undefined, { subsets: [{ addresses: [{ ip: 'x' }, { ip: '127.0.0.1' }], ports: [{ port: 0 }] }, {}] }),
  ),
  refused('namespace', 'v1/events', object(undefined, { involvedObject: { namespace: 'other' } })),
  refused(
    'limits',
    'v1/limitranges',
    object({ limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } }, { type: 'X' }] }),
  ),
  refused('resource', 'v1/resourcequotas', object({ hard: { foo: '1', pods: '-1' } })),
  refused(
    'scopes',
    'v1/resourcequotas',
    object({ hard: { pods: '1' }, scopes: ['X', 'Terminating', 'NotTerminating'] }),
  ),
  refused(
    'taint',
    'v1/nodes',
    object({
      taints: [
        { key: '', effect: '' },
        { key: 'a', effect: 'X' },
      ],
    }),
  ),
  refused('cidr', 'v1/nodes', object({ podCIDR: 'x' })),
  refused('empty', 'v1/persistentvolumes', object({})),
  refused(
    'no source',
    'v1/persistentvolumes',
    object({ capacity: { storage: '1Gi' }, accessModes: ['X'], persistentVolumeReclaimPolicy: 'X' }),
  ),
  refused('empty', 'v1/persistentvolumeclaims', object({})),
  refused(
    'access mode',
    'v1/persistentvolumeclaims',
    object({ accessModes: ['X'], resources: { requests: { storage: '0' } }, storageClassName: 'A_' }),
  ),
  refused(
    'rule',
    `${rbac}/v1/roles`,
    object(undefined, {
      rules: [{}, { verbs: ['get'], apiGroups: [''] }, { verbs: ['get'], nonResourceURLs: ['/x'] }],
    }),
  ),
  refused(
    'rule',
    `${rbac}/v1/clusterroles`,
    object(undefined, {
      rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''] }, { verbs: [] }],
    }),
  ),
  refused('name', `${rbac}/v1/roles`, named('a/b')),
  refused('empty', `${rbac}/v1/rolebindings`, object(undefined)),
  refused(
    'role and subjects',
    `${rbac}/v1/rolebindings`,
    object(undefined, {
      roleRef: { apiGroup: 'x', kind: 'X', name: '' },
      subjects: [
        { kind: 'X', name: '' },
        { kind: 'ServiceAccount', name: 'A_' },
        { kind: 'User', name: 'u', apiGroup: 'x' },
      ],
    }),
  ),
  refused(
    'role',
    `${rbac}/v1/clusterrolebindings`,
    object(undefined, { roleRef: roleRef('Role'), subjects: [{ kind: 'ServiceAccount', name: 'a' }] }),
  ),
  refused(
    'lease',
    'coordination.k8s.io/v1/leases',
    object({ leaseDurationSeconds: 0, leaseTransitions: -1, holderIdentity: '' }),
  ),
  refused('empty', 'discovery.k8s.io/v1/endpointslices', object(undefined)),
  refused(
    'addresses',
    'discovery.k8s.io/v1/endpointslices',
    object(undefined, {
      addressType: 'IPv4',
      endpoints: [{ addresses: [] }, { addresses: ['x'] }],
      ports: [{ name: 'a' }, { name: 'a' }],
    }),
  ),
  refused('type', 'discovery.k8s.io/v1/endpointslices', object(undefined, { addressType: 'X', endpoints: [] })),
  refused('empty', 'certificates.k8s.io/v1/certificatesigningrequests', object({})),
  refused(
    'fields',
    'certificates.k8s.io/v1/certificatesigningrequests',
    object({ request: 'YQ==', signerName: 'x', usages: ['X'], expirationSeconds: 5 }),
  ),
  refused('name', 'apiextensions.k8s.io/v1/customresourcedefinitions', object(crdSpec)),
  refused('two storage versions', 'apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: {
      ...crdSpec,
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    },
  }),
  refused('no schema', 'apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: { ...crdSpec, versions: [{ name: 'v1', served: true, storage: true }] },
  }),
  refused('empty', 'apiregistration.k8s.io/v1/apiservices', object({})),
  refused('service', 'apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.example.org' },
    spec: {
      group: 'example.org',
      version: 'v1',
      groupPriorityMinimum: 0,
      versionPriority: 0,
      service: { namespace: '', name: '' },
    },
  }),
  refused(
    'empty hook',
    'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    object(undefined, { webhooks: [{ name: 'a' }] }),
  ),
  refused(
    'hook',
    'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    object(undefined, {
      webhooks: [
        {
          ...webhook,
          sideEffects: 'Some',
          failurePolicy: 'X',
          matchPolicy: 'X',
          timeoutSeconds: 31,
          reinvocationPolicy: 'X',
          clientConfig: { url: 'http://a' },
        },
      ],
    }),
  ),
  refused(
    'rules',
    'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    object(undefined, {
      webhooks: [
        {
          ...webhook,
          rules: [{ operations: ['X'], apiGroups: ['*', 'a'], apiVersions: [], resources: ['*/*', 'pods'] }],
        },
      ],
    }),
  ),
  refused(
    'hook twice',
    'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    object(undefined, { webhooks: [webhook, webhook] }),
  ),
  refused('empty', 'admissionregistration.k8s.io/v1/validatingadmissionpolicies', object({})),
  refused('empty', 'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', object({})),
  refused('empty', 'networking.k8s.io/v1/ingresses', object({})),
  refused(
    'rules',
    'networking.k8s.io/v1/ingresses',
    object({
      rules: [
        { host: 'A_', http: { paths: [] } },
        {
          host: '1.2.3.4',
          http: {
            paths: [
              { path: 'x', pathType: 'Prefix', backend: {} },
              { path: '/a', backend: { service: { name: 's', port: {} } } },
            ],
          },
        },
      ],
    }),
  ),
  refused('empty', 'networking.k8s.io/v1/ingressclasses', object({})),
  refused(
    'policy',
    'networking.k8s.io/v1/networkpolicies',
    object({
      podSelector: {},
      policyTypes: ['X'],
      ingress: [{ from: [{}], ports: [{ port: 0 }, { protocol: 'X' }] }],
      egress: [{ to: [{ ipBlock: { cidr: 'x' } }] }],
    }),
  ),
  refused('both', 'policy/v1/poddisruptionbudgets', object({ minAvailable: 1, maxUnavailable: 1 })),
  refused(
    'percent',
    'policy/v1/poddisruptionbudgets',
    object({ minAvailable: '101%', selector: { matchLabels: { 'a b': 'c' } } }),
  ),
  refused(
    'value',
    'scheduling.k8s.io/v1/priorityclasses',
    object(undefined, { value: 1000000001, preemptionPolicy: 'X' }),
  ),
  refused('system', 'scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'system-x' }, value: 1 }),
  refused('empty', 'storage.k8s.io/v1/storageclasses', object(undefined)),
  refused(
    'fields',
    'storage.k8s.io/v1/storageclasses',
    object(undefined, { provisioner: 'a b', reclaimPolicy: 'X', volumeBindingMode: 'X', parameters: { '': 'a' } }),
  ),
  refused('drivers', 'storage.k8s.io/v1/csinodes', object({ drivers: [{ name: '', nodeID: '', topologyKeys: [''] }] })),
  refused('empty', 'storage.k8s.io/v1/volumeattachments', object({})),
  refused('driver', 'storage.k8s.io/v1/csidrivers', object({ fsGroupPolicy: 'X', volumeLifecycleModes: ['X'] })),
];

const updated = (name: string, resource: string, body: JsonObject, change: JsonObject): UpdateCase => ({
  name,
  resource,
  body,
  change,
});
const runningPod: JsonObject = object(podSpec({ terminationGracePeriodSeconds: 1 }));
const fullDeployment = object({ selector, template: template() });
const containers = (more: JsonObject): JsonValue => [{ name: 'c', image: 'nginx', ...more }];

/** Updates that are refused. */
export const refusedUpdates: readonly UpdateCase[] = [
  updated('immutable data', 'v1/configmaps', object(undefined, { immutable: true, data: { a: 'b' } }), {
    data: { a: 'c' },
  }),
  updated('immutable unset', 'v1/configmaps', object(undefined, { immutable: true }), { immutable: false }),
  updated('immutable data', 'v1/secrets', object(undefined, { immutable: true, stringData: { a: 'b' } }), {
    data: { a: 'Yw==' },
  }),
  updated('type', 'v1/secrets', object(undefined), { type: 'x' }),
  updated('uid', 'v1/configmaps', object(undefined), { metadata: { labels: { 'a b': 'c' } } }),
  updated('containers', 'v1/pods', runningPod, { spec: { containers: containers({ command: ['x'] }) } }),
  updated('more containers', 'v1/pods', runningPod, {
    spec: {
      containers: [
        { name: 'c', image: 'nginx' },
        { name: 'd', image: 'nginx' },
      ],
    },
  }),
  updated('node name', 'v1/pods', runningPod, { spec: { nodeName: 'n' } }),
  updated('service account', 'v1/pods', runningPod, { spec: { hostNetwork: true } }),
  updated('toleration removed', 'v1/pods', object(podSpec({ tolerations: [{ key: 'a' }] })), {
    spec: { tolerations: null },
  }),
  updated('image', 'v1/pods', runningPod, { spec: { containers: containers({ image: '' }) } }),
  updated('deadline', 'v1/pods', object(podSpec({ activeDeadlineSeconds: 5 })), {
    spec: { activeDeadlineSeconds: 10 },
  }),
  updated('selector', 'apps/v1/deployments', fullDeployment, {
    spec: { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } },
  }),
  updated('selector alone', 'apps/v1/deployments', fullDeployment, {
    spec: { selector: { matchLabels: { app: 'b' } } },
  }),
  updated('replicas', 'apps/v1/deployments', fullDeployment, { spec: { replicas: -1 } }),
  updated('selector', 'apps/v1/replicasets', fullDeployment, {
    spec: { selector: { matchLabels: { app: 'a', b: 'c' } }, template: { metadata: { labels: { b: 'c' } } } },
  }),
  updated('selector', 'apps/v1/daemonsets', fullDeployment, {
    spec: { selector: { matchLabels: { app: 'a', b: 'c' } }, template: { metadata: { labels: { b: 'c' } } } },
  }),
  updated('service name', 'apps/v1/statefulsets', fullDeployment, {
    spec: { serviceName: 'other', podManagementPolicy: 'Parallel' },
  }),
  updated('template', 'batch/v1/jobs', object({ template: template({ restartPolicy: 'Never' }) }), {
    spec: { completions: 2, template: { spec: { containers: containers({ image: 'other' }) } } },
  }),
  updated('completion mode', 'batch/v1/jobs', object({ template: template({ restartPolicy: 'Never' }) }), {
    spec: { completionMode: 'Indexed' },
  }),
  updated('cluster ip', 'v1/services', object({ clusterIP: '10.0.0.99', ports: [{ port: 80 }] }), {
    spec: { clusterIP: '10.0.0.98', clusterIPs: ['10.0.0.98'] },
  }),
  updated('role ref', `${rbac}/v1/rolebindings`, object(undefined, { roleRef: roleRef('Role') }), {
    roleRef: { name: 'other' },
  }),
  updated('role ref', `${rbac}/v1/clusterrolebindings`, object(undefined, { roleRef: roleRef('ClusterRole') }), {
    roleRef: { name: 'other' },
  }),
  updated(
    'address type',
    'discovery.k8s.io/v1/endpointslices',
    object(undefined, { addressType: 'IPv4', endpoints: [] }),
    { addressType: 'IPv6' },
  ),
  updated('provisioner', 'storage.k8s.io/v1/storageclasses', object(undefined, { provisioner: 'a' }), {
    provisioner: 'b',
    reclaimPolicy: 'Retain',
    parameters: { a: 'b' },
  }),
  updated('value', 'scheduling.k8s.io/v1/priorityclasses', object(undefined, { value: 1 }), {
    value: 2,
    preemptionPolicy: 'Never',
  }),
  updated('claim', 'v1/persistentvolumeclaims', object(claim), {
    spec: { accessModes: ['ReadOnlyMany'], volumeMode: 'Block' },
  }),
  updated(
    'volume source',
    'v1/persistentvolumes',
    object({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } }),
    { spec: { hostPath: { path: '/y' } } },
  ),
  updated('ingress class', 'networking.k8s.io/v1/ingressclasses', object({ controller: 'example.com/c' }), {
    spec: { controller: 'example.com/d' },
  }),
  updated('provider', 'v1/nodes', object({ providerID: 'a' }), { spec: { providerID: 'b' } }),
  updated(
    'attachment',
    'storage.k8s.io/v1/volumeattachments',
    object({ attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } }),
    { spec: { attacher: 'b' } },
  ),
  updated('driver', 'storage.k8s.io/v1/csidrivers', object({}), { spec: { volumeLifecycleModes: ['Ephemeral'] } }),
];
