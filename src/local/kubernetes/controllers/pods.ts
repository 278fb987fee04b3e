// What controllers want to know of pods.
import type { KubeObject, ObjectMeta } from '../object.ts';
import type { PodTemplate } from '../types/pod/pod-spec.ts';
import { controllerReference, type NewObject } from './hands.ts';
import type { Condition, Pod } from './shapes.ts';

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

export const isReady = ({ status }: Pod): boolean => conditionOf(status?.conditions, 'Ready')?.status === 'True';

export const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

export const isEnding = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** Runs or is to run. */
export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isEnding(pod);

/** Milliseconds until a ready pod has been ready for long enough: 0 when it is available, undefined when it is not ready. */
export function untilAvailable(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const ready = conditionOf(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds === 0) return 0;
  return Math.max(0, Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1000 - now);
}

export const restartsOf = ({ status }: Pod): number =>
  (status?.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0);

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';

/** Which of two pods to delete first: below zero for `one`. `crowd` counts the pods of the same set on a pod's node. */
export function deletionOrder(one: Pod, other: Pod, crowd: (pod: Pod) => number): number {
  const scheduled = Number(Boolean(one.spec.nodeName)) - Number(Boolean(other.spec.nodeName));
  if (scheduled !== 0) return scheduled;
  const phase = (phaseRank[one.status?.phase ?? ''] ?? 1) - (phaseRank[other.status?.phase ?? ''] ?? 1);
  if (phase !== 0) return phase;
  const ready = Number(isReady(one)) - Number(isReady(other));
  if (ready !== 0) return ready;
  const cost = costOf(one) - costOf(other);
  if (cost !== 0) return cost;
  const crowded = crowd(other) - crowd(one);
  if (crowded !== 0) return crowded;
  const readySince = (pod: Pod): string => conditionOf(pod.status?.conditions, 'Ready')?.lastTransitionTime ?? '';
  if (isReady(one) && readySince(one) !== readySince(other)) return readySince(one) > readySince(other) ? -1 : 1;
  const restarts = restartsOf(other) - restartsOf(one);
  if (restarts !== 0) return restarts;
  const born = (pod: Pod): string => pod.metadata.creationTimestamp ?? '';
  return born(one) === born(other) ? 0 : born(one) > born(other) ? -1 : 1;
}

const costOf = ({ metadata }: Pod): number => Number(metadata.annotations?.[deletionCost] ?? 0) || 0;

/** A pod made of a template for its owner. */
export function podFromTemplate(owner: KubeObject, template: PodTemplate, metadata: ObjectMeta): NewObject {
  const { labels, annotations, finalizers } = template.metadata;
  return {
    metadata: {
      ...(labels ? { labels: { ...labels } } : {}),
      ...(annotations ? { annotations: { ...annotations } } : {}),
      ...(finalizers ? { finalizers: [...finalizers] } : {}),
      ownerReferences: [controllerReference(owner)],
      ...metadata,
    },
    spec: structuredClone(template.spec),
  };
}

/** A number, or so many percent of a total. */
export function portion(value: number | string | undefined, total: number, round: (value: number) => number): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  return round((Number(value.replace('%', '')) * total) / 100);
}
