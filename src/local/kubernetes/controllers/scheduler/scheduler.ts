// Gives pods their nodes.
import type { Entry } from '../../objects/objects.ts';
import { type Controller, wholeCluster } from '../controller.ts';
import { copyOf, type Hands, isConflict, isNotFound, type Reader } from '../hands.ts';
import { claims, nodes, pods, priorityClasses, storageClasses } from '../kinds.ts';
import { conditionOf } from '../pods.ts';
import type { Condition, Pod } from '../shapes.ts';
import { bindPod } from './bind.ts';
import { affinityMisfit, betterPlace, type Misfit, misfits, occupy, type Place, type Placed, placeOf } from './fit.ts';
import { requestsOf, requestsOfEntry } from './resources.ts';

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
}

function survey(hands: Hands, waiting: readonly Pod[]): Surveyed {
  const places = hands.list(nodes).map(placeOf);
  const byName = new Map(places.map((place) => [place.node.metadata.name ?? '', place]));
  const cares = ({ spec }: Pod): boolean => Boolean(spec.affinity?.podAffinity || spec.affinity?.podAntiAffinity);
  const surveyed: Surveyed = { places, placed: [], affinity: waiting.some(cares) };
  for (const entry of hands.entries(pods)) {
    const place = byName.get(entry.fields?.['spec.nodeName'] ?? '');
    if (!place || isOver(entry)) continue;
    const pod = hands.read(pods, entry);
    occupy(place, pod, requestsOfEntry(entry));
    surveyed.placed.push({ pod, node: place.node });
    surveyed.affinity ||= cares(pod);
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

/** Why no node would do, in the scheduler's words. */
function explain(found: readonly (readonly Misfit[])[]): string {
  const total = found.length;
  if (total === 0) return 'no nodes available to schedule pods';
  const head = `0/${total} nodes are available`;
  const reasons = counted(found.flatMap((each) => each.map(({ reason }) => reason)));
  const preemption = counted(
    found.map((each) =>
      each.every(({ preemptable }) => preemptable)
        ? 'No preemption victims found for incoming pod'
        : 'Preemption is not helpful for scheduling',
    ),
  );
  return `${head}: ${reasons}. no new claims to deallocate, preemption: ${head}: ${preemption}.`;
}

async function leaveUnscheduled(hands: Hands, pod: Pod, reason: string, message: string): Promise<void> {
  const before = conditionOf(pod.status?.conditions, 'PodScheduled');
  if (reason === 'Unschedulable') await hands.event(pod, 'Warning', 'FailedScheduling', message);
  if (before?.status === 'False' && before.reason === reason && before.message === message) return;
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
  changed.status = { ...pod.status, conditions: [...others, condition] };
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
    const problem = claimProblem(hands, pod);
    if (problem) {
      const head = `0/${surveyed.places.length} nodes are available`;
      writes.push(leaveUnscheduled(hands, pod, 'Unschedulable', `${head}: ${problem}.`));
      continue;
    }
    const fitting: Place[] = [];
    const reasons = surveyed.places.map((place) => {
      const found = misfits(pod, place);
      const affinity =
        found.length === 0 && surveyed.affinity ? affinityMisfit(pod, place.node, surveyed.placed) : undefined;
      if (affinity) return [affinity];
      if (found.length === 0) fitting.push(place);
      return found;
    });
    const [first, ...rest] = fitting;
    if (!first) {
      writes.push(leaveUnscheduled(hands, pod, 'Unschedulable', explain(reasons)));
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
