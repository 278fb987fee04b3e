// Resource quotas: how much a namespace may use.
import type { KubeObject } from '../../object.ts';
import { invalidValue, keyed } from '../../schema/field-errors.ts';
import type { FieldError } from '../../status.ts';
import { declare } from '../declare.ts';
import type { Resources } from '../pod/pod-spec.ts';
import {
  countedResources,
  quotaResources,
  validateResourceName,
  validateResourceQuantity,
} from '../pod/validate-resources.ts';
import { ownStatus, status } from '../status.ts';

interface QuotaSpec {
  hard?: Resources;
  scopes?: string[];
}

const specOf = (object: KubeObject): QuotaSpec => (object.spec ?? {}) as QuotaSpec;

const scopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
];
const conflicts = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

function fits(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods';
  if (scopes.includes(scope)) return resource === 'pods' || !countedResources.includes(resource);
  return true;
}

function validate(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const found: FieldError[] = [];
  for (const [name, text] of Object.entries(spec.hard ?? {})) {
    const at = keyed('spec.hard', name);
    found.push(...validateResourceName(name, at));
    const known = quotaResources.has(name) || name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');
    if (!name.includes('/') && !known) found.push(invalidValue(at, name, 'must be a standard resource for quota'));
    found.push(...validateResourceQuantity(name, text, at));
  }
  const asked = spec.scopes ?? [];
  for (const scope of asked) {
    if (!scopes.includes(scope)) found.push(invalidValue('spec.scopes', asked, 'unsupported scope'));
    for (const name of Object.keys(spec.hard ?? {}).sort()) {
      if (quotaResources.has(name) && !fits(scope, name)) {
        found.push(invalidValue('spec.scopes', asked, 'unsupported scope applied to resource'));
      }
    }
  }
  for (const pair of conflicts) {
    if (pair.every((scope) => asked.includes(scope)))
      found.push(invalidValue('spec.scopes', asked, 'conflicting scopes'));
  }
  return found;
}

const sameScopes = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  [...new Set(one)].sort().join() === [...new Set(other)].sort().join();

export const resourceQuotas = declare('', {
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  shortNames: ['quota'],
  namespaced: true,
  subresources: { status },
  strategy: {
    generation: false,
    ...ownStatus,
    validate,
    validateUpdate: (object, old) => [
      ...validate(object),
      ...(sameScopes(specOf(object).scopes, specOf(old).scopes)
        ? []
        : [invalidValue('spec.scopes', specOf(object).scopes ?? null, 'field is immutable')]),
    ],
  },
});
