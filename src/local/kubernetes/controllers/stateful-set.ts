// Stateful sets: pods with names and claims of their own, one after the other.
import type { PodTemplate } from '../types/pod/pod-spec.ts';
import { type Controller, itself, type Later } from './controller.ts';
import { controllerReference, copyOf, type Hands, isAlreadyExists, isNotFound } from './hands.ts';
import { claims, pods, statefulSets } from './kinds.ts';
import { isEnding, isFinished, isReady, podFromTemplate, untilAvailable } from './pods.ts';
import { forgetRevisions, type History, historyOf, templateOf } from './revisions.ts';
import { claim, ownersOf } from './selection.ts';
import type { ClaimObject, Pod, StatefulSet, StatefulSetStatus } from './shapes.ts';

const revisionLabel = 'controller-revision-hash';
const hashLabel = 'controller.kubernetes.io/hash';

const revisionOf = ({ metadata }: Pod): string => metadata.labels?.[revisionLabel] ?? '';
const claimName = (template: ClaimObject, set: StatefulSet, ordinal: number): string =>
  `${template.metadata.name}-${set.metadata.name}-${ordinal}`;

function ordinalOf(set: StatefulSet, { metadata }: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const { name = '' } = metadata;
  const text = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^(0|[1-9]\d*)$/.test(text) ? Number(text) : undefined;
}

/** A set as one reconcile sees it. */
interface View {
  readonly set: StatefulSet;
  readonly start: number;
  readonly end: number;
  readonly ordered: boolean;
  readonly history: History;
  readonly currentRevision: string;
  readonly updateRevision: string;
}

/** The template that a pod of this ordinal is to be made of. */
function templateFor(
  { set, start, history, currentRevision, updateRevision }: View,
  ordinal: number,
): {
  readonly template: PodTemplate;
  readonly revision: string;
} {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  const old =
    type === 'RollingUpdate' &&
    (rollingUpdate?.partition
      ? ordinal < start + rollingUpdate.partition
      : !rollingUpdate && ordinal < start + (set.status?.currentReplicas ?? 0));
  const current = history.revisions.find(({ metadata }) => metadata.name === currentRevision);
  return old && current
    ? { template: templateOf(current), revision: currentRevision }
    : { template: set.spec.template, revision: updateRevision };
}

async function createClaims(hands: Hands, set: StatefulSet, ordinal: number): Promise<void> {
  const { name, namespace = '' } = set.metadata;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claimed = claimName(template, set, ordinal);
    if (hands.get(claims, namespace, claimed)) continue;
    const owned = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
    try {
      await hands.create(claims, namespace, {
        metadata: {
          ...template.metadata,
          name: claimed,
          labels: { ...template.metadata.labels, ...set.spec.selector.matchLabels },
          ...(owned ? { ownerReferences: [controllerReference(set)] } : {}),
        },
        spec: structuredClone(template.spec),
      });
    } catch (error) {
      if (isAlreadyExists(error)) continue;
      throw error;
    }
    const message = `create Claim ${claimed} Pod ${name}-${ordinal} in StatefulSet ${name} success`;
    await hands.event(set, 'Normal', 'SuccessfulCreate', message);
  }
}

async function createPod(hands: Hands, view: View, ordinal: number): Promise<void> {
  const { set } = view;
  const { name = '', namespace = '' } = set.metadata;
  await createClaims(hands, set, ordinal);
  const { template, revision } = templateFor(view, ordinal);
  const pod = podFromTemplate(set, template, { name: `${name}-${ordinal}`, generateName: `${name}-` });
  pod.metadata.labels = {
    ...pod.metadata.labels,
    'apps.kubernetes.io/pod-index': String(ordinal),
    [revisionLabel]: revision,
    'statefulset.kubernetes.io/pod-name': `${name}-${ordinal}`,
  };
  const spec = structuredClone(template.spec);
  spec.hostname = `${name}-${ordinal}`;
  if (set.spec.serviceName) spec.subdomain = set.spec.serviceName;
  const own = (set.spec.volumeClaimTemplates ?? []).map((each) => ({
    name: each.metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimName(each, set, ordinal) },
  }));
  const others = (spec.volumes ?? []).filter((volume) => !own.some((each) => each.name === volume.name));
  if (own.length + others.length > 0) spec.volumes = [...others, ...own];
  try {
    await hands.create(pods, namespace, { ...pod, spec });
  } catch (error) {
    if (isAlreadyExists(error)) return;
    const why = error instanceof Error ? error.message : String(error);
    await hands.event(
      set,
      'Warning',
      'FailedCreate',
      `create Pod ${name}-${ordinal} in StatefulSet ${name} failed error: ${why}`,
    );
    throw error;
  }
  await hands.event(
    set,
    'Normal',
    'SuccessfulCreate',
    `create Pod ${name}-${ordinal} in StatefulSet ${name} successful`,
  );
}

async function deletePod(hands: Hands, set: StatefulSet, pod: Pod): Promise<void> {
  if (!(await hands.remove(pods, pod))) return;
  const message = `delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
  await hands.event(set, 'Normal', 'SuccessfulDelete', message);
}

/** Claims go with the pod that used them, where the set says so. */
async function condemnClaims(hands: Hands, set: StatefulSet, pod: Pod, ordinal: number): Promise<void> {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const found = hands.get(claims, set.metadata.namespace ?? '', claimName(template, set, ordinal));
    const { uid = '', name = '' } = pod.metadata;
    if (!found || found.metadata.ownerReferences?.some((owner) => owner.uid === uid)) continue;
    const owned = copyOf(found);
    owned.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name, uid }];
    await hands.update(claims, owned);
  }
}

const isHealthy = (pod: Pod): boolean => isReady(pod) && !isEnding(pod);

/** One step towards the pods that there are to be; stops where order demands that something else happens first. */
async function step(hands: Hands, view: View, byOrdinal: ReadonlyMap<number, Pod>): Promise<Later | undefined> {
  const { set, start, end, ordered } = view;
  const { minReadySeconds = 0 } = set.spec;
  for (let ordinal = start; ordinal < end; ordinal += 1) {
    const pod = byOrdinal.get(ordinal);
    if (!pod) {
      await createPod(hands, view, ordinal);
      if (ordered) return undefined;
      continue;
    }
    if (isFinished(pod) && !isEnding(pod)) {
      await hands.event(
        set,
        'Warning',
        'RecreatingFailedPod',
        `StatefulSet ${set.metadata.namespace}/${set.metadata.name} is recreating failed Pod ${pod.metadata.name}`,
      );
      await deletePod(hands, set, pod);
      if (ordered) return undefined;
      continue;
    }
    if (!ordered) continue;
    if (!isHealthy(pod)) return undefined;
    const wait = untilAvailable(pod, minReadySeconds, hands.now()) ?? 0;
    if (wait > 0) return { afterMs: wait };
  }
  const condemned = [...byOrdinal].filter(([ordinal]) => ordinal < start || ordinal >= end).sort(([a], [b]) => b - a);
  for (const [ordinal, pod] of condemned) {
    if (!isEnding(pod)) {
      await condemnClaims(hands, set, pod, ordinal);
      await deletePod(hands, set, pod);
    }
    if (ordered) return undefined;
  }
  if (set.spec.updateStrategy.type !== 'RollingUpdate') return undefined;
  const first = start + (set.spec.updateStrategy.rollingUpdate?.partition ?? 0);
  for (let ordinal = end - 1; ordinal >= first; ordinal -= 1) {
    const pod = byOrdinal.get(ordinal);
    if (!pod) return undefined;
    if (revisionOf(pod) !== view.updateRevision && !isEnding(pod)) {
      await deletePod(hands, set, pod);
      return undefined;
    }
    if (!isHealthy(pod)) return undefined;
    const wait = untilAvailable(pod, minReadySeconds, hands.now()) ?? 0;
    if (wait > 0) return { afterMs: wait };
  }
  return undefined;
}

function statusOf(hands: Hands, view: View, own: readonly Pod[]): StatefulSetStatus {
  const { set, currentRevision, updateRevision } = view;
  const { minReadySeconds = 0, replicas = 1 } = set.spec;
  const there = own.filter((pod) => !isFinished(pod));
  const ready = there.filter(isReady).length;
  const living = there.filter((pod) => !isEnding(pod));
  let current = living.filter((pod) => revisionOf(pod) === currentRevision).length;
  const updated = living.filter((pod) => revisionOf(pod) === updateRevision).length;
  const complete =
    set.spec.updateStrategy.type === 'RollingUpdate' &&
    updated === there.length &&
    there.length === replicas &&
    ready === there.length;
  if (complete) current = updated;
  const count = (name: 'readyReplicas' | 'currentReplicas' | 'updatedReplicas', value: number) =>
    value > 0 ? { [name]: value } : {};
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: there.length,
    ...count('readyReplicas', ready),
    ...count('currentReplicas', current),
    ...count('updatedReplicas', updated),
    currentRevision: complete ? updateRevision : currentRevision,
    updateRevision,
    collisionCount: 0,
    availableReplicas: there.filter((pod) => untilAvailable(pod, minReadySeconds, hands.now()) === 0).length,
  };
}

export const statefulSetController: Controller = {
  name: 'statefulset-controller',
  triggers: {
    [statefulSets.type.storage]: itself,
    [pods.type.storage]: ownersOf(statefulSets),
  },
  async reconcile(hands, { namespace, name }) {
    const set = hands.get(statefulSets, namespace, name);
    if (!set) return undefined;
    const history = await historyOf(hands, set, hashLabel);
    const updateRevision = history.update.metadata.name ?? '';
    const known = history.revisions.some((each) => each.metadata.name === set.status?.currentRevision);
    const start = set.spec.ordinals?.start ?? 0;
    const view: View = {
      set,
      start,
      end: start + (set.spec.replicas ?? 1),
      ordered: set.spec.podManagementPolicy !== 'Parallel',
      history,
      currentRevision: known ? (set.status?.currentRevision ?? updateRevision) : updateRevision,
      updateRevision,
    };
    const own = (await claim(hands, pods, set, set.spec.selector)).filter((pod) => ordinalOf(set, pod) !== undefined);
    const byOrdinal = new Map(own.map((pod) => [ordinalOf(set, pod) ?? -1, pod]));
    const later = set.metadata.deletionTimestamp ? undefined : await step(hands, view, byOrdinal);
    const now = hands.dependents(pods, set.metadata.uid ?? '');
    const current = hands.get(statefulSets, namespace, name);
    if (!current) return undefined;
    try {
      await hands.setStatus(statefulSets, current, statusOf(hands, { ...view, set: current }, now));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const inUse = new Set([view.currentRevision, updateRevision, ...now.map(revisionOf)]);
    await forgetRevisions(hands, history, set.spec.revisionHistoryLimit ?? 10, inUse);
    return later;
  },
};
