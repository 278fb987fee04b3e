// Jobs: pods that are to succeed so many times.
import type { Later } from '../controller.ts';
import { type Controller, itself, sooner } from '../controller.ts';
import { controllerOf, copyOf, type Hands, isNotFound } from '../hands.ts';
import { jobs, pods } from '../kinds.ts';
import { conditionOf, isEnding, isFinished, isReady, podFromTemplate } from '../pods.ts';
import { ownersOf } from '../selection.ts';
import type { Condition, Job, JobStatus, Pod } from '../shapes.ts';
import { formatIndexes, parseIndexes } from './indexes.ts';

const finalizer = 'batch.kubernetes.io/job-tracking';
const indexName = 'batch.kubernetes.io/job-completion-index';
const firstBackoffMs = 10_000;
const longestBackoffMs = 600_000;

export const finishedCondition = (job: Job): Condition | undefined =>
  job.status?.conditions?.find(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');

const isIndexed = ({ spec }: Job): boolean => spec.completionMode === 'Indexed';
const indexOf = ({ metadata }: Pod): number => Number(metadata.annotations?.[indexName] ?? -1);
const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(finalizer) ?? false;

/** A pod that was deleted before anything ran it ends here. */
const neverRan = (pod: Pod): boolean =>
  isEnding(pod) && !isFinished(pod) && (!pod.spec.nodeName || pod.metadata.deletionGracePeriodSeconds === 0);
const hasSucceeded = ({ status }: Pod): boolean => status?.phase === 'Succeeded';
const hasFailed = (pod: Pod): boolean => pod.status?.phase === 'Failed' || neverRan(pod);
const isActive = (pod: Pod): boolean => !isFinished(pod) && !isEnding(pod);

async function untrack(hands: Hands, pod: Pod): Promise<void> {
  const freed = copyOf(pod);
  const rest = (pod.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  if (rest.length > 0) freed.metadata.finalizers = rest;
  else delete freed.metadata.finalizers;
  try {
    await hands.update(pods, freed);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Counts pods that have ended, each once: its uid is written down, then it is let go, then it is counted. Killed in between, the
 * next look goes on from what is written.
 */
async function count(hands: Hands, job: Job, own: readonly Pod[]): Promise<JobStatus> {
  let status: JobStatus = { ...job.status };
  const written = {
    succeeded: new Set(status.uncountedTerminatedPods?.succeeded),
    failed: new Set(status.uncountedTerminatedPods?.failed),
  };
  const completed = parseIndexes(status.completedIndexes);
  let more = false;
  for (const pod of own) {
    const { uid = '' } = pod.metadata;
    if (!isTracked(pod) || written.succeeded.has(uid) || written.failed.has(uid)) continue;
    if (hasSucceeded(pod)) {
      const index = indexOf(pod);
      if (isIndexed(job)) {
        if (!completed.has(index) && index >= 0 && index < (job.spec.completions ?? 0)) completed.add(index);
      } else written.succeeded.add(uid);
      more = true;
    } else if (hasFailed(pod)) {
      written.failed.add(uid);
      more = true;
    }
  }
  if (isIndexed(job) && completed.size > 0) {
    status = { ...status, completedIndexes: formatIndexes(completed), succeeded: completed.size };
  }
  if (more) {
    status.uncountedTerminatedPods = uncounted(written.succeeded, written.failed);
    const current = hands.get(jobs, job.metadata.namespace ?? '', job.metadata.name ?? '');
    if (current) status = (await hands.setStatus(jobs, current, status)).status ?? status;
  }
  for (const pod of own) if (isTracked(pod) && (isFinished(pod) || neverRan(pod))) await untrack(hands, pod);
  if (written.succeeded.size + written.failed.size > 0) {
    const succeeded = (status.succeeded ?? 0) + written.succeeded.size;
    const failed = (status.failed ?? 0) + written.failed.size;
    status = {
      ...status,
      ...(succeeded > 0 ? { succeeded } : {}),
      ...(failed > 0 ? { failed } : {}),
      uncountedTerminatedPods: {},
    };
  }
  return status;
}

const uncounted = (succeeded: ReadonlySet<string>, failed: ReadonlySet<string>) => ({
  ...(succeeded.size > 0 ? { succeeded: [...succeeded] } : {}),
  ...(failed.size > 0 ? { failed: [...failed] } : {}),
});

interface Verdict {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/** Whether the job is over, and how. */
function judge(hands: Hands, { spec }: Job, status: JobStatus, own: readonly Pod[]): Verdict | undefined {
  const { completions, backoffLimit = 6, activeDeadlineSeconds } = spec;
  const active = own.filter(isActive);
  const failed = status.failed ?? 0;
  const restarts =
    spec.template.spec.restartPolicy === 'OnFailure'
      ? active.reduce(
          (sum, pod) => sum + (pod.status?.containerStatuses ?? []).reduce((more, each) => more + each.restartCount, 0),
          0,
        )
      : 0;
  if (failed > backoffLimit || (restarts > 0 && restarts >= Math.max(backoffLimit, 1))) {
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  }
  const started = status.startTime ? Date.parse(status.startTime) : hands.now();
  if (activeDeadlineSeconds !== undefined && !spec.suspend && hands.now() - started >= activeDeadlineSeconds * 1000) {
    return { type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  }
  const succeeded = status.succeeded ?? 0;
  const enough = completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions;
  return enough
    ? { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : undefined;
}

/** Milliseconds until another pod may be tried after failures. */
function backoffLeft(hands: Hands, own: readonly Pod[]): number {
  const failed = own.filter(hasFailed);
  if (failed.length === 0) return 0;
  const ends = failed.map(({ status, metadata }) =>
    Date.parse(
      status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ??
        metadata.deletionTimestamp ??
        metadata.creationTimestamp ??
        '',
    ),
  );
  const wait = Math.min(firstBackoffMs * 2 ** (failed.length - 1), longestBackoffMs);
  return Math.max(0, Math.max(...ends) + wait - hands.now());
}

function podOf(job: Job, index: number | undefined) {
  const { name = '' } = job.metadata;
  const prefix = index === undefined ? `${name}-` : `${name}-${index}-`;
  const pod = podFromTemplate(job, job.spec.template, { generateName: prefix });
  pod.metadata.finalizers = [...(pod.metadata.finalizers ?? []), finalizer];
  if (index === undefined) return pod;
  const spec = structuredClone(job.spec.template.spec);
  pod.metadata.annotations = { ...pod.metadata.annotations, [indexName]: String(index) };
  pod.metadata.labels = { ...pod.metadata.labels, [indexName]: String(index) };
  spec.hostname ??= `${name}-${index}`;
  const variable = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${indexName}']` } },
  };
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (!container.env?.some((each) => each.name === variable.name))
      container.env = [...(container.env ?? []), variable];
  }
  return { ...pod, spec };
}

/** Makes or takes away pods; returns when more may be made. */
async function manage(hands: Hands, job: Job, status: JobStatus, own: readonly Pod[]): Promise<Later | undefined> {
  const { parallelism = 1, completions, suspend = false } = job.spec;
  const active = own.filter(isActive);
  const left =
    completions === undefined
      ? (status.succeeded ?? 0) > 0
        ? active.length
        : parallelism
      : completions - (status.succeeded ?? 0);
  const wanted = suspend ? 0 : Math.min(parallelism, left);
  if (active.length > wanted) {
    for (const pod of active.slice(wanted)) {
      if (await hands.remove(pods, pod))
        await hands.event(job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    }
    return undefined;
  }
  if (active.length === wanted) return undefined;
  const wait = backoffLeft(hands, own);
  if (wait > 0) return { afterMs: wait };
  const indexes: (number | undefined)[] = [];
  if (isIndexed(job)) {
    const taken = new Set([...parseIndexes(status.completedIndexes), ...active.map(indexOf)]);
    for (let index = 0; index < (completions ?? 0) && indexes.length < wanted - active.length; index += 1) {
      if (!taken.has(index)) indexes.push(index);
    }
  } else for (let more = active.length; more < wanted; more += 1) indexes.push(undefined);
  const { namespace = '' } = job.metadata;
  const made = await Promise.all(indexes.map((index) => hands.create(pods, namespace, podOf(job, index))));
  for (const { metadata } of made)
    await hands.event(job, 'Normal', 'SuccessfulCreate', `Created pod: ${metadata.name}`);
  return undefined;
}

const conditionWith = (
  type: string,
  { reason, message }: Pick<Verdict, 'reason' | 'message'>,
  now: string,
  status = 'True',
): Condition => ({
  type,
  status,
  lastProbeTime: now,
  lastTransitionTime: now,
  reason,
  message,
});

/** The interim condition that a verdict is announced by. */
const announced = { Complete: 'SuccessCriteriaMet', Failed: 'FailureTarget' } as const;

async function finish(hands: Hands, job: Job, status: JobStatus, own: readonly Pod[], verdict: Verdict): Promise<void> {
  for (const pod of own.filter(isActive)) await hands.remove(pods, pod);
  const now = hands.timestamp();
  const { active: _, ...rest } = status;
  const current = hands.get(jobs, job.metadata.namespace ?? '', job.metadata.name ?? '');
  if (!current) return;
  await hands.setStatus(jobs, current, {
    ...rest,
    conditions: [
      ...(status.conditions ?? []),
      conditionWith(announced[verdict.type], verdict, now),
      conditionWith(verdict.type, verdict, now),
    ],
    ...(verdict.type === 'Complete' ? { completionTime: now } : {}),
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  });
  if (verdict.type === 'Complete') await hands.event(job, 'Normal', 'Completed', 'Job completed');
  else await hands.event(job, 'Warning', verdict.reason, verdict.message);
}

/** Deletes a job that is over when its time has come. */
async function expire(hands: Hands, job: Job): Promise<Later | undefined> {
  const { ttlSecondsAfterFinished } = job.spec;
  const since = finishedCondition(job)?.lastTransitionTime;
  if (ttlSecondsAfterFinished === undefined || !since) return undefined;
  const left = Date.parse(since) + ttlSecondsAfterFinished * 1000 - hands.now();
  if (left > 0) return { afterMs: left };
  await hands.remove(jobs, job, { propagationPolicy: 'Foreground' });
  return undefined;
}

function suspended(hands: Hands, { spec }: Job, status: JobStatus): Condition[] | undefined {
  const before = conditionOf(status.conditions, 'Suspended');
  const now = hands.timestamp();
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'Suspended');
  if (spec.suspend && before?.status !== 'True') {
    return [...others, conditionWith('Suspended', { reason: 'JobSuspended', message: 'Job suspended' }, now)];
  }
  if (!spec.suspend && before?.status === 'True') {
    return [...others, conditionWith('Suspended', { reason: 'JobResumed', message: 'Job resumed' }, now, 'False')];
  }
  return undefined;
}

async function reconcile(hands: Hands, namespace: string, name: string): Promise<Later | undefined> {
  const job = hands.get(jobs, namespace, name);
  if (!job) return undefined;
  const { uid = '' } = job.metadata;
  const owned = (): Pod[] => hands.dependents(pods, uid).filter((pod) => controllerOf(pod)?.uid === uid);
  let own = owned();
  if (finishedCondition(job) || job.metadata.deletionTimestamp) {
    for (const pod of own) if (isTracked(pod)) await untrack(hands, pod);
    return job.metadata.deletionTimestamp ? undefined : expire(hands, job);
  }
  const outcomes = own;
  let status = await count(hands, job, own);
  if (!status.startTime && !job.spec.suspend) status = { ...status, startTime: hands.timestamp() };
  own = owned();
  const verdict = judge(hands, job, status, own);
  if (verdict) {
    await finish(hands, job, status, own, verdict);
    return undefined;
  }
  const conditions = suspended(hands, job, status);
  if (conditions) {
    status = { ...status, conditions };
    const paused = job.spec.suspend === true;
    if (!paused) status.startTime = hands.timestamp();
    await hands.event(job, 'Normal', paused ? 'Suspended' : 'Resumed', paused ? 'Job suspended' : 'Job resumed');
  }
  const later = await manage(
    hands,
    job,
    status,
    outcomes.length > own.length ? outcomes.filter((pod) => !isActive(pod)).concat(own) : own,
  );
  own = owned();
  const { active: _, ...rest } = status;
  const running = own.filter(isActive);
  const current = hands.get(jobs, namespace, name);
  if (!current) return undefined;
  await hands.setStatus(jobs, current, {
    ...rest,
    ...(running.length > 0 ? { active: running.length } : {}),
    terminating: own.filter((pod) => isEnding(pod) && !isFinished(pod)).length,
    ready: running.filter(isReady).length,
    uncountedTerminatedPods: status.uncountedTerminatedPods ?? {},
  });
  const { activeDeadlineSeconds } = job.spec;
  const deadline =
    activeDeadlineSeconds !== undefined && status.startTime
      ? { afterMs: Math.max(0, Date.parse(status.startTime) + activeDeadlineSeconds * 1000 - hands.now()) }
      : undefined;
  return sooner(later, deadline);
}

export const jobController: Controller = {
  name: 'job-controller',
  triggers: {
    [jobs.type.storage]: itself,
    [pods.type.storage]: ownersOf(jobs),
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
