// What one object uses of a namespace's quota.
import type { KubeObject } from '../object.ts';
import { parseQuantity, type Quantity } from '../schema/quantity.ts';
import type { Container, Pod, ResourceList } from './pod.ts';
import { podLimits, podRequests } from './pod-resources.ts';

export type Usage = Map<string, Quantity>;

/** Group and plural of a resource, as quotas count it. */
export interface Counted {
  readonly group: string;
  readonly plural: string;
}

/** Types whose number has a name of its own, besides `count/<plural>`. */
const namedCounts = new Set([
  'pods',
  'services',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
]);

const one: Quantity = { nanos: 1_000_000_000n, format: 'decimal' };

export const countName = ({ group, plural }: Counted): string =>
  `count/${group === '' ? plural : `${plural}.${group}`}`;

/** Everything that an object counts for, by the names that quotas use. */
export function usageOf(counted: Counted, object: KubeObject): Usage {
  const usage: Usage = new Map([[countName(counted), one]]);
  if (counted.group !== '') return usage;
  if (counted.plural === 'pods') {
    if (!isOver(object)) addPod(usage, object as Pod);
    return usage;
  }
  if (namedCounts.has(counted.plural)) usage.set(counted.plural, one);
  if (counted.plural === 'services') addService(usage, object);
  if (counted.plural === 'persistentvolumeclaims') addClaim(usage, object);
  return usage;
}

const isOver = (pod: KubeObject): boolean => {
  const { phase } = (pod.status ?? {}) as { phase?: string };
  return phase === 'Succeeded' || phase === 'Failed';
};

function addPod(usage: Usage, { spec }: Pod): void {
  usage.set('pods', one);
  for (const [name, quantity] of podRequests(spec)) {
    usage.set(`requests.${name}`, quantity);
    if (name === 'cpu' || name === 'memory' || name === 'ephemeral-storage') usage.set(name, quantity);
  }
  for (const [name, quantity] of podLimits(spec)) usage.set(`limits.${name}`, quantity);
}

function addService(usage: Usage, { spec }: KubeObject): void {
  const { type, ports = [] } = (spec ?? {}) as { type?: string; ports?: readonly unknown[] };
  const nodePorts: Quantity = { nanos: BigInt(ports.length) * one.nanos, format: 'decimal' };
  if (type === 'LoadBalancer') usage.set('services.loadbalancers', one);
  if (type === 'LoadBalancer' || type === 'NodePort') usage.set('services.nodeports', nodePorts);
}

function addClaim(usage: Usage, { spec }: KubeObject): void {
  const { resources, storageClassName } = (spec ?? {}) as {
    resources?: { requests?: ResourceList };
    storageClassName?: string;
  };
  const storage = resources?.requests?.storage;
  const asked = storage === undefined ? undefined : parseQuantity(storage);
  if (asked) usage.set('requests.storage', asked);
  if (!storageClassName) return;
  const ofClass = `${storageClassName}.storageclass.storage.k8s.io`;
  usage.set(`${ofClass}/persistentvolumeclaims`, one);
  if (asked) usage.set(`${ofClass}/requests.storage`, asked);
}

const computeNames = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

/** The compute resources of a quota that some containers do not speak of: `limits.memory for: a,b; requests.cpu for: a`. */
export function unspecified({ spec }: Pod, hard: Iterable<string>): string | undefined {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const missing = [...hard]
    .filter((name) => computeNames.has(name))
    .sort()
    .map((name) => ({ name, without: containers.filter((container) => !speaksOf(container, name)) }))
    .filter(({ without }) => without.length > 0);
  if (missing.length === 0) return undefined;
  return missing.map(({ name, without }) => `${name} for: ${without.map((c) => c.name).join(',')}`).join('; ');
}

function speaksOf({ resources }: Container, name: string): boolean {
  const [kind, resource] = name.includes('.') ? name.split('.', 2) : ['requests', name];
  const list = kind === 'limits' ? resources?.limits : resources?.requests;
  return list !== undefined && Object.hasOwn(list, resource ?? '');
}
