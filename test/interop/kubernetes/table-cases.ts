// Objects whose row in a table is compared with a real kube-apiserver's.
import type { JsonObject, JsonValue } from '../../../src/local/kubernetes/object.ts';
import { type CreateCase, certificateRequest, podSpec, template } from './type-cases/case.ts';
import { acceptedCreates } from './type-cases/cases.ts';

export interface TableCase extends CreateCase {
  /** Merge patches by subresource, made after the create; the empty name is the object itself. */
  readonly then?: Readonly<Record<string, JsonObject>>;
}

const long = '2020-01-01T00:00:00Z';
const selector: JsonObject = { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'b', operator: 'DoesNotExist' }] };
const rbac = 'rbac.authorization.k8s.io';

const table = (
  name: string,
  resource: string,
  body: JsonObject,
  then?: Readonly<Record<string, JsonObject>>,
): TableCase => ({
  name,
  resource,
  body: { ...body, metadata: { name: 'x', ...(body.metadata as JsonObject | undefined) } },
  ...(then ? { then } : {}),
});

const container = (name: string, state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  state,
  ready: false,
  restartCount: 0,
  image: 'i',
  imageID: '',
  ...more,
});
const running: JsonObject = { running: { startedAt: long } };
const ended = (exitCode: number, more: JsonObject = {}): JsonObject => ({ terminated: { exitCode, ...more } });
const waiting = (reason: string): JsonObject => ({ waiting: { reason } });
const pod = (name: string, status: JsonObject, spec: JsonObject = {}, more: JsonObject = {}): TableCase =>
  table(name, 'v1/pods', { ...more, spec: podSpec(spec) }, { status: { status } });
const condition = (type: string, status: string, more: JsonObject = {}): JsonValue => ({
  type,
  status,
  lastTransitionTime: long,
  ...more,
});
const initSpec: JsonObject = {
  initContainers: [
    { name: 'i', image: 'i' },
    { name: 'j', image: 'j' },
  ],
};
const sidecarSpec: JsonObject = { initContainers: [{ name: 's', image: 's', restartPolicy: 'Always' }] };

const pods: readonly TableCase[] = [
  pod('pending', {}),
  pod('running', {
    phase: 'Running',
    podIP: '10.1.1.1',
    podIPs: [{ ip: '10.1.1.1' }],
    conditions: [condition('Ready', 'True')],
    containerStatuses: [container('c', running, { ready: true, started: true })],
  }),
  pod('crash loop', {
    phase: 'Running',
    containerStatuses: [
      container('c', waiting('CrashLoopBackOff'), {
        restartCount: 7,
        lastState: ended(1, { finishedAt: long, startedAt: long }),
      }),
    ],
  }),
  pod('completed', { phase: 'Succeeded', containerStatuses: [container('c', ended(0, { reason: 'Completed' }))] }),
  pod('failed by code', { phase: 'Failed', containerStatuses: [container('c', ended(3))] }),
  pod('killed by signal', { phase: 'Failed', containerStatuses: [container('c', ended(137, { signal: 9 }))] }),
  pod('evicted', { phase: 'Failed', reason: 'Evicted' }),
  pod('scheduling gated', { conditions: [condition('PodScheduled', 'False', { reason: 'SchedulingGated' })] }),
  pod(
    'initialising',
    { initContainerStatuses: [container('i', running), container('j', waiting('PodInitializing'))] },
    initSpec,
  ),
  pod(
    'second init container',
    { initContainerStatuses: [container('i', ended(0)), container('j', waiting('PodInitializing'))] },
    initSpec,
  ),
  pod(
    'init crash loop',
    { initContainerStatuses: [container('i', waiting('CrashLoopBackOff'), { restartCount: 2 })] },
    initSpec,
  ),
  pod('init error', { initContainerStatuses: [container('i', ended(1, { reason: 'Error' }))] }, initSpec),
  pod('init exit code', { initContainerStatuses: [container('i', ended(2))] }, initSpec),
  pod(
    'sidecar',
    {
      phase: 'Running',
      conditions: [condition('Initialized', 'True'), condition('Ready', 'True')],
      initContainerStatuses: [container('s', running, { ready: true, started: true, restartCount: 1 })],
      containerStatuses: [container('c', running, { ready: true, started: true, restartCount: 2 })],
    },
    sidecarSpec,
  ),
  pod(
    'readiness gates',
    { conditions: [condition('example.com/a', 'True')], nominatedNodeName: 'n' },
    {
      readinessGates: [{ conditionType: 'example.com/a' }, { conditionType: 'example.com/b' }],
    },
  ),
  pod('terminating', { phase: 'Running' }, {}, { metadata: { finalizers: ['example.com/keep'] } }),
];

const nodes: readonly TableCase[] = [
  table(
    'full',
    'v1/nodes',
    {
      metadata: { labels: { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/infra': '' } },
      spec: { unschedulable: true },
    },
    {
      status: {
        status: {
          conditions: [condition('Ready', 'True', { lastHeartbeatTime: long })],
          addresses: [
            { type: 'InternalIP', address: '10.0.0.5' },
            { type: 'ExternalIP', address: '1.2.3.4' },
          ],
          nodeInfo: {
            kubeletVersion: 'v1.34.0',
            osImage: 'os',
            kernelVersion: '6.1',
            containerRuntimeVersion: 'cri-o://1.34',
            machineID: '',
            systemUUID: '',
            bootID: '',
            kubeProxyVersion: '',
            operatingSystem: 'linux',
            architecture: 'amd64',
          },
        },
      },
    },
  ),
  table(
    'not ready',
    'v1/nodes',
    { metadata: { labels: { 'kubernetes.io/role': 'old' } } },
    {
      status: { status: { conditions: [condition('Ready', 'False', { lastHeartbeatTime: long })] } },
    },
  ),
];

const others: readonly TableCase[] = [
  table('with selector', 'v1/services', {
    spec: { selector: { b: 'c', a: 'b' }, ports: [{ port: 80 }], externalIPs: ['9.9.9.9'] },
  }),
  table(
    'balanced',
    'v1/services',
    { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] } },
    {
      status: { status: { loadBalancer: { ingress: [{ ip: '5.5.5.5' }, { hostname: 'a.example.com' }] } } },
    },
  ),
  table('pending balancer', 'v1/services', {
    spec: {
      type: 'LoadBalancer',
      allocateLoadBalancerNodePorts: false,
      ports: [{ port: 80 }, { port: 81 }].map((port) => ({ ...port, name: `p${port.port}` })),
    },
  }),
  table('many', 'v1/endpoints', {
    subsets: [{ addresses: ['1', '2', '3', '4'].map((last) => ({ ip: `10.1.1.${last}` })), ports: [{ port: 80 }] }],
  }),
  table('none', 'v1/endpoints', {}),
  table('with series', 'v1/events', {
    metadata: { namespace: 'default' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default', fieldPath: 'spec.containers{c}' },
    type: 'Warning',
    reason: 'BackOff',
    message: ' text \n',
    source: { component: 'kubelet', host: 'n' },
    firstTimestamp: long,
    lastTimestamp: long,
    count: 5,
  }),
  table(
    'used',
    'v1/resourcequotas',
    { spec: { hard: { pods: '4', 'limits.cpu': '2', 'requests.cpu': '1' } } },
    {
      status: {
        status: {
          hard: { pods: '4', 'limits.cpu': '2', 'requests.cpu': '1' },
          used: { pods: '1', 'limits.cpu': '500m' },
        },
      },
    },
  ),
  table('bound', 'v1/persistentvolumes', {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
      hostPath: { path: '/x' },
      storageClassName: 's',
      claimRef: { namespace: 'default', name: 'c', kind: 'PersistentVolumeClaim' },
    },
  }),
  table(
    'bound',
    'v1/persistentvolumeclaims',
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        volumeName: 'v',
        storageClassName: 's',
      },
    },
    { status: { status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } } } },
  ),
  table(
    'progressing',
    'apps/v1/deployments',
    { spec: { replicas: 3, selector, template: template() } },
    {
      status: { status: { replicas: 3, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 } },
    },
  ),
  table(
    'ready',
    'apps/v1/replicasets',
    { spec: { replicas: 2, selector, template: template() } },
    {
      status: { status: { replicas: 2, readyReplicas: 1, fullyLabeledReplicas: 2 } },
    },
  ),
  table(
    'ready',
    'apps/v1/statefulsets',
    { spec: { replicas: 2, selector, template: template() } },
    {
      status: { status: { replicas: 2, readyReplicas: 1 } },
    },
  ),
  table(
    'ready',
    'apps/v1/daemonsets',
    { spec: { selector, template: template({ nodeSelector: { a: 'b' } }) } },
    {
      status: {
        status: {
          currentNumberScheduled: 2,
          desiredNumberScheduled: 3,
          numberReady: 1,
          numberMisscheduled: 0,
          updatedNumberScheduled: 2,
          numberAvailable: 1,
        },
      },
    },
  ),
  table('owned', 'apps/v1/controllerrevisions', {
    metadata: {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 'u', controller: true }],
    },
    revision: 3,
    data: {},
  }),
  table('parallel', 'batch/v1/jobs', { spec: { parallelism: 3, template: template({ restartPolicy: 'Never' }) } }),
  table(
    'complete',
    'batch/v1/jobs',
    { spec: { template: template({ restartPolicy: 'Never' }) } },
    {
      status: {
        status: {
          startTime: long,
          completionTime: '2020-01-01T01:02:03Z',
          succeeded: 1,
          conditions: [condition('SuccessCriteriaMet', 'True'), condition('Complete', 'True')],
        },
      },
    },
  ),
  table(
    'scheduled',
    'batch/v1/cronjobs',
    {
      spec: {
        schedule: '0 * * * *',
        timeZone: 'Europe/Berlin',
        suspend: true,
        jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } },
      },
    },
    { status: { status: { lastScheduleTime: long, active: [{ name: 'a' }] } } },
  ),
  table('many subjects', `${rbac}/v1/rolebindings`, {
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
      { kind: 'Group', name: 'h' },
      { kind: 'ServiceAccount', name: 's', namespace: 'default' },
    ],
  }),
  table(
    'approved',
    'certificates.k8s.io/v1/certificatesigningrequests',
    {
      spec: {
        request: certificateRequest,
        signerName: 'example.com/s',
        usages: ['client auth'],
        expirationSeconds: 86400,
      },
    },
    { approval: { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'R' }] } } },
  ),
  table(
    'denied',
    'certificates.k8s.io/v1/certificatesigningrequests',
    {
      spec: { request: certificateRequest, signerName: 'example.com/s', usages: ['client auth'] },
    },
    { approval: { status: { conditions: [{ type: 'Denied', status: 'True', reason: 'R' }] } } },
  ),
  table(
    'with address',
    'networking.k8s.io/v1/ingresses',
    {
      spec: {
        ingressClassName: 'c',
        tls: [{ hosts: ['a.example.com'] }],
        rules: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ host: `${name}.example.com` })),
      },
    },
    { status: { status: { loadBalancer: { ingress: [{ ip: '2.2.2.2' }] } } } },
  ),
  table('parameters', 'networking.k8s.io/v1/ingressclasses', {
    spec: { controller: 'example.com/c', parameters: { apiGroup: 'example.com', kind: 'P', name: 'p' } },
  }),
  table('selector', 'networking.k8s.io/v1/networkpolicies', { spec: { podSelector: { matchLabels: { a: 'b' } } } }),
  table('percent', 'policy/v1/poddisruptionbudgets', {
    spec: { maxUnavailable: '50%', selector: { matchLabels: { app: 'a' } } },
  }),
  table('default', 'storage.k8s.io/v1/storageclasses', {
    metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'example.com/p',
    allowVolumeExpansion: true,
  }),
  table('many', 'discovery.k8s.io/v1/endpointslices', {
    addressType: 'IPv4',
    endpoints: ['1', '2', '3', '4', '5'].map((last) => ({ addresses: [`10.1.1.${last}`] })),
    ports: [{ port: 80, name: 'a' }, { name: 'b' }],
  }),
  table('parameters', 'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', {
    spec: {
      policyName: 'x',
      validationActions: ['Deny'],
      paramRef: { name: 'p', namespace: 'default', parameterNotFoundAction: 'Deny' },
    },
  }),
];

/** What every accepted object looks like in a table, and what particular states do. */
export const tableCases: readonly TableCase[] = [
  ...acceptedCreates
    .filter(({ resource }) => resource !== 'v1/nodes')
    .map((each) => ({ ...each, name: 'plain' }))
    .filter((each, index, all) => all.findIndex(({ resource }) => resource === each.resource) === index),
  ...pods,
  ...nodes,
  ...others,
];
