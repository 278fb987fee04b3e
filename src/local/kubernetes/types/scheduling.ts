// Priority classes.
import { declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'scheduling.k8s.io';

export const schedulingTypes: readonly ResourceType[] = [
  declare(group, { kind: 'PriorityClass', plural: 'priorityclasses', shortNames: ['pc'], namespaced: false }),
];
