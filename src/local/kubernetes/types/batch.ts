// batch/v1: work that ends.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ObjectMeta } from '../object.ts';
import { invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { dns1123Label, subdomainName } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { isTimeZone, scheduleProblem } from './cron-schedule.ts';
import { declare } from './declare.ts';
import { immutable, validateAnnotations, validateLabels } from './metadata.ts';
import { nonNegative } from './numbers.ts';
import { podSpecDefaults } from './pod/pod-defaults.ts';
import type { LabelSelector, PodTemplate } from './pod/pod-spec.ts';
import { validatePodTemplate } from './pod/validate-pod.ts';
import { podWarnings } from './pod/warnings.ts';
import type { ResourceType } from './resource-type.ts';
import { selects, validateSelector } from './selectors.ts';
import { ownStatus, status } from './status.ts';

const group = 'batch';
const uidLabel = 'batch.kubernetes.io/controller-uid';
const nameLabel = 'batch.kubernetes.io/job-name';
/** Completions of an indexed job beyond this need fewer pods at a time; beyond that none are taken. */
const mostIndexes = 1_000_000_000;

export interface JobSpec {
  parallelism?: number;
  completions?: number;
  completionMode?: string;
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  selector?: LabelSelector;
  manualSelector?: boolean;
  suspend?: boolean;
  podFailurePolicy?: { rules: { onPodConditions?: { status?: string }[] }[] | null };
  podReplacementPolicy?: string;
  template: PodTemplate;
}

interface CronJobSpec {
  schedule: string;
  timeZone?: string;
  concurrencyPolicy?: string;
  suspend?: boolean;
  startingDeadlineSeconds?: number;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
  jobTemplate: { metadata: ObjectMeta; spec: JobSpec };
}

const jobOf = (object: KubeObject): JobSpec => object.spec as JobSpec;
const cronOf = (object: KubeObject): CronJobSpec => object.spec as CronJobSpec;

function validateJobSpec(spec: JobSpec, field: string): FieldError[] {
  const found = [
    ...nonNegative(`${field}.parallelism`, spec.parallelism),
    ...nonNegative(`${field}.completions`, spec.completions),
    ...nonNegative(`${field}.activeDeadlineSeconds`, spec.activeDeadlineSeconds),
    ...nonNegative(`${field}.backoffLimit`, spec.backoffLimit),
    ...nonNegative(`${field}.ttlSecondsAfterFinished`, spec.ttlSecondsAfterFinished),
    ...nonNegative(`${field}.backoffLimitPerIndex`, spec.backoffLimitPerIndex),
  ];
  const mode = spec.completionMode;
  if (mode !== undefined) {
    if (mode !== 'NonIndexed' && mode !== 'Indexed') {
      found.push(notSupported(`${field}.completionMode`, mode, ['Indexed', 'NonIndexed']));
    }
    if (mode === 'Indexed' && spec.completions === undefined) {
      found.push(required(`${field}.completions`, 'when completion mode is Indexed'));
    }
    if (mode === 'Indexed' && (spec.completions ?? 0) > mostIndexes) {
      found.push(
        invalidValue(
          `${field}.completions`,
          spec.completions,
          `must be less than or equal to ${mostIndexes} when completion mode is Indexed`,
        ),
      );
    }
  }
  if (mode !== 'Indexed' && spec.backoffLimitPerIndex !== undefined) {
    found.push(
      invalidValue(`${field}.backoffLimitPerIndex`, spec.backoffLimitPerIndex, 'requires indexed completion mode'),
    );
  }
  found.push(...validatePodTemplate(spec.template, `${field}.template`));
  const policy = spec.template.spec.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') {
    found.push(required(`${field}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  } else if (policy !== 'OnFailure' && policy !== 'Never') {
    found.push(notSupported(`${field}.template.spec.restartPolicy`, policy, ['OnFailure', 'Never']));
  }
  return found;
}

/** A job's pods are told from others by its uid, unless its user said to do it himself. */
function validateGenerated(object: KubeObject): FieldError[] {
  const { selector, manualSelector, template } = jobOf(object);
  if (manualSelector) return [];
  const { uid = '', name = '' } = object.metadata;
  const labels = template.metadata.labels ?? {};
  const found: FieldError[] = [];
  const wanted: readonly (readonly [key: string, value: string])[] = [
    ['controller-uid', uid],
    ['job-name', name],
    [uidLabel, uid],
    [nameLabel, name],
  ];
  for (const [key, value] of wanted) {
    if (labels[key] === undefined) found.push(required('spec.template.metadata.labels', `must be '${value}'`));
    else if (labels[key] !== value) {
      found.push(invalidValue('spec.template.metadata.labels', labels, `must be '${value}'`));
    }
  }
  const expected = { matchLabels: { [uidLabel]: uid } };
  const older = { matchLabels: { 'controller-uid': uid } };
  if (!isDeepStrictEqual(selector, expected) && !isDeepStrictEqual(selector, older)) {
    found.push(invalidValue('spec.selector', selector ?? null, '`selector` not auto-generated'));
  }
  return found;
}

function validateSelection({ selector, template }: JobSpec): FieldError[] {
  const found = selector ? validateSelector(selector, 'spec.selector') : [required('spec.selector')];
  if (found.length > 0 && selector) return found;
  const { labels } = template.metadata;
  if (!selector || !selects(selector, labels)) {
    found.push(
      invalidValue('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`'),
    );
  }
  return found;
}

function validateJob(object: KubeObject): FieldError[] {
  const spec = jobOf(object);
  const found = [...validateGenerated(object), ...validateJobSpec(spec, 'spec')];
  found.push(...validateSelection(spec));
  const { name = '' } = object.metadata;
  if (spec.completionMode === 'Indexed' && (spec.completions ?? 0) > 0) {
    const wrong = dns1123Label(`${name}-${(spec.completions ?? 1) - 1}`);
    if (wrong.length > 0) {
      found.push(
        invalidValue(
          'metadata.name',
          name,
          `will not able to create pod with invalid DNS label: ${name}-${(spec.completions ?? 1) - 1}`,
        ),
      );
    }
  }
  return found;
}

/** What of a job's template may yet change while it is suspended and has not started. */
function changeableTemplate(template: PodTemplate, old: PodTemplate): PodTemplate {
  const { nodeSelector, affinity, tolerations, schedulingGates, ...spec } = template.spec;
  const kept = Object.fromEntries(
    Object.entries(old.spec).filter(([member]) =>
      ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates'].includes(member),
    ),
  );
  return { metadata: old.metadata, spec: { ...spec, ...kept } };
}

function validateJobUpdate(object: KubeObject, oldObject: KubeObject): FieldError[] {
  const spec = jobOf(object);
  const old = jobOf(oldObject);
  const found = [...validateSelection(spec), ...validateJobSpec(spec, 'spec')];
  const elastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!elastic) found.push(...immutable('spec.completions', spec.completions, old.completions));
  found.push(...immutable('spec.selector', spec.selector, old.selector));
  const started = (oldObject.status as { startTime?: string } | undefined)?.startTime !== undefined;
  const template = old.suspend && !started ? changeableTemplate(spec.template, old.template) : spec.template;
  return [
    ...found,
    ...immutable('spec.template', template, old.template),
    ...immutable('spec.completionMode', spec.completionMode, old.completionMode),
    ...immutable('spec.podFailurePolicy', spec.podFailurePolicy, old.podFailurePolicy),
    ...immutable('spec.backoffLimitPerIndex', spec.backoffLimitPerIndex, old.backoffLimitPerIndex),
  ];
}

const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'];

function validateCronJob(object: KubeObject): FieldError[] {
  const spec = cronOf(object);
  const found: FieldError[] = [];
  if (!spec.schedule) found.push(required('spec.schedule'));
  else {
    const problem = scheduleProblem(spec.schedule);
    if (problem !== undefined) found.push(invalidValue('spec.schedule', spec.schedule, problem));
    if (spec.schedule.includes('TZ')) {
      found.push(
        invalidValue(
          'spec.schedule',
          spec.schedule,
          'cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
        ),
      );
    }
  }
  found.push(...nonNegative('spec.startingDeadlineSeconds', spec.startingDeadlineSeconds));
  if (spec.timeZone !== undefined) {
    if (spec.timeZone === '') found.push(invalidValue('spec.timeZone', '', 'timeZone must be nil or non-empty string'));
    else if (spec.timeZone.toLowerCase() === 'local') {
      found.push(
        invalidValue(
          'spec.timeZone',
          spec.timeZone,
          'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
        ),
      );
    } else if (!isTimeZone(spec.timeZone)) {
      found.push(invalidValue('spec.timeZone', spec.timeZone, `unknown time zone ${spec.timeZone}`));
    }
  }
  if (!concurrencyPolicies.includes(spec.concurrencyPolicy ?? '')) {
    found.push(notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy, concurrencyPolicies));
  }
  const { metadata, spec: job } = spec.jobTemplate;
  return [
    ...found,
    ...validateLabels(metadata.labels, 'spec.jobTemplate.labels'),
    ...validateAnnotations(metadata.annotations, 'spec.jobTemplate.annotations'),
    ...validateJobSpec(job, 'spec.jobTemplate.spec'),
    ...nonNegative('spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit),
    ...nonNegative('spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit),
  ];
}

/** Jobs made of a cron job get eleven characters more. */
const longestCronJobName = 52;

export const batchTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'CronJob',
    plural: 'cronjobs',
    shortNames: ['cj'],
    categories: ['all'],
    namespaced: true,
    subresources: { status },
    strategy: {
      ...ownStatus,
      defaults(object) {
        const spec = cronOf(object);
        spec.concurrencyPolicy ||= 'Allow';
        spec.suspend ??= false;
        spec.successfulJobsHistoryLimit ??= 3;
        spec.failedJobsHistoryLimit ??= 1;
        podSpecDefaults(spec.jobTemplate.spec.template.spec);
      },
      nameRule: (name, prefix) => [
        ...subdomainName(name, prefix),
        ...(name.length > longestCronJobName && !prefix
          ? [`must be no more than ${longestCronJobName} characters`]
          : []),
      ],
      validate: validateCronJob,
      warnings: (object) => {
        const { template } = cronOf(object).jobTemplate.spec;
        return podWarnings(template.spec, template.metadata, 'spec.jobTemplate.spec.template.spec');
      },
    },
  }),
  declare(group, {
    kind: 'Job',
    plural: 'jobs',
    categories: ['all'],
    namespaced: true,
    subresources: { status },
    strategy: {
      prepareUpdate: ownStatus.prepareUpdate,
      defaults(object) {
        const spec = jobOf(object);
        if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
        spec.parallelism ??= 1;
        spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2147483647;
        if (!object.metadata.labels && spec.template.metadata.labels) {
          object.metadata.labels = { ...spec.template.metadata.labels };
        }
        spec.completionMode ??= 'NonIndexed';
        spec.suspend ??= false;
        spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
        spec.manualSelector ??= false;
        for (const { onPodConditions = [] } of spec.podFailurePolicy?.rules ?? []) {
          for (const condition of onPodConditions) condition.status ||= 'True';
        }
        podSpecDefaults(spec.template.spec);
      },
      prepareCreate(object) {
        ownStatus.prepareCreate(object);
        const spec = jobOf(object);
        if (spec.manualSelector) return;
        const { uid = '', name = '' } = object.metadata;
        const labels = { [uidLabel]: uid, [nameLabel]: name, 'controller-uid': uid, 'job-name': name };
        const before = spec.template.metadata.labels;
        // Labels that the job took from its template follow it; those of its own stay.
        const taken = !object.metadata.labels || isDeepStrictEqual(object.metadata.labels, before);
        spec.template.metadata.labels = { ...spec.template.metadata.labels, ...labels };
        spec.selector = {
          ...spec.selector,
          matchLabels: { ...spec.selector?.matchLabels, [uidLabel]: uid },
        };
        if (taken) object.metadata.labels = { ...spec.template.metadata.labels };
      },
      validate: validateJob,
      validateUpdate: validateJobUpdate,
      warnings: (object) => {
        const { template } = jobOf(object);
        return podWarnings(template.spec, template.metadata, 'spec.template.spec');
      },
      fields: (object) => ({
        'status.successful': String((object.status as { succeeded?: number } | undefined)?.succeeded ?? 0),
      }),
    },
  }),
];
