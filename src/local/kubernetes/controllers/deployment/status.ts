// What a deployment tells of itself.
import type { Later } from '../controller.ts';
import type { Hands } from '../hands.ts';
import { deployments } from '../kinds.ts';
import { conditionOf } from '../pods.ts';
import type { Condition, Deployment, DeploymentStatus, ReplicaSet } from '../shapes.ts';
import { availableOf, maxUnavailable, totalOf, wantedBy } from './replica-sets.ts';

type Progress = { readonly status: 'True' | 'False' | 'Unknown'; readonly reason: string; readonly message: string };

/** Puts one condition in the place of that of its type, at the end; the time of transition stays with the status. */
function put(conditions: readonly Condition[] | undefined, condition: Condition, now: string): Condition[] {
  const before = conditionOf(conditions, condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return [...(conditions ?? [])];
  return [
    ...(conditions ?? []).filter(({ type }) => type !== condition.type),
    {
      type: condition.type,
      status: condition.status,
      lastUpdateTime: now,
      lastTransitionTime: before?.status === condition.status ? (before.lastTransitionTime ?? now) : now,
      ...(condition.reason ? { reason: condition.reason } : {}),
      ...(condition.message ? { message: condition.message } : {}),
    },
  ];
}

const without = (conditions: readonly Condition[], type: string): Condition[] =>
  conditions.filter((condition) => condition.type !== type);

export const setProgress = (
  conditions: readonly Condition[] | undefined,
  progress: Progress,
  now: string,
): Condition[] => put(conditions, { type: 'Progressing', ...progress }, now);

const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
  sets.reduce((total, set) => total + (count(set) ?? 0), 0);

function calculate(
  hands: Hands,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
): DeploymentStatus {
  const available = availableOf(sets);
  const replicas = sum(sets, ({ status }) => status?.replicas);
  const ready = sum(sets, ({ status }) => status?.readyReplicas);
  const updated = newSet?.status?.replicas ?? 0;
  const unavailable = Math.max(totalOf(sets) - available, 0);
  const minimum = available >= wantedBy(deployment) - maxUnavailable(deployment);
  const conditions = put(
    deployment.status?.conditions,
    minimum
      ? {
          type: 'Available',
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }
      : {
          type: 'Available',
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        },
    hands.timestamp(),
  );
  const { collisionCount } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...(replicas > 0 ? { replicas } : {}),
    ...(updated > 0 ? { updatedReplicas: updated } : {}),
    ...(ready > 0 ? { readyReplicas: ready } : {}),
    ...(available > 0 ? { availableReplicas: available } : {}),
    ...(unavailable > 0 ? { unavailableReplicas: unavailable } : {}),
    conditions,
    ...(collisionCount ? { collisionCount } : {}),
  };
}

/** Everything is updated, available, and nothing of the old is left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = wantedBy(deployment);
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

function isProgressing(before: DeploymentStatus | undefined, status: DeploymentStatus): boolean {
  const old = (each: DeploymentStatus | undefined): number => (each?.replicas ?? 0) - (each?.updatedReplicas ?? 0);
  return (
    (status.updatedReplicas ?? 0) > (before?.updatedReplicas ?? 0) ||
    old(status) < old(before) ||
    (status.readyReplicas ?? 0) > (before?.readyReplicas ?? 0) ||
    (status.availableReplicas ?? 0) > (before?.availableReplicas ?? 0)
  );
}

/** Milliseconds until the deadline for progress; negative when it is over. */
function untilDeadline({ spec }: Deployment, condition: Condition | undefined, now: number): number | undefined {
  const { progressDeadlineSeconds } = spec;
  if (progressDeadlineSeconds === undefined || progressDeadlineSeconds >= 2 ** 31 - 1 || !condition) return undefined;
  if (condition.reason === 'NewReplicaSetAvailable' || condition.reason === 'DeploymentPaused') return undefined;
  return Date.parse(condition.lastUpdateTime ?? '') + progressDeadlineSeconds * 1000 - now;
}

/** Writes the status when nothing rolls: sizes and availability only. */
export async function writeStatus(
  hands: Hands,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
): Promise<void> {
  await hands.setStatus(deployments, deployment, calculate(hands, deployment, sets, newSet));
}

/** Writes the status of a rollout: whether it moves, has ended, or is stuck. Returns when it will count as stuck. */
export async function writeRolloutStatus(
  hands: Hands,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
): Promise<Later | undefined> {
  const now = hands.timestamp();
  const status = calculate(hands, deployment, sets, newSet);
  let conditions = status.conditions ?? [];
  const current = conditionOf(conditions, 'Progressing');
  const what = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const hasDeadline = deployment.spec.progressDeadlineSeconds !== undefined;
  const done = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === 'NewReplicaSetAvailable';
  if (!hasDeadline) conditions = without(conditions, 'Progressing');
  else if (!done) {
    const left = untilDeadline(deployment, current, hands.now());
    if (isComplete(deployment, status)) {
      const message = `${what} has successfully progressed.`;
      conditions = setProgress(conditions, { status: 'True', reason: 'NewReplicaSetAvailable', message }, now);
    } else if (isProgressing(deployment.status, status)) {
      const message = `${what} is progressing.`;
      const kept = current?.status === 'True' ? current.lastTransitionTime : undefined;
      conditions = setProgress(
        without(conditions, 'Progressing'),
        { status: 'True', reason: 'ReplicaSetUpdated', message },
        now,
      ).map((condition) =>
        condition.type === 'Progressing' && kept ? { ...condition, lastTransitionTime: kept } : condition,
      );
    } else if (left !== undefined && left <= 0 && current?.reason !== 'ProgressDeadlineExceeded') {
      const message = `${what} has timed out progressing.`;
      conditions = setProgress(conditions, { status: 'False', reason: 'ProgressDeadlineExceeded', message }, now);
    }
  }
  const failure = sets.flatMap((set) => conditionOf(set.status?.conditions, 'ReplicaFailure') ?? [])[0];
  conditions = failure ? put(conditions, failure, now) : without(conditions, 'ReplicaFailure');
  const stored = await hands.setStatus(deployments, deployment, { ...status, conditions });
  const left = untilDeadline(stored, conditionOf(stored.status?.conditions, 'Progressing'), hands.now());
  return left !== undefined && left > 0 ? { afterMs: left + 1000 } : undefined;
}
