// Objects that cases are about.
import type { JsonMap } from './case.ts';

const object =
  (apiVersion: string, kind: string, fixed: JsonMap = {}) =>
  (name: string, more: JsonMap = {}, metadata: JsonMap = {}): JsonMap => ({
    apiVersion,
    kind,
    metadata: { name, ...metadata },
    ...fixed,
    ...more,
  });

const template: JsonMap = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] },
};
const selector: JsonMap = { matchLabels: { app: 'web' } };

export const configMap = object('v1', 'ConfigMap');
export const secret = object('v1', 'Secret');
export const serviceAccount = object('v1', 'ServiceAccount');
export const namespace = object('v1', 'Namespace');
export const node = object('v1', 'Node');
export const service = object('v1', 'Service', { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
export const pod = object('v1', 'Pod', { spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] } });
export const deployment = object('apps/v1', 'Deployment', { spec: { replicas: 2, selector, template } });
export const replicaSet = object('apps/v1', 'ReplicaSet', { spec: { replicas: 2, selector, template } });
export const statefulSet = object('apps/v1', 'StatefulSet', { spec: { serviceName: 'web', selector, template } });
export const daemonSet = object('apps/v1', 'DaemonSet', { spec: { selector, template } });
export const job = object('batch/v1', 'Job', {
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/main:1' }] } },
  },
});
export const cronJob = object('batch/v1', 'CronJob', {
  spec: {
    schedule: '*/5 * * * *',
    jobTemplate: {
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/main:1' }] } },
      },
    },
  },
});
export const lease = object('coordination.k8s.io/v1', 'Lease', { spec: { holderIdentity: 'me' } });
export const role = object('rbac.authorization.k8s.io/v1', 'Role', {
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
});
export const roleBinding = (name: string, user: string, more: JsonMap = {}): JsonMap => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  ...more,
});
export const claim = object('v1', 'PersistentVolumeClaim', {
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
export const disruptionBudget = object('policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: 1, selector } });
export const ingress = object('networking.k8s.io/v1', 'Ingress', {
  spec: {
    rules: [
      {
        host: 'web.example.com',
        http: {
          paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
        },
      },
    ],
  },
});
