// Leases.
import { declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'coordination.k8s.io';

export const coordinationTypes: readonly ResourceType[] = [
  declare(group, { kind: 'Lease', plural: 'leases', namespaced: true, strategy: { generation: false } }),
];
