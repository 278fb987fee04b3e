// The statuses of simulated pods, as a kubelet would report them.
import { createHash } from 'node:crypto';
import { conditionOf } from '../controllers/pods.ts';
import { isSidecar } from '../controllers/scheduler/resources.ts';
import type { Condition, ContainerState, ContainerStatus, Pod, PodStatus } from '../controllers/shapes.ts';
import type { Container } from '../types/pod/pod-spec.ts';
import { gatesOpen, initContainersOf } from './progress.ts';
import { annotations, type Outcome } from './stage.ts';

export interface Where {
  readonly now: string;
  readonly hostIp: string;
  /** Gives the pod an address the first time it is asked for. */
  podIp(): string;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const imageId = (image: string): string => `${image.split(/[@:](?=[^/]*$)/)[0]}@sha256:${digest(image)}`;
const containerId = ({ metadata }: Pod, name: string, restarts: number): string =>
  `containerd://${digest(`${metadata.uid}/${name}/${restarts}`)}`;

function statusOf(
  pod: Pod,
  { name, image = '' }: Container,
  state: ContainerState,
  before?: ContainerStatus,
): ContainerStatus {
  const restartCount = before?.restartCount ?? 0;
  const runs = state.running !== undefined;
  const id = runs || state.terminated ? { containerID: containerId(pod, name, restartCount) } : {};
  return {
    ...id,
    image,
    imageID: runs || state.terminated ? imageId(image) : '',
    lastState: before?.lastState ?? {},
    name,
    ready: false,
    restartCount,
    started: runs,
    state,
  };
}

const mainContainers = ({ spec }: Pod): Container[] => spec.containers ?? [];
const statusNamed = (statuses: readonly ContainerStatus[] | undefined, name: string): ContainerStatus | undefined =>
  statuses?.find((status) => status.name === name);

/** A status for every container, each in the state that `state` gives it. */
const containers = (
  pod: Pod,
  state: (container: Container, before?: ContainerStatus) => ContainerStatus,
): ContainerStatus[] =>
  mainContainers(pod).map((container) => state(container, statusNamed(pod.status?.containerStatuses, container.name)));

function setCondition(conditions: readonly Condition[], set: Condition, now: string): Condition[] {
  const index = conditions.findIndex(({ type }) => type === set.type);
  const before = conditions[index];
  const complete = {
    lastProbeTime: null,
    ...set,
    lastTransitionTime: before?.status === set.status ? (before.lastTransitionTime ?? now) : now,
  };
  return index < 0 ? [...conditions, complete] : conditions.with(index, complete);
}

const quoted = (names: readonly string[]): string => `[${names.join(' ')}]`;

/** The conditions that follow from the states of the containers. */
function withConditions(pod: Pod, status: PodStatus, { now }: Where): PodStatus {
  const over = status.phase === 'Succeeded';
  const initial = initContainersOf(pod).filter(
    ({ name }) => statusNamed(status.initContainerStatuses, name)?.state?.terminated?.exitCode !== 0,
  );
  const unready = mainContainers(pod).filter(({ name }) => !statusNamed(status.containerStatuses, name)?.ready);
  const whole = { ...pod, status };
  const containersReady = unready.length === 0;
  const ready = containersReady && gatesOpen(whole);
  const missing = (pod.spec.readinessGates ?? []).filter(
    ({ conditionType }) => conditionOf(status.conditions, conditionType)?.status !== 'True',
  );
  const notReady = over
    ? { reason: 'PodCompleted' }
    : status.phase === 'Failed'
      ? { reason: 'PodFailed' }
      : {
          reason: 'ContainersNotReady',
          message: `containers with unready status: ${quoted(unready.map(({ name }) => name))}`,
        };
  const gated = {
    reason: 'ReadinessGatesNotReady',
    message: missing
      .map(({ conditionType }) => `corresponding condition of pod readiness gate "${conditionType}" does not exist.`)
      .join(', '),
  };
  const bool = (value: boolean): string => (value ? 'True' : 'False');
  const running = (status.containerStatuses ?? []).some(({ state }) => state?.running);
  const set: Condition[] = [
    { type: 'PodReadyToStartContainers', status: bool(running || initial.length < initContainersOf(pod).length) },
    {
      type: 'Initialized',
      status: bool(initial.length === 0),
      ...(initial.length > 0
        ? {
            reason: 'ContainersNotInitialized',
            message: `containers with incomplete status: ${quoted(initial.map(({ name }) => name))}`,
          }
        : over
          ? { reason: 'PodCompleted' }
          : {}),
    },
    { type: 'Ready', status: bool(ready), ...(ready ? {} : containersReady ? gated : notReady) },
    { type: 'ContainersReady', status: bool(containersReady), ...(containersReady ? {} : notReady) },
    { type: 'PodScheduled', status: 'True' },
  ];
  let conditions: Condition[] = status.conditions ?? [];
  for (const condition of set) conditions = setCondition(conditions, condition, now);
  return { ...status, conditions, observedGeneration: pod.metadata.generation ?? 1 };
}

const waiting = (reason: string, message?: string): ContainerState => ({
  waiting: { ...(message ? { message } : {}), reason },
});

const ended = (pod: Pod, exitCode: number, now: string, before?: ContainerStatus): ContainerState => {
  const id = containerId(pod, before?.name ?? '', before?.restartCount ?? 0);
  return {
    terminated: {
      containerID: id,
      exitCode,
      finishedAt: now,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: before?.state?.running?.startedAt ?? now,
    },
  };
};

const exitCodeOf = ({ metadata }: Pod): number => Number(metadata.annotations?.[annotations.exitCode] ?? 1) || 1;

/** Ends every container; init containers that restart end with the others. */
function finish(pod: Pod, where: Where, phase: 'Succeeded' | 'Failed', exitCode: number): PodStatus {
  const end = (container: Container, before?: ContainerStatus): ContainerStatus =>
    before?.state?.terminated
      ? { ...before, ready: false }
      : {
          ...statusOf(pod, container, ended(pod, exitCode, where.now, before), before),
          started: false,
        };
  return { ...pod.status, phase, containerStatuses: containers(pod, end) };
}

type Apply = (pod: Pod, where: Where) => PodStatus;

const table: Readonly<Record<Outcome, Apply>> = {
  creating(pod, { now, hostIp }) {
    const initial = pod.spec.initContainers ?? [];
    const reason = initContainersOf(pod).length > 0 ? 'PodInitializing' : 'ContainerCreating';
    return {
      ...pod.status,
      phase: 'Pending',
      startTime: now,
      hostIP: hostIp,
      hostIPs: [{ ip: hostIp }],
      ...(initial.length > 0
        ? { initContainerStatuses: initial.map((each) => statusOf(pod, each, waiting('PodInitializing'))) }
        : {}),
      containerStatuses: containers(pod, (container) => statusOf(pod, container, waiting(reason))),
    };
  },
  'init-running': (pod, where) => changeInit(pod, where, { running: { startedAt: where.now } }),
  'init-completed': (pod, where) => changeInit(pod, where, undefined),
  running(pod, where) {
    const ip = pod.spec.hostNetwork ? where.hostIp : where.podIp();
    const start = (container: Container, before?: ContainerStatus): ContainerStatus =>
      statusOf(pod, container, { running: { startedAt: where.now } }, before);
    const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
    const initial = (pod.status?.initContainerStatuses ?? []).map((status) => {
      const sidecar = sidecars.find(({ name }) => name === status.name);
      return sidecar ? { ...start(sidecar, status), ready: true } : status;
    });
    return {
      ...pod.status,
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      ...(initial.length > 0 ? { initContainerStatuses: initial } : {}),
      containerStatuses: containers(pod, start),
    };
  },
  ready: (pod) => ({
    ...pod.status,
    containerStatuses: (pod.status?.containerStatuses ?? []).map((status) => ({ ...status, ready: true })),
  }),
  gates: (pod) => ({ ...pod.status }),
  completed: (pod, where) => finish(pod, where, 'Succeeded', 0),
  failed: (pod, where) => finish(pod, where, 'Failed', exitCodeOf(pod)),
  crashed: (pod, { now }) => ({
    ...pod.status,
    containerStatuses: containers(pod, (container, before) => ({
      ...statusOf(
        pod,
        container,
        waiting(
          'CrashLoopBackOff',
          `back-off ${backoffSeconds(before?.restartCount ?? 0)}s restarting failed container=${container.name} pod=${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`,
        ),
        { ...emptyStatus(container), ...before, lastState: ended(pod, exitCodeOf(pod), now, before) },
      ),
      started: false,
    })),
  }),
  restarted: (pod, { now }) => ({
    ...pod.status,
    containerStatuses: containers(pod, (container, before) =>
      statusOf(
        pod,
        container,
        { running: { startedAt: now } },
        { ...emptyStatus(container), ...before, restartCount: (before?.restartCount ?? 0) + 1 },
      ),
    ),
  }),
  'image-pull-error': (pod) =>
    withWaiting(pod, 'ErrImagePull', (image) => `failed to resolve reference "${image}": not found`),
  'image-pull-backoff': (pod) => withWaiting(pod, 'ImagePullBackOff', (image) => `Back-off pulling image "${image}"`),
  evicted: (pod, where) => ({
    ...finish(pod, where, 'Failed', 137),
    reason: 'Evicted',
    message: 'The node was low on resource: memory.',
  }),
  stopped: (pod, where) => finish(pod, where, pod.status?.phase === 'Succeeded' ? 'Succeeded' : 'Failed', 137),
};

const emptyStatus = ({ name, image = '' }: Container): ContainerStatus => ({
  name,
  image,
  imageID: '',
  ready: false,
  restartCount: 0,
});

function withWaiting(pod: Pod, reason: string, message: (image: string) => string): PodStatus {
  return {
    ...pod.status,
    containerStatuses: containers(pod, (container, before) =>
      statusOf(pod, container, waiting(reason, message(container.image ?? '')), before),
    ),
  };
}

/** Puts the init container whose turn it is into a state; undefined ends it well. */
function changeInit(pod: Pod, { now }: Where, state: ContainerState | undefined): PodStatus {
  const ordered = initContainersOf(pod);
  const statuses = pod.status?.initContainerStatuses ?? [];
  const current = ordered.find(({ name }) => statusNamed(statuses, name)?.state?.terminated?.exitCode !== 0);
  return {
    ...pod.status,
    initContainerStatuses: statuses.map((status) => {
      if (!current || status.name !== current.name) return status;
      const next = statusOf(pod, current, state ?? ended(pod, 0, now, status), status);
      return { ...next, ready: state === undefined, started: state !== undefined };
    }),
  };
}

const firstBackoffSeconds = 10;
const longestBackoffSeconds = 300;

/** How long a kubelet waits before it starts a container again. */
export const backoffSeconds = (restarts: number): number =>
  Math.min(firstBackoffSeconds * 2 ** restarts, longestBackoffSeconds);

/** The pod's status after an outcome. */
export function statusAfter(pod: Pod, outcome: Outcome, where: Where): PodStatus {
  return withConditions(pod, table[outcome](pod, where), where);
}
