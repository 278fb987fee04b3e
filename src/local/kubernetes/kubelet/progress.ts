// How far a pod has come, read from its status.

import { conditionOf } from '../controllers/pods.ts';
import { isSidecar } from '../controllers/scheduler/resources.ts';
import type { ContainerStatus, Pod } from '../controllers/shapes.ts';

export type Progress =
  /** Nothing has been done about it. */
  | 'scheduled'
  /** An init container is next, or runs. */
  | 'init-waiting'
  | 'init-running'
  /** Init containers are done; the others are being created. */
  | 'creating'
  /** The image of a container cannot be had. */
  | 'image-pull-error'
  | 'image-pull-backoff'
  /** All containers run; they are not ready. */
  | 'running'
  /** Containers are ready, but what the Ready condition says is not what readiness gates say. */
  | 'gates'
  | 'ready'
  /** A container has ended and is to be started again. */
  | 'crashed'
  | 'ended'
  | 'deleting'
  /** Stopped, and something else holds it. */
  | 'held';

/** Init containers that must end before the others start. */
export const initContainersOf = ({ spec }: Pod) =>
  (spec.initContainers ?? []).filter((container) => !isSidecar(container));

export const gatesOpen = ({ spec, status }: Pod): boolean =>
  (spec.readinessGates ?? []).every(
    ({ conditionType }) => conditionOf(status?.conditions, conditionType)?.status === 'True',
  );

const waitsFor = (statuses: readonly ContainerStatus[], ...reasons: string[]): boolean =>
  statuses.some(({ state }) => state?.waiting?.reason !== undefined && reasons.includes(state.waiting.reason));

export function progressOf(pod: Pod): Progress {
  const { metadata, status } = pod;
  const over = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (metadata.deletionTimestamp !== undefined) {
    return metadata.deletionGracePeriodSeconds === 0 && over ? 'held' : 'deleting';
  }
  if (over) return 'ended';
  if (!status?.startTime) return 'scheduled';
  const initial = (status.initContainerStatuses ?? []).filter(({ name }) =>
    initContainersOf(pod).some((container) => container.name === name),
  );
  const current = initial.find(({ state }) => state?.terminated?.exitCode !== 0);
  if (current) return current.state?.running ? 'init-running' : 'init-waiting';
  const statuses = status.containerStatuses ?? [];
  if (waitsFor(statuses, 'ErrImagePull')) return 'image-pull-error';
  if (waitsFor(statuses, 'ImagePullBackOff')) return 'image-pull-backoff';
  if (waitsFor(statuses, 'CrashLoopBackOff')) return 'crashed';
  if (!statuses.every(({ state }) => state?.running)) return 'creating';
  if (!statuses.every(({ ready }) => ready)) return 'running';
  const ready = conditionOf(status.conditions, 'Ready')?.status === 'True';
  return ready === gatesOpen(pod) ? 'ready' : 'gates';
}
