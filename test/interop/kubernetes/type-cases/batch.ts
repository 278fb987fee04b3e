// The group batch.
import { accepted, containers, long, object, refused, selector, type TypeCases, template, updated } from './case.ts';

export const batchCases: TypeCases = {
  accepted: [
    accepted('batch/v1/jobs', object({ template: template({ restartPolicy: 'Never' }) })),
    accepted(
      'batch/v1/jobs',
      object({
        parallelism: 2,
        backoffLimitPerIndex: 1,
        completions: 3,
        completionMode: 'Indexed',
        template: template({ restartPolicy: 'Never' }),
      }),
    ),
    accepted(
      'batch/v1/cronjobs',
      object({ schedule: '* * * * *', jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } } }),
    ),
  ],
  refusedCreates: [
    refused('empty', 'batch/v1/jobs', object({})),
    refused('restart policy', 'batch/v1/jobs', object({ template: template() })),
    refused(
      'numbers',
      'batch/v1/jobs',
      object({
        parallelism: -1,
        completions: -1,
        backoffLimit: -1,
        activeDeadlineSeconds: -1,
        ttlSecondsAfterFinished: -1,
        template: template({ restartPolicy: 'Never' }),
      }),
    ),
    refused('selector', 'batch/v1/jobs', object({ selector, template: template({ restartPolicy: 'Never' }) })),
    refused(
      'completion mode',
      'batch/v1/jobs',
      object({ completionMode: 'Indexed', parallelism: 1, template: template({ restartPolicy: 'Never' }) }),
    ),
    refused('empty', 'batch/v1/cronjobs', object({})),
    refused(
      'schedule',
      'batch/v1/cronjobs',
      object({
        schedule: 'x',
        concurrencyPolicy: 'X',
        startingDeadlineSeconds: -1,
        jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } },
      }),
    ),
    refused(
      'zone',
      'batch/v1/cronjobs',
      object({
        schedule: '* * * * *',
        timeZone: 'Nowhere/City',
        jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } },
      }),
    ),
    refused('name too long', 'batch/v1/cronjobs', {
      metadata: { name: long(53) },
      spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } } },
    }),
  ],
  refusedUpdates: [
    updated('template', 'batch/v1/jobs', object({ template: template({ restartPolicy: 'Never' }) }), {
      spec: { completions: 2, template: { spec: { containers: containers({ image: 'other' }) } } },
    }),
    updated('completion mode', 'batch/v1/jobs', object({ template: template({ restartPolicy: 'Never' }) }), {
      spec: { completionMode: 'Indexed' },
    }),
  ],
};
