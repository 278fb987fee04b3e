// Objects of other built-in types, one each.
import type { JsonMap, Resource } from './case.ts';
import { deployment, podSpec, side } from './workloads.ts';

export const bodies: Readonly<Partial<Record<Resource, JsonMap>>> = {
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
