// policy/v1: how many pods may be disturbed.
import type { KubeObject } from '../object.ts';
import { invalidValue, notSupported } from '../schema/field-errors.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import { type IntOrPercent, notOver100Percent, validateIntOrPercent } from './numbers.ts';
import type { LabelSelector } from './pod/pod-spec.ts';
import type { ResourceType } from './resource-type.ts';
import { validateSelector } from './selectors.ts';
import { ownStatus, status } from './status.ts';

interface BudgetSpec {
  minAvailable?: IntOrPercent;
  maxUnavailable?: IntOrPercent;
  selector?: LabelSelector;
  unhealthyPodEvictionPolicy?: string;
}

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget'];

function validate(object: KubeObject): FieldError[] {
  const spec = object.spec as BudgetSpec;
  const found: FieldError[] = [];
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: spec.minAvailable,
      Selector: spec.selector ?? null,
      MaxUnavailable: spec.maxUnavailable,
      UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
    };
    found.push(invalidValue('spec', shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const member of ['minAvailable', 'maxUnavailable'] as const) {
    const value = spec[member];
    if (value === undefined) continue;
    const at = `spec.${member}`;
    found.push(...validateIntOrPercent(at, value), ...notOver100Percent(at, value));
  }
  found.push(...validateSelector(spec.selector, 'spec.selector'));
  const policy = spec.unhealthyPodEvictionPolicy;
  if (policy !== undefined && !evictionPolicies.includes(policy)) {
    found.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, evictionPolicies));
  }
  return found;
}

export const policyTypes: readonly ResourceType[] = [
  declare('policy', {
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    namespaced: true,
    subresources: { status },
    strategy: { ...ownStatus, validate },
  }),
];
