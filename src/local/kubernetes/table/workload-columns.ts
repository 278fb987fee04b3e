// The columns of what runs pods: apps and batch.
import type { KubeObject } from '../object.ts';
import type { LabelSelector, PodTemplate } from '../types/pod/pod-spec.ts';
import type { Column } from '../types/resource-type.ts';
import { humanDuration, since } from './age.ts';
import {
  ageColumn,
  column,
  containerColumns,
  flag,
  labelsText,
  nameColumn,
  none,
  selectorText,
  specOf,
  statusOf,
  unset,
  whole,
  wide,
} from './columns.ts';

interface WorkloadSpec {
  replicas: number;
  selector: LabelSelector;
  template: PodTemplate;
}

type Counts = Record<string, number>;

const workload = (object: KubeObject): Partial<WorkloadSpec> => specOf<WorkloadSpec>(object);
/** A number of the status. */
export const counted =
  (member: string) =>
  (object: KubeObject): number =>
    statusOf<Counts>(object)[member] ?? 0;
const workloadContainers = containerColumns((object) => workload(object).template?.spec.containers);
const selectorColumn = wide('Selector', (object) => selectorText(workload(object).selector));

const readyOf = column('Ready', (object) => `${counted('readyReplicas')(object)}/${workload(object).replicas ?? 0}`);

interface JobSpec extends WorkloadSpec {
  completions: number;
  parallelism: number;
}

interface JobStatus {
  succeeded: number;
  startTime: string;
  completionTime: string;
  conditions: { type: string; status: string }[];
}

const holds = (object: KubeObject, type: string): boolean =>
  statusOf<JobStatus>(object).conditions?.find((condition) => condition.type === type)?.status === 'True';

function jobState(object: KubeObject): string {
  if (holds(object, 'Complete')) return 'Complete';
  if (holds(object, 'Failed')) return 'Failed';
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => holds(object, type)) ?? 'Running';
}

function jobCompletions(object: KubeObject): string {
  const { completions, parallelism = 0 } = specOf<JobSpec>(object);
  const { succeeded = 0 } = statusOf<JobStatus>(object);
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(object: KubeObject, now: number): string {
  const { startTime, completionTime } = statusOf<JobStatus>(object);
  if (!startTime) return '';
  return humanDuration((completionTime ? Date.parse(completionTime) : now) - Date.parse(startTime));
}

interface CronSpec {
  schedule: string;
  timeZone: string;
  suspend: boolean;
  jobTemplate: { spec: { selector?: LabelSelector; template: PodTemplate } };
}

const controllerOf = ({ metadata }: KubeObject): string => {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  if (!owner) return none;
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
  return `${owner.kind}${group}`.toLowerCase().concat('/', owner.name);
};

/** By group and plural. */
export const workloadColumns: Readonly<Record<string, readonly Column[]>> = {
  'apps/deployments': [
    nameColumn,
    readyOf,
    column('Up-to-date', counted('updatedReplicas')),
    column('Available', counted('availableReplicas')),
    ageColumn,
    ...workloadContainers,
    wide('Selector', (object) => selectorText(workload(object).selector, '')),
  ],
  'apps/replicasets': [
    nameColumn,
    whole('Desired', (object) => workload(object).replicas ?? 0),
    whole('Current', counted('replicas')),
    whole('Ready', counted('readyReplicas')),
    ageColumn,
    ...workloadContainers,
    selectorColumn,
  ],
  'apps/statefulsets': [nameColumn, readyOf, ageColumn, ...workloadContainers],
  'apps/daemonsets': [
    nameColumn,
    whole('Desired', counted('desiredNumberScheduled')),
    whole('Current', counted('currentNumberScheduled')),
    whole('Ready', counted('numberReady')),
    whole('Up-to-date', counted('updatedNumberScheduled')),
    whole('Available', counted('numberAvailable')),
    column('Node Selector', (object) => labelsText(workload(object).template?.spec.nodeSelector)),
    ageColumn,
    ...workloadContainers,
    selectorColumn,
  ],
  'apps/controllerrevisions': [
    nameColumn,
    column('Controller', controllerOf),
    column('Revision', ({ revision }) => Number(revision ?? 0)),
    ageColumn,
  ],
  'batch/jobs': [
    nameColumn,
    column('Status', jobState),
    column('Completions', jobCompletions),
    column('Duration', jobDuration),
    ageColumn,
    ...workloadContainers,
    selectorColumn,
  ],
  'batch/cronjobs': [
    nameColumn,
    column('Schedule', (object) => specOf<CronSpec>(object).schedule ?? ''),
    column('Timezone', (object) => specOf<CronSpec>(object).timeZone ?? none),
    flag('Suspend', (object) => {
      const { suspend } = specOf<CronSpec>(object);
      return suspend === undefined ? unset : suspend ? 'True' : 'False';
    }),
    whole('Active', (object) => (statusOf<{ active: object[] }>(object).active ?? []).length),
    column('Last Schedule', (object, now) => {
      const { lastScheduleTime } = statusOf<{ lastScheduleTime: string }>(object);
      return lastScheduleTime ? since(lastScheduleTime, now) : none;
    }),
    ageColumn,
    ...containerColumns((object) => specOf<CronSpec>(object).jobTemplate?.spec.template.spec.containers),
    wide('Selector', (object) => selectorText(specOf<CronSpec>(object).jobTemplate?.spec.selector)),
  ],
};
