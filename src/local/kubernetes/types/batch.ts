// batch/v1: work that ends.
import { declare, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'batch';

export const batchTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'CronJob',
    plural: 'cronjobs',
    shortNames: ['cj'],
    categories: ['all'],
    namespaced: true,
    subresources: { status },
  }),
  declare(group, { kind: 'Job', plural: 'jobs', categories: ['all'], namespaced: true, subresources: { status } }),
];
