// kubectl describe for the common kinds.
import { claim, configMap, cronJob, ingress, job, namespace, node, pod, secret, service } from '../../cases/objects.ts';
import { type KubectlCase, plain, withFiles } from '../case.ts';

const fullPod = pod(
  'full',
  {
    spec: {
      terminationGracePeriodSeconds: 5,
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      initContainers: [{ name: 'first', image: 'example.com/first:1', command: ['true'] }],
      containers: [
        {
          name: 'main',
          image: 'example.com/main:1',
          args: ['--flag'],
          ports: [{ containerPort: 80, name: 'http' }],
          env: [
            { name: 'A', value: 'b' },
            { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
          ],
          resources: { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '100m' } },
          livenessProbe: { httpGet: { path: '/live', port: 80 } },
          volumeMounts: [{ name: 'config', mountPath: '/config' }],
        },
      ],
      volumes: [
        { name: 'config', configMap: { name: 'c' } },
        { name: 'scratch', emptyDir: {} },
      ],
    },
  },
  { labels: { app: 'web' }, annotations: { note: 'x' } },
);

export const describeCases: readonly KubectlCase[] = [
  withFiles(
    'describe plain objects',
    {
      'objects.json': [
        configMap('c', { data: { key: 'a\nb\n' }, binaryData: { bin: 'AAE=' } }, { labels: { a: 'b' } }),
        secret('s', { stringData: { k: 'v' } }),
        service('web'),
        claim('data'),
        ingress('web'),
      ],
    },
    'apply -f objects.json',
    'describe configmap c',
    'describe secret s',
    'describe service web',
    'describe ingress web',
    'describe serviceaccount default',
    'describe pvc data',
    'describe cm/c secret/s',
    'describe cm -l a=b',
    'describe configmap nothing',
    'describe nothing x',
    'describe service w',
  ),
  withFiles(
    'describe pods',
    { 'pod.json': fullPod },
    'apply -f pod.json',
    'describe pod full',
    'describe pods',
    'describe pod nothing',
  ),
  withFiles(
    'describe jobs',
    { 'job.json': job('once', {}, {}), 'cronjob.json': cronJob('often') },
    'apply -f cronjob.json',
    'describe cronjob often',
    'describe job nothing',
  ),
  withFiles(
    'describe nodes',
    {
      'node.json': node(
        'describe-node',
        { spec: { unschedulable: true, taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] } },
        { labels: { 'node-role.kubernetes.io/worker': '' } },
      ),
    },
    'create -f node.json',
    'get node describe-node',
    'get node describe-node -o wide',
    'delete node describe-node',
  ),
  withFiles(
    'describe namespaces and quotas',
    { 'ns.json': namespace('describe-ns', {}, { labels: { a: 'b' } }) },
    'apply -f ns.json',
    'describe namespace describe-ns',
    'create quota limit --hard=pods=2,configmaps=5',
    'wait quota/limit --for=jsonpath={.status.hard.pods}=2 --timeout=20s',
    'describe quota limit',
    'get quota limit',
    'delete ns describe-ns',
  ),
  plain(
    'describe access',
    'create role reader --verb=get,list --resource=pods,configmaps',
    'create rolebinding readers --role=reader --user=ann --serviceaccount=$NS:default --group=team',
    'describe role reader',
    'describe rolebinding readers',
    'describe clusterrole system:discovery',
    'describe clusterrolebinding cluster-admin',
    'describe priorityclass system-node-critical',
  ),
];
