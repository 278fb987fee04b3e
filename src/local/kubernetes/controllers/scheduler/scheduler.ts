// Gives pods their nodes.
import type { Entry } from '../../objects/objects.ts';
import { type Controller, wholeCluster } from '../controller.ts';
import { copyOf, type Hands, isConflict, isNotFound, type Reader } from '../hands.ts';
import { claims, nodes, pods, priorityClasses, storageClasses } from '../kinds.ts';
import { conditionOf } from '../pods.ts';
import type { Condition, Pod } from '../shapes.ts';
import { bindPod } from './bind.ts';
import { affinityMisfit, betterPlace, type Misfit, misfits, occupy, type Place, type Placed, placeOf } from './fit.ts';
import { type Candidate, type Judge, leastHarm, notHelpful, noVictims, priorityOf, victimsOn } from './preemption.ts';
import { requestsOf, requestsOfEntry } from './resources.ts';
import { type SpreadCheck, spreadCheck, spreadConstraints } from './topology-spread.ts';

const schedulerName = 'default-scheduler';

const isOver = (entry: Entry): boolean => {
  const phase = entry.fields?.['status.phase'];
  return phase === 'Succeeded' || phase === 'Failed';
};

/** Pods that wait for a node, the most important and oldest first. */
function waitingPods(reader: Reader): Pod[] {
  const found: Pod[] = [];
  for (const entry of reader.entries(pods)) {
    if (entry.fields?.['spec.nodeName'] !== '' || entry.fields['spec.schedulerName'] !== schedulerName) continue;
    if (isOver(entry)) continue;
    const pod = reader.read(pods, entry);
    if (pod.metadata.deletionTimestamp === undefined) found.push(pod);
  }
  const priority = ({ spec }: Pod): number =>
    spec.priority ??
    (spec.priorityClassName ? (reader.get(priorityClasses, '', spec.priorityClassName)?.value ?? 0) : 0);
  const born = ({ metadata }: Pod): string => metadata.creationTimestamp ?? '';
  const revision = ({ metadata }: Pod): number => Number(metadata.resourceVersion);
  return found.sort(
    (one, other) =>
      priority(other) - priority(one) ||
      (born(one) < born(other) ? -1 : born(one) > born(other) ? 1 : 0) ||
      revision(one) - revision(other),
  );
}

interface Surveyed {
  readonly places: readonly Place[];
  readonly placed: Placed[];
  /** Whether any pod cares which others are near. */
  affinity: boolean;
  /** The least priority of those on nodes: pods that have no more push nobody away. */
  lowest: number;
}

function survey(hands: Hands, waiting: readonly Pod[]): Surveyed {
  const places = hands.list(nodes).map(placeOf);
  const byName = new Map(places.map((place) => [place.node.metadata.name ?? '', place]));
  const cares = ({ spec }: Pod): boolean => Boolean(spec.affinity?.podAffinity || spec.affinity?.podAntiAffinity);
  const surveyed: Surveyed = { places, placed: [], affinity: waiting.some(cares), lowest: Infinity };
  for (const entry of hands.entries(pods)) {
    const place = byName.get(entry.fields?.['spec.nodeName'] ?? '');
    if (!place || isOver(entry)) continue;
    const pod = hands.read(pods, entry);
    occupy(place, pod, requestsOfEntry(entry));
    surveyed.placed.push({ pod, node: place.node });
    surveyed.affinity ||= cares(pod);
    surveyed.lowest = Math.min(surveyed.lowest, priorityOf(pod));
  }
  return surveyed;
}

/** What a pod's claims keep it waiting for. */
function claimProblem(hands: Hands, { metadata, spec }: Pod): string | undefined {
  for (const { persistentVolumeClaim } of spec.volumes ?? []) {
    if (!persistentVolumeClaim) continue;
    const claim = hands.get(claims, metadata.namespace ?? '', persistentVolumeClaim.claimName);
    if (!claim) return `persistentvolumeclaim "${persistentVolumeClaim.claimName}" not found`;
    if (claim.metadata.deletionTimestamp) return `persistentvolumeclaim "${claim.metadata.name}" is being deleted`;
    const { storageClassName = '', volumeName } = claim.spec;
    const mode = hands.get(storageClasses, '', storageClassName)?.volumeBindingMode;
    if (!volumeName && mode !== 'WaitForFirstConsumer') return 'pod has unbound immediate PersistentVolumeClaims';
  }
  return undefined;
}

const counted = (reasons: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
};

const headOf = (total: number): string => `0/${total} nodes are available`;

/** Why no node would do, in the scheduler's words; `instead` tells of the nodes why nobody can be pushed away there. */
function explain(found: readonly (readonly Misfit[])[], instead: readonly (readonly Misfit[])[] | undefined): string {
  const reasonsOf = (each: readonly (readonly Misfit[])[]): string =>
    counted(each.flatMap((misfits) => misfits.map(({ reason }) => reason)));
  const head = headOf(found.length);
  const why = `${head}: ${reasonsOf(found)}.`;
  return instead ? `${why} no new claims to deallocate, preemption: ${head}: ${reasonsOf(instead)}.` : why;
}

async function leaveUnscheduled(
  hands: Hands,
  pod: Pod,
  reason: string,
  message: string,
  nominatedNodeName?: string,
): Promise<void> {
  const before = conditionOf(pod.status?.conditions, 'PodScheduled');
  if (reason === 'Unschedulable') await hands.event(pod, 'Warning', 'FailedScheduling', message);
  const same = before?.status === 'False' && before.reason === reason && before.message === message;
  if (same && (nominatedNodeName === undefined || pod.status?.nominatedNodeName === nominatedNodeName)) return;
  const condition: Condition = {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime:
      before?.status === 'False' ? (before.lastTransitionTime ?? hands.timestamp()) : hands.timestamp(),
    reason,
    message,
  };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const changed = copyOf(pod);
  changed.status = {
    ...pod.status,
    conditions: [...others, condition],
    ...(nominatedNodeName === undefined ? {} : { nominatedNodeName }),
  };
  await tolerant(hands.update(pods, changed, 'status'));
}

/** A pod that went or changed meanwhile leads back here by its change. */
async function tolerant(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
}

async function assign(hands: Hands, pod: Pod, nodeName: string): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  if (!(await tolerant(bindPod(hands.cluster, { namespace, name, uid }, nodeName)))) return;
  await hands.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${nodeName}`);
}

/** Everything that may keep a pod off a place, in the order in which a scheduler asks. */
function judgeOf(pod: Pod, { places, affinity }: Surveyed): Judge {
  const nodes = places.map(({ node }) => node);
  const isSpread = spreadConstraints(pod).length > 0;
  let counted: { readonly placed: readonly Placed[]; readonly size: number; readonly check: SpreadCheck } | undefined;
  return (place, placed) => {
    const found = misfits(pod, place);
    if (found.length > 0) return found;
    if (isSpread) {
      if (counted?.placed !== placed || counted.size !== placed.length) {
        counted = { placed, size: placed.length, check: spreadCheck(pod, nodes, placed) };
      }
      const misfit = counted.check(place.node);
      if (misfit) return [misfit];
    }
    const misfit = affinity ? affinityMisfit(pod, place.node, placed) : undefined;
    return misfit ? [misfit] : [];
  };
}

/** Whether others are already on their way out for this pod. */
function isAwaited(pod: Pod, { placed }: Surveyed): boolean {
  const nominated = pod.status?.nominatedNodeName;
  return (
    nominated !== undefined &&
    placed.some(
      (each) =>
        each.node.metadata.name === nominated &&
        each.pod.metadata.deletionTimestamp !== undefined &&
        priorityOf(each.pod) < priorityOf(pod),
    )
  );
}

/** Makes room for a pod by removing others, or tells why nothing can be done. */
async function preempt(
  hands: Hands,
  pod: Pod,
  surveyed: Surveyed,
  judge: Judge,
  found: readonly (readonly Misfit[])[],
): Promise<void> {
  if (isAwaited(pod, surveyed)) return;
  if (pod.spec.preemptionPolicy === 'Never') {
    const why = `${explain(found, undefined)} no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.`;
    await leaveUnscheduled(hands, pod, 'Unschedulable', why);
    return;
  }
  const candidates: Candidate[] = [];
  const instead = surveyed.places.map((place, index): readonly Misfit[] => {
    if (!(found[index] ?? []).every(({ preemptable }) => preemptable)) return [notHelpful];
    if (priorityOf(pod) <= surveyed.lowest) return [noVictims];
    const outcome = victimsOn(pod, place, surveyed.placed, judge);
    if (!('victims' in outcome)) return outcome;
    candidates.push(outcome);
    return [];
  });
  const chosen = leastHarm(candidates);
  if (!chosen) {
    await leaveUnscheduled(hands, pod, 'Unschedulable', explain(found, instead));
    return;
  }
  const node = chosen.node.metadata.name ?? '';
  for (const victim of chosen.victims) {
    await hands.event(victim, 'Normal', 'Preempted', `Preempted by pod ${pod.metadata.uid ?? ''} on node ${node}`);
    await hands.remove(pods, victim);
  }
  await leaveUnscheduled(hands, pod, 'Unschedulable', explain(found, undefined), node);
}

async function schedule(hands: Hands): Promise<void> {
  const waiting = waitingPods(hands);
  if (waiting.length === 0) return;
  const surveyed = survey(hands, waiting);
  const writes: Promise<void>[] = [];
  for (const pod of waiting) {
    if (pod.spec.schedulingGates?.length) {
      const message = 'Scheduling is blocked due to non-empty scheduling gates';
      writes.push(leaveUnscheduled(hands, pod, 'SchedulingGated', message));
      continue;
    }
    if (surveyed.places.length === 0) {
      writes.push(leaveUnscheduled(hands, pod, 'Unschedulable', 'no nodes available to schedule pods'));
      continue;
    }
    const problem = claimProblem(hands, pod);
    if (problem) {
      const message = `${headOf(surveyed.places.length)}: ${problem}. not found`;
      writes.push(leaveUnscheduled(hands, pod, 'Unschedulable', message));
      continue;
    }
    const judge = judgeOf(pod, surveyed);
    const found = surveyed.places.map((place) => judge(place, surveyed.placed));
    const [first, ...rest] = surveyed.places.filter((_, index) => found[index]?.length === 0);
    if (!first) {
      writes.push(preempt(hands, pod, surveyed, judge, found));
      continue;
    }
    const best = rest.reduce((chosen, place) => (betterPlace(pod, place, chosen) < 0 ? place : chosen), first);
    occupy(best, pod, requestsOf(pod));
    surveyed.placed.push({ pod, node: best.node });
    writes.push(assign(hands, pod, best.node.metadata.name ?? ''));
  }
  await Promise.all(writes);
}

export const scheduler: Controller = {
  name: schedulerName,
  manager: 'kube-scheduler',
  user: 'system:kube-scheduler',
  triggers: {
    [pods.type.storage]: ({ kind, entry, before }) => {
      if (kind !== 'DELETED' && entry.fields?.['spec.nodeName'] === '') {
        // Its own verdict on a pod is no reason to look again.
        return before && before.fields?.['spec.nodeName'] === '' && !gatesChanged(before, entry) ? [] : [wholeCluster];
      }
      return kind === 'DELETED' || (isOver(entry) && !(before && isOver(before))) ? [wholeCluster] : [];
    },
    [nodes.type.storage]: () => [wholeCluster],
    [claims.type.storage]: () => [wholeCluster],
  },
  async reconcile(hands) {
    await schedule(hands);
    return undefined;
  },
};

const gate = '"schedulingGates"';
const gatesChanged = (before: Entry, after: Entry): boolean =>
  before.bytes.includes(gate) !== after.bytes.includes(gate);
