// apps/v1: what runs pods.
import { declare, scale, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'apps';

export const appsTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'ControllerRevision',
    plural: 'controllerrevisions',
    namespaced: true,
    strategy: { generation: false },
  }),
  declare(group, {
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    categories: ['all'],
    namespaced: true,
    subresources: { status },
  }),
  declare(group, {
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    categories: ['all'],
    namespaced: true,
    subresources: { scale, status },
  }),
  declare(group, {
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    categories: ['all'],
    namespaced: true,
    subresources: { scale, status },
  }),
  declare(group, {
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    categories: ['all'],
    namespaced: true,
    subresources: { scale, status },
  }),
];
