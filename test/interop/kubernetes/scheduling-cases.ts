// Pods that a scheduler is asked to place, and what it says of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonMap } from './cases/case.ts';

export interface SchedulingNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly capacity?: Readonly<Record<string, string>>;
  readonly unschedulable?: boolean;
}

export interface SchedulingPod {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: JsonMap;
}

export interface SchedulingCase {
  readonly name: string;
  readonly nodes: readonly SchedulingNode[];
  /** Pods that are on a node already, by the name of it. */
  readonly placed?: readonly (SchedulingPod & { readonly node: string })[];
  /** Claims that nothing satisfies. */
  readonly claims?: readonly string[];
  readonly pod: SchedulingPod;
}

/** What became of the pod. */
export interface Scheduled {
  readonly name: string;
  /** Where it is, or would be once others have made room. */
  readonly node?: string;
  /** Of the condition PodScheduled, where it found no node. */
  readonly reason?: string;
  readonly message?: string;
  /** Pods that had to go for it. */
  readonly preempted?: readonly string[];
}

export const recordedFile = join(import.meta.dirname, 'recorded', 'scheduling.json');
export const recordedOutcomes = (): readonly Scheduled[] =>
  JSON.parse(readFileSync(recordedFile, 'utf8')) as readonly Scheduled[];

const usual = { cpu: '4', memory: '8Gi', pods: '110' };
export const capacityOf = ({ capacity = {} }: SchedulingNode): Readonly<Record<string, string>> => ({
  ...usual,
  ...capacity,
});
export const labelsOf = ({ name, labels = {} }: SchedulingNode): Readonly<Record<string, string>> => ({
  'kubernetes.io/hostname': name,
  ...labels,
});

/** The body of a pod. */
export const bodyOf = ({ name, labels = {}, spec = {} }: SchedulingPod, node?: string): JsonMap => ({
  metadata: { name, labels },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'example.com/main:1' }],
    ...(node === undefined ? {} : { nodeName: node }),
    ...spec,
  },
});

/** The body of a claim. */
export const claimBodyOf = (name: string): JsonMap => ({
  metadata: { name },
  spec: { storageClassName: '', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});

const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';
const asks = (requests: JsonMap, more: JsonMap = {}): JsonMap => ({
  containers: [{ name: 'main', image: 'example.com/main:1', resources: { requests, limits: requests } }],
  ...more,
});
const port = (hostPort: number): JsonMap => ({
  containers: [{ name: 'main', image: 'example.com/main:1', ports: [{ containerPort: hostPort, hostPort }] }],
});
const db = { app: 'db' };
const term = (topologyKey: string, labels: JsonMap = db): JsonMap => ({
  labelSelector: { matchLabels: labels },
  topologyKey,
});
const near = (topologyKey: string): JsonMap => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(topologyKey)] } },
});
const apart = (topologyKey: string): JsonMap => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(topologyKey)] } },
});
const spread = (topologyKey: string, more: JsonMap = {}): JsonMap => ({
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: db }, ...more },
  ],
});
const tainted = (key: string, value?: string, effect = 'NoSchedule') => ({
  taints: [{ key, effect, ...(value === undefined ? {} : { value }) }],
});
const requires = (...values: readonly Json[]): JsonMap => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values }] }],
      },
    },
  },
});
const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
const inZone = (name: string, where: string): SchedulingNode => ({ name, labels: { [zone]: where } });
const critical = { priorityClassName: 'system-cluster-critical' };

export const schedulingCases: readonly SchedulingCase[] = [
  { name: 'no nodes', nodes: [], pod: { name: 'p' } },
  { name: 'a node', nodes: [a], pod: { name: 'p' } },
  { name: 'too much cpu', nodes: [a, b], pod: { name: 'p', spec: asks({ cpu: '5' }) } },
  { name: 'too much memory', nodes: [a], pod: { name: 'p', spec: asks({ memory: '9Gi' }) } },
  { name: 'too much of both', nodes: [a], pod: { name: 'p', spec: asks({ cpu: '5', memory: '9Gi' }) } },
  {
    name: 'too little left',
    nodes: [a],
    placed: [{ name: 'x', node: 'a', spec: asks({ cpu: '3' }) }],
    pod: { name: 'p', spec: asks({ cpu: '2' }) },
  },
  {
    name: 'too many pods',
    nodes: [{ name: 'a', capacity: { pods: '1' } }],
    placed: [{ name: 'x', node: 'a' }],
    pod: { name: 'p' },
  },
  { name: 'nothing of a resource', nodes: [a], pod: { name: 'p', spec: asks({ 'example.com/gpu': '1' }) } },
  { name: 'a taint', nodes: [{ ...a, ...tainted('dedicated', 'infra') }], pod: { name: 'p' } },
  {
    name: 'a taint without value',
    nodes: [{ ...a, ...tainted('dedicated', undefined, 'NoExecute') }],
    pod: { name: 'p' },
  },
  {
    name: 'taints of several kinds',
    nodes: [
      { ...a, ...tainted('x', '1') },
      { ...b, ...tainted('x', '2') },
      { ...c, ...tainted('x', '1') },
    ],
    pod: { name: 'p' },
  },
  {
    name: 'a taint that is tolerated',
    nodes: [{ ...a, ...tainted('x', '1') }],
    pod: { name: 'p', spec: { tolerations: [{ key: 'x', operator: 'Exists' }] } },
  },
  { name: 'cordoned', nodes: [{ ...a, unschedulable: true }], pod: { name: 'p' } },
  { name: 'no node of that label', nodes: [a, b], pod: { name: 'p', spec: { nodeSelector: { disk: 'ssd' } } } },
  { name: 'no node of that affinity', nodes: [a], pod: { name: 'p', spec: requires('ssd') } },
  {
    name: 'several reasons',
    nodes: [{ ...a, ...tainted('x', '1') }, b, { ...c, labels: { disk: 'ssd' } }],
    pod: { name: 'p', spec: { ...asks({ cpu: '5' }), nodeSelector: { disk: 'ssd' } } },
  },
  {
    name: 'several reasons of the same number',
    nodes: [
      { ...a, unschedulable: true },
      { ...b, ...tainted('x') },
      { ...c, capacity: { cpu: '1' } },
    ],
    pod: { name: 'p', spec: asks({ cpu: '2' }) },
  },
  {
    name: 'ports that are taken',
    nodes: [a],
    placed: [{ name: 'x', node: 'a', spec: port(8080) }],
    pod: { name: 'p', spec: port(8080) },
  },
  {
    name: 'apart from others by host',
    nodes: [a, b],
    placed: [
      { name: 'x', node: 'a', labels: db },
      { name: 'y', node: 'b', labels: db },
    ],
    pod: { name: 'p', labels: db, spec: apart(hostname) },
  },
  {
    name: 'apart from others by zone',
    nodes: [inZone('a', '1'), inZone('b', '1'), inZone('c', '2')],
    placed: [{ name: 'x', node: 'a', labels: db }],
    pod: { name: 'p', labels: db, spec: apart(zone) },
  },
  {
    name: 'others that want to be apart',
    nodes: [a],
    placed: [{ name: 'x', node: 'a', labels: db, spec: apart(hostname) }],
    pod: { name: 'p', labels: db },
  },
  { name: 'near to nobody', nodes: [a], pod: { name: 'p', spec: near(hostname) } },
  { name: 'near to itself', nodes: [a], pod: { name: 'p', labels: db, spec: near(hostname) } },
  {
    name: 'near to another by zone',
    nodes: [inZone('a', '1'), inZone('b', '2'), { ...inZone('c', '1'), unschedulable: true }],
    placed: [{ name: 'x', node: 'b', labels: db }],
    pod: { name: 'p', spec: near(zone) },
  },
  {
    name: 'spread by host',
    nodes: [a, b],
    placed: [{ name: 'x', node: 'a', labels: db }],
    pod: { name: 'p', labels: db, spec: spread(hostname) },
  },
  {
    name: 'spread by host where the other is full',
    nodes: [a, { ...b, capacity: { cpu: '1' } }],
    placed: [{ name: 'x', node: 'a', labels: db }],
    pod: { name: 'p', labels: db, spec: { ...spread(hostname), ...asks({ cpu: '2' }) } },
  },
  {
    name: 'spread by zone',
    nodes: [inZone('a', '1'), inZone('b', '1'), inZone('c', '2')],
    placed: [
      { name: 'x', node: 'a', labels: db },
      { name: 'y', node: 'b', labels: db },
    ],
    pod: { name: 'p', labels: db, spec: spread(zone) },
  },
  {
    name: 'spread by a label that is missing',
    nodes: [a, b],
    pod: { name: 'p', labels: db, spec: spread(zone) },
  },
  {
    name: 'spread over nodes that count only if chosen',
    nodes: [{ ...a, labels: { disk: 'ssd' }, unschedulable: true }, { ...b, labels: { disk: 'ssd' } }, c],
    placed: [
      { name: 'x', node: 'a', labels: db },
      { name: 'y', node: 'b', labels: db },
    ],
    pod: { name: 'p', labels: db, spec: { ...spread(hostname), nodeSelector: { disk: 'ssd' }, ...asks({ cpu: '1' }) } },
  },
  {
    name: 'spread over fewer domains than wanted',
    nodes: [a],
    placed: [{ name: 'x', node: 'a', labels: db }],
    pod: { name: 'p', labels: db, spec: spread(hostname, { minDomains: 2 }) },
  },
  {
    name: 'spread over tainted nodes',
    nodes: [a, { ...b, ...tainted('x') }],
    placed: [{ name: 'x', node: 'a', labels: db }],
    pod: { name: 'p', labels: db, spec: spread(hostname) },
  },
  {
    name: 'spread over nodes without those that are tainted',
    nodes: [a, { ...b, ...tainted('x') }],
    placed: [{ name: 'x', node: 'a', labels: db }],
    pod: { name: 'p', labels: db, spec: spread(hostname, { nodeTaintsPolicy: 'Honor' }) },
  },
  {
    name: 'a claim that is not there',
    nodes: [a],
    pod: { name: 'p', spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'none' } }] } },
  },
  {
    name: 'a claim that is not satisfied',
    nodes: [a],
    claims: ['data'],
    pod: { name: 'p', spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } },
  },
  {
    name: 'a pod that may push others away',
    nodes: [a],
    placed: [{ name: 'x', node: 'a', spec: asks({ cpu: '3' }) }],
    pod: { name: 'p', spec: { ...asks({ cpu: '2' }), ...critical } },
  },
  {
    name: 'a pod that pushes as few away as it can',
    nodes: [a, b],
    placed: [
      { name: 'x1', node: 'a', spec: asks({ cpu: '2' }) },
      { name: 'x2', node: 'a', spec: asks({ cpu: '2' }) },
      { name: 'y', node: 'b', spec: asks({ cpu: '4' }) },
    ],
    pod: { name: 'p', spec: { ...asks({ cpu: '4' }), ...critical } },
  },
  {
    name: 'a pod that leaves those be that it does not need',
    nodes: [a],
    placed: [
      { name: 'x1', node: 'a', spec: asks({ cpu: '1' }) },
      { name: 'x2', node: 'a', spec: asks({ cpu: '3' }) },
    ],
    pod: { name: 'p', spec: { ...asks({ cpu: '3' }), ...critical } },
  },
  {
    name: 'a pod that may not push others of its rank away',
    nodes: [a],
    placed: [{ name: 'x', node: 'a', spec: { ...asks({ cpu: '3' }), ...critical } }],
    pod: { name: 'p', spec: { ...asks({ cpu: '2' }), ...critical } },
  },
  {
    name: 'a pod that would not fit even alone',
    nodes: [a],
    placed: [{ name: 'x', node: 'a', spec: asks({ cpu: '3' }) }],
    pod: { name: 'p', spec: { ...asks({ cpu: '5' }), ...critical } },
  },
];
