// policy/v1.
import { declare, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'policy';

export const policyTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    namespaced: true,
    subresources: { status },
  }),
];
