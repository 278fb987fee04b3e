// Daemon sets: one pod on every node that fits.
import type { Toleration } from '../types/pod/pod-spec.ts';
import { type Controller, itself } from './controller.ts';
import { type Hands, isNotFound } from './hands.ts';
import { daemonSets, nodes, pods } from './kinds.ts';
import { isEnding, isFinished, isReady, podFromTemplate, portion, untilAvailable } from './pods.ts';
import { forgetRevisions, historyOf } from './revisions.ts';
import { untolerated, wantsNode } from './scheduler/node-affinity.ts';
import { claim, ownersOf } from './selection.ts';
import type { DaemonSet, DaemonSetStatus, Node, Pod } from './shapes.ts';

const revisionLabel = 'controller-revision-hash';
const generationLabel = 'pod-template-generation';
const generationAnnotation = 'deprecated.daemonset.template.generation';

/** What a daemon bears that others do not. */
const bears: readonly (readonly [key: string, effect: string])[] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
];

function tolerationsOf({ spec }: DaemonSet): Toleration[] {
  const own = spec.template.spec.tolerations ?? [];
  const added = [
    ...bears,
    ...(spec.template.spec.hostNetwork ? [['node.kubernetes.io/network-unavailable', 'NoSchedule'] as const] : []),
  ];
  return [...own, ...added.map(([key, effect]) => ({ key, operator: 'Exists', effect }))];
}

/** Whether the daemon is for the node, and whether one that is there already may stay. */
function judge(set: DaemonSet, node: Node): { readonly run: boolean; readonly stay: boolean } {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: { ...set.spec.template.spec, tolerations: tolerationsOf(set) },
  };
  if (!wantsNode(pod, node)) return { run: false, stay: false };
  const taint = untolerated(pod, node);
  if (!taint) return { run: true, stay: true };
  const fatal = (node.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  return { run: false, stay: untolerated(pod, { ...node, spec: { ...node.spec, taints: fatal } }) === undefined };
}

/** The node a daemon's pod is for: its own, or the one its affinity names. */
function nodeOf({ spec }: Pod): string {
  if (spec.nodeName) return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms[0]?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0] ?? '';
}

async function createPod(hands: Hands, set: DaemonSet, node: string, hash: string): Promise<void> {
  const { name = '', namespace = '' } = set.metadata;
  const pod = podFromTemplate(set, set.spec.template, { generateName: `${name}-` });
  pod.metadata.labels = {
    ...pod.metadata.labels,
    [revisionLabel]: hash,
    [generationLabel]: set.metadata.annotations?.[generationAnnotation] ?? '1',
  };
  const spec = structuredClone(set.spec.template.spec);
  spec.tolerations = tolerationsOf(set);
  const affinity = spec.affinity?.nodeAffinity;
  spec.affinity = {
    ...spec.affinity,
    nodeAffinity: {
      ...affinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
      },
    },
  };
  const made = await hands.create(pods, namespace, { ...pod, spec });
  await hands.event(set, 'Normal', 'SuccessfulCreate', `Created pod: ${made.metadata.name}`);
}

async function deletePod(hands: Hands, set: DaemonSet, pod: Pod): Promise<void> {
  if (await hands.remove(pods, pod)) {
    await hands.event(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
  }
}

/** Takes old pods away, as many at a time as may be missing. */
async function roll(
  hands: Hands,
  set: DaemonSet,
  wanted: ReadonlySet<string>,
  own: readonly Pod[],
  hash: string,
): Promise<void> {
  const { updateStrategy, minReadySeconds = 0 } = set.spec;
  if (updateStrategy.type !== 'RollingUpdate') return;
  const asked = portion(updateStrategy.rollingUpdate?.maxUnavailable ?? 1, wanted.size, Math.ceil);
  const isUsable = (pod: Pod): boolean => untilAvailable(pod, minReadySeconds, hands.now()) === 0 && !isEnding(pod);
  const usable = new Set(own.filter(isUsable).map(nodeOf));
  let room = Math.max(asked, 1) - [...wanted].filter((node) => !usable.has(node)).length;
  for (const pod of own) {
    if (pod.metadata.labels?.[revisionLabel] === hash || isEnding(pod) || isFinished(pod)) continue;
    const missing = !isUsable(pod);
    if (!missing && room <= 0) continue;
    if (!missing) room -= 1;
    await deletePod(hands, set, pod);
  }
}

function statusOf(
  hands: Hands,
  set: DaemonSet,
  wanted: ReadonlySet<string>,
  own: readonly Pod[],
  hash: string,
): DaemonSetStatus {
  const { minReadySeconds = 0 } = set.spec;
  const byNode = new Map<string, Pod>();
  for (const pod of own) if (!isFinished(pod) && !isEnding(pod)) byNode.set(nodeOf(pod), pod);
  const placed = [...wanted].flatMap((node) => byNode.get(node) ?? []);
  const updated = placed.filter(({ metadata }) => metadata.labels?.[revisionLabel] === hash).length;
  const available = placed.filter((pod) => untilAvailable(pod, minReadySeconds, hands.now()) === 0).length;
  const unavailable = wanted.size - available;
  return {
    currentNumberScheduled: placed.length,
    numberMisscheduled: [...byNode.keys()].filter((node) => !wanted.has(node)).length,
    desiredNumberScheduled: wanted.size,
    numberReady: placed.filter(isReady).length,
    observedGeneration: set.metadata.generation ?? 0,
    ...(updated > 0 ? { updatedNumberScheduled: updated } : {}),
    ...(available > 0 ? { numberAvailable: available } : {}),
    ...(unavailable > 0 ? { numberUnavailable: unavailable } : {}),
  };
}

export const daemonSetController: Controller = {
  name: 'daemonset-controller',
  triggers: {
    [daemonSets.type.storage]: itself,
    [pods.type.storage]: ownersOf(daemonSets),
    [nodes.type.storage]: (_change, reader) => reader.entries(daemonSets),
  },
  async reconcile(hands, { namespace, name }) {
    const set = hands.get(daemonSets, namespace, name);
    if (!set) return undefined;
    const history = await historyOf(hands, set, revisionLabel);
    const hash = history.update.metadata.labels?.[revisionLabel] ?? '';
    const own = await claim(hands, pods, set, set.spec.selector);
    const wanted = new Set<string>();
    if (!set.metadata.deletionTimestamp) {
      const there = new Map<string, Pod[]>();
      for (const pod of own) {
        // One that has ended makes place for another.
        if (isFinished(pod) && !isEnding(pod)) await deletePod(hands, set, pod);
        else there.set(nodeOf(pod), [...(there.get(nodeOf(pod)) ?? []), pod]);
      }
      for (const node of hands.list(nodes)) {
        const { name: nodeName = '' } = node.metadata;
        const { run, stay } = judge(set, node);
        const here = there.get(nodeName) ?? [];
        if (run) wanted.add(nodeName);
        if (run && here.length === 0) await createPod(hands, set, nodeName, hash);
        const extra = stay ? here.filter((pod) => !isEnding(pod)).slice(1) : here.filter((pod) => !isEnding(pod));
        for (const pod of extra) await deletePod(hands, set, pod);
      }
      await roll(hands, set, wanted, own, hash);
    }
    const now = hands.dependents(pods, set.metadata.uid ?? '');
    const current = hands.get(daemonSets, namespace, name);
    if (!current) return undefined;
    try {
      await hands.setStatus(daemonSets, current, statusOf(hands, current, wanted, now, hash));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const inUse = new Set([history.update.metadata.name ?? '']);
    for (const pod of now) inUse.add(`${name}-${pod.metadata.labels?.[revisionLabel]}`);
    await forgetRevisions(hands, history, set.spec.revisionHistoryLimit ?? 10, inUse);
    const waits = now
      .map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, hands.now()) ?? 0)
      .filter((wait) => wait > 0);
    return waits.length > 0 ? { afterMs: Math.min(...waits) } : undefined;
  },
};
