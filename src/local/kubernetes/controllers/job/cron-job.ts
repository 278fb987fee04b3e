// Cron jobs: a job at every time of a schedule.
import { type Controller, itself, type Later } from '../controller.ts';
import { controllerOf, controllerReference, type Hands, isAlreadyExists } from '../hands.ts';
import { cronJobs, jobs } from '../kinds.ts';
import type { CronJob, Job } from '../shapes.ts';
import { intervalOf, nextTime } from './cron-times.ts';
import { finishedCondition } from './job.ts';

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
/** Times that were missed are not made up for beyond this many. */
const mostMissed = 100;

const referenceTo = ({ metadata }: Job): Record<string, string> => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: metadata.name ?? '',
  namespace: metadata.namespace ?? '',
  resourceVersion: metadata.resourceVersion ?? '',
  uid: metadata.uid ?? '',
});

/** The last time that was due and not yet served, and the one that comes next. */
function timesOf(
  { metadata, spec, status }: CronJob,
  now: number,
): { readonly last: number | undefined; readonly next: number | undefined } {
  let from = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '');
  const { startingDeadlineSeconds } = spec;
  if (startingDeadlineSeconds !== undefined) from = Math.max(from, now - startingDeadlineSeconds * 1000);
  const interval = intervalOf(spec.schedule);
  if (interval !== undefined) {
    // Counted from the last time, whenever that was.
    const count = Math.max(0, Math.floor((now - from) / interval));
    const reached = from + count * interval;
    return { last: count === 0 ? undefined : reached, next: reached + interval };
  }
  let last: number | undefined;
  let count = 0;
  for (let due = nextTime(spec.schedule, from, spec.timeZone); due !== undefined && due <= now; ) {
    last = due;
    count += 1;
    if (count > mostMissed) {
      // Long asleep: the newest time is enough.
      const recent = nextTime(spec.schedule, now - 24 * 3_600_000, spec.timeZone);
      for (let each = recent; each !== undefined && each <= now; each = nextTime(spec.schedule, each, spec.timeZone))
        last = each;
      break;
    }
    due = nextTime(spec.schedule, due, spec.timeZone);
  }
  return { last, next: nextTime(spec.schedule, now, spec.timeZone) };
}

async function startJob(hands: Hands, cron: CronJob, due: number): Promise<Job | undefined> {
  const { name = '', namespace = '' } = cron.metadata;
  const { metadata, spec } = cron.spec.jobTemplate;
  const jobName = `${name}-${Math.floor(due / 60_000)}`;
  try {
    const made = await hands.create(jobs, namespace, {
      metadata: {
        name: jobName,
        ...(metadata.labels ? { labels: { ...metadata.labels } } : {}),
        annotations: {
          ...metadata.annotations,
          [scheduledAnnotation]: new Date(due).toISOString().replace('.000Z', 'Z'),
        },
        ownerReferences: [controllerReference(cron)],
      },
      spec: structuredClone(spec),
    });
    await hands.event(cron, 'Normal', 'SuccessfulCreate', `Created job ${jobName}`);
    return made;
  } catch (error) {
    if (isAlreadyExists(error)) return hands.get(jobs, namespace, jobName);
    const why = error instanceof Error ? error.message : String(error);
    await hands.event(cron, 'Warning', 'FailedCreate', `Error creating job: ${why}`);
    throw error;
  }
}

async function forgetFinished(hands: Hands, cron: CronJob, own: readonly Job[]): Promise<void> {
  const limits = { Complete: cron.spec.successfulJobsHistoryLimit ?? 3, Failed: cron.spec.failedJobsHistoryLimit ?? 1 };
  for (const type of ['Complete', 'Failed'] as const) {
    const finished = own
      .filter((job) => finishedCondition(job)?.type === type)
      .sort((one, other) => ((one.status?.startTime ?? '') < (other.status?.startTime ?? '') ? -1 : 1));
    for (const job of finished.slice(0, Math.max(0, finished.length - limits[type]))) {
      if (await hands.remove(jobs, job, { propagationPolicy: 'Background' })) {
        await hands.event(cron, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
      }
    }
  }
}

export const cronJobController: Controller = {
  name: 'cronjob-controller',
  triggers: {
    [cronJobs.type.storage]: itself,
    [jobs.type.storage]: ({ entry }, reader) => {
      const owner = entry.owners ? controllerOf(reader.read(jobs, entry)) : undefined;
      return owner?.kind === 'CronJob' ? [{ namespace: entry.namespace, name: owner.name }] : [];
    },
  },
  async reconcile(hands, { namespace, name }): Promise<Later | undefined> {
    const cron = hands.get(cronJobs, namespace, name);
    if (!cron || cron.metadata.deletionTimestamp) return undefined;
    const { uid = '' } = cron.metadata;
    const own = (): Job[] => hands.dependents(jobs, uid).filter((job) => controllerOf(job)?.uid === uid);
    for (const job of own()) {
      const ended = finishedCondition(job);
      const wasActive = cron.status?.active?.some((each) => each.uid === job.metadata.uid);
      if (ended && wasActive) {
        await hands.event(
          cron,
          'Normal',
          'SawCompletedJob',
          `Saw completed job: ${job.metadata.name}, condition: ${ended.type}`,
        );
      }
    }
    await forgetFinished(hands, cron, own());
    const now = hands.now();
    let lastScheduleTime = cron.status?.lastScheduleTime;
    const { last, next } = timesOf(cron, now);
    if (last !== undefined && !cron.spec.suspend) {
      const active = own().filter((job) => !finishedCondition(job));
      const policy = cron.spec.concurrencyPolicy;
      if (policy === 'Forbid' && active.length > 0) {
        await hands.event(
          cron,
          'Normal',
          'JobAlreadyActive',
          'Not starting job because prior execution is running and concurrency policy is Forbid',
        );
      } else {
        if (policy === 'Replace') {
          for (const job of active) await hands.remove(jobs, job, { propagationPolicy: 'Background' });
        }
        await startJob(hands, cron, last);
      }
      if (policy !== 'Forbid' || active.length === 0)
        lastScheduleTime = new Date(last).toISOString().replace('.000Z', 'Z');
    }
    const current = hands.get(cronJobs, namespace, name);
    if (!current) return undefined;
    const all = own();
    const active = all.filter((job) => !finishedCondition(job)).map(referenceTo);
    const successes = all.flatMap(({ status }) => status?.completionTime ?? []).sort();
    const lastSuccessfulTime = successes.at(-1) ?? current.status?.lastSuccessfulTime;
    await hands.setStatus(cronJobs, current, {
      ...(active.length > 0 ? { active } : {}),
      ...(lastScheduleTime ? { lastScheduleTime } : {}),
      ...(lastSuccessfulTime ? { lastSuccessfulTime } : {}),
    });
    if (cron.spec.suspend) return undefined;
    return next === undefined ? undefined : { afterMs: next - now };
  },
};
