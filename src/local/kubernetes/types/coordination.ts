// Leases.
import type { KubeObject } from '../object.ts';
import { forbiddenField, invalidValue } from '../schema/field-errors.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import { nonNegative } from './numbers.ts';
import type { ResourceType } from './resource-type.ts';

interface LeaseSpec {
  leaseDurationSeconds?: number;
  leaseTransitions?: number;
  strategy?: string;
  preferredHolder?: string;
}

function validate(object: KubeObject): FieldError[] {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = object.spec as LeaseSpec;
  const found: FieldError[] = [];
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    found.push(invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  found.push(...nonNegative('spec.leaseTransitions', leaseTransitions));
  if (preferredHolder && !strategy) {
    found.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return found;
}

export const coordinationTypes: readonly ResourceType[] = [
  declare('coordination.k8s.io', {
    kind: 'Lease',
    plural: 'leases',
    namespaced: true,
    strategy: { generation: false, validate },
  }),
];
