// Disruption budgets: how many of the pods they are for may be missing now.
import { selects } from '../types/selectors.ts';
import { setConditions } from './conditions.ts';
import { type Controller, itself } from './controller.ts';
import { controllerOf, type Hands, isNotFound, type Reader } from './hands.ts';
import { deployments, disruptionBudgets, pods, replicaSets, statefulSets } from './kinds.ts';
import { isActive, isReady, portion } from './pods.ts';
import type { DisruptionBudget, Pod } from './shapes.ts';

/** A pod that was let go by the eviction API counts as gone for so long, in case its deletion fails. */
const disruptedMs = 120_000;

function podsOf(reader: Reader, { metadata, spec }: DisruptionBudget): Pod[] {
  const { selector } = spec;
  if (!selector) return [];
  return reader
    .entries(pods, metadata.namespace)
    .filter((entry) => selects(selector, entry.labels))
    .map((entry) => reader.read(pods, entry))
    .filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
}

/** How many pods there are to be, from the scales of what controls them; without a controller, those that are there. */
function expectedOf(hands: Hands, own: readonly Pod[]): number {
  const seen = new Map<string, number>();
  let alone = 0;
  for (const pod of own) {
    const owner = controllerOf(pod);
    if (!owner) {
      alone += 1;
      continue;
    }
    const namespace = pod.metadata.namespace ?? '';
    const set = owner.kind === 'ReplicaSet' ? hands.get(replicaSets, namespace, owner.name) : undefined;
    const above = set && controllerOf(set);
    const root = above?.kind === 'Deployment' ? above : owner;
    if (seen.has(root.uid)) continue;
    const scaled =
      root.kind === 'Deployment'
        ? hands.get(deployments, namespace, root.name)?.spec.replicas
        : root.kind === 'StatefulSet'
          ? hands.get(statefulSets, namespace, root.name)?.spec.replicas
          : set?.spec.replicas;
    seen.set(root.uid, scaled ?? own.filter((each) => controllerOf(each)?.uid === root.uid).length);
  }
  return [...seen.values()].reduce((sum, count) => sum + count, alone);
}

export const disruptionController: Controller = {
  name: 'disruption-controller',
  triggers: {
    [disruptionBudgets.type.storage]: itself,
    [pods.type.storage]: ({ entry, before }, reader) =>
      reader
        .list(disruptionBudgets, entry.namespace)
        .filter(
          ({ spec: { selector } }) =>
            selector && (selects(selector, entry.labels) || (before && selects(selector, before.labels))),
        )
        .map(({ metadata }) => ({ namespace: entry.namespace, name: metadata.name ?? '' })),
  },
  async reconcile(hands, { namespace, name }) {
    const budget = hands.get(disruptionBudgets, namespace, name);
    if (!budget) return undefined;
    const own = podsOf(hands, budget);
    const { minAvailable, maxUnavailable } = budget.spec;
    const byScale = maxUnavailable !== undefined || typeof minAvailable === 'string';
    const expectedPods = byScale ? expectedOf(hands, own) : own.length;
    const desiredHealthy =
      maxUnavailable !== undefined
        ? Math.max(0, expectedPods - portion(maxUnavailable, expectedPods, Math.ceil))
        : portion(minAvailable, expectedPods, Math.ceil);
    const now = hands.now();
    const disrupted = Object.entries(budget.status?.disruptedPods ?? {}).filter(
      ([pod, at]) =>
        own.some((each) => each.metadata.name === pod && isActive(each)) && Date.parse(at) + disruptedMs > now,
    );
    const gone = new Set(disrupted.map(([pod]) => pod));
    const currentHealthy = own.filter(
      (pod) => isActive(pod) && isReady(pod) && !gone.has(pod.metadata.name ?? ''),
    ).length;
    const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
    const observedGeneration = budget.metadata.generation ?? 0;
    const condition =
      disruptionsAllowed > 0
        ? { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '', observedGeneration }
        : { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '', observedGeneration };
    try {
      await hands.setStatus(disruptionBudgets, budget, {
        conditions: setConditions(budget.status?.conditions, [condition], hands.timestamp()),
        currentHealthy,
        desiredHealthy,
        ...(disrupted.length > 0 ? { disruptedPods: Object.fromEntries(disrupted) } : {}),
        disruptionsAllowed,
        expectedPods,
        observedGeneration,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return disrupted.length > 0 ? { afterMs: disruptedMs } : undefined;
  },
};
