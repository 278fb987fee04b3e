// Simulated kubelets: nodes report themselves ready, and the pods assigned to them go through their stages.
import type { HostedCluster } from '../clusters.ts';
import type { Controller, Key, Later } from '../controllers/controller.ts';
import { copyOf, type Hands, isAlreadyExists, isConflict, isNotFound, type Reader } from '../controllers/hands.ts';
import { claims, leases, nodes, pods } from '../controllers/kinds.ts';
import type { Node, Pod } from '../controllers/shapes.ts';
import { createPodAddresses } from './addresses.ts';
import { defaultStages } from './default-stages.ts';
import { heartbeat, nodeStatus } from './node-status.ts';
import { backoffSeconds, statusAfter, type Where } from './outcomes.ts';
import { annotations, type Stage, stageFor } from './stage.ts';

export interface KubeletOptions {
  /** How fast things happen: `instant` as soon as possible, `demo` as on a quick machine, or a factor to that. */
  readonly pace?: 'instant' | 'demo' | number;
  /** Tried before the usual ones. */
  readonly stages?: readonly Stage[];
  /** Which nodes are simulated; all that do not say otherwise by annotation unless given. */
  readonly simulates?: (node: Node) => boolean;
  /** How often a node renews its lease. Rarely, as a process may have thousands of nodes. */
  readonly renewSeconds?: number;
  /** Numbers from 0 to 1, for jitter. */
  readonly random?: () => number;
}

const defaultRenewSeconds = 300;
/** A pod takes so many stages in one go when none of them takes time. */
const mostStages = 20;
/** A claim that is not bound is looked at again. */
const claimPollMs = 1000;

interface Plan {
  readonly uid: string;
  readonly stage: Stage;
  readonly due: number;
}

/** Whether somebody simulates the node, and its kubelet has not gone silent. */
function lives(options: KubeletOptions, node: Node | undefined): node is Node {
  if (!node || node.metadata.deletionTimestamp) return false;
  if (node.metadata.annotations?.[annotations.kubelet] !== undefined) return false;
  return options.simulates?.(node) ?? true;
}

const paceOf = (pace: KubeletOptions['pace']): number =>
  pace === 'instant' ? 0 : pace === 'demo' || pace === undefined ? 1 : pace;

/** The pods of a node. */
function* podsOn(reader: Reader, node: string): Iterable<Key> {
  for (const entry of reader.entries(pods)) if (entry.fields?.['spec.nodeName'] === node) yield entry;
}

export function createKubelet(options: KubeletOptions = {}): { readonly pods: Controller; readonly nodes: Controller } {
  const stages = [...(options.stages ?? []), ...defaultStages];
  const pace = paceOf(options.pace);
  const random = options.random ?? Math.random;
  const renewMs = (options.renewSeconds ?? defaultRenewSeconds) * 1000;
  const addresses = createPodAddresses();
  /** When the stage that a pod waits for is due. Lost with the process: the delay then begins anew. */
  const plans = new WeakMap<HostedCluster, Map<string, Plan>>();

  function plansOf(cluster: HostedCluster): Map<string, Plan> {
    let found = plans.get(cluster);
    if (!found) {
      found = new Map();
      plans.set(cluster, found);
    }
    return found;
  }

  function delayOf(stage: Stage, pod: Pod, now: number): number {
    const { delay } = stage;
    if (delay === 'backoff') {
      const restarts = Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
      return backoffSeconds(restarts) * 1000;
    }
    if (delay === 'grace') {
      const left = Date.parse(pod.metadata.deletionTimestamp ?? '') - now;
      return Math.max(0, Math.min(left, (1000 + random() * 1000) * pace));
    }
    const own = pod.metadata.annotations?.[annotations.afterMs];
    if (own !== undefined && stage.match.outcome) return Math.max(0, Number(own) || 0);
    return (delay.ms + random() * (delay.jitterMs ?? 0)) * (delay.always ? Math.max(pace, 1) : pace);
  }

  /** Pods start when their claims are bound. */
  function waitsForClaims(hands: Hands, { metadata, spec, status }: Pod): boolean {
    if (status?.phase !== 'Pending') return false;
    return (spec.volumes ?? []).some(({ persistentVolumeClaim }) => {
      if (!persistentVolumeClaim) return false;
      const claim = hands.get(claims, metadata.namespace ?? '', persistentVolumeClaim.claimName);
      return claim?.status?.phase !== 'Bound';
    });
  }

  async function tell(hands: Hands, pod: Pod, stage: Stage): Promise<void> {
    const { uid = '', name = '', namespace = '' } = pod.metadata;
    for (const { type, reason, message } of stage.next.events ?? []) {
      const perContainer = /\{(container|image)\}/.test(message);
      const about = perContainer ? (pod.spec.containers ?? []) : [undefined];
      for (const container of about) {
        const text = message
          .replaceAll('{container}', container?.name ?? '')
          .replaceAll('{image}', container?.image ?? '')
          .replaceAll('{pod}', name)
          .replaceAll('{namespace}', namespace)
          .replaceAll('{uid}', uid);
        await hands.event(pod, type, reason, text);
      }
    }
  }

  async function removePod(hands: Hands, pod: Pod): Promise<void> {
    const held = (pod.metadata.finalizers?.length ?? 0) > 0;
    // What holds it wants to know how it ended.
    const current = held ? await hands.update(pods, copyOf(pod), 'status') : pod;
    await hands.remove(pods, current, { gracePeriodSeconds: 0 });
  }

  async function reconcilePod(hands: Hands, { namespace, name }: Key): Promise<Later | undefined> {
    const id = `${namespace}/${name}`;
    const planned = plansOf(hands.cluster);
    const found = hands.get(pods, namespace, name);
    const node = found?.spec.nodeName ? hands.get(nodes, '', found.spec.nodeName) : undefined;
    if (!found || !lives(options, node)) {
      planned.delete(id);
      return undefined;
    }
    const { uid = '' } = found.metadata;
    const where: Where = {
      now: hands.timestamp(),
      hostIp: node.status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1',
      podIp: () => found.status?.podIP ?? addresses.take(hands.cluster),
    };
    let pod = found;
    const passed: Stage[] = [];
    let later: Later | undefined;
    while (passed.length < mostStages) {
      const stage = stageFor(stages, pod);
      if (!stage || (!stage.next.outcome && !stage.next.delete)) {
        planned.delete(id);
        break;
      }
      if (stage.next.outcome === 'running' && waitsForClaims(hands, pod)) {
        later = { afterMs: claimPollMs };
        break;
      }
      const plan = planned.get(id);
      const same = plan?.uid === uid && plan.stage === stage;
      const due = same ? plan.due : hands.now() + delayOf(stage, pod, hands.now());
      if (due > hands.now()) {
        planned.set(id, { uid, stage, due });
        later = { afterMs: due - hands.now() };
        break;
      }
      planned.delete(id);
      passed.push(stage);
      if (stage.next.outcome) pod = { ...pod, status: statusAfter(pod, stage.next.outcome, where) };
      if (stage.next.delete) break;
    }
    if (passed.length === 0) return later;
    try {
      if (passed.at(-1)?.next.delete) await removePod(hands, pod);
      else await hands.update(pods, copyOf(pod), 'status');
    } catch (error) {
      const address = pod.status?.podIP;
      if (address && !found.status?.podIP) addresses.release(hands.cluster, address);
      if (isNotFound(error)) return undefined;
      throw error;
    }
    for (const stage of passed) await tell(hands, pod, stage);
    return later;
  }

  async function reconcileNode(hands: Hands, { name }: Key): Promise<Later | undefined> {
    const node = hands.get(nodes, '', name);
    if (!lives(options, node)) return undefined;
    try {
      const next = await heartbeat(hands, node, renewMs);
      const status = nodeStatus(hands, node);
      if (status) await hands.setStatus(nodes, node, status);
      return next;
    } catch (error) {
      if (isNotFound(error) || isAlreadyExists(error) || isConflict(error)) return { afterMs: 100 };
      throw error;
    }
  }

  return {
    pods: {
      name: 'kubelet',
      manager: 'kubelet',
      user: 'system:node',
      triggers: {
        [pods.type.storage]({ kind, entry }, { cluster }) {
          if (kind !== 'DELETED') return entry.fields?.['spec.nodeName'] ? [entry] : [];
          const address = entry.fields?.['status.podIP'];
          if (address) addresses.release(cluster, address);
          return [entry];
        },
        [nodes.type.storage]: ({ kind, entry, before }, reader) =>
          kind === 'ADDED' || (before && marked(before) !== marked(entry)) ? podsOn(reader, entry.name) : [],
      },
      reconcile: reconcilePod,
    },
    nodes: {
      name: 'kubelet-nodes',
      manager: 'kubelet',
      user: 'system:node',
      triggers: {
        [nodes.type.storage]: ({ kind, entry }) => (kind === 'DELETED' ? [] : [entry]),
        [leases.type.storage]: ({ kind, entry }) =>
          kind === 'DELETED' && entry.namespace === 'kube-node-lease' ? [{ namespace: '', name: entry.name }] : [],
      },
      reconcile: reconcileNode,
    },
  };
}

const marked = ({ bytes }: { readonly bytes: Buffer }): boolean => bytes.includes(annotations.kubelet);
