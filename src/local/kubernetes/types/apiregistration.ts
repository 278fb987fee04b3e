// API services: which server answers for a group and version.
import { declare, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'apiregistration.k8s.io';

export const apiRegistrationTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'APIService',
    plural: 'apiservices',
    categories: ['api-extensions'],
    namespaced: false,
    subresources: { status },
    strategy: { generation: false },
  }),
];
