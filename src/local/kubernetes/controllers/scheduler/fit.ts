// Whether a pod fits a node, and how well.
import type { PodAffinityTerm } from '../../types/pod/pod-spec.ts';
import { selects } from '../../types/selectors.ts';
import { controllerOf } from '../hands.ts';
import type { Node, Pod } from '../shapes.ts';
import { preference, tolerates, untolerated, wantsNode } from './node-affinity.ts';
import { type Amounts, add, amounts, requestsOf } from './resources.ts';

/** A node with what runs on it. Changes as pods are placed. */
export interface Place {
  readonly node: Node;
  readonly allocatable: Amounts;
  readonly used: Map<string, number>;
  /** Of everything that is not finished. */
  podCount: number;
  readonly crowds: Map<string, number>;
  readonly ports: Set<string>;
}

/** Why a node is not for a pod. */
export interface Misfit {
  readonly reason: string;
  /** Whether it could be, if other pods went. */
  readonly preemptable: boolean;
}

export const placeOf = (node: Node): Place => ({
  node,
  allocatable: amounts(node.status.allocatable ?? node.status.capacity),
  used: new Map(),
  podCount: 0,
  crowds: new Map(),
  ports: new Set(),
});

export const crowdOf = (pod: Pod): string => controllerOf(pod)?.uid ?? '';

function portsOf({ spec }: Pod): string[] {
  return (spec.containers ?? []).flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, protocol = 'TCP' }) => (hostPort ? [`${protocol}/${hostPort}`] : [])),
  );
}

/** Counts a pod that runs on the node. */
export function occupy(place: Place, pod: Pod, requests: Amounts): void {
  add(place.used, requests);
  place.podCount += 1;
  const crowd = crowdOf(pod);
  if (crowd) place.crowds.set(crowd, (place.crowds.get(crowd) ?? 0) + 1);
  for (const port of portsOf(pod)) place.ports.add(port);
}

const unschedulableTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** What keeps a pod off a node; the first that does, in the order in which a scheduler asks. */
export function misfits(pod: Pod, place: Place): Misfit[] {
  const { node } = place;
  const hard = (reason: string): Misfit[] => [{ reason, preemptable: false }];
  if (node.spec.unschedulable && !(pod.spec.tolerations ?? []).some((each) => tolerates(each, unschedulableTaint))) {
    return hard('node(s) were unschedulable');
  }
  if (untolerated(pod, node)) return hard('node(s) had untolerated taint(s)');
  if (!wantsNode(pod, node)) return hard("node(s) didn't match Pod's node affinity/selector");
  if (portsOf(pod).some((port) => place.ports.has(port))) {
    return [{ reason: "node(s) didn't have free ports for the requested pod ports", preemptable: true }];
  }
  return shortages(pod, place);
}

function shortages(pod: Pod, { allocatable, used, podCount }: Place): Misfit[] {
  const found: Misfit[] = [];
  const mostPods = allocatable.get('pods');
  if (mostPods !== undefined && podCount + 1 > mostPods) found.push({ reason: 'Too many pods', preemptable: true });
  for (const [name, wanted] of requestsOf(pod)) {
    const total = allocatable.get(name) ?? 0;
    if (wanted > 0 && wanted > total - (used.get(name) ?? 0)) {
      found.push({ reason: `Insufficient ${name}`, preemptable: wanted <= total });
    }
  }
  return found;
}

/** A pod and the node it is on, for affinity between pods. */
export interface Placed {
  readonly pod: Pod;
  readonly node: Node;
}

const concerns = (term: PodAffinityTerm, owner: Pod, other: Pod): boolean => {
  const places = term.namespaces?.length ? term.namespaces : [owner.metadata.namespace ?? ''];
  const everywhere = term.namespaceSelector !== undefined && term.namespaceSelector !== null;
  if (!everywhere && !places.includes(other.metadata.namespace ?? '')) return false;
  return term.labelSelector !== undefined && selects(term.labelSelector, other.metadata.labels);
};

const sameTopology = (key: string, one: Node, other: Node): boolean => {
  const value = one.metadata.labels?.[key];
  return value !== undefined && value === other.metadata.labels?.[key];
};

/** What affinity between pods has against a node. */
export function affinityMisfit(pod: Pod, node: Node, others: readonly Placed[]): Misfit | undefined {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (others.some((other) => concerns(term, pod, other.pod) && sameTopology(term.topologyKey, node, other.node))) {
      return { reason: "node(s) didn't match pod anti-affinity rules", preemptable: true };
    }
  }
  for (const other of others) {
    const terms = other.pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.some((term) => concerns(term, other.pod, pod) && sameTopology(term.topologyKey, node, other.node))) {
      return { reason: "node(s) didn't satisfy existing pods anti-affinity rules", preemptable: true };
    }
  }
  for (const term of podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    const there = others.filter((other) => concerns(term, pod, other.pod));
    // The first of pods that want each other has nobody to join.
    if (there.length === 0 && concerns(term, pod, pod)) continue;
    if (!there.some((other) => sameTopology(term.topologyKey, node, other.node))) {
      return { reason: "node(s) didn't match pod affinity rules", preemptable: false };
    }
  }
  return undefined;
}

/** The better of two places for a pod: below zero for `one`. Few of the same set first, then wishes, then what is free. */
export function betterPlace(pod: Pod, one: Place, other: Place): number {
  const crowd = crowdOf(pod);
  const crowded = (one.crowds.get(crowd) ?? 0) - (other.crowds.get(crowd) ?? 0);
  const wished = preference(pod, other.node) - preference(pod, one.node);
  if (wished !== 0) return wished;
  if (crowd && crowded !== 0) return crowded;
  const load = loadOf(one) - loadOf(other);
  if (load !== 0) return load;
  const count = one.podCount - other.podCount;
  if (count !== 0) return count;
  return (one.node.metadata.name ?? '') < (other.node.metadata.name ?? '') ? -1 : 1;
}

const loadOf = ({ used, allocatable }: Place): number =>
  ['cpu', 'memory'].reduce((sum, name) => sum + (used.get(name) ?? 0) / (allocatable.get(name) || 1), 0);
