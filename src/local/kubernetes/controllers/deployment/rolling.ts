// Moves a deployment from its old replica sets to the new one, as fast as surge and availability allow.
import type { Hands } from '../hands.ts';
import type { Deployment, ReplicaSet } from '../shapes.ts';
import { availableOf, byAge, maxUnavailable, newSize, resize, sizeOf, totalOf, wantedBy } from './replica-sets.ts';

/** One step of a rolling update; true when it changed a size. */
export async function roll(
  hands: Hands,
  deployment: Deployment,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
): Promise<boolean> {
  const all = [...old, newSet];
  const wanted = wantedBy(deployment);
  const size = sizeOf(newSet);
  const target = size > wanted ? wanted : newSize(deployment, all, newSet);
  if (target !== size) {
    await resize(hands, deployment, newSet, target);
    return true;
  }
  return shrinkOld(hands, deployment, newSet, old);
}

async function shrinkOld(
  hands: Hands,
  deployment: Deployment,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
): Promise<boolean> {
  if (totalOf(old) === 0) return false;
  const all = [...old, newSet];
  const least = wantedBy(deployment) - maxUnavailable(deployment);
  const newUnavailable = sizeOf(newSet) - (newSet.status?.availableReplicas ?? 0);
  let room = totalOf(all) - least - newUnavailable;
  if (room <= 0) return false;
  let changed = false;
  // Pods that are not available cost nothing to take away.
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]));
  for (const set of [...old].sort(byAge)) {
    const size = sizes.get(set) ?? 0;
    const unhealthy = size - (set.status?.availableReplicas ?? 0);
    const cut = Math.min(room, unhealthy);
    if (cut <= 0) continue;
    sizes.set(set, size - cut);
    room -= cut;
  }
  let spare = availableOf(all) - least;
  for (const set of [...old].sort(byAge)) {
    const size = sizes.get(set) ?? 0;
    const cut = Math.min(size, spare);
    if (cut <= 0) continue;
    sizes.set(set, size - cut);
    spare -= cut;
  }
  for (const [set, size] of sizes) {
    if (size === sizeOf(set)) continue;
    await resize(hands, deployment, set, size);
    changed = true;
  }
  return changed;
}

/** Takes every old replica set to nothing; true when one had a size. */
export async function scaleDownAll(hands: Hands, deployment: Deployment, old: readonly ReplicaSet[]): Promise<boolean> {
  let changed = false;
  for (const set of old) {
    if (sizeOf(set) === 0) continue;
    await resize(hands, deployment, set, 0);
    changed = true;
  }
  return changed;
}
