// Pods.
import type { JsonObject } from '../../../../src/local/kubernetes/object.ts';
import {
  accepted,
  type CreateCase,
  claim,
  containers,
  object,
  podSpec,
  refused,
  type TypeCases,
  updated,
} from './case.ts';

const pod = (name: string, spec: JsonObject, metadata: JsonObject = {}): CreateCase =>
  refused(name, 'v1/pods', { metadata: { name: 'x', ...metadata }, spec });
const runningPod: JsonObject = object(podSpec({ terminationGracePeriodSeconds: 1 }));

export const podsCases: TypeCases = {
  accepted: [
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
  ],
  refusedCreates: [
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
  ],
  refusedUpdates: [
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
  ],
};
