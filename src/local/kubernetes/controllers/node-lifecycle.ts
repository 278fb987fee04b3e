// Nodes that fall silent or are not ready are marked, and pods leave them when their patience ends.
import { isDeepStrictEqual } from 'node:util';
import { setConditions } from './conditions.ts';
import { type Controller, type Key, type Later, sooner, type Trigger } from './controller.ts';
import { copyOf, type Hands, isNotFound, type Reader } from './hands.ts';
import { leases, nodes, pods } from './kinds.ts';
import { conditionOf, isEnding, isFinished } from './pods.ts';
import { tolerates } from './scheduler/node-affinity.ts';
import type { Condition, Node, Pod, Taint } from './shapes.ts';

/** How long a node may be silent before it counts as lost; a lease that lasts longer says so itself. */
const graceMs = 50_000;
const leaseNamespace = 'kube-node-lease';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';
const unschedulable = 'node.kubernetes.io/unschedulable';

/** Taints that follow from conditions: by condition type, the status that means trouble and the taint's key. */
const pressures: readonly (readonly [type: string, status: string, key: string])[] = [
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
];
const ours = new Set([notReady, unreachable, unschedulable, ...pressures.map(([, , key]) => key)]);

/** When the node was last heard of, and how long that is good for. */
function heardOf(reader: Reader, node: Node): { readonly at: number; readonly forMs: number } {
  const { name = '', creationTimestamp = '' } = node.metadata;
  const lease = reader.get(leases, leaseNamespace, name);
  const heartbeats = (node.status.conditions ?? []).map(
    ({ lastHeartbeatTime }) => Date.parse(lastHeartbeatTime ?? '') || 0,
  );
  const renewed = lease?.spec.renewTime ? Date.parse(lease.spec.renewTime) : 0;
  return {
    at: Math.max(Date.parse(creationTimestamp), renewed, ...heartbeats),
    forMs: Math.max(graceMs, (lease?.spec.leaseDurationSeconds ?? 0) * 1000),
  };
}

const watched = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Conditions of a node that nobody has heard of for too long. */
function silent({ status }: Node): Condition[] {
  return watched.map((type) => {
    const known = conditionOf(status.conditions, type);
    return {
      ...known,
      type,
      status: 'Unknown',
      reason: known ? 'NodeStatusUnknown' : 'NodeStatusNeverUpdated',
      message: known ? 'Kubelet stopped posting node status.' : 'Kubelet never posted node status.',
    };
  });
}

/** The taints a node is to have besides those that others gave it. */
function taintsFor({ spec, status }: Node): readonly Omit<Taint, 'timeAdded'>[] {
  const found: Omit<Taint, 'timeAdded'>[] = [];
  const ready = conditionOf(status.conditions, 'Ready')?.status;
  const key = ready === 'Unknown' ? unreachable : notReady;
  if (ready !== 'True') found.push({ key, effect: 'NoSchedule' });
  if (ready === 'Unknown' || ready === 'False') found.push({ key, effect: 'NoExecute' });
  for (const [type, trouble, taint] of pressures) {
    if (conditionOf(status.conditions, type)?.status === trouble) found.push({ key: taint, effect: 'NoSchedule' });
  }
  if (spec.unschedulable) found.push({ key: unschedulable, effect: 'NoSchedule' });
  return found;
}

async function taint(hands: Hands, node: Node): Promise<Node> {
  const wanted = taintsFor(node);
  const before = node.spec.taints ?? [];
  const same = (one: Omit<Taint, 'timeAdded'>, other: Taint): boolean =>
    one.key === other.key && one.effect === other.effect;
  const kept = before.filter((each) => !ours.has(each.key) || wanted.some((want) => same(want, each)));
  const added = wanted.filter((want) => !before.some((each) => same(want, each)));
  const taints = [...kept, ...added.map((each) => ({ ...each, timeAdded: hands.timestamp() }))];
  if (isDeepStrictEqual(taints, before)) return node;
  const changed = copyOf(node);
  if (taints.length > 0) changed.spec.taints = taints;
  else delete changed.spec.taints;
  return hands.update(nodes, changed);
}

export const nodeLifecycle: Controller = {
  name: 'node-controller',
  triggers: {
    [nodes.type.storage]: ({ kind, entry }) => (kind === 'DELETED' ? [] : [entry]),
    [leases.type.storage]: ({ entry, kind }) =>
      entry.namespace === leaseNamespace && kind !== 'MODIFIED' ? [{ namespace: '', name: entry.name }] : [],
  },
  async reconcile(hands, { name }): Promise<Later | undefined> {
    const node = hands.get(nodes, '', name);
    if (!node || node.metadata.deletionTimestamp) return undefined;
    const { at, forMs } = heardOf(hands, node);
    const left = at + forMs - hands.now();
    const lost = conditionOf(node.status.conditions, 'Ready')?.status === 'Unknown';
    let current = node;
    if (left <= 0 && !lost) {
      const conditions = setConditions(node.status.conditions, silent(node), hands.timestamp());
      current = await hands.setStatus(nodes, node, { ...node.status, conditions });
      await hands.event(node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    }
    await taint(hands, current);
    return left > 0 ? { afterMs: left } : undefined;
  },
};

const isTainted = ({ spec }: Node): boolean => (spec.taints ?? []).some(({ effect }) => effect === 'NoExecute');

/** How long a pod bears the taints of its node: nothing, some time, or for ever. */
function patience(pod: Pod, node: Node): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (const each of node.spec.taints ?? []) {
    if (each.effect !== 'NoExecute') continue;
    const bearing = (pod.spec.tolerations ?? []).filter((toleration) => tolerates(toleration, each));
    if (bearing.length === 0) return 0;
    for (const { tolerationSeconds } of bearing) {
      if (tolerationSeconds === undefined) continue;
      const since = Date.parse(each.timeAdded ?? '') || Number.NEGATIVE_INFINITY;
      shortest = Math.min(shortest, since + Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return shortest;
}

/** The pods of a node that changed. */
const podsOf: Trigger = ({ kind, entry }, reader) => {
  const found: Key[] = [];
  if (kind === 'DELETED' || !isTainted(reader.read(nodes, entry))) return found;
  for (const each of reader.entries(pods)) if (each.fields?.['spec.nodeName'] === entry.name) found.push(each);
  return found;
};

/** A pod on a node that is not ready is not ready either. */
async function markNotReady(hands: Hands, pod: Pod, node: Node): Promise<void> {
  if (conditionOf(node.status.conditions, 'Ready')?.status === 'True') return;
  const ready = conditionOf(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return;
  const conditions = (pod.status?.conditions ?? []).map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime: hands.timestamp() } : condition,
  );
  await hands.setStatus(pods, pod, { ...pod.status, conditions });
  await hands.event(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
}

export const taintEviction: Controller = {
  name: 'taint-eviction-controller',
  triggers: {
    [nodes.type.storage]: podsOf,
    [pods.type.storage]: ({ kind, entry, before }, reader) => {
      const name = entry.fields?.['spec.nodeName'];
      if (kind === 'DELETED' || !name || before?.fields?.['spec.nodeName'] === name) return [];
      const node = reader.get(nodes, '', name);
      return node && isTainted(node) ? [entry] : [];
    },
  },
  async reconcile(hands, { namespace, name }): Promise<Later | undefined> {
    const pod = hands.get(pods, namespace, name);
    if (!pod || isEnding(pod) || isFinished(pod)) return undefined;
    const node = hands.get(nodes, '', pod.spec.nodeName ?? '');
    if (!node || !isTainted(node)) return undefined;
    try {
      await markNotReady(hands, pod, node);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const until = patience(pod, node);
    if (until > hands.now())
      return Number.isFinite(until) ? sooner({ afterMs: until - hands.now() }, undefined) : undefined;
    if (await hands.remove(pods, pod)) {
      await hands.event(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`);
    }
    return undefined;
  },
};
