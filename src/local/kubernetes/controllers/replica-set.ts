// Keeps as many pods as a replica set asks for.
import { StatusError } from '../status.ts';
import { selects } from '../types/selectors.ts';
import { setConditions } from './conditions.ts';
import { type Controller, itself, type Later } from './controller.ts';
import { type Hands, isNamespaceEnding, isNotFound } from './hands.ts';
import { pods, replicaSets } from './kinds.ts';
import { deletionOrder, isActive, isReady, podFromTemplate, untilAvailable } from './pods.ts';
import { claim, ownersOf } from './selection.ts';
import type { Condition, Pod, ReplicaSet, ReplicaSetStatus } from './shapes.ts';

/** Pods made or deleted in one go; what is left follows at once. */
const burst = 500;

interface Failure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
}

async function createPods(hands: Hands, set: ReplicaSet, count: number): Promise<Failure | undefined> {
  const { namespace = '', name = '' } = set.metadata;
  const made = await Promise.allSettled(
    Array.from({ length: Math.min(count, burst) }, () =>
      hands.create(pods, namespace, podFromTemplate(set, set.spec.template, { generateName: `${name}-` })),
    ),
  );
  let failure: Failure | undefined;
  for (const outcome of made) {
    if (outcome.status === 'fulfilled') {
      await hands.event(set, 'Normal', 'SuccessfulCreate', `Created pod: ${outcome.value.metadata.name}`);
      continue;
    }
    const { reason } = outcome;
    if (isNamespaceEnding(reason)) return undefined;
    if (!(reason instanceof StatusError)) throw reason;
    if (!failure) await hands.event(set, 'Warning', 'FailedCreate', `Error creating: ${reason.message}`);
    failure ??= { reason: 'FailedCreate', message: reason.message };
  }
  return failure;
}

/** The pods to go first when there are too many. */
export function podsToDelete(active: readonly Pod[], count: number): Pod[] {
  const crowds = new Map<string, number>();
  for (const { spec } of active) crowds.set(spec.nodeName ?? '', (crowds.get(spec.nodeName ?? '') ?? 0) + 1);
  const crowd = ({ spec }: Pod): number => crowds.get(spec.nodeName ?? '') ?? 0;
  return [...active].sort((one, other) => deletionOrder(one, other, crowd)).slice(0, Math.min(count, burst));
}

async function deletePods(hands: Hands, set: ReplicaSet, active: readonly Pod[], count: number): Promise<void> {
  for (const pod of podsToDelete(active, count)) {
    if (await hands.remove(pods, pod)) {
      await hands.event(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    }
  }
}

function statusOf(
  hands: Hands,
  set: ReplicaSet,
  active: readonly Pod[],
  failure: Failure | undefined,
): ReplicaSetStatus {
  const { minReadySeconds = 0, template } = set.spec;
  const labels = { matchLabels: template.metadata.labels ?? {} };
  const ready = active.filter(isReady).length;
  const available = active.filter((pod) => untilAvailable(pod, minReadySeconds, hands.now()) === 0).length;
  const labelled = active.filter((pod) => selects(labels, pod.metadata.labels)).length;
  const others = (set.status?.conditions ?? []).filter(({ type }) => type !== 'ReplicaFailure');
  const failed: Condition[] = failure
    ? setConditions(
        set.status?.conditions,
        [{ type: 'ReplicaFailure', status: 'True', reason: failure.reason, message: failure.message }],
        hands.timestamp(),
      )
    : others;
  return {
    replicas: active.length,
    ...(labelled > 0 ? { fullyLabeledReplicas: labelled } : {}),
    ...(ready > 0 ? { readyReplicas: ready } : {}),
    ...(available > 0 ? { availableReplicas: available } : {}),
    observedGeneration: set.metadata.generation ?? 0,
    ...(failed.length > 0 ? { conditions: failed } : {}),
  };
}

const failureRetryMs = 5000;

export const replicaSetController: Controller = {
  name: 'replicaset-controller',
  triggers: {
    [replicaSets.type.storage]: itself,
    [pods.type.storage]: ownersOf(replicaSets),
  },
  async reconcile(hands, { namespace, name }): Promise<Later | undefined> {
    const set = hands.get(replicaSets, namespace, name);
    if (!set) return undefined;
    const { uid = '' } = set.metadata;
    const { replicas = 1, minReadySeconds = 0 } = set.spec;
    const active = (await claim(hands, pods, set, set.spec.selector)).filter(isActive);
    let failure: Failure | undefined;
    if (!set.metadata.deletionTimestamp) {
      if (active.length < replicas) failure = await createPods(hands, set, replicas - active.length);
      else if (active.length > replicas) await deletePods(hands, set, active, active.length - replicas);
    }
    const current = hands.get(replicaSets, namespace, name);
    if (!current || current.metadata.uid !== uid) return undefined;
    const now = hands.dependents(pods, uid).filter(isActive);
    try {
      await hands.setStatus(replicaSets, current, statusOf(hands, current, now, failure));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return laterOf(hands, now, minReadySeconds, failure);
  },
};

function laterOf(
  hands: Hands,
  active: readonly Pod[],
  minReadySeconds: number,
  failure: Failure | undefined,
): Later | undefined {
  let soonest = failure ? failureRetryMs : Number.POSITIVE_INFINITY;
  for (const pod of active) {
    const wait = untilAvailable(pod, minReadySeconds, hands.now());
    if (wait !== undefined && wait > 0) soonest = Math.min(soonest, wait);
  }
  return Number.isFinite(soonest) ? { afterMs: soonest } : undefined;
}
