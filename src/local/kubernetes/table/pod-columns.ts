// The columns of pods: how many containers are ready, and what state the whole is in.
import type { KubeObject } from '../object.ts';
import type { PodSpec } from '../types/pod/pod-spec.ts';
import type { Column } from '../types/resource-type.ts';
import { since } from './age.ts';
import { ageColumn, column, nameColumn, none, specOf, statusOf, wide } from './columns.ts';

interface ContainerStatus {
  name: string;
  ready?: boolean;
  started?: boolean;
  restartCount?: number;
  state?: {
    running?: object;
    waiting?: { reason?: string };
    terminated?: { reason?: string; exitCode?: number; signal?: number };
  };
  lastState?: { terminated?: { finishedAt?: string | null } };
}

interface PodStatus {
  phase: string;
  reason: string;
  conditions: { type: string; status: string; reason?: string }[];
  initContainerStatuses: ContainerStatus[];
  containerStatuses: ContainerStatus[];
  podIPs: { ip?: string }[];
  nominatedNodeName: string;
}

interface Summary {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
  readonly restarts: number;
  /** When the last restart was; empty when there was none. */
  readonly lastRestart: string;
}

const later = (one: string, other: string | null | undefined): string =>
  other && (!one || Date.parse(other) > Date.parse(one)) ? other : one;

const ended = ({ signal, exitCode = 0 }: { signal?: number; exitCode?: number }): string =>
  signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;

const holds = (status: Partial<PodStatus>, type: string): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');

/** Restarts counted while going through container statuses. */
class Restarts {
  count = 0;
  last = '';

  add({ restartCount = 0, lastState }: ContainerStatus): void {
    this.count += restartCount;
    this.last = later(this.last, lastState?.terminated?.finishedAt);
  }
}

/** What keeps a pod from having been initialised; undefined when nothing does. */
function initialReason(status: ContainerStatus, index: number, total: number): string | undefined {
  const { terminated, waiting } = status.state ?? {};
  if (terminated) {
    if ((terminated.exitCode ?? 0) === 0) return undefined;
    return `Init:${terminated.reason || ended(terminated)}`;
  }
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${index}/${total}`;
}

function summarise(pod: KubeObject): Summary {
  const spec = specOf<PodSpec>(pod);
  const status = statusOf<PodStatus>(pod);
  const init = spec.initContainers ?? [];
  const sidecars = new Set(init.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const total = (spec.containers ?? []).length + sidecars.size;
  const before = new Restarts();
  const ofSidecars = new Restarts();
  let ready = 0;
  let reason = status.reason || status.phase || '';
  if ((status.conditions ?? []).some((each) => each.type === 'PodScheduled' && each.reason === 'SchedulingGated')) {
    reason = 'SchedulingGated';
  }
  let initialising = false;
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    before.add(container);
    const sidecar = sidecars.has(container.name);
    if (sidecar) ofSidecars.add(container);
    const finished = container.state?.terminated !== undefined && (container.state.terminated.exitCode ?? 0) === 0;
    if (finished) continue;
    if (sidecar && container.started) {
      if (container.ready) ready += 1;
      continue;
    }
    const why = initialReason(container, index, init.length);
    if (why === undefined) continue;
    reason = why;
    initialising = true;
    break;
  }
  let restarts = before;
  if (!initialising || holds(status, 'Initialized')) {
    restarts = ofSidecars;
    let running = false;
    for (const container of [...(status.containerStatuses ?? [])].reverse()) {
      restarts.add(container);
      const { waiting, terminated, running: runs } = container.state ?? {};
      if (waiting?.reason) reason = waiting.reason;
      else if (terminated) reason = terminated.reason || ended(terminated);
      else if (container.ready && runs) {
        running = true;
        ready += 1;
      }
    }
    if (reason === 'Completed' && running) reason = holds(status, 'Ready') ? 'Running' : 'NotReady';
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    const over = status.phase === 'Failed' || status.phase === 'Succeeded';
    if (status.reason === 'NodeLost') reason = 'Unknown';
    else if (!over) reason = 'Terminating';
  }
  return { ready, total, reason, restarts: restarts.count, lastRestart: restarts.last };
}

const summaries = new WeakMap<KubeObject, Summary>();
function summary(pod: KubeObject): Summary {
  let known = summaries.get(pod);
  if (!known) {
    known = summarise(pod);
    summaries.set(pod, known);
  }
  return known;
}

function readinessGates(pod: KubeObject): string {
  const gates = specOf<{ readinessGates: { conditionType: string }[] }>(pod).readinessGates ?? [];
  if (gates.length === 0) return none;
  const status = statusOf<PodStatus>(pod);
  return `${gates.filter(({ conditionType }) => holds(status, conditionType)).length}/${gates.length}`;
}

export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', (pod) => `${summary(pod).ready}/${summary(pod).total}`),
  column('Status', (pod) => summary(pod).reason),
  column('Restarts', (pod, now) => {
    const { restarts, lastRestart } = summary(pod);
    return restarts > 0 && lastRestart ? `${restarts} (${since(lastRestart, now)} ago)` : String(restarts);
  }),
  ageColumn,
  wide('IP', (pod) => statusOf<PodStatus>(pod).podIPs?.[0]?.ip || none),
  wide('Node', (pod) => specOf<PodSpec>(pod).nodeName || none),
  wide('Nominated Node', (pod) => statusOf<PodStatus>(pod).nominatedNodeName || none),
  wide('Readiness Gates', readinessGates),
];

interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** Pods that have ended say so in their row, so that kubectl may leave them out. */
export function podRowConditions(pod: KubeObject): readonly RowCondition[] | undefined {
  const { phase } = statusOf<PodStatus>(pod);
  if (phase === 'Succeeded') {
    return [{ type: 'Completed', status: 'True', reason: phase, message: 'The pod has completed successfully.' }];
  }
  return phase === 'Failed'
    ? [{ type: 'Completed', status: 'True', reason: phase, message: 'The pod failed.' }]
    : undefined;
}
