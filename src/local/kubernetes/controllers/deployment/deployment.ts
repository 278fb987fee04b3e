// Deployments: replica sets, one per template, of which the newest grows while the others go.
import { type Controller, itself, type Later } from '../controller.ts';
import { type Hands, isNotFound } from '../hands.ts';
import { deployments, pods, replicaSets } from '../kinds.ts';
import { conditionOf, isFinished } from '../pods.ts';
import { claim, ownersOf } from '../selection.ts';
import type { Deployment, ReplicaSet } from '../shapes.ts';
import {
  byAge,
  desiredAnnotation,
  ensureNewSet,
  isRolling,
  maxSurge,
  newSetOf,
  resize,
  revisionOf,
  sizeOf,
  totalOf,
  wantedBy,
} from './replica-sets.ts';
import { roll, scaleDownAll } from './rolling.ts';
import { isComplete, setProgress, writeRolloutStatus, writeStatus } from './status.ts';

/** The size was changed by a user: every replica set still knows the size it was made for. */
const isScaling = (deployment: Deployment, sets: readonly ReplicaSet[]): boolean =>
  sets.some((set) => {
    const known = set.metadata.annotations?.[desiredAnnotation];
    return sizeOf(set) > 0 && known !== undefined && Number(known) !== wantedBy(deployment);
  });

/** Brings the replica sets to a size that was changed, each in proportion to what it has. */
async function scale(
  hands: Hands,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
): Promise<void> {
  const active = sets.filter((set) => sizeOf(set) > 0);
  const [only] = active.length === 0 ? [newSet ?? [...sets].sort(byAge).at(-1)] : active;
  if (active.length <= 1) {
    if (only) await resize(hands, deployment, only, wantedBy(deployment));
    return;
  }
  const wanted = wantedBy(deployment);
  const saturated =
    newSet !== undefined &&
    sizeOf(newSet) === wanted &&
    Number(newSet.metadata.annotations?.[desiredAnnotation]) === wanted &&
    (newSet.status?.availableReplicas ?? 0) === wanted;
  if (saturated) {
    await scaleDownAll(
      hands,
      deployment,
      sets.filter((set) => set !== newSet),
    );
    return;
  }
  if (!isRolling(deployment)) return;
  const total = totalOf(active);
  const allowed = wanted > 0 ? wanted + maxSurge(deployment) : 0;
  let toAdd = allowed - total;
  // The largest bear most of a change; on equal sizes the newest grows and the oldest shrinks.
  const ordered = [...active].sort(
    (one, other) => sizeOf(other) - sizeOf(one) || (toAdd > 0 ? byAge(other, one) : byAge(one, other)),
  );
  const sizes = new Map<ReplicaSet, number>();
  for (const set of ordered) {
    const before = Number(set.metadata.annotations?.['deployment.kubernetes.io/max-replicas'] ?? total) || total;
    const share = Math.round((sizeOf(set) * allowed) / before) - sizeOf(set);
    const step = toAdd > 0 ? Math.min(Math.max(share, 0), toAdd) : Math.max(Math.min(share, 0), toAdd);
    sizes.set(set, sizeOf(set) + step);
    toAdd -= step;
  }
  const [largest] = ordered;
  if (largest) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + toAdd));
  for (const [set, size] of sizes) await resize(hands, deployment, set, size);
}

/** Forgets old replica sets beyond the history that is kept. */
async function forgetHistory(hands: Hands, deployment: Deployment, old: readonly ReplicaSet[]): Promise<void> {
  const { revisionHistoryLimit = 10 } = deployment.spec;
  const forgettable = old
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort((one, other) => revisionOf(one) - revisionOf(other));
  for (const set of forgettable.slice(0, Math.max(0, forgettable.length - revisionHistoryLimit))) {
    const { status, metadata } = set;
    const settled = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
    if ((status?.replicas ?? 0) === 0 && sizeOf(set) === 0 && settled) await hands.remove(replicaSets, set);
  }
}

/** Says that a deployment was paused or resumed, so that the time in between does not count as being stuck. */
async function notePause(hands: Hands, deployment: Deployment): Promise<Deployment> {
  if (deployment.spec.progressDeadlineSeconds === undefined) return deployment;
  const condition = conditionOf(deployment.status?.conditions, 'Progressing');
  if (condition?.reason === 'ProgressDeadlineExceeded') return deployment;
  const noted = condition?.reason === 'DeploymentPaused';
  const { paused = false } = deployment.spec;
  if (paused === noted) return deployment;
  const conditions = setProgress(
    deployment.status?.conditions,
    paused
      ? { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' }
      : { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' },
    hands.timestamp(),
  );
  return hands.setStatus(deployments, deployment, { ...deployment.status, conditions });
}

function hasOldPods(hands: Hands, old: readonly ReplicaSet[]): boolean {
  return old.some(({ metadata }) => hands.dependents(pods, metadata.uid ?? '').some((pod) => !isFinished(pod)));
}

async function reconcile(hands: Hands, namespace: string, name: string): Promise<Later | undefined> {
  const found = hands.get(deployments, namespace, name);
  if (!found) return undefined;
  const sets = await claim(hands, replicaSets, found, found.spec.selector);
  if (found.metadata.deletionTimestamp) {
    await writeStatus(hands, found, sets, newSetOf(found, sets));
    return undefined;
  }
  const noted = await notePause(hands, found);
  const { paused = false } = noted.spec;
  if (paused || isScaling(noted, sets)) {
    const { newSet, deployment } = await ensureNewSet(hands, noted, sets, false);
    await scale(hands, deployment, refreshed(hands, sets), newSet && refreshedOne(hands, newSet));
    const now = refreshed(hands, sets);
    await writeStatus(hands, deployment, now, newSetOf(deployment, now));
    return undefined;
  }
  const recreate = noted.spec.strategy.type === 'Recreate';
  if (recreate) {
    const known = newSetOf(noted, sets);
    const old = sets.filter((set) => set !== known);
    if ((await scaleDownAll(hands, noted, old)) || hasOldPods(hands, old)) {
      const now = refreshed(hands, sets);
      return writeRolloutStatus(hands, noted, now, newSetOf(noted, now));
    }
  }
  const { newSet, deployment } = await ensureNewSet(hands, noted, sets, true);
  if (!newSet) return { afterMs: 1 };
  const old = sets.filter(({ metadata }) => metadata.uid !== newSet.metadata.uid);
  if (recreate) await resize(hands, deployment, newSet, wantedBy(deployment));
  else await roll(hands, deployment, newSet, old);
  const all = refreshed(hands, [...old, newSet]);
  const later = await writeRolloutStatus(hands, deployment, all, refreshedOne(hands, newSet));
  const current = hands.get(deployments, namespace, name);
  if (current?.status && isComplete(current, current.status))
    await forgetHistory(hands, current, refreshed(hands, old));
  return later;
}

const refreshedOne = (hands: Hands, { metadata }: ReplicaSet): ReplicaSet | undefined =>
  hands.get(replicaSets, metadata.namespace ?? '', metadata.name ?? '');

/** The same sets as they are now, without those that are gone. */
const refreshed = (hands: Hands, sets: readonly ReplicaSet[]): ReplicaSet[] =>
  sets.flatMap((set) => refreshedOne(hands, set) ?? []);

/** A pod that goes may be the last of the old ones that a Recreate waits for. */
const podOwner = ownersOf(replicaSets);

export const deploymentController: Controller = {
  name: 'deployment-controller',
  triggers: {
    [deployments.type.storage]: itself,
    [replicaSets.type.storage]: ownersOf(deployments),
    [pods.type.storage]: (change, reader) => {
      if (change.kind !== 'DELETED' || !change.entry.owners) return [];
      const keys = [];
      for (const { namespace, name } of podOwner(change, reader)) {
        const owner = reader
          .get(replicaSets, namespace, name)
          ?.metadata.ownerReferences?.find(({ kind }) => kind === 'Deployment');
        if (owner) keys.push({ namespace, name: owner.name });
      }
      return keys;
    },
  },
  async reconcile(hands, { namespace, name }) {
    try {
      return await reconcile(hands, namespace, name);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  },
};
